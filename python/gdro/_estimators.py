"""The estimators."""

from __future__ import annotations

import inspect
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from . import _gdro
from ._arguments import Named, document
from ._certificate import Certificate
from ._groups import clusters_of, families_of, names_of
from ._index import same_index
from ._portions import Portions
from ._settings import (
    PER_GROUP,
    as_written,
    checkpoint_of,
    given,
    loss_of,
    number,
    objective_of,
    seed_of,
    targets_of,
    threads_of,
    weights_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._types import (
        Average,
        Budget,
        Checkpoint,
        ClassWeight,
        ColumnLike,
        Domain,
        GroupsLike,
        Labels,
        Loss,
        Matrix,
        MatrixLike,
        Objective,
        PerGroup,
        RandomState,
        SolverName,
        Subsets,
        Vector,
        WeightKind,
    )

#: Gap, in units of the risks, from which on a model counts as not converged without a ``tol``.
CLOSE = 1e-6

_DOCUMENTATION = """

    The arguments are those of the program ``gdro`` and of its job files.

    Parameters
    ----------
    objective : {"max", "top-k", "tilted:TAU", "regret", "average", "balanced"}, default="max"
        What of the group risks is minimised: the largest one (GDRO); the mean of the ``k`` largest;
        the tilted risk, which goes from ``"average"`` to ``"max"`` as the number TAU, in units of the
        loss, falls, such as ``"tilted:0.1"`` or ``("tilted", 0.1)``, or from ``"balanced"`` as
        ``"tilted:0.1:groups"``; the largest excess over what a model for the group alone attains
        (minimax regret); the mean over rows (ordinary training); the mean over groups.
    k : float, default=None
        Of ``objective="top-k"``: how many, any real number from 1 to the number of groups.
    loss : str, default=None
        @LOSS@
    l2 : float, default=None
        The ridge λ: λ/2 times the squared norm of the coefficients is added to the objective, whose
        risks are means. 1e-4 unless it or a ball is given. ``C`` of ``LogisticRegression`` is
        1/(n λ), ``alpha`` of ``Ridge`` is n λ/2.
    ball : float, default=None
        The largest norm of the coefficients.
    domain : str or tuple, default=None
        The set of the coefficients: ``"ball:2"``, ``"l1:5"``, ``"box:1"``, ``"simplex"``, …; for type
        checkers ``("l1", 5)``.
    fit_intercept : bool, default=True
        Whether there is an intercept. It is free; rounds keep it within ±100 (for numbers
        ±max(100, 2 max|y|)).
    penalize_intercept : bool, default=False
        Whether it lies under ridge and ball.
    solver : str, default="exact"
        ``"exact"``: a primal-dual interior-point method, to the unique regularised optimum. Or one
        of the paper's algorithms, in rounds: ``"smd-m"``, ``"online-1"``, ``"smd-r"``,
        ``"smpa-m"``, ``"atkro-m"``, ``"atkro-k"``, ``"atkro-1"``, ``"adaptive"``, … Or ``"auto"``,
        as the program has it: exact unless that would take many minutes, see ``solver_``.
    tol : float, default=None
        Stop when the certified gap is at most this; a warning where it is not reached. By default
        1e-10 relative to the objective at zero, or 1 if that is more (1e-8 for non-smooth losses).
    max_iter : int, default=200
        Most iterations of ``solver="exact"``.
    rounds : int, default=None
        Number of rounds of another solver. With ``tol`` a run that has not reached it by then goes
        on, until it has played 64 times as many; the best model that was seen is the answer.
    step_w, step_q : float, default=None
        Multipliers on the steps of the theorems, for the model and the group weights. When left
        out, the players of ``"smd-m"`` find their own steps in long runs, those of
        ``"online-1"`` and ``"atkro-1"`` follow from the balanced model, and pilot runs choose the others.
    anytime : bool, default=False
        Steps that fall with time (smd-m, online-1, atkro-m).
    average : {"uniform", "weighted", "suffix", "last"}, default=None
        The average that the answer is; the theorem's by default, the second half of the rounds
        after pilot runs.
    loss_range : float, default=None
        Range of the losses for steps and bandit players.
    budget : "all", mapping or sequence, default=None
        Visit each row at most once: all rows, or so many of each group.
    nbar, queries, kept, subsets
        Of ``"hybrid"``, ``"flexible"``, ``"eliminate"`` and ``"atkro-k"`` (``"dep-round"`` or
        ``"systematic"`` draws of its k groups; by their number when left out).
    delta : float, default=0.05
        ``"eliminate"`` is right with probability 1 - delta.
    offsets, scales : mapping or sequence, default=None
        b_i and p_i of the groups: payoffs are p_i (R_i - b_i). By name, or in the order of
        ``group_names_``.
    adjustment : float, default=None
        C of the offsets -C/sqrt(n_i).
    weight_kind : {"importance", "frequency"}, default="importance"
        What ``sample_weight`` means: how much a row counts within its group, or how many rows it stands
        for, whole numbers: everything is as if X and y had the row so often.
    random_state : int, Generator, RandomState or None, default=None
        Of the draws; an int is the seed of the program. ``"exact"`` draws nothing.
    n_jobs : int, default=None
        Number of threads, as in scikit-learn: all cores by default and for -1, all but one for -2.
        Results do not depend on it.
    threads : int, default=None
        The same under the name that the program has for it.
    verbose : int, default=0
        1 shows the progress.
    warm_start : bool, default=False
        Whether a second ``fit`` starts from the model that is there, as one that was loaded does: of the
        same features and classes, or it is refused. The optimum is the same, and near it takes less work;
        the certificate is about the rows of the second ``fit``. Solvers in rounds take the model as
        their first iterate and average anew; weights of the groups start where the same solver left them,
        if the groups have the same names, and uniform otherwise. Steps that pilot runs find may leave a
        near optimum: ``solver="adaptive"`` or a short ``step_w`` stays there.
    checkpoint : path or (path, seconds), default=None
        A file in which ``fit`` keeps how far it is, every minute or after so many seconds. Where the file is
        there, the same fit goes on from it, to the same bits; with other arguments or rows it is refused. The
        file is removed when the fit has ended.
@CLASS_WEIGHT@
    Attributes
    ----------
    coef_ : ndarray of shape @COEF@
        Coefficients.
    intercept_ : @INTERCEPT@
        Intercepts.
    @CLASSES@group_names_ : ndarray of str of shape (m,)
        Names of the groups: labels, joined by `` / `` for several columns, and ``column=label``
        for several families.
    group_weights_ : ndarray of shape (m,)
        Weights q of the groups at the optimum: where the objective presses.
    group_risks_ : ndarray of shape (m,)
        Mean loss of each group on the training rows, weighted by the weights of the rows.
    group_offsets_ : ndarray of shape (m,)
        Offsets b_i that were subtracted; for ``objective="regret"`` what models of their own attain.
    constant_objective_ : float
        What the best prediction without features attains; a model that is no better, up to a
        hundredth, comes with a warning that names the groups that decide.
    certificate_ : Certificate
        Proof of how far the model is from the optimum: ``upper``, ``lower``, ``gap``, …. None after
        ``partial_fit``, which has not got all the rows that it would be about.
    solver_ : str
        The solver that trained it, which ``solver="auto"`` leaves open.
    n_iter_ : int
        Iterations, or rounds.
    trace_ : dict of ndarray
        The curve: ``round``, ``samples``, ``seconds``, ``group_risks``, ``group_weights``,
        ``objective``.
    loss_cap_ : float
        What 999 of 1000 training losses stay below, and not less than what rows lose under the best
        constant models of their groups: the cap M of :mod:`gdro.metrics`.
    cluster_cap_ : float or None
        The largest total weight of a cluster in a group, without ``sample_weight`` its number of rows:
        the cap S of :mod:`gdro.metrics`; None without ``clusters``.
    weight_cap_ : float or None
        The largest weight of a training row: the cap B of weights of :mod:`gdro.metrics`. None
        without ``sample_weight``.
    steps_ : tuple of float or None
        The multipliers on the steps of the theorems, for solvers in rounds; None where the players found
        their own steps.
    n_features_in_ : int
        Number of features d.
    feature_names_in_ : ndarray of str of shape (d,)
        Names of the features, where ``X`` had names.

    Raises
    ------
    TypeError
        For an argument that is none, with the name of the one that is meant.

    Examples
    --------
    @EXAMPLE@
    """


class _GroupDRO(Named, BaseEstimator):
    coef_: Matrix
    group_names_: Labels
    group_weights_: Vector
    group_risks_: Vector
    group_offsets_: Vector
    certificate_: Certificate
    constant_objective_: float
    solver_: str
    n_iter_: int
    n_features_in_: int
    feature_names_in_: Labels
    trace_: dict[str, Any]
    loss_: str
    loss_cap_: float
    weight_cap_: float | None
    cluster_cap_: float | None
    steps_: tuple[float, float] | None

    def __init__(
        self,
        *,
        objective: Objective = "max",
        k: float | None = None,
        loss: Loss | None = None,
        l2: float | None = None,
        ball: float | None = None,
        domain: Domain | None = None,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        solver: SolverName = "exact",
        tol: float | None = None,
        max_iter: int = 200,
        rounds: int | None = None,
        step_w: float | None = None,
        step_q: float | None = None,
        anytime: bool = False,
        average: Average | None = None,
        loss_range: float | None = None,
        budget: Budget | None = None,
        nbar: int | None = None,
        queries: int | list[int] | None = None,
        kept: int | None = None,
        subsets: Subsets | None = None,
        delta: float = 0.05,
        offsets: PerGroup | None = None,
        adjustment: float | None = None,
        scales: PerGroup | None = None,
        weight_kind: WeightKind = "importance",
        random_state: RandomState | None = None,
        n_jobs: int | None = None,
        threads: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.objective = objective
        self.k = k
        self.loss = loss
        self.l2 = l2
        self.ball = ball
        self.domain = domain
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.rounds = rounds
        self.step_w = step_w
        self.step_q = step_q
        self.anytime = anytime
        self.average = average
        self.loss_range = loss_range
        self.budget = budget
        self.nbar = nbar
        self.queries = queries
        self.kept = kept
        self.subsets = subsets
        self.delta = delta
        self.offsets = offsets
        self.adjustment = adjustment
        self.scales = scales
        self.weight_kind = weight_kind
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.threads = threads
        self.verbose = verbose
        self.warm_start = warm_start
        self.checkpoint = checkpoint

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _arguments(self, names=None, **more):
        """What was given, as the solver reads it; ``names`` are those of the groups."""
        own = {name: getattr(self, name) for name in _USUAL}
        more["objective"] = objective_of(self.objective, self.k)
        more["solver"] = self.solver
        return given(own, _USUAL, names) | more

    def _check(self):
        """Refuses what can be refused without rows."""
        _gdro.check(self._arguments())
        self._threads = threads_of(self.threads, self.n_jobs)
        self._file = checkpoint_of(self.checkpoint)

    def _rows(
        self, X, y, sensitive_features, sample_weight, clusters, numbers, follows=None, classes=None
    ):
        """Validated rows without those of weight 0, which count as absent, and their clusters.

        They have the features of the model that is there where ``follows`` says who goes on from it;
        ``classes`` are those of all rows, where they are known.
        """
        self._check()
        same_index(
            X=X,
            y=y,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            clusters=clusters,
        )
        given = X, y
        try:
            X, y = validate_data(
                self,
                X,
                y,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                multi_output=False,
                y_numeric=numbers,
                reset=follows is None,
            )
            if numbers:
                y = np.asarray(y, dtype=np.float64)
            else:
                check_classification_targets(y)
                y = column_or_1d(y, warn=True)
        except ValueError as error:
            why = _explained(error, *given, numbers, follows)
            if why is None:
                raise
            raise ValueError(why) from None
        del given  # X may be a copy by now
        weights, keep = weights_of(sample_weight, X, self.weight_kind)
        # What a file of the model says of weights is about those of rows.
        self._is_weighted = sample_weight is not None
        self._heaviest = None if weights is None else float(weights.max())
        factors = self._factors(y, weights, keep, classes)
        if factors is not None:
            weights = factors if weights is None else factors * weights
            numbers_of = np.arange(len(weights)) if keep is None else np.arange(len(weights))[keep]
            keep = numbers_of[weights[numbers_of] > 0]
        families = families_of(sensitive_features, X.shape[0], keep)
        clusters = clusters_of(clusters, X.shape[0], keep)
        if keep is not None:
            X, y = X[keep], y[keep]
            weights = None if weights is None else weights[keep]
        return X, y, weights, families, clusters

    def _factors(self, y, weights, keep, classes):
        """What the weight of each row is multiplied by, if anything."""
        return None

    def _goes_on(self):
        """Who goes on from the model that is there, if ``fit`` does."""
        if not self.warm_start or getattr(self, "coef_", None) is None:
            return None
        return "warm_start=True starts from the model that is there", "set warm_start=False"

    def _start(self, names, classes):
        """Where the solver starts that goes on from the model that is there."""
        coef, intercepts = np.atleast_2d(self.coef_), np.atleast_1d(self.intercept_)
        if classes == 2 and len(coef) == 1:  # softmax, of which the difference is kept
            coef, intercepts = np.vstack([-coef, coef]) / 2, np.hstack([-intercepts, intercepts]) / 2
        model = [coef.T.ravel(), intercepts if self.fit_intercept else np.zeros(0)]
        whose, player = getattr(self, "_player", (None, None))
        if whose != self._whose(names):
            player = None
        return np.concatenate(model).astype(np.float64), player

    def _whose(self, names):
        """What tells a player of the weights from another one."""
        return self.solver, objective_of(self.objective, self.k), names.tolist()

    def _fit(self, X, y, weights, families, clusters, loss, classes, follows):
        """Trains on targets as the solver takes them; returns coefficients and intercepts."""
        names = names_of(families)
        more = {"loss": loss}
        # Nothing is drawn from a generator that others share where nothing will be drawn.
        if self.solver != "exact":
            more["random_state"] = seed_of(self.random_state)
        d = X.shape[1]
        if self.penalize_intercept:
            X = _with_ones(X)
        rows = _rows_of(X, y, weights, families)
        start = None if follows is None else self._start(names, classes)
        found = self._train(rows, names, more, classes, clusters, start)
        self.group_names_ = names
        for of_others in ("_encoding", "_baseline", "_portions"):
            self.__dict__.pop(of_others, None)
        # For a saved model: what was run, and the columns that groups are made of.
        self._record = {
            "job": found["job"],
            "groups": {
                "families": [
                    (f.columns, np.bincount(f.codes, minlength=len(f.names)).tolist())
                    for f in families
                ],
                "names": names.tolist(),
            },
            "is_weighted": self._is_weighted,
            "weight_kind": self.weight_kind,
            "one_cluster": None if clusters is None else _with_one(families, clusters),
        }
        self.group_weights_ = found["q"]
        self.group_risks_ = found["risks"]
        self.group_offsets_ = found["offsets"]
        self.certificate_ = Certificate(*found["certificate"])
        self.solver_ = found["solver"]
        self.n_iter_ = max(1, int(found["iterations"]))
        self.trace_ = _trace(found["trace"])
        self.loss_ = loss
        self.loss_cap_ = found["cap"]
        self.weight_cap_ = self._heaviest
        self.cluster_cap_ = found["cluster_cap"]
        self.steps_ = found["steps"]
        self._player = (self._whose(names), found["player"])
        for remark in found["remarks"]:
            warnings.warn(remark, UserWarning, stacklevel=3)
        for family in families:
            rows = np.bincount(family.codes, minlength=len(family.names)).tolist()
            for remark in _gdro.group_remarks(family.columns, family.names, rows):
                warnings.warn(f"sensitive_features: {remark}", UserWarning, stacklevel=3)
        if found["exhausted"] is not None:
            name = names[found["exhausted"]]
            warnings.warn(
                f"the budget of group {name!r} was used up after {found['iterations']} rounds",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.constant_objective_, useless = found["constant"]
        if useless is not None:
            warnings.warn(useless, UserWarning, stacklevel=3)
        self._warn(self.tol, found["advice"])
        return self._parts(found["w"], d, classes)

    def _parts(self, w, d, classes):
        """Coefficients and intercepts of what the solver calls a model."""
        c = max(1, classes)
        coefficients = w[: d * c].reshape(d, c).T
        rest = w[d * c :]
        intercepts = rest if self.fit_intercept else np.zeros(c)
        return np.ascontiguousarray(coefficients), np.array(intercepts)

    def _train(self, rows, names, more, classes, clusters, start):
        """What the solver gives."""
        arguments = self._arguments(names, **more)
        listener = _listener(self.verbose)
        return _gdro.fit(
            rows, names.tolist(), arguments, classes, clusters, self._threads, listener, self._file, start
        )

    def _has_portions(self):
        try:
            if _gdro.takes_portions(self.solver):
                return True
        except (TypeError, ValueError):
            return True  # which the call itself refuses
        raise AttributeError(
            f"partial_fit is for solvers in rounds whose steps fall with time, and solver={self.solver!r} is "
            "none: use solver='adaptive', 'smd-m' or 'online-1', or fit on all rows"
        )

    def _goes_on_with_portions(self):
        """Who goes on from the model that is there, if ``partial_fit`` does."""
        if getattr(self, "coef_", None) is None:
            return None
        return "partial_fit goes on with the model that is there", "begin anew with fit or a clone"

    def _known_groups(self):
        """The names of the groups of each family of the model that is there, where they are known."""
        record = getattr(self, "_record", None)
        if record is None:
            return None
        families, names = record["groups"]["families"], list(record["groups"]["names"])
        if len(families) == 1:
            return [names]
        if any(isinstance(family, dict) for family in families):
            return None  # of a file, which says how names are made of columns
        ends = np.cumsum([len(rows) for _, rows in families]).tolist()
        return [names[start:end] for start, end in zip([0, *ends], ends)]

    def _learn(self, X, y, weights, families, loss, classes, groups, follows):
        """Plays on a portion; returns coefficients and intercepts."""
        if self.checkpoint is not None:
            raise ValueError(
                f"checkpoint={self.checkpoint!r} is for fit: a copy of the estimator (pickle) between two "
                "calls of partial_fit keeps all that the next one needs"
            )
        portions = getattr(self, "_portions", None)
        if portions is None:
            portions = Portions.first(families, groups, self._known_groups())
        elif groups is not None:
            portions.same(groups)
        pinned = self._arguments(portions.names, loss=loss)
        portion = portions.portion(X, y, weights, families, pinned)
        names = names_of(portion.families)
        seed = seed_of(self.random_state) if portions.seed is None else portions.seed
        arguments = pinned | {"random_state": seed + portions.runs * (portion.run is None)}
        for name in PER_GROUP:
            if hasattr(arguments.get(name), "keys"):
                arguments[name] = {n: v for n, v in arguments[name].items() if n in set(names)}
        start = None
        if portion.run is None and follows is not None:
            start = self._start(names, classes)
        rows = portion.X if not self.penalize_intercept else _with_ones(portion.X)
        run, found = _gdro.Incremental.learn(
            portion.run,
            _rows_of(rows, portion.y, portion.weights, portion.families),
            names.tolist(),
            arguments,
            classes,
            len(y),
            start,
            self._threads,
            _listener(self.verbose),
        )
        portions.take(portion, run, seed, pinned, found)
        if self._heaviest is not None:
            portions.heaviest = max(self._heaviest, portions.heaviest or 0.0)
        self._tell_of_portions(portions, names, found, loss)
        return self._parts(found["w"], X.shape[1], classes)

    def _tell_of_portions(self, portions, names, found, loss):
        """Sets the attributes after a call of ``partial_fit``."""
        for of_all_rows in ("_encoding", "_baseline", "trace_", "constant_objective_"):
            self.__dict__.pop(of_all_rows, None)
        self._portions = portions
        sizes = np.cumsum([len(labels) for labels in portions.labels])[:-1]
        self._record = {
            "job": found["job"],
            "groups": {
                "families": [
                    (columns, counts.tolist())
                    for columns, counts in zip(portions.columns, np.split(portions.counts, sizes))
                ],
                "names": portions.names.tolist(),
            },
            "is_weighted": portions.heaviest is not None,
            "weight_kind": self.weight_kind,
            "one_cluster": None,
        }
        self.group_names_ = portions.names
        self.group_weights_ = portions.spread(found["q"], 0.0)
        self.group_risks_ = portions.spread(found["risks"], np.nan)
        self.group_offsets_ = portions.spread(found["offsets"], np.nan)
        self.certificate_ = None
        self.solver_ = self.solver
        self.n_iter_ = portions.played + portions.last
        self.loss_ = loss
        self.loss_cap_ = portions.cap
        self.weight_cap_ = portions.heaviest
        self.cluster_cap_ = None
        self.steps_ = found["steps"]
        self._player = (self._whose(names), found["player"])

    def _warn(self, tol, advice):
        certificate = self.certificate_
        if tol is None and self.solver_ != "exact":
            return  # so many rounds were asked for, and the certificate says what they gave
        if tol is None:
            close = certificate.relative_gap <= CLOSE
        else:
            close = certificate.gap <= tol
        if not close:
            advice = advice or "raise max_iter, scale the features, or raise l2"
            warnings.warn(
                f"the model is not at the optimum: its certified gap is {certificate.gap:.2e} "
                f"(objective {certificate.upper:.6g}); {advice}",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _scores(self, X):
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        return np.asarray(X @ self.coef_.T) + self.intercept_


def _takes_portions(estimator):
    return estimator._has_portions()


class _Scored:
    """The score of scikit-learn, of columns that belong together."""

    def score(self, X: MatrixLike, y: ColumnLike, sample_weight: ColumnLike | None = None) -> float:
        """The score of predictions over all rows: accuracy of a classifier, R² of a regression.

        For the worst group see :mod:`gdro.metrics`.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Features.
        y : array of shape (n,)
            Labels or numbers.
        sample_weight : array of shape (n,), default=None
            Weights of the rows.

        Returns
        -------
        float
            At most 1, which is best.

        Raises
        ------
        ValueError
            For columns of other lengths or with another index, and features that ``fit`` did not see.
        """
        same_index(X=X, y=y, sample_weight=sample_weight)
        if hasattr(self, "classes_"):
            y = as_written(column_or_1d(y), self.classes_)
        return super().score(X, y, sample_weight=sample_weight)


class GroupDROClassifier(_Scored, ClassifierMixin, _GroupDRO):
    """A linear classifier that does well on every group."""

    classes_: Labels
    intercept_: Vector

    # Groups and clusters are always passed on to fit where metadata routing is enabled.
    __metadata_request__fit = {"sensitive_features": True, "clusters": True}
    __metadata_request__partial_fit = {"sensitive_features": True, "classes": True, "groups": True}

    def __init__(
        self,
        *,
        objective: Objective = "max",
        k: float | None = None,
        loss: Loss | None = None,
        l2: float | None = None,
        ball: float | None = None,
        domain: Domain | None = None,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        solver: SolverName = "exact",
        tol: float | None = None,
        max_iter: int = 200,
        rounds: int | None = None,
        step_w: float | None = None,
        step_q: float | None = None,
        anytime: bool = False,
        average: Average | None = None,
        loss_range: float | None = None,
        budget: Budget | None = None,
        nbar: int | None = None,
        queries: int | list[int] | None = None,
        kept: int | None = None,
        subsets: Subsets | None = None,
        delta: float = 0.05,
        offsets: PerGroup | None = None,
        adjustment: float | None = None,
        scales: PerGroup | None = None,
        weight_kind: WeightKind = "importance",
        random_state: RandomState | None = None,
        n_jobs: int | None = None,
        threads: int | None = None,
        verbose: int = 0,
        warm_start: bool = False,
        checkpoint: Checkpoint | None = None,
        class_weight: ClassWeight | None = None,
    ) -> None:
        super().__init__(
            objective=objective,
            k=k,
            loss=loss,
            l2=l2,
            ball=ball,
            domain=domain,
            fit_intercept=fit_intercept,
            penalize_intercept=penalize_intercept,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            rounds=rounds,
            step_w=step_w,
            step_q=step_q,
            anytime=anytime,
            average=average,
            loss_range=loss_range,
            budget=budget,
            nbar=nbar,
            queries=queries,
            kept=kept,
            subsets=subsets,
            delta=delta,
            offsets=offsets,
            adjustment=adjustment,
            scales=scales,
            weight_kind=weight_kind,
            random_state=random_state,
            n_jobs=n_jobs,
            threads=threads,
            verbose=verbose,
            warm_start=warm_start,
            checkpoint=checkpoint,
        )
        self.class_weight = class_weight

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        with suppress(TypeError, ValueError):  # which fit raises for what is no loss
            tags.classifier_tags.multi_class = (
                self.loss is None or _gdro.targets_of(loss_of(self.loss)) == "classes"
            )
        return tags

    def _factors(self, y, weights, keep, classes):
        if self.class_weight is None:
            if classes is not None:
                _codes_of(y, classes)
            return None
        is_portion = classes is not None
        if is_portion:
            codes = _codes_of(y, classes)
        else:
            classes, codes = np.unique(y, return_inverse=True)
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            if is_portion:
                raise ValueError(
                    "class_weight='balanced' counts the rows of each class, of which partial_fit has not got "
                    "all: give the weights as a mapping, n/(classes · rows of the class) of all rows"
                )
            if self.weight_kind == "frequency":
                weights = np.bincount(keep, minlength=len(y))
            totals = np.bincount(codes, weights=weights)
            return (totals.sum() / (len(classes) * np.maximum(totals, np.finfo(float).tiny)))[codes]
        if not hasattr(self.class_weight, "keys"):
            raise ValueError(
                f"class_weight={self.class_weight!r:.80}: expected a mapping from classes to weights, "
                "'balanced' or None"
            )
        for label, weight in self.class_weight.items():
            number(f"class_weight of {label!r}", weight, low=0)
        return compute_class_weight(dict(self.class_weight), classes=classes, y=y)[codes]

    def fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        *,
        sensitive_features: GroupsLike | None = None,
        sample_weight: ColumnLike | None = None,
        clusters: ColumnLike | None = None,
    ) -> GroupDROClassifier:
        """Fits the model.

        Rows go by position: a Series or frame whose index is not that of ``X`` is refused.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Features: NumPy, SciPy sparse, pandas, polars or Arrow.
        y : array of shape (n,)
            Labels of at least two classes.
        sensitive_features : array, frame, dict or list of arrays, default=None
            The group of every row: an array or Series of labels; a frame, dict or array with several
            columns, each combination of which is a group; or a list of those, where every entry is
            a family of groups and a row is in one group of each. A structured array means the
            families of its fields. In a cross-validation arrays and frames are split, lists and dicts
            are not. Without groups it is ordinary training.
        sample_weight : array of shape (n,), default=None
            Weights of rows within their groups: 2 counts like two rows, 0 like none.
        clusters : array of shape (n,), default=None
            Which rows belong together, such as those of a patient. The model is the same; the largest
            cluster of a group is remembered, as ``cluster_cap_``, for intervals whose unit is a cluster
            (:func:`gdro.metrics.evaluate`).

        Returns
        -------
        GroupDROClassifier
            The estimator itself.

        Raises
        ------
        ValueError
            For rows that cannot be trained on (missing or infinite numbers, one class only, columns of
            other lengths or with another index), and for arguments that are out of range or that
            nothing would use.
        """
        follows = self._goes_on()
        X, y, weights, families, clusters = self._rows(
            X, y, sensitive_features, sample_weight, clusters, numbers=False, follows=follows
        )
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"y holds one class only, {classes.tolist()[0]!r}: expected at least two classes"
            )
        if follows is not None and not np.array_equal(classes, self.classes_):
            who, advice = follows
            raise ValueError(
                f"{who}, whose classes are {self.classes_.tolist()!r:.200}, and y holds "
                f"{classes.tolist()!r:.200}: give rows of all its classes and of no other, or {advice}"
            )
        self.classes_ = classes
        loss, targets, outputs = self._targets(codes, len(classes))
        del codes, y  # of as many rows as X
        found = self._fit(X, targets, weights, families, clusters, loss, outputs, follows)
        self.coef_, self.intercept_ = self._scores_of(*found)
        return self

    def _targets(self, codes, count):
        """The loss, targets as it takes them, and the number of its classes if it takes classes."""
        loss = loss_of(self.loss)
        if loss is None:
            loss = "logistic" if count == 2 else "softmax"
        if targets_of(loss, ("labels", "classes")) == "classes":
            return loss, codes.astype(np.float64), count
        if count > 2:
            raise ValueError(
                f"Only binary classification is supported by loss={loss!r}: y holds {count} "
                "classes; use loss='softmax'"
            )
        return loss, np.where(codes == 1, 1.0, -1.0), 0

    def _scores_of(self, coefficients, intercepts):
        """Coefficients and intercepts as users see them."""
        if len(intercepts) > 1:  # softmax
            # The same number added to all scores changes nothing.
            intercepts = intercepts - intercepts.mean()
            if len(intercepts) == 2:
                coefficients = coefficients[1:] - coefficients[:1]
                intercepts = intercepts[1:] - intercepts[:1]
        return coefficients, intercepts

    @available_if(_takes_portions)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        *,
        sensitive_features: GroupsLike | None = None,
        sample_weight: ColumnLike | None = None,
        classes: ColumnLike | None = None,
        groups: Sequence[Any] | None = None,
    ) -> GroupDROClassifier:
        """Goes on learning from a portion of the rows, for solvers in rounds whose steps fall with time.

        A call plays the rounds that draw as many samples as it has rows, on average, or ``rounds`` if it is
        given; rows are drawn with replacement. Model, weights of the groups, averages, steps and random
        numbers go on where the last call left them, also in a copy or after pickling. Two calls with the same
        rows are one ``fit`` of as many rounds with ``anytime=True``, to the bit, where ``step_w`` and
        ``step_q`` are given or the solver finds them by itself (``"adaptive"``). Otherwise the first call
        finds them on its rows, which should therefore be like those that follow. The first steps are the longest:
        where the first portions have few rows of a group, ``"adaptive"`` is the better choice.

        ``"smd-m"``, ``"online-1"`` and ``"atkro-m"`` play with ``anytime=True`` whether it is set or not, since
        nobody knows how many rounds there will be; the steps of ``"adaptive"``, ``"atkro-1"``, ``"tinf"``,
        ``"flexible"`` and ``"mero"`` always fall.

        A group of which a call has fewer than 100 rows, or none, is drawn from its latest 100 rows, of which
        calls before it had the others: its loss is unknown and not 0, and a round needs a sample of every
        group, or of those that the weights choose. Rows that come again count once. A group that is named and has not been seen takes no part; the call that brings
        its first row begins a game with it, from the model that is there.

        After ``fit``, and with a model that was loaded, the first call begins a game from that model.
        ``certificate_`` is then None, for want of all rows; ``group_risks_`` are those of the rows that the last
        call drew from (NaN for a group that has not been seen), ``n_iter_`` counts the rounds of all calls,
        and ``trace_`` and ``constant_objective_`` are not there.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Features of the portion.
        y : array of shape (n,)
            Their labels, of one class or more.
        sensitive_features : array, frame, dict or list of arrays, default=None
            The group of every row, as for ``fit``.
        sample_weight : array of shape (n,), default=None
            Weights of rows within their groups.
        classes : array of shape (classes,), default=None
            All classes, of this portion and of all that follow. Needed in the first call, unless a model
            is there.
        groups : sequence of labels or names, default=None
            All groups, as in ``group_names_``; of several families a list of them for each. By default those
            of the first call, or of the model that is there.

        Returns
        -------
        GroupDROClassifier
            The estimator itself.

        Raises
        ------
        AttributeError
            For a solver that needs all rows at once.
        ValueError
            For classes, groups and features that the first call did not name; for rows as in ``fit``; for
            arguments of the estimator that are about all rows (``tol``, ``budget``, ``adjustment``,
            ``checkpoint``, ``objective="average"``), and those that were others in the call before.
        """
        follows = self._goes_on_with_portions()
        known = self._known_classes(classes)
        X, y, weights, families, _ = self._rows(
            X, y, sensitive_features, sample_weight, None, numbers=False, follows=follows, classes=known
        )
        loss, targets, outputs = self._targets(_codes_of(y, known), len(known))
        found = self._learn(X, targets, weights, families, loss, outputs, groups, follows)
        self.classes_ = known
        self.coef_, self.intercept_ = self._scores_of(*found)
        return self

    def _known_classes(self, classes):
        """All classes: those of the model that is there, or those that are given."""
        known = getattr(self, "classes_", None)
        if known is None and classes is None:
            raise ValueError(
                "classes must be passed on the first call to partial_fit: all of them, such as "
                "classes=np.unique(y) of all rows"
            )
        if classes is not None:
            classes = np.unique(column_or_1d(classes))
            if len(classes) < 2:
                raise ValueError(f"classes={classes.tolist()!r}: expected at least two classes")
            if known is not None and not np.array_equal(known, classes):
                raise ValueError(
                    f"classes={classes.tolist()!r:.200} are others than those of the model that is there, "
                    f"{known.tolist()!r:.200}: leave them out, or begin anew with fit or a clone"
                )
        return classes if known is None else known

    def decision_function(self, X: MatrixLike) -> Matrix:
        """Scores: of the second class for two classes, else one per class.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Features, as for ``fit``.

        Returns
        -------
        ndarray of shape (n,) or (n, classes)
            For two classes above 0 where the second one is more likely.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For features that ``fit`` did not see, and missing or infinite numbers.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: MatrixLike) -> Labels:
        """The most likely class of every row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Features, as for ``fit``.

        Returns
        -------
        ndarray of shape (n,)
            Classes, of the kind of ``classes_``.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For features that ``fit`` did not see, and missing or infinite numbers.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores >= 0).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    def _has_probabilities(self):
        loss = getattr(self, "loss_", self.loss)
        if loss in (None, "logistic", "softmax"):
            return True
        raise AttributeError(f"the scores of loss={loss!r} are no log-odds: no probabilities")

    @available_if(_has_probabilities)
    def predict_proba(self, X: MatrixLike) -> Matrix:
        """The probability of every class, one column per class.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Features, as for ``fit``.

        Returns
        -------
        ndarray of shape (n, classes)
            Rows sum to 1; columns are in the order of ``classes_``.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For features that ``fit`` did not see, and missing or infinite numbers.
        AttributeError
            After training with a hinge loss, whose scores are no log-odds.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            # Without overflow, and so that both are exact where one is small.
            small = np.exp(-np.abs(scores))
            low, high = small / (1 + small), 1 / (1 + small)
            second = np.where(scores >= 0, high, low)
            return np.column_stack([np.where(scores >= 0, low, high), second])
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    @available_if(_has_probabilities)
    def predict_log_proba(self, X: MatrixLike) -> Matrix:
        """The logarithm of the probability of every class.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Features, as for ``fit``.

        Returns
        -------
        ndarray of shape (n, classes)
            Exact where probabilities are too small for a float, too.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For features that ``fit`` did not see, and missing or infinite numbers.
        AttributeError
            After training with a hinge loss, whose scores are no log-odds.
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            scores = np.column_stack([np.zeros_like(scores), scores])
        scores = scores - scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))


class GroupDRORegressor(_Scored, RegressorMixin, _GroupDRO):
    """A linear regression that does well on every group."""

    coef_: Vector
    intercept_: float

    # Groups and clusters are always passed on to fit where metadata routing is enabled.
    __metadata_request__fit = {"sensitive_features": True, "clusters": True}
    __metadata_request__partial_fit = {"sensitive_features": True, "groups": True}

    def fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        *,
        sensitive_features: GroupsLike | None = None,
        sample_weight: ColumnLike | None = None,
        clusters: ColumnLike | None = None,
    ) -> GroupDRORegressor:
        """Fits the model.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Features: NumPy, SciPy sparse, pandas, polars or Arrow.
        y : array of shape (n,)
            Numbers.
        sensitive_features : array, frame, dict or list of arrays, default=None
            The group of every row, see :meth:`GroupDROClassifier.fit`.
        sample_weight : array of shape (n,), default=None
            Weights of rows within their groups: 2 counts like two rows, 0 like none.
        clusters : array of shape (n,), default=None
            Which rows belong together, such as those of a patient. The model is the same; the largest
            cluster of a group is remembered, as ``cluster_cap_``, for intervals whose unit is a cluster
            (:func:`gdro.metrics.evaluate`).

        Returns
        -------
        GroupDRORegressor
            The estimator itself.

        Raises
        ------
        ValueError
            For rows that cannot be trained on (missing or infinite numbers, columns of other lengths or
            with another index), and for arguments that are out of range or that nothing would use.
        """
        follows = self._goes_on()
        X, y, weights, families, clusters = self._rows(
            X, y, sensitive_features, sample_weight, clusters, numbers=True, follows=follows
        )
        coefficients, intercepts = self._fit(
            X, y, weights, families, clusters, self._loss(), 0, follows
        )
        self.coef_, self.intercept_ = coefficients[0], float(intercepts[0])
        return self

    def _loss(self):
        loss = "squared" if self.loss is None else loss_of(self.loss)
        targets_of(loss, ("numbers",))
        return loss

    @available_if(_takes_portions)
    def partial_fit(
        self,
        X: MatrixLike,
        y: ColumnLike,
        *,
        sensitive_features: GroupsLike | None = None,
        sample_weight: ColumnLike | None = None,
        groups: Sequence[Any] | None = None,
    ) -> GroupDRORegressor:
        """Goes on learning from a portion of the rows, see :meth:`GroupDROClassifier.partial_fit`.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Features of the portion.
        y : array of shape (n,)
            Numbers.
        sensitive_features : array, frame, dict or list of arrays, default=None
            The group of every row, as for ``fit``.
        sample_weight : array of shape (n,), default=None
            Weights of rows within their groups.
        groups : sequence of labels or names, default=None
            All groups, as in ``group_names_``; of several families a list of them for each. By default those
            of the first call, or of the model that is there.

        Returns
        -------
        GroupDRORegressor
            The estimator itself.

        Raises
        ------
        AttributeError
            For a solver that needs all rows at once.
        ValueError
            For groups and features that the first call did not name; for rows as in ``fit``; for arguments
            of the estimator that are about all rows (``tol``, ``budget``, ``adjustment``, ``checkpoint``,
            ``objective="average"``), and those that were others in the call before.
        """
        follows = self._goes_on_with_portions()
        X, y, weights, families, _ = self._rows(
            X, y, sensitive_features, sample_weight, None, numbers=True, follows=follows
        )
        found = self._learn(X, y, weights, families, self._loss(), 0, groups, follows)
        self.coef_, self.intercept_ = found[0][0], float(found[1][0])
        return self

    def predict(self, X: MatrixLike) -> Vector:
        """The prediction for every row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, d)
            Features, as for ``fit``.

        Returns
        -------
        ndarray of shape (n,)
            Predictions, in the units of ``y``.

        Raises
        ------
        NotFittedError
            Before ``fit``.
        ValueError
            For features that ``fit`` did not see, and missing or infinite numbers.
        """
        return self._scores(X)


def _codes_of(y, classes):
    """The numbers of labels among all classes."""
    number_of = {label: number for number, label in enumerate(classes.tolist())}
    labels, inverse = np.unique(y, return_inverse=True)
    for label in labels.tolist():
        if label not in number_of:
            raise ValueError(
                f"y holds {label!r}, which is none of the classes {classes.tolist()!r:.200}: name all classes "
                "in the first call of partial_fit by classes="
            )
    return np.array([number_of[label] for label in labels.tolist()])[inverse]


def _explained(error, X, y, numbers, follows):
    """What is wrong with rows that scikit-learn refuses in words of its own, where it is known."""
    text = str(error)
    if follows is not None and ("feature names" in text or "features as input" in text):
        return "{}; {}: give rows of its features, or {}".format(text.rstrip(".\n"), *follows)
    if "at least one array or dtype is required" in text:
        return "X has no columns: expected at least one feature"
    if "could not convert" in text:
        for name in getattr(X, "column_names", getattr(X, "columns", ())):
            try:
                np.asarray(X[name], dtype=np.float64)
            except (TypeError, ValueError):
                return (
                    f"column {name!r} of X holds texts ({text}): encode them, such as by "
                    "OneHotEncoder in a ColumnTransformer, or leave the column out"
                )
        where = "y" if numbers and _is_text(y) else "X"
        return f"{where}: expected numbers ({text})"
    if "Unknown label type" in text and not numbers:
        labels = y.tolist() if hasattr(y, "tolist") else list(y)
        missing = next((row for row, v in enumerate(labels) if v is None or v != v), None)
        if missing is not None:
            return f"y of row {missing} is {labels[missing]!r}: expected a label"
    return None


def _is_text(y):
    try:
        np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        return True
    return False


def _rows_of(X, y, weights, families):
    """Rows as the solver reads them."""
    return (
        _features(X),
        np.ascontiguousarray(y, dtype=np.float64),
        None if weights is None else np.ascontiguousarray(weights),
        [(family.codes, len(family.names)) for family in families],
    )


def _features(X):
    """Features as the solver reads them, without a copy if possible."""
    if sparse.issparse(X):
        X = X.tocsr()
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        return (
            X.indptr.astype(np.uint64),
            X.indices.astype(np.uint32),
            X.data.astype(np.float64, copy=False),
            X.shape[1],
        )
    return X if X.flags.aligned else X.copy()


def _with_ones(X):
    ones = np.ones((X.shape[0], 1), dtype=X.dtype)
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_matrix(ones)], format="csr")
    return np.hstack([X, ones])


def _listener(verbose):
    if not verbose:
        return None
    return lambda line: print(f"[gdro] {line}", flush=True)


def _trace(points):
    """The curve as arrays, one row per point."""
    rounds, samples, seconds, risks, weights, objective = zip(*points)
    return {
        "round": np.array(rounds),
        "samples": np.array(samples),
        "seconds": np.array(seconds),
        "group_risks": np.array(risks),
        "group_weights": np.array(weights),
        "objective": np.array(objective),
    }


def _with_one(families, clusters):
    """The names of the groups that have a single cluster."""
    names = []
    for family in families:
        pairs = np.unique(np.stack([family.codes, clusters]), axis=1)
        found = np.bincount(pairs[0], minlength=len(family.names))
        names += [name for name, count in zip(family.names, found) if count == 1]
    return names


#: Arguments that the solver does not read as they are.
_NOT_READ = (
    "self",
    "objective",
    "k",
    "solver",
    "random_state",
    "n_jobs",
    "threads",
    "verbose",
    "warm_start",
    "checkpoint",
    "weight_kind",
)

#: The arguments that the solver reads, with their defaults.
_USUAL = {
    name: parameter.default
    for name, parameter in inspect.signature(_GroupDRO.__init__).parameters.items()
    if name not in _NOT_READ
}


document(
    GroupDROClassifier,
    _DOCUMENTATION,
    LOSS="""``"logistic"``, ``"hinge"`` or ``"smoothed-hinge:G"`` for two classes, ``"softmax"`` for
        any number. By default logistic for two classes, softmax for more. For type checkers
        ``("smoothed-hinge", G)``.""",
    CLASSES="""classes_ : ndarray of shape (classes,)
        The classes.
    """,
    CLASS_WEIGHT="""    class_weight : mapping, "balanced" or None, default=None
        Rows of a class count so much more within their groups, times ``sample_weight``;
        ``"balanced"`` is n/(classes · rows of the class), over all rows, as in scikit-learn. It is
        about training alone: a saved model knows nothing of it, and the program's ``certify`` weighs
        classes alike.
""",
    COEF="(1, d) for two classes, else (classes, d)",
    INTERCEPT="ndarray of shape (1,) or (classes,)",
    EXAMPLE=""">>> import numpy as np
    >>> from gdro import GroupDROClassifier
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]] * 10)
    >>> y = np.array(["no", "no", "yes", "yes"] * 10)
    >>> site = np.array(["a", "b"] * 20)
    >>> model = GroupDROClassifier(l2=0.01).fit(X, y, sensitive_features=site)
    >>> model.predict([[0.5], [2.5]]).tolist()
    ['no', 'yes']
    >>> model.certificate_.gap < 1e-9
    True""",
)
document(
    GroupDRORegressor,
    _DOCUMENTATION,
    LOSS="""``"squared"`` (the default: the squared residual, not half of it), ``"absolute"``,
        ``"huber:D"`` or ``"quantile:T"``; for type checkers ``("huber", D)``.""",
    CLASSES="",
    CLASS_WEIGHT="",
    COEF="(d,)",
    INTERCEPT="float",
    EXAMPLE=""">>> import numpy as np
    >>> from gdro import GroupDRORegressor
    >>> X = np.arange(20.0).reshape(-1, 1)
    >>> site = np.where(np.arange(20) % 4 == 0, "a", "b")
    >>> y = X[:, 0] + (site == "a")
    >>> model = GroupDRORegressor().fit(X, y, sensitive_features=site)
    >>> round(float(model.predict([[5.0]])[0]), 2)
    5.56""",
)

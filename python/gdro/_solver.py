"""The loop itself, for research."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_X_y, column_or_1d

from . import _gdro
from ._certificate import Certificate
from ._estimators import _rows_of
from ._groups import families_of, names_of
from ._index import same_index
from ._settings import given, is_text, loss_of, number, objective_of, seed_of, targets_of, weights_of

if TYPE_CHECKING:
    from ._types import (
        Algorithm,
        Average,
        Budget,
        ColumnLike,
        Domain,
        GroupsLike,
        Labels,
        Loss,
        Matrix,
        MatrixLike,
        PerGroup,
        RandomState,
        Subsets,
        Vector,
    )


class Solver:
    """One of the paper's stochastic algorithms, round by round.

    Rows come from arrays (``X``, ``y``, ``sensitive_features``) or from a function ``source(group)``
    that returns features and target of a fresh sample of group 0, 1, …. The loss is one of gdro's by
    name, or a function ``loss(scores, y)`` that returns the loss and its gradient in the scores.

    Parameters
    ----------
    algorithm : str
        What plays: ``"smd-m"``, ``"online-1"``, ``"smd-r"``, ``"smpa-m"``, ``"atkro-m"``, …. Three of them,
        ``"smd-r"``, ``"smpa-m"`` and ``"hybrid"``, play the paper's weighted game: of groups of n_i rows they
        make the largest n_i R_i small, not the largest risk R_i, which the others do.
    X : array or sparse matrix of shape (n, d), default=None
        Rows in memory.
    y : array of shape (n,), default=None
        Labels or numbers. Labels of two classes are mapped to -1 and +1, of several to 0, 1, ….
    sensitive_features, sample_weight
        As for ``GroupDROClassifier.fit``.
    source : callable, default=None
        In the place of rows. Its targets are taken as they are: -1 or +1 for a loss of two labels, 0, 1, …
        for softmax, a number else.
    groups : int or sequence of str, default=None
        Of a source: how many groups there are, or their names.
    n_features : int, default=None
        Of a source: number of features.
    x_norm, y_bound : float, default=None and 1
        Of a source: what the Euclidean norm of the features and the size of the target lie below;
        the steps of the theorems depend on them.
    loss : str, tuple or callable, default="logistic"
        A loss by name, or a function of scores of shape (c,) and a target (not for ``"smpa-m"`` and
        ``"hybrid"``, whose steps rest on its curvature). It gets the targets as ``y`` or
        the source has them, as floats: no labels are mapped to -1 and +1 for it.
    outputs : int, default=1
        Number of scores, of a loss that is a function.
    loss_range, loss_lipschitz : float, default=None
        The largest loss, and the Lipschitz constant (largest Euclidean norm of the gradient in the
        scores) of a loss that is a function, which needs both. It must be convex in the scores,
        and is held against its tangents from time to time. It is held to them: a loss outside of
        [0, ``loss_range``] or a longer gradient is an error. By default the range is a bound from the
        domain: a free intercept may go to ±100, which makes it large and the steps of the weights short.
        Give the range of the losses, or leave the intercept out.
    rounds : int, default=100_000
        Number of rounds that fixed steps are meant for. A round of ``"smd-m"`` takes a sample of every
        group, of ``"online-1"`` a single one: see ``samples``.
    step_w, step_q : float, default=1
        Multipliers on the steps of the theorems, which are taken as they are: unlike the estimators
        this searches for none.
    k, l2, ball, domain, fit_intercept, offsets, scales, anytime, average, budget, nbar, queries, \
kept, subsets, delta
        As for the estimators; a source needs a ball or a domain, and of ``"smd-r"``, ``"smpa-m"`` and
        ``"hybrid"`` a ``budget``, the number of samples of every group. ``k`` above 1 is the mean of the k largest
        risks.
    random_state : int, Generator, RandomState or None, default=0
        Seed of all draws but those of a source that is a function.

    Attributes
    ----------
    group_names : ndarray of str of shape (m,)
        Names of the groups.
    n_features : int
        Number of features d.
    outputs : int
        Number of scores c.

    Raises
    ------
    ValueError
        For arguments that are out of range, that do not go together or that nothing would use.

    Examples
    --------
    Rows in memory:

    >>> import numpy as np
    >>> from gdro import Solver
    >>> X, site = np.array([[0.0], [1.0], [2.0], [3.0]] * 10), np.array(["a", "b"] * 20)
    >>> y = np.array(["no", "no", "yes", "yes"] * 10)
    >>> solver = Solver("online-1", X, y, sensitive_features=site, l2=0.01, rounds=2000)
    >>> solver.advance(2000)
    2000
    >>> coefficients, intercepts = solver.model
    >>> coefficients.shape, intercepts.shape
    ((1, 1), (1,))

    Fresh samples of two coins, of which no guess is good for both:

    >>> rng = np.random.default_rng(0)
    >>> coins = Solver(
    ...     "smd-m",
    ...     source=lambda coin: ([1.0], float(rng.random() < (0.2, 0.8)[coin])),
    ...     groups=["rare", "common"], n_features=1, x_norm=1.0, loss="squared", ball=1.0,
    ...     fit_intercept=False, rounds=3000, step_q=10.0,
    ... )
    >>> coins.advance(3000)
    3000
    >>> abs(float(coins.model[0][0, 0]) - 0.5) < 0.1
    True
    """

    group_names: Labels
    n_features: int
    outputs: int

    def __init__(
        self,
        algorithm: Algorithm,
        X: MatrixLike | None = None,
        y: ColumnLike | None = None,
        *,
        sensitive_features: GroupsLike | None = None,
        sample_weight: ColumnLike | None = None,
        source: Callable[[int], tuple[Any, float]] | None = None,
        groups: int | Sequence[str] | None = None,
        n_features: int | None = None,
        x_norm: float | None = None,
        y_bound: float = 1.0,
        loss: Loss | Callable[[Vector, float], tuple[float, Any]] = "logistic",
        outputs: int = 1,
        loss_range: float | None = None,
        loss_lipschitz: float | None = None,
        rounds: int = 100_000,
        step_w: float = 1.0,
        step_q: float = 1.0,
        k: float = 1,
        l2: float | None = None,
        ball: float | None = None,
        domain: Domain | None = None,
        fit_intercept: bool = True,
        offsets: PerGroup | None = None,
        scales: PerGroup | None = None,
        anytime: bool = False,
        average: Average | None = None,
        budget: Budget | None = None,
        nbar: int | None = None,
        queries: int | list[int] | None = None,
        kept: int | None = None,
        subsets: Subsets | None = None,
        delta: float = 0.05,
        random_state: RandomState | None = 0,
    ) -> None:
        if (source is None) == (X is None):
            raise ValueError("give either rows (X, y) or a source")
        own = None
        classes = 0
        if callable(loss):
            _require(
                "a loss that is a function", loss_range=loss_range, loss_lipschitz=loss_lipschitz
            )
            outputs = number("outputs", outputs, low=1, whole=True)
            call = loss
            own = (
                lambda s, t: _answer(call(s, t)),
                outputs,
                number("loss_range", loss_range, low=0, strictly=True),
                number("loss_lipschitz", loss_lipschitz, low=0, strictly=True),
            )
        else:
            loss = loss_of(loss)
            targets_of(loss)
            if loss_lipschitz is not None:
                raise ValueError("loss_lipschitz is for a loss that is a function")
            if outputs != 1 and (source is None or loss != "softmax"):
                raise ValueError("outputs is for a loss that is a function, or softmax on a source")
            classes = outputs if loss == "softmax" else 0
        k = number("k", k, low=1)
        if algorithm in ("exact", "auto"):
            raise ValueError(f"algorithm={algorithm!r} plays no rounds: use an estimator")
        # The largest risk, of players who minimise that alone.
        top = k != 1 or _gdro.takes_k(algorithm)
        always = {
            "objective": objective_of("top-k", k) if top else "max",
            "solver": algorithm,
            "random_state": seed_of(random_state),
        }
        if own is None:
            always["loss"] = loss
        arguments = {
            "rounds": rounds,
            "step_w": step_w,
            "step_q": step_q,
            "l2": l2,
            "ball": ball,
            "domain": domain,
            "fit_intercept": fit_intercept,
            "anytime": anytime,
            "average": average,
            "loss_range": loss_range,
            "budget": budget,
            "nbar": nbar,
            "queries": queries,
            "kept": kept,
            "subsets": subsets,
            "delta": delta,
            "offsets": offsets,
            "scales": scales,
        }
        _gdro.check(given(arguments, _USUAL) | always)
        if source is None:
            of_source = {"groups": groups, "n_features": n_features, "x_norm": x_norm}
            for name, value in of_source.items():
                if value is not None:
                    raise ValueError(f"{name} is for a source; rows say it themselves")
            same_index(
                X=X, y=y, sensitive_features=sensitive_features, sample_weight=sample_weight
            )
            X, y = check_X_y(X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
            weights, keep = weights_of(sample_weight, X)
            families = families_of(sensitive_features, X.shape[0], keep)
            if keep is not None:  # a row of weight 0 is absent
                X, y, weights = X[keep], y[keep], weights[keep]
            self.group_names = names_of(families)
            y, classes = _targets(y, "own" if own else loss)
            self.n_features = X.shape[1]
            rows = _rows_of(X, y, weights, families)
            arguments = given(arguments, _USUAL, self.group_names) | always
            made = {"rows": f"{X.shape[0]} rows with the checksum {_checksum(rows):08x}"}
            self._loop = _gdro.Loop.on_rows(
                rows, self.group_names.tolist(), arguments, classes, own
            )
        else:
            _require("a source", groups=groups, n_features=n_features, x_norm=x_norm)
            if ball is None and domain is None:
                raise ValueError("a source needs a ball or a domain: nothing else bounds the model")
            for name, value in (
                ("y", y),
                ("sensitive_features", sensitive_features),
                ("sample_weight", sample_weight),
            ):
                if value is not None:
                    raise ValueError(f"{name} is for rows, not for a source")
            if isinstance(groups, (int, np.integer)):
                groups = [str(i) for i in range(number("groups", groups, low=1, whole=True))]
            self.group_names = np.array([str(g) for g in groups], dtype=object)
            self.n_features = number("n_features", n_features, low=1, whole=True)
            bounds = (
                number("x_norm", x_norm, low=0, strictly=True),
                number("y_bound", y_bound, low=0),
            )
            arguments = given(arguments, _USUAL, self.group_names) | always
            made = {"rows": "a source", "x_norm": bounds[0], "y_bound": bounds[1]}
            self._loop = _gdro.Loop.on_source(
                lambda group: _sample(_drawn(source, group)),
                self.group_names.tolist(),
                self.n_features,
                bounds,
                arguments,
                classes,
                own,
            )
        made |= {
            "algorithm": algorithm,
            "groups": self.group_names.tolist(),
            "n_features": self.n_features,
            "outputs": self._loop.shape[1],
            "loss": loss if own is None else "a function",
            "loss_lipschitz": loss_lipschitz,
        }
        #: What a state must agree with; a generator gives another seed every time.
        self._made = _plain(made | _USUAL | arguments)
        del self._made["solver"]
        if not isinstance(random_state, Integral):
            del self._made["random_state"]
        self._intercept = bool(fit_intercept)
        self.outputs = self._loop.shape[1]

    def advance(self, rounds: int = 1) -> int:
        """Plays so many more rounds, fewer where a budget ends them.

        Rounds beyond ``rounds`` are played as well; the steps stay those of so many. Where a source or a loss
        that is a function raises, the solver goes back to a whole round, which ``rounds`` tells: one of the
        last fifth. What the function keeps for itself is the caller's to put back.

        Parameters
        ----------
        rounds : int, default=1
            How many.

        Returns
        -------
        int
            How many were played.

        Raises
        ------
        StopIteration
            Where the budget of a group is used up and no round can be played.
        ValueError
            Where a source or loss that is a function gives what it should not.
        """
        return self._loop.advance(number("rounds", rounds, low=1, whole=True))

    @property
    def rounds(self) -> int:
        """Rounds played."""
        return self._loop.look()["rounds"]

    @property
    def samples(self) -> Vector:
        """Samples drawn from each group, of shape (m,)."""
        return self._loop.look()["samples"]

    @property
    def clipped(self) -> int:
        """How many losses lay outside of the range of a bandit player."""
        return self._loop.look()["clipped"]

    @property
    def steps(self) -> tuple[float, float, float]:
        """(eta_w, eta_q, gamma) of the next round, with ``step_w`` and ``step_q`` in them.

        The model moves by eta_w times a gradient: model² per loss. The weight of a group grows by
        exp(eta_q · gain): eta_q is per loss where the gain is a loss (such as ``"smd-m"``), and without a
        unit for bandit players, whose losses are divided by their range (such as ``"online-1"``). gamma,
        the exploration of these, has no unit and is 0 for the others.
        """
        return self._loop.look()["steps"]

    @property
    def weights(self) -> Vector:
        """The averaged group weights, of shape (m,)."""
        return self._loop.look()["q"]

    @property
    def last_weights(self) -> Vector:
        """The present group weights, of shape (m,)."""
        return self._loop.look()["last_q"]

    @property
    def model(self) -> tuple[Matrix, Vector]:
        """The averaged model: coefficients of shape (c, d), and intercepts of shape (c,)."""
        return self._split(self._loop.look()["w"])

    @property
    def last_model(self) -> tuple[Matrix, Vector]:
        """The present model, in the shapes of ``model``."""
        return self._split(self._loop.look()["last_w"])

    def _split(self, w):
        d, c = self.n_features, self.outputs
        intercepts = w[d * c :] if self._intercept else np.zeros(c)
        return w[: d * c].reshape(d, c).T.copy(), np.array(intercepts)

    def gap(self) -> Certificate:
        """How far the averaged model is from the optimum, for rows in memory.

        The lower bound is that of the best weights found near the averaged ones, so that this is the
        suboptimality of the model. The paper's duality gap is ``duality_gap``, which is larger. A loss
        that is a function is called some thousand times for each row, and nothing but Ctrl-C limits the
        time: with many rows ask seldom, or for ``group_risks``, which takes one call for each row.

        Returns
        -------
        Certificate
            Of the averaged model.

        Raises
        ------
        ValueError
            For a source, whose optimum nobody knows.
        """
        return Certificate(*self._loop.certify(False))

    def duality_gap(self) -> Certificate:
        """The paper's measure of both players, for rows in memory.

        That is max over q of φ(w̄, q) less min over w of φ(w, q̄), of the averaged model w̄ and the averaged
        group weights q̄: what the paper's theorems bound and its figures show. A loss that is a function
        is called some hundred times for each row.

        Returns
        -------
        Certificate
            Of the averaged model and weights.

        Raises
        ------
        ValueError
            For a source, whose optimum nobody knows.
        """
        return Certificate(*self._loop.certify(True))

    def group_risks(self) -> Vector:
        """The risk of every group under the averaged model, for rows in memory.

        Returns
        -------
        ndarray of shape (m,)

        Raises
        ------
        ValueError
            For a source, whose risks nobody knows.
        """
        return np.array(self._loop.group_risks())

    def state_dict(self) -> dict[str, Any]:
        """Everything needed to go on, bit for bit, in a solver made with the same arguments.

        What a ``source`` or a ``loss`` that is a function keeps for itself, such as a generator of random
        numbers, is not in it: save that beside it, and put it back before going on.

        Returns
        -------
        dict
            Plain values, which any serialiser takes.
        """
        return {"state": self._loop.save(), "arguments": self._made.copy()}

    def __reduce__(self):
        raise TypeError(
            "a Solver cannot be pickled or copied: keep what state_dict() gives, and load it in a Solver made "
            "with the same arguments"
        )

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes over what ``state_dict`` gave.

        Parameters
        ----------
        state : dict
            What a solver with the same arguments gave.

        Raises
        ------
        ValueError
            For anything else, such as the state of other rows, rounds or another seed.
        """
        try:
            # Earlier versions wrote no arguments.
            text, made = state["state"], state.get("arguments", {})
        except (AttributeError, KeyError, TypeError):
            raise ValueError("state: expected what state_dict() gave") from None
        for name, own in self._made.items():
            if made.get(name, own) != own:
                raise ValueError(
                    f"state: it was saved with {name}={made[name]!r:.80}, and this solver has "
                    f"{name}={own!r:.80}: make one with the arguments of that one"
                )
        self._loop.restore(text)


#: Arguments that are not given unless they differ: steps of 1 are what adaptive players take.
_USUAL = {
    "rounds": None,
    "step_w": 1,
    "step_q": 1,
    "l2": None,
    "ball": None,
    "domain": None,
    "fit_intercept": True,
    "anytime": False,
    "average": None,
    "loss_range": None,
    "budget": None,
    "nbar": None,
    "queries": None,
    "kept": None,
    "subsets": None,
    "delta": 0.05,
    "offsets": None,
    "scales": None,
}


def _require(what, **given):
    """Refuses what lacks arguments, with all that it lacks."""
    absent = [name for name, value in given.items() if value is None]
    if absent:
        raise ValueError(f"{what} needs {' and '.join(absent)}")


def _plain(values):
    """Values as any serialiser gives them back."""
    return json.loads(json.dumps(values, default=lambda value: value.item()))


def _checksum(parts, so_far=0):
    """A checksum of arrays, of whatever depth."""
    if isinstance(parts, (tuple, list)):
        for part in parts:
            so_far = _checksum(part, so_far)
        return so_far
    return zlib.crc32(np.ascontiguousarray([] if parts is None else parts), so_far)


def _targets(y, loss):
    """Targets as the loss takes them, and the number of classes of a softmax."""
    y = column_or_1d(y)
    kind = "numbers" if loss == "own" else targets_of(loss)
    if kind == "labels":
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) != 2:
            raise ValueError(f"loss={loss!r} takes two classes, y holds {len(classes)}")
        return np.where(codes == 1, 1.0, -1.0), 0
    if kind == "classes":
        classes, codes = np.unique(y, return_inverse=True)
        return codes.astype(np.float64), len(classes)
    if is_text(y):
        raise ValueError(f"y holds texts, as {y.tolist()[0]!r}: a loss of numbers takes y as it is: map it")
    return np.ascontiguousarray(y, dtype=np.float64), 0


def _answer(found):
    try:
        value, slope = found
    except (TypeError, ValueError):
        raise ValueError(
            f"the loss returned {found!r:.80}: expected the loss and its gradient"
        ) from None
    return float(value), np.atleast_1d(np.asarray(slope, dtype=np.float64))


def _sample(found):
    try:
        x, y = found
    except (TypeError, ValueError):
        raise ValueError(
            f"the source returned {found!r:.80}: expected features and target"
        ) from None
    if sparse.issparse(x):
        x = x.toarray().ravel()
    try:
        x, y = np.ascontiguousarray(x, dtype=np.float64), float(y)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the source returned {found!r:.80}: expected numbers ({error})") from None
    if x.ndim != 1:
        raise ValueError(f"the source returned features of the shape {x.shape}: expected (n_features,)")
    return x, y


def _drawn(source, group):
    try:
        return source(group)
    except StopIteration:
        raise RuntimeError(f"the source has no more samples of group {group}") from None

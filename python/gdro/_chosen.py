"""Estimators that choose objective and penalty by themselves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _gdro
from ._arguments import document
from ._estimators import (
    _USUAL,
    GroupDROClassifier,
    GroupDRORegressor,
    _listener,
)
from ._settings import checkpoint_of, given, objective_of, seed_of, threads_of, with_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._types import (
        Checkpoint,
        ClassWeight,
        Criterion,
        Domain,
        Loss,
        Objective,
        PerGroup,
        RandomState,
        SolverName,
        WeightKind,
    )

_DOCUMENTATION = """

    A family of models goes from ordinary training (ERM, ``"average"``) to the largest group risk
    (``"max"``), each with several penalties. All are tried on rows that they were not trained on, in
    ``cv`` folds that keep groups, labels and clusters, and judged by their worst group there. The best
    takes the place of ERM only where it is better in 95 % of the samples that are drawn from these rows
    anew, within each group; otherwise the model is ERM, with the penalty that is best for it. It is
    what ``gdro select`` does, by the same code. For the same rows and seed the choice is the same where
    the groups have the same order, which folds and samples follow: here groups are sorted, and the
    program takes them as they appear in the file.

    Parameters
    ----------
    objectives : "auto" or list of str or tuple, default="auto"
        The family besides ERM, such as ``["balanced", "tilted:0.1", "top-k:3", "max"]``. By default
        balanced, tilted risks with τ from 3 to 0.01 times the mean loss of ERM (for squared loss, the
        variance of y), from rows and from groups alike, and max.
    l2s : list of float, default=None
        The penalties λ to try; 15 from 1e-6 to 10 by default. ``C`` of ``LogisticRegression`` is
        1/(n λ).
    balls : list of float, default=None
        Radii of the ball to try, instead of penalties.
    cv : int, default=5
        Number of folds.
    validation : float, default=None
        Instead of folds: the share of the rows that judges.
    criterion : {"risk", "accuracy", "top-k:K"}, default="risk"
        What decides: the largest group risk, the least accuracy of a group, or the mean of the K
        largest risks.
    judge_rows : int, default=20
        Groups with fewer rows do not decide, unless all have fewer.
    random_state : int, Generator, RandomState or None, default=None
        Of the folds and samples; an int is the seed of the program.
    loss, domain, fit_intercept, penalize_intercept, solver, tol, max_iter, offsets, adjustment, scales, \
weight_kind, n_jobs, threads, verbose, checkpoint@CLASS_WEIGHT@
        As of :class:`@BASE@`.

    Attributes
    ----------
    best_params_ : dict
        ``objective`` and ``l2`` (or ``ball``) of the model.
    erm_params_ : dict
        Those of ERM.
    kept_erm_ : bool
        Whether the model is ERM, because no other one is better beyond doubt.
    chosen_ : dict
        Why: ``criterion`` of the ``best`` model besides ERM and of ``erm``, and the share of the samples
        in which it is ``better`` (None where it is not), of which 0.95 is ``asked``.
    cv_results_ : dict of ndarray
        All that was tried: ``params``, ``param_objective``, ``param_l2`` (or ``param_ball``),
        ``criterion``, ``standard_error``, ``worst_group``, ``mean_rows`` and ``rank``.
    judges_ : ndarray of bool
        Whether each group decides.
    selection_ : dict
        What the program writes as ``selection.json``.
    coef_, intercept_, …
        As of :class:`@BASE@`, of the chosen model, trained on all rows.

    Raises
    ------
    TypeError
        For an argument that is none, with the name of the one that is meant.

    Examples
    --------
    >>> import numpy as np
    >>> from gdro import @SELF@
    >>> rng = np.random.default_rng(0)
    >>> X, site = rng.normal(size=(400, 2)), np.repeat(["a", "b"], [360, 40])
    >>> score = X[:, 0] + np.where(site == "a", 1, -1) * X[:, 1] + rng.logistic(size=400)
    >>> y = @TARGET@
    >>> model = @SELF@(l2s=[1e-3, 1e-1], random_state=0)
    >>> model.fit(X, y, sensitive_features=site).kept_erm_
    False
    >>> sorted(model.best_params_)
    ['l2', 'objective']
    """


class _Chosen:
    best_params_: dict[str, Any]
    erm_params_: dict[str, Any]
    kept_erm_: bool
    chosen_: dict[str, Any]
    cv_results_: dict[str, Any]
    selection_: dict[str, Any]

    def __init__(
        self,
        *,
        objectives: Literal["auto"] | Sequence[Objective] = "auto",
        l2s: Sequence[float] | None = None,
        balls: Sequence[float] | None = None,
        cv: int = 5,
        validation: float | None = None,
        criterion: Criterion = "risk",
        judge_rows: int = 20,
        loss: Loss | None = None,
        domain: Domain | None = None,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        solver: SolverName = "exact",
        tol: float | None = None,
        max_iter: int = 200,
        offsets: PerGroup | None = None,
        adjustment: float | None = None,
        scales: PerGroup | None = None,
        weight_kind: WeightKind = "importance",
        random_state: RandomState | None = None,
        n_jobs: int | None = None,
        threads: int | None = None,
        verbose: int = 0,
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.objectives = objectives
        self.l2s = l2s
        self.balls = balls
        self.cv = cv
        self.validation = validation
        self.criterion = criterion
        self.judge_rows = judge_rows
        self.loss = loss
        self.domain = domain
        self.fit_intercept = fit_intercept
        self.penalize_intercept = penalize_intercept
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.offsets = offsets
        self.adjustment = adjustment
        self.scales = scales
        self.weight_kind = weight_kind
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.threads = threads
        self.verbose = verbose
        self.checkpoint = checkpoint

    def _arguments(self, names=None, **more):
        own = {name: getattr(self, name) for name in _USUAL if hasattr(self, name)}
        if self.objectives is None or isinstance(self.objectives, str):
            if self.objectives != "auto":
                raise ValueError(f"objectives={self.objectives!r}: expected 'auto' or a list")
        else:
            more["objectives"] = [objective_of(objective, None) for objective in self.objectives]
        for name, values in (("l2", self.l2s), ("ball", self.balls)):
            if values is not None:
                more[name] = np.asarray(values, dtype=float).ravel().tolist()
        more["validation"] = self.validation
        if self.validation is None:
            more["folds"] = self.cv
        more |= {
            "criterion": with_number("criterion", self.criterion),
            "judge_rows": self.judge_rows,
            "solver": self.solver,
        }
        return given(own, _USUAL, names) | more

    def _check(self):
        _gdro.check(self._arguments(), True)
        self._threads = threads_of(self.threads, self.n_jobs)
        self._file = checkpoint_of(self.checkpoint)

    def _whose(self, names):
        """No model starts from a choice."""
        return None

    def _goes_on(self):
        """The models of a choice begin each from another one."""
        return None

    def _has_portions(self):
        raise AttributeError(
            "partial_fit is for one model, and a choice needs all rows at once: choose by fit, and use "
            "GroupDROClassifier or GroupDRORegressor with what was chosen"
        )

    def _train(self, rows, names, more, classes, clusters, start):
        n = len(rows[1])
        if self.validation is None and n < self.cv:
            raise ValueError(f"cv={self.cv}: found {n} sample{'s' * (n != 1)}, expected one per fold")
        more["random_state"] = seed_of(self.random_state)
        arguments = self._arguments(names, **more)
        listener = _listener(self.verbose)
        found, text = _gdro.select(
            rows, names.tolist(), arguments, classes, clusters, self._threads, listener, self._file
        )
        self._tell(json.loads(text), names)
        return found

    def _tell(self, selection, names):
        """Sets the attributes that say what was chosen."""
        members, knob = selection["members"], selection["knob"]

        def params(member, value=None):
            value = member["value"] if value is None else value
            return {"objective": member["objective"], knob: value}

        def criterion(member):
            return member["points"][member["best"]]["criterion"]

        self.selection_ = selection
        self.judges_ = np.array(selection["judges"])
        self.best_params_ = params(members[selection["chosen"]])
        self.erm_params_ = params(members[0])
        self.kept_erm_ = selection["chosen"] == 0
        best, contest = selection["best"], selection["contest"] or {}
        self.chosen_ = {
            "erm": criterion(members[0]),
            "best": None if best is None else criterion(members[best]),
            "best_params": None if best is None else params(members[best]),
            "better": contest.get("better"),
            "asked": contest.get("asked"),
        }
        tried = [(params(m, p["value"]), p) for m in members for p in m["points"]]
        criteria = np.array([point["criterion"] for _, point in tried])
        list_of = np.array([None] * len(tried), dtype=object)
        list_of[:] = [those for those, _ in tried]
        self.cv_results_ = {
            "params": list_of,
            "param_objective": np.array([those["objective"] for those, _ in tried]),
            f"param_{knob}": np.array([those[knob] for those, _ in tried]),
            "criterion": criteria,
            "standard_error": np.array([p["standard_error"] for _, p in tried], dtype=float),
            "worst_group": np.array([names[point["worst"]] for _, point in tried]),
            "mean_rows": np.array([point["mean_rows"] for _, point in tried]),
            "rank": np.searchsorted(np.sort(criteria), criteria) + 1,
        }


class GroupDROClassifierCV(_Chosen, GroupDROClassifier):
    """A linear classifier that does well on every group, if that is better than ordinary training."""

    def __init__(
        self,
        *,
        objectives: Literal["auto"] | Sequence[Objective] = "auto",
        l2s: Sequence[float] | None = None,
        balls: Sequence[float] | None = None,
        cv: int = 5,
        validation: float | None = None,
        criterion: Criterion = "risk",
        judge_rows: int = 20,
        loss: Loss | None = None,
        domain: Domain | None = None,
        fit_intercept: bool = True,
        penalize_intercept: bool = False,
        solver: SolverName = "exact",
        tol: float | None = None,
        max_iter: int = 200,
        offsets: PerGroup | None = None,
        adjustment: float | None = None,
        scales: PerGroup | None = None,
        weight_kind: WeightKind = "importance",
        random_state: RandomState | None = None,
        n_jobs: int | None = None,
        threads: int | None = None,
        verbose: int = 0,
        checkpoint: Checkpoint | None = None,
        class_weight: ClassWeight | None = None,
    ) -> None:
        _Chosen.__init__(
            self,
            objectives=objectives,
            l2s=l2s,
            balls=balls,
            cv=cv,
            validation=validation,
            criterion=criterion,
            judge_rows=judge_rows,
            loss=loss,
            domain=domain,
            fit_intercept=fit_intercept,
            penalize_intercept=penalize_intercept,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            offsets=offsets,
            adjustment=adjustment,
            scales=scales,
            weight_kind=weight_kind,
            random_state=random_state,
            n_jobs=n_jobs,
            threads=threads,
            verbose=verbose,
            checkpoint=checkpoint,
        )
        self.class_weight = class_weight


class GroupDRORegressorCV(_Chosen, GroupDRORegressor):
    """A linear regression that does well on every group, if that is better than ordinary training."""


document(
    GroupDROClassifierCV,
    _DOCUMENTATION,
    BASE="GroupDROClassifier",
    SELF="GroupDROClassifierCV",
    CLASS_WEIGHT=", class_weight",
    TARGET="np.where(score > 0, 'yes', 'no')",
)
document(
    GroupDRORegressorCV,
    _DOCUMENTATION,
    BASE="GroupDRORegressor",
    SELF="GroupDRORegressorCV",
    CLASS_WEIGHT="",
    TARGET="score",
)

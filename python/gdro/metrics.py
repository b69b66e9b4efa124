"""How a model does on every group, with intervals that hold for all groups at once.

``worst_group_accuracy`` and ``worst_group_risk`` are functions of targets and predictions,
``worst_group_accuracy_scorer`` and ``worst_group_risk_scorer`` scorers for ``GridSearchCV`` and
``cross_validate`` (``sensitive_features`` are routed to them where metadata routing is enabled;
without it they raise, and no score becomes NaN).
``evaluate`` gives a table by group with intervals, valid for every sample size: on rows that were
not trained on. ``verdict`` says whether a model does better there than ordinary training.
"""

from __future__ import annotations

import json
import sys
import warnings
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from . import _gdro, _html
from ._groups import clusters_of, families_of, in_order, is_missing, names_of
from ._index import same_index
from ._settings import as_written, is_text, loss_of, number, seed_of, targets_of, weights_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._types import (
        Classifier,
        ColumnLike,
        GroupsLike,
        Loss,
        MatrixLike,
        RandomState,
        ReportColumn,
        WeightKind,
    )

__all__ = [
    "GroupReport",
    "Interval",
    "Verdict",
    "evaluate",
    "group_accuracies",
    "group_risks",
    "verdict",
    "worst_group_accuracy",
    "worst_group_accuracy_scorer",
    "worst_group_risk",
    "worst_group_risk_scorer",
]

#: Most groups that a notebook shows of a report.
_SHOWN = 30


def group_accuracies(
    y_true: ColumnLike,
    y_pred: ColumnLike,
    *,
    sensitive_features: GroupsLike | None,
    sample_weight: ColumnLike | None = None,
) -> dict[str, float]:
    """The share of right predictions of every group.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels.
    y_pred : array of shape (n,)
        Predicted labels, of the same kind.
    sensitive_features : array, frame, dict or list of arrays
        The group of every row, as for ``fit``.
    sample_weight : array of shape (n,), default=None
        Weights of the rows; rows of weight 0 are absent.

    Returns
    -------
    dict of str to float
        The accuracies, from 0 to 1, by the names of the groups.

    Raises
    ------
    ValueError
        For columns of other lengths or with another index, and predictions that are no labels.

    Examples
    --------
    >>> from gdro import metrics
    >>> site = ["a", "a", "b", "b"]
    >>> metrics.group_accuracies([0, 1, 0, 1], [0, 1, 1, 1], sensitive_features=site)
    {'a': 1.0, 'b': 0.5}
    """
    same_index(
        y_true=y_true,
        y_pred=y_pred,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
    )
    y_true, y_pred = column_or_1d(y_true), column_or_1d(y_pred)
    check_consistent_length(y_true, y_pred)
    _check_labels(y_true, y_pred)
    return _means((y_true == y_pred).astype(float), sensitive_features, sample_weight)


def worst_group_accuracy(
    y_true: ColumnLike,
    y_pred: ColumnLike,
    *,
    sensitive_features: GroupsLike | None,
    sample_weight: ColumnLike | None = None,
) -> float:
    """The smallest share of right predictions of any group, see :func:`group_accuracies`.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels.
    y_pred : array of shape (n,)
        Predicted labels, of the same kind.
    sensitive_features : array, frame, dict or list of arrays
        The group of every row, as for ``fit``.
    sample_weight : array of shape (n,), default=None
        Weights of the rows; rows of weight 0 are absent.

    Returns
    -------
    float
        From 0 to 1.

    Raises
    ------
    ValueError
        For columns of other lengths or with another index, and predictions that are no labels.

    Examples
    --------
    >>> from gdro import metrics
    >>> site = ["a", "a", "b", "b"]
    >>> metrics.worst_group_accuracy([0, 1, 0, 1], [0, 1, 1, 1], sensitive_features=site)
    0.5
    """
    found = group_accuracies(
        y_true, y_pred, sensitive_features=sensitive_features, sample_weight=sample_weight
    )
    return min(found.values())


def group_risks(
    y_true: ColumnLike,
    y_score: MatrixLike,
    *,
    sensitive_features: GroupsLike | None,
    loss: Loss | Literal["log"] | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ColumnLike | None = None,
) -> dict[str, float]:
    """The mean loss of every group.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels or, for losses of numbers, numbers.
    y_score : array of shape (n,) or (n, classes)
        What the loss is of. ``"log"``: probabilities, those of ``predict_proba`` or of the second
        class alone. ``"logistic"``, ``"hinge"``, ``"smoothed-hinge:G"``: a score per row, above 0
        for the second class, as ``decision_function`` gives it; scores that all lie in [0, 1] are
        taken for probabilities and refused, unless their shape is (n, 1). ``"softmax"``: a score
        per class. ``"squared"``, ``"absolute"``, ``"huber:D"``, ``"quantile:T"``: predictions.
    sensitive_features : array, frame, dict or list of arrays
        The group of every row, as for ``fit``.
    loss : str or tuple, default=None
        ``"log"`` for several columns and ``"squared"`` for numbers, when left out. With one column
        for two classes say which it is.
    labels : array of shape (classes,), default=None
        The classes, of the columns where there are several: the sorted ones of ``y_true`` by default.
    sample_weight : array of shape (n,), default=None
        Weights of the rows; rows of weight 0 are absent.

    Returns
    -------
    dict of str to float
        The risks by the names of the groups; infinite where a probability of 0 came true.

    Raises
    ------
    ValueError
        For scores that are not what the loss is of, a loss that does not go with the targets, and
        columns of other lengths or with another index.

    Examples
    --------
    >>> from gdro import metrics
    >>> site, y, p = ["a", "a", "b", "b"], [0, 1, 0, 1], [0.1, 0.9, 0.5, 0.5]
    >>> risks = metrics.group_risks(y, p, sensitive_features=site, loss="log")
    >>> {name: round(risk, 3) for name, risk in risks.items()}
    {'a': 0.105, 'b': 0.693}
    """
    same_index(
        y_true=y_true,
        y_score=y_score,
        sensitive_features=sensitive_features,
        sample_weight=sample_weight,
    )
    losses = _losses_of(y_true, y_score, loss, labels)
    return _means(losses, sensitive_features, sample_weight)


def worst_group_risk(
    y_true: ColumnLike,
    y_score: MatrixLike,
    *,
    sensitive_features: GroupsLike | None,
    loss: Loss | Literal["log"] | None = None,
    labels: ArrayLike | None = None,
    sample_weight: ColumnLike | None = None,
) -> float:
    """The largest mean loss of any group, see :func:`group_risks`.

    Parameters
    ----------
    y_true : array of shape (n,)
        Labels or, for losses of numbers, numbers.
    y_score : array of shape (n,) or (n, classes)
        What the loss is of.
    sensitive_features : array, frame, dict or list of arrays
        The group of every row, as for ``fit``.
    loss : str or tuple, default=None
        ``"log"`` for several columns and ``"squared"`` for numbers, when left out.
    labels : array of shape (classes,), default=None
        The classes, of the columns where there are several.
    sample_weight : array of shape (n,), default=None
        Weights of the rows; rows of weight 0 are absent.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    ValueError
        As :func:`group_risks`.

    Examples
    --------
    >>> from gdro import metrics
    >>> site = ["a", "a", "b", "b"]
    >>> metrics.worst_group_risk([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 6.0], sensitive_features=site)
    2.0
    """
    found = group_risks(
        y_true,
        y_score,
        sensitive_features=sensitive_features,
        loss=loss,
        labels=labels,
        sample_weight=sample_weight,
    )
    return max(found.values())


def _losses_of(y_true, y_score, loss, labels):
    y_true = column_or_1d(y_true)
    try:
        y_score = np.asarray(y_score, dtype=np.float64)
    except ValueError:
        raise ValueError(
            "y_score holds texts: expected probabilities of shape (n, classes), or numbers"
        ) from None
    if y_score.ndim not in (1, 2):
        raise ValueError(f"y_score has {y_score.ndim} dimensions: expected (n,) or (n, classes)")
    check_consistent_length(y_true, y_score)
    _check_known("y_true", y_true)
    _check_rows(np.isfinite(y_score), y_score, "a finite number")
    is_column = y_score.ndim == 2 and y_score.shape[1] == 1
    if is_column:
        y_score = y_score[:, 0]
    loss = loss_of(loss)
    if loss is None:
        loss = _usual_loss(y_true, y_score)
    kind = "probabilities" if loss == "log" else targets_of(loss)
    if kind == "numbers":
        if y_score.ndim != 1:
            raise ValueError(f"loss={loss!r} takes one prediction per row, found {y_score.shape}")
        if is_text(y_true):
            raise ValueError(
                f"loss={loss!r} takes numbers, y_true holds {y_true.tolist()[0]!r}: for labels give "
                "loss='log' and probabilities"
            )
        return _gdro.losses(loss, y_score[:, None], y_true.astype(np.float64))
    labels = np.unique(y_true) if labels is None else np.asarray(labels)
    codes = _codes(y_true, labels)
    if kind == "probabilities":
        p = np.column_stack([1 - y_score, y_score]) if y_score.ndim == 1 else y_score
        _check_rows((y_score >= 0) & (y_score <= 1), y_score, f"a probability; {_SCORES}")
        _check_rows(
            np.abs(p.sum(axis=1) - 1) <= 1e-3, y_score, f"probabilities that sum to 1; {_SCORES}"
        )
        _check_columns(p, labels)
        with np.errstate(divide="ignore"):
            return -np.log(p[np.arange(len(codes)), codes])
    if kind == "classes":
        if y_score.ndim != 2:
            raise ValueError(f"loss={loss!r} takes a score per class, found {y_score.shape}")
        _check_columns(y_score, labels)
        if np.all((y_score >= 0) & (np.abs(y_score.sum(axis=1, keepdims=True) - 1) <= 1e-3)):
            raise ValueError(
                f"y_score holds probabilities, and loss={loss!r} takes scores: give loss='log'"
            )
        return _gdro.losses(loss, y_score, codes.astype(np.float64))
    if len(labels) != 2:
        raise ValueError(f"loss={loss!r} takes two classes, found {len(labels)}: give labels")
    if y_score.ndim != 1:
        raise ValueError(
            f"loss={loss!r} takes a score per row, as decision_function gives it, found "
            f"{y_score.shape}: for probabilities give loss='log'"
        )
    if not is_column and np.all((y_score >= 0) & (y_score <= 1)):
        raise ValueError(
            f"y_score lies in [0, 1], as probabilities do, and loss={loss!r} takes scores: give "
            "loss='log' for probabilities, and y_score.reshape(-1, 1) for what are scores"
        )
    return _gdro.losses(loss, y_score[:, None], np.where(codes == 1, 1.0, -1.0))


#: What to do with scores in the place of probabilities.
_SCORES = "of scores give loss='logistic', or 'softmax' for a column per class"


def _usual_loss(y_true, y_score):
    """The loss of what can mean one thing alone."""
    if y_score.ndim == 2:
        return "log"
    if not is_text(y_true):
        values = np.unique(y_true)
        if len(values) > 2 or np.any(values != np.round(values.astype(np.float64))):
            return "squared"
    raise ValueError(
        "y_true holds labels, or whole numbers of two values: give loss='log' if y_score are probabilities "
        "of the second class, 'logistic' or 'hinge' if they are scores, and 'squared' or 'absolute' "
        "if both are numbers"
    )


def _check_rows(good, y_score, expected):
    """Refuses the first row that is not good, in any of its columns."""
    good = good.all(axis=1) if good.ndim == 2 else good
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        raise ValueError(f"y_score of row {row} is {y_score[row].tolist()!s:.80}: expected {expected}")


def _check_columns(y_score, labels):
    if y_score.shape[1] != len(labels):
        raise ValueError(
            f"y_score has {y_score.shape[1]} columns for {len(labels)} classes: give labels"
        )


def _check_known(name, values):
    """Refuses targets that are missing."""
    if values.dtype.kind == "f":
        bad = np.flatnonzero(np.isnan(values))
    elif values.dtype.kind == "O":
        bad = [row for row, value in enumerate(values.tolist()) if is_missing(value)]
    else:
        return
    if len(bad):
        row = int(bad[0])
        raise ValueError(f"{name} of row {row} is {values.tolist()[row]!r}: fill it in")


def _codes(y, classes):
    """The number of the class of each row."""
    index = {label: i for i, label in enumerate(classes.tolist())}
    found, codes = np.unique(y, return_inverse=True)
    codes = np.array([index.get(label, -1) for label in found.tolist()], dtype=np.intp)[codes]
    if np.any(codes < 0):
        row = int(np.flatnonzero(codes < 0)[0])
        texts = is_text(classes) and not is_text(y)
        raise ValueError(
            f"y of row {row} is {y.tolist()[row]!r}: no class of {classes.tolist()[:8]}"
            f"{', which are texts: see y.astype(str)' if texts else ''}"
        )
    return codes


#: Two ways to write two classes.
_BINARY = {frozenset([-1, 1]), frozenset([0, 1])}


def _check_labels(y_true, y_pred):
    """Refuses predictions that can be no labels, which would all count as wrong."""
    _check_known("y_true", y_true)
    _check_known("y_pred", y_pred)
    if len(y_true) and is_text(y_true) != is_text(y_pred):
        a, b = y_true.tolist()[0], y_pred.tolist()[0]
        name = "y_pred" if is_text(y_true) else "y_true"
        raise ValueError(
            f"y_true holds {a!r} and y_pred {b!r}: expected labels of one kind, such as {name}.astype(str)"
        )
    if y_true.dtype.kind in "if" and y_pred.dtype.kind in "if":
        true, found = (frozenset(np.unique(y).tolist()) for y in (y_true, y_pred))
        if {true, found} == _BINARY:
            a, b = sorted(true), sorted(found)
            raise ValueError(f"y_true holds {a} and y_pred {b}: expected the same labels")
    if y_pred.dtype.kind == "f":
        bad = (y_pred != np.round(y_pred)) & ~np.isin(y_pred, y_true)
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise ValueError(
                f"y_pred of row {row} is {y_pred[row]}: expected a label, as predict gives it; of "
                "probabilities and numbers there are group_risks"
            )


def _means(values, sensitive_features, sample_weight):
    """The mean of each group; rows of weight 0 are absent."""
    weights, keep = weights_of(sample_weight, values)
    families = families_of(sensitive_features, len(values), keep)
    if keep is not None:
        values, weights = values[keep], weights[keep]
    means = []
    for family in families:
        size = np.bincount(family.codes, weights=weights)
        scaled = values if weights is None else values * weights
        means.append(np.bincount(family.codes, weights=scaled) / size)
    return dict(zip(names_of(families), np.concatenate(means).tolist()))


class _Scorer:
    """A scorer that asks for ``sensitive_features``, and for ``sample_weight`` where that is requested."""

    def __init__(self, name, score, text, weighted=False):
        self._name, self._score, self._weighted = name, score, weighted
        self.__doc__ = text

    def __repr__(self):
        return self._name

    def __call__(
        self,
        estimator: Classifier,
        X: MatrixLike,
        y: ColumnLike,
        *,
        sensitive_features: GroupsLike | None = None,
        sample_weight: ColumnLike | None = None,
    ) -> float:
        if sensitive_features is None:
            why = (
                f"{self._name} needs sensitive_features: enable metadata routing by "
                "sklearn.set_config(enable_metadata_routing=True), and pass them to fit, or in "
                "params"
            )
            if sys._getframe(1).f_globals.get("__name__") in _LENIENT:
                return _NoScore(why)
            raise ValueError(why)
        same_index(X=X, y=y, sensitive_features=sensitive_features, sample_weight=sample_weight)
        return self._score(estimator, X, y, sensitive_features, sample_weight)

    def set_score_request(self, *, sample_weight: bool | None = None) -> _Scorer:
        """A scorer to which weights are routed, too, where metadata routing is enabled.

        Parameters
        ----------
        sample_weight : bool, default=None
            Whether weights are routed to it; as before when left out.

        Returns
        -------
        scorer
            Another one: this one stays as it is.

        Raises
        ------
        ValueError
            For what is no bool.
        """
        if sample_weight not in (True, False, None):
            raise ValueError(f"sample_weight={sample_weight!r}: expected True or False")
        weighted = self._weighted if sample_weight is None else bool(sample_weight)
        return _Scorer(self._name, self._score, self.__doc__, weighted)

    def get_metadata_routing(self) -> Any:
        """What is routed to the scorer: groups, and weights where they are requested.

        Returns
        -------
        MetadataRequest
        """
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sensitive_features", alias=True)
        if self._weighted:
            request.score.add_request(param="sample_weight", alias=True)
        return request

    def __reduce__(self):
        # The scorer of that name, as it is or with weights.
        return (_scorer, (self._name, self._weighted))


#: Modules of scikit-learn that make a score of NaN of any exception, unless ``error_score="raise"``.
_LENIENT = ("sklearn.model_selection._validation", "sklearn.metrics._scorer")


class _NoScore:
    """What a scorer gives where an exception would become NaN, and a search would go on with that.

    Scikit-learn raises ``ValueError`` for a score that is no number, and shows it.
    """

    def __init__(self, why):
        self._why = why

    def __repr__(self):
        return self._why


def _score_accuracy(estimator, X, y, groups, weights):
    return worst_group_accuracy(
        y, estimator.predict(X), sensitive_features=groups, sample_weight=weights
    )


def _score_risk(estimator, X, y, groups, weights):
    losses, _, _ = _row_losses(estimator, X, y)
    return -max(_means(losses, groups, weights).values())


_SCORER = """Scorer: @WHAT@.

    Parameters
    ----------
    estimator : fitted estimator
        @ESTIMATOR@
    X : array, sparse matrix or frame of shape (n, d)
        Features.
    y : array of shape (n,)
        Targets.
    sensitive_features : array, frame, dict or list of arrays
        The group of every row. It is routed here where metadata routing is enabled.
    sample_weight : array of shape (n,), default=None
        Weights of the rows. They are routed to ``set_score_request(sample_weight=True)``.

    Returns
    -------
    float
        More is better.

    Raises
    ------
    ValueError
        Without groups, and for columns of other lengths or with another index.

    Examples
    --------
    >>> import numpy as np
    >>> from gdro import GroupDROClassifier, metrics
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 10), [0, 0, 1, 1] * 10
    >>> site = ["a", "b"] * 20
    >>> model = GroupDROClassifier().fit(X, y, sensitive_features=site)
    >>> float(metrics.@SELF@(model, X, y, sensitive_features=site)) @TEST@
    True
    """


def _documented(name, score, **parts):
    text = _SCORER.replace("@SELF@", name)
    for part, said in parts.items():
        text = text.replace(f"@{part}@", said)
    return _Scorer(name, score, text)


worst_group_accuracy_scorer = _documented(
    "worst_group_accuracy_scorer",
    _score_accuracy,
    WHAT="the smallest accuracy of any group",
    ESTIMATOR="A classifier.",
    TEST="== 1.0",
)

worst_group_risk_scorer = _documented(
    "worst_group_risk_scorer",
    _score_risk,
    WHAT="minus the largest mean loss of any group",
    ESTIMATOR="Its own loss is taken, or else log loss for classifiers and squared loss for regressors.",
    TEST="< 0.0",
)


def _scorer(name, weighted):
    """A scorer that was pickled."""
    found = globals()[name]
    return found.set_score_request(sample_weight=True) if weighted else found


def _last(estimator):
    """The estimator inside of pipelines and searches."""
    while True:
        inner = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
        inner = getattr(inner, "best_estimator_", inner)
        if inner is estimator:
            return estimator
        estimator = inner


def _row_losses(estimator, X, y):
    """The loss of every row, whether predictions are right, and (scores, positive) if binary."""
    loss = getattr(_last(estimator), "loss_", None)
    y = column_or_1d(y)
    if is_regressor(estimator):
        loss = loss if isinstance(loss, str) else "squared"
        predicted = np.asarray(estimator.predict(X), dtype=np.float64)
        return _gdro.losses(loss, predicted[:, None], y.astype(np.float64)), None, None
    classes = estimator.classes_
    y = as_written(y, classes)
    codes = _codes(y, classes)
    correct = np.asarray(estimator.predict(X)) == y
    binary = None
    if len(classes) == 2 and hasattr(estimator, "decision_function"):
        binary = (np.asarray(estimator.decision_function(X), dtype=np.float64), y == classes[1])
    if loss is not None and not hasattr(estimator, "predict_proba"):
        targets = np.where(y == classes[1], 1.0, -1.0)
        return _gdro.losses(loss, binary[0][:, None], targets), correct, binary
    if hasattr(estimator, "predict_log_proba"):
        log = np.asarray(estimator.predict_log_proba(X), dtype=np.float64)
    else:
        with np.errstate(divide="ignore"):
            log = np.log(np.asarray(estimator.predict_proba(X), dtype=np.float64))
    return -log[np.arange(len(codes)), codes], correct, binary


@dataclass(frozen=True)
class Interval:
    """An estimate and an interval that holds for all groups at once.

    ``estimable`` is false where the interval covers nearly all that is possible. ``value`` lies in
    the interval. ``clusters`` is their number, where the interval takes clusters as independent and
    not rows.

    Attributes
    ----------
    value : float or None
        The estimate; None without rows.
    low : float
        The lower end.
    high : float
        The upper end.
    rows : int
        Rows that it rests on.
    estimable : bool
        Whether the rows say anything.
    clusters : int or None
        Clusters that it rests on.

    Examples
    --------
    >>> from gdro import metrics
    >>> metrics.Interval(value=0.5, low=0.3, high=0.7, rows=40, estimable=True).high
    0.7
    """

    value: float | None
    low: float
    high: float
    rows: int
    estimable: bool
    clusters: int | None = None


class GroupReport:
    """How a model does on the groups of rows that it was not trained on.

    Attributes
    ----------
    names : list of str
        The groups of the rows, and then those of the estimator that have no row here.
    missing, unseen : list of str
        The groups of the estimator that have no row here, and groups that it does not know.
    rows : list of int
        Numbers of rows.
    risk : list of float
        Mean losses as they are, neither losses nor weights capped.
    clipped_risk : list of Interval
        Means of min(loss, cap).
    clipped : list of int
        Numbers of rows whose loss exceeds the cap.
    accuracy, true_positive_rate, false_positive_rate, auc : list of Interval, or None
        Of classifiers, and the last three of two classes.
    columns : list of str
        The names of the columns that have intervals.
    worst_group : str
        The group with the largest clipped risk; its own intervals are in the columns.
    worst_risk, worst_accuracy : Interval
        The largest clipped risk and the smallest accuracy of any group, whichever
        groups those are: intervals of the maximum and the minimum, not of ``worst_group``. A group that is not
        estimable could be anything, and widens them.
    delta : float
        Each column holds for all groups at once with probability 1 - delta.
    cap : float
        What losses count as at most.
    weight_cap : float or None
        Rows count as min(weight, weight_cap) in everything but ``risk``; None without weights.
    weights_capped : float
        The share of the rows that are heavier.
    cluster_cap : float or None
        Clusters count as min(total weight, cluster_cap); None without clusters.
    clusters_capped : int
        The number of clusters that are heavier.
    verdict : Verdict or None
        Whether the model does better here than ordinary training, of a model that :func:`gdro.load`
        read from a file that keeps ordinary training beside it.

    Examples
    --------
    It is what :func:`evaluate` gives:

    >>> import numpy as np
    >>> from gdro import GroupDROClassifier, metrics
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 20), np.array([0, 0, 1, 1] * 20)
    >>> site = np.array(["a", "b"] * 40)
    >>> model = GroupDROClassifier().fit(X[:40], y[:40], sensitive_features=site[:40])
    >>> report = metrics.evaluate(model, X[40:], y[40:], sensitive_features=site[40:])
    >>> report.rows, report.columns[:2]
    ([20, 20], ['clipped_risk', 'accuracy'])
    """

    names: list[str]
    missing: list[str]
    unseen: list[str]
    rows: list[int]
    risk: list[float]
    clipped_risk: list[Interval]
    clipped: list[int]
    accuracy: list[Interval] | None
    true_positive_rate: list[Interval] | None
    false_positive_rate: list[Interval] | None
    auc: list[Interval] | None
    columns: list[ReportColumn]
    worst_group: str
    worst_risk: Interval
    worst_accuracy: Interval | None
    delta: float
    cap: float
    weight_cap: float | None
    weights_capped: float
    cluster_cap: float | None
    clusters_capped: int
    verdict: Verdict | None

    def __init__(
        self,
        names: list[str],
        found: dict[str, Any],
        delta: float,
        cap: float,
        weight_cap: float | None = None,
        cluster_cap: float | None = None,
        known: list[str] | None = None,
    ) -> None:
        groups = found["groups"]
        self.verdict = None
        self.names = list(names)
        self.delta, self.cap = delta, cap
        self.weight_cap, self.cluster_cap = weight_cap, cluster_cap
        self.clusters_capped = sum(g["capped_clusters"] for g in groups)
        self.rows = [g["rows"] for g in groups]
        self.missing = [name for name, n in zip(self.names, self.rows) if n == 0]
        self.unseen = [] if known is None else [n for n in self.names if n not in set(known)]
        self.clipped = [g["clipped"] for g in groups]
        self._clipped_share = [g["clipped_share"] for g in groups]
        self.weights_capped = sum(g["capped_weights"] for g in groups) / max(1, sum(self.rows))
        self.risk = [g["risk"] for g in groups]
        self.clipped_risk = [_interval(g["clipped_risk"]) for g in groups]
        self.columns = ["clipped_risk"]
        for column in ("accuracy", *groups[0]["metrics"]):
            values = [g["accuracy"] if column == "accuracy" else g["metrics"][column] for g in groups]
            known = [None if v is None else _interval(v) for v in values]
            is_known = any(v is not None for v in known)
            setattr(self, column, known if is_known else None)
            self.columns += [column] if is_known else []
        self.worst_group = self.names[found["worst_risk"][2]]
        self.worst_risk = self._worst(found["worst_risk"], self.clipped_risk)
        self.worst_accuracy = None
        if found["worst_accuracy"] is not None:
            self.worst_accuracy = self._worst(found["worst_accuracy"], self.accuracy)

    def _worst(self, found, column):
        low, high, group, estimable = found
        return Interval(column[group].value, low, high, sum(self.rows), estimable)

    def to_dict(self) -> dict[str, list[Any]]:
        """The table as plain columns.

        Returns
        -------
        dict of str to list
            Columns by name, one entry per group.
        """
        columns = {"group": self.names, "rows": self.rows, "risk": self.risk}
        for name, values in (("clipped_risk", self.clipped_risk), ("accuracy", self.accuracy)):
            if values is not None:
                columns[name] = [v.value for v in values]
                columns[f"{name}_low"] = [v.low for v in values]
                columns[f"{name}_high"] = [v.high for v in values]
        return columns

    def to_frame(self) -> Any:
        """The table as a frame.

        Returns
        -------
        pandas.DataFrame
            One row per group.

        Raises
        ------
        ImportError
            Without pandas.
        """
        import pandas as pd

        return pd.DataFrame(self.to_dict()).set_index("group")

    def _cells(self, order):
        """A header, and a line for each of these groups."""

        def cell(e, cut=None):
            if e is None or e.value is None:
                return "–"
            ends = f"{e.low:.4f}, {e.high:.4f}" if e.estimable else "not estimable"
            return f"{e.value:.4f} [{ends}]" + ("" if cut is None else f", {100 * cut:.1f} % cut")

        graded = self.accuracy is not None
        header = ["group", "rows", f"risk (losses to {self.cap:g})", *["accuracy"] * graded]
        lines = []
        for i in order:
            line = [self.names[i], f"{self.rows[i]:,}"]
            line.append(cell(self.clipped_risk[i], self._clipped_share[i]))
            lines.append(line + ([cell(self.accuracy[i])] if graded else []))
        largest = ["largest risk" + ", least accuracy" * graded, "", cell(self.worst_risk)]
        largest += [cell(self.worst_accuracy)] if graded else []
        return header, lines, largest

    def _notes(self):
        """What should be known of the table, in sentences."""
        level = 100 * (1 - self.delta)
        notes = [f"Each column holds for all groups at once with probability {level:g} %."]
        if self.weight_cap is not None:
            notes.append(
                f"Weights count as at most {self.weight_cap:g}, which cuts "
                f"{100 * self.weights_capped:.1f} % of the rows."
            )
        if self.cluster_cap is not None:
            notes.append(
                f"A cluster counts as at most {self.cluster_cap:g}, which cuts "
                f"{self.clusters_capped} clusters."
            )
        for names, what in (
            (self.unseen, "Groups that training never saw"),
            (self.missing, "Groups of the estimator that have no rows here"),
        ):
            if names:
                notes.append(f"{what}: {', '.join(names)}.")
        return notes

    def __str__(self) -> str:
        order = list(range(len(self.names)))
        at = self.names.index(self.worst_group)
        many = len(self.names) > 1
        header, lines, largest = self._cells(order + [at] * many)
        if many:
            lines[-1][0] = f"worst: {self.worst_group}"
        lines = [header, *lines, largest]
        widths = [max(len(line[j]) for line in lines) for j in range(len(header))]
        table = ("  ".join(c.ljust(w) for c, w in zip(line, widths)) for line in lines)
        text = "\n".join([*table, *self._notes()])
        return text if self.verdict is None else f"{text}\n\n{self.verdict}"

    def _repr_html_(self) -> str:
        # The worst first.
        values = [float("-inf") if e.value is None else e.value for e in self.clipped_risk]
        order = sorted(range(len(values)), key=lambda i: -values[i])
        header, lines, largest = self._cells(order[:_SHOWN])
        notes = self._notes()
        if len(order) > _SHOWN:
            notes.insert(0, f"The {_SHOWN} worst of {len(order):,} groups; to_frame() has them all.")
        table = _html.table(header, [*lines, largest], notes, worst=0)
        return table if self.verdict is None else self.verdict._repr_html_() + table

    __repr__ = __str__


def _interval(found):
    rows, clusters, value, low, high, estimable = found
    return Interval(value, low, high, rows, estimable, clusters)


def evaluate(
    estimator: Classifier,
    X: MatrixLike,
    y: ColumnLike,
    *,
    sensitive_features: GroupsLike | None,
    sample_weight: ColumnLike | None = None,
    clusters: ColumnLike | None = None,
    delta: float = 0.05,
    cap: float | None = None,
    weight_cap: float | None = None,
    cluster_cap: float | None = None,
    weight_kind: WeightKind = "importance",
    random_state: RandomState | None = 0,
) -> GroupReport:
    """How a fitted model does on every group of rows that it was not trained on.

    Risks are those of the estimator's own loss; log loss for other classifiers, squared loss for
    other regressors. They have intervals by betting on min(loss, cap), accuracies by
    Clopper–Pearson, all at level 1 - delta/m.

    Parameters
    ----------
    estimator : fitted classifier or regressor
        Of gdro or of any library that works as scikit-learn does.
    X : array, sparse matrix or frame of shape (n, d)
        Features.
    y : array of shape (n,)
        Labels or numbers.
    sensitive_features : array, frame, dict or list of arrays
        The group of every row, as for ``fit``; None is one group.
    sample_weight : array of shape (n,), default=None
        Weights of the rows; rows of weight 0 say nothing.
    clusters : array of shape (n,), default=None
        Which rows belong together, such as those of a patient: clusters are taken as independent then,
        and not rows. In a group that had a single cluster in ``fit``, rows are. The AUC has no interval.
    delta : float, default=0.05
        Each column of intervals holds for all groups at once with probability 1 - delta.
    cap : float, default=None
        M: losses count as min(loss, M). It must not look at these rows. By default the
        ``loss_cap_`` of the estimator, which others do not have. Where it cuts more than 1 % of the
        rows of a group the table says so.
    weight_cap : float, default=None
        B, with ``sample_weight``: heavier rows count as B, which changes what is estimated. It must
        not look at these rows. By default the ``weight_cap_`` of the estimator, the largest weight
        of its training rows.
    cluster_cap : float, default=None
        S, with ``clusters``: a cluster of a larger total weight in a group (without ``sample_weight`` of
        more rows) counts as S. By default the ``cluster_cap_`` of the estimator.
    weight_kind : {"importance", "frequency"}, default="importance"
        Whether ``sample_weight`` is how much rows count, or how many rows each stands for.
    random_state : int, Generator, RandomState or None, default=0
        Seed of the order in which the rows of a group are taken.

    Returns
    -------
    GroupReport
        A table with a line per group; ``print`` shows it.

    Raises
    ------
    NotFittedError
        Before ``fit``.
    ValueError
        For columns of other lengths or with another index, and a cap that is missing or out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from gdro import GroupDROClassifier, metrics
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 20), np.array([0, 0, 1, 1] * 20)
    >>> site = np.array(["a", "b"] * 40)
    >>> model = GroupDROClassifier().fit(X[:40], y[:40], sensitive_features=site[:40])
    >>> report = metrics.evaluate(model, X[40:], y[40:], sensitive_features=site[40:])
    >>> report.accuracy[0].value, report.accuracy[0].low < 1.0
    (1.0, True)
    """
    held = _HeldOut(estimator, X, y, **_options(locals()))
    losses, correct, binary = _row_losses(estimator, X, y)
    found = _gdro.intervals(
        held.losses(losses),
        None if correct is None else held.of(correct),
        None if binary is None else (held.of(binary[0]), held.of(binary[1])),
        *held.arguments,
        *held.settings,
    )
    report = GroupReport(held.names, found, *held.settings[:4], held.known)
    ordinary = _ordinary(estimator)
    if ordinary is not None and held.known is not None:
        erm, training = ordinary
        of_erm = _row_losses(erm, X, y)[0]
        report.verdict = held.verdict([losses, of_erm], training, _are_same(estimator, erm, X))
    return report


@dataclass(frozen=True)
class Verdict:
    """Whether a model does better than ordinary training (ERM) on rows that neither was trained on.

    Risks are means of min(loss, cap) in the groups that are large enough: with at least 20 training
    rows and 30 rows here. ``str()`` says it in three lines, in the words of the program.

    Attributes
    ----------
    word : {"HELPED", "HURT", "NO CLEAR EVIDENCE"}
        Whether the interval lies below 0, above 0 or around it.
    level : float
        The probability with which the interval holds, 1 - delta.
    erm, model : dict, or None
        The ``group`` with the largest ``risk`` under each; None without a group that is large enough.
    difference, low, high : float, or None
        The largest risk of the model minus that of ERM, and its interval. Each end fails with
        probability delta/2 at most, however many groups there are.
    groups : int
        The number of all groups.
    left_out : list of str
        The groups that are not large enough.
    better, worse : list of str
        The groups, of all, in which the model is clearly better and clearly worse, by intervals that
        hold for all of them at once; the largest change first.
    average_cost : float
        The mean risk over rows under the model minus that under ERM.
    next : str
        What to do next.

    Examples
    --------
    It is what :func:`verdict` gives:

    >>> import numpy as np
    >>> from gdro import GroupDROClassifier, metrics
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 50), np.array([0, 1, 0, 1] * 50)
    >>> site = np.array(["a", "b"] * 100)
    >>> erm = GroupDROClassifier(objective="average").fit(X, y, sensitive_features=site)
    >>> found = metrics.verdict(erm, erm, X, y, sensitive_features=site)
    >>> found.word, found.difference
    ('NO CLEAR EVIDENCE', 0.0)
    """

    word: Literal["HELPED", "HURT", "NO CLEAR EVIDENCE"]
    level: float
    erm: dict[str, Any] | None
    model: dict[str, Any] | None
    difference: float | None
    low: float | None
    high: float | None
    groups: int
    left_out: list[str]
    better: list[str]
    worse: list[str]
    average_cost: float
    next: str
    _lines: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n".join(self._lines)

    def _repr_html_(self) -> str:
        return _html.sentences(self._lines or (self.word,))


def verdict(
    estimator: Classifier,
    erm: Classifier | None,
    X: MatrixLike,
    y: ColumnLike,
    *,
    sensitive_features: GroupsLike | None,
    sample_weight: ColumnLike | None = None,
    clusters: ColumnLike | None = None,
    delta: float = 0.05,
    cap: float | None = None,
    weight_cap: float | None = None,
    cluster_cap: float | None = None,
    weight_kind: WeightKind = "importance",
    random_state: RandomState | None = 0,
) -> Verdict:
    """Whether a fitted model does better than ordinary training on rows that neither was trained on.

    The answer, a :class:`Verdict`, is about the group that is worst for each. ``HELPED`` and ``HURT``
    are each wrong with probability delta/2 at most. Neither of the two may have been chosen by these
    rows.

    Parameters
    ----------
    estimator : fitted GroupDROClassifier or GroupDRORegressor, or what :func:`gdro.load` read
        The model that is judged.
    erm : fitted classifier or regressor, or None
        Ordinary training, such as the same estimator with ``objective="average"``. Of other kinds the
        worst group in training is taken to be that of ``estimator``, which makes the interval wider
        when it is not. None is the ordinary training that the file of a loaded model keeps.
    X, y, sensitive_features, sample_weight, clusters, delta, cap, weight_cap, cluster_cap, \
    weight_kind, random_state
        As for :func:`evaluate`.

    Returns
    -------
    Verdict
        ``print`` shows it.

    Raises
    ------
    NotFittedError
        Before ``fit``.
    ValueError
        For an estimator whose worst group in training is unknown, without ordinary training to compare
        with, and as :func:`evaluate`.

    Examples
    --------
    >>> import numpy as np
    >>> from gdro import GroupDROClassifier, metrics
    >>> rng = np.random.default_rng(0)
    >>> X, site = rng.normal(size=(4000, 2)), np.repeat(["mainland", "island"], 2000)
    >>> score = X[:, 0] + np.where(site == "island", -1, 1) * X[:, 1] + rng.logistic(size=4000)
    >>> y, train, test = score > 0, np.arange(0, 4000, 2), np.arange(1, 4000, 2)
    >>> few = np.concatenate([train[:1000], train[1000::20]])     # training saw little of the island
    >>> ordinary = GroupDROClassifier(objective="average").fit(X[few], y[few])
    >>> robust = GroupDROClassifier().fit(X[few], y[few], sensitive_features=site[few])
    >>> found = metrics.verdict(robust, ordinary, X[test], y[test], sensitive_features=site[test])
    >>> found.word
    'HELPED'
    """
    held = _HeldOut(estimator, X, y, **_options(locals()))
    ordinary = _ordinary(estimator)
    if erm is None and ordinary is None:
        raise ValueError(
            "erm=None: the estimator was not loaded from a file that keeps ordinary training: give a "
            "fitted estimator with objective='average'"
        )
    if held.known is None or (ordinary is None and not hasattr(_last(estimator), "group_risks_")):
        raise ValueError(
            "estimator: expected a GroupDROClassifier or GroupDRORegressor fitted on groups of these "
            "kinds, whose worst group in training is known"
        )
    if erm is None:
        erm, training = ordinary
    else:
        training = _training(_last(estimator), _last(erm), ordinary)
    losses = [_row_losses(model, X, y)[0] for model in (estimator, erm)]
    return held.verdict(losses, training, _are_same(estimator, erm, X))


def _are_same(model, erm, X):
    """Whether two models are one: what they say about the rows is the same up to rounding."""
    said = [
        next(getattr(m, name) for name in ("decision_function", "predict_proba", "predict") if hasattr(m, name))
        for m in (model, erm)
    ]
    if said[0].__name__ != said[1].__name__:
        return False
    first, second = (np.asarray(of(X)) for of in said)
    if first.shape != second.shape or first.dtype.kind not in "fiu":
        return False
    size = max(np.abs(first).max(initial=0.0), np.abs(second).max(initial=0.0))
    return bool(np.abs(first - second).max(initial=0.0) <= 1e-9 * size)


def _training(model, erm, ordinary):
    """The training rows of each group, and the risks of two models there."""
    if ordinary is None:
        counts = [n for _, counts in model._record["groups"]["families"] for n in counts]
        known = dict(zip(model.group_names_, zip(counts, model.group_risks_)))
    else:
        known = {name: (rows, risks[0]) for name, (rows, risks) in ordinary[1].items()}
    of_erm = dict(zip(getattr(erm, "group_names_", ()), getattr(erm, "group_risks_", ())))
    return {name: (rows, (risk, of_erm.get(name, risk))) for name, (rows, risk) in known.items()}


def _ordinary(estimator):
    """The ordinary training that the file of a loaded model keeps, as an estimator, and the training
    rows of each group with the risks of both; None without.
    """
    found = getattr(_last(estimator), "_baseline", None)
    return None if found is None else (_with_last(estimator, found[0]), found[1])


def _with_last(estimator, last):
    """An estimator with another one inside of its pipelines and searches."""
    inner = getattr(estimator, "best_estimator_", estimator)
    if isinstance(inner, Pipeline):
        *steps, (name, final) = inner.steps
        return Pipeline([*steps, (name, _with_last(final, last))])
    return last if inner is estimator else _with_last(inner, last)


def _options(arguments):
    """How rows are judged: those of the arguments of a function that :class:`_HeldOut` takes by name."""
    names = signature(_HeldOut).parameters.values()
    return {p.name: arguments[p.name] for p in names if p.kind is p.KEYWORD_ONLY}


class _HeldOut:
    """Rows that an estimator was not trained on, their groups, and what intervals rest on."""

    def __init__(
        self,
        estimator,
        X,
        y,
        *,
        sensitive_features,
        sample_weight,
        clusters,
        delta,
        cap,
        weight_cap,
        cluster_cap,
        weight_kind,
        random_state,
    ):
        if hasattr(estimator, "fit"):
            check_is_fitted(estimator)
        if cap is None:
            cap = getattr(_last(estimator), "loss_cap_", None)
            if cap is None:
                raise ValueError(
                    "cap=None: the estimator has no loss_cap_: give a number that most training "
                    "losses stay below"
                )
        cap = number("cap", cap, low=0, strictly=True)
        delta = number("delta", delta, low=0, strictly=True, high=1)
        same_index(
            X=X,
            y=y,
            sensitive_features=sensitive_features,
            sample_weight=sample_weight,
            clusters=clusters,
        )
        rows = column_or_1d(y)
        weights, self._keep = weights_of(sample_weight, rows, weight_kind)
        families = families_of(sensitive_features, len(rows), self._keep)
        clusters = clusters_of(clusters, len(rows), self._keep)
        if clusters is None and getattr(_last(estimator), "cluster_cap_", None) is not None:
            warnings.warn(
                "the estimator was trained on rows in clusters: without `clusters` intervals take every row "
                "as independent of the others, and are too narrow if it is not",
                UserWarning,
                stacklevel=4,
            )
        if self._keep is not None:
            weights = None if weights is None else weights[self._keep]
        # With clusters their weights are capped, not those of rows.
        of_rows = ("sample_weight", weights is not None)
        of_clusters = ("clusters", clusters is not None)
        weight_cap = _cap("weight_cap", estimator, weight_cap, of_rows, clusters is not None)
        cluster_cap = _cap("cluster_cap", estimator, cluster_cap, of_clusters)
        names = names_of(families).tolist()
        known = getattr(_last(estimator), "group_names_", None)
        # Groups of another kind than those of training have nothing in common with them.
        known = None if known is None or not set(known) & set(names) else known.tolist()
        if known is not None:
            families = [in_order(family, known, len(families) == 1) for family in families]
            names = names_of(families).tolist()
        missing = [name for name in known or [] if name not in set(names)]
        record = getattr(_last(estimator), "_record", {})
        self.names, self.known = names + missing, known
        by_row = [name in (record.get("one_cluster") or ()) for name in self.names]
        self.arguments = (
            weights,
            None if clusters is None else (clusters, by_row),
            [
                # The last family has the groups that are not here, too.
                (family.codes, len(family.names) + (len(missing) if family is families[-1] else 0))
                for family in families
            ],
        )
        seed = number("random_state", seed_of(random_state), low=0, whole=True)
        self.settings = (delta, cap, weight_cap, cluster_cap, seed)

    def verdict(self, losses, training, is_same):
        """The verdict by the losses of a model and of ERM on these rows; ``training`` has the training
        rows of each group by its name, and the risks of both there. ``is_same`` says that both are one.
        """
        of_groups = [training.get(name, (0, (0.0, 0.0))) for name in self.names]
        text, lines = _gdro.verdict(
            tuple(self.losses(column) for column in losses),
            *self.arguments,
            self.names,
            [(int(rows), float(risks[0]), float(risks[1])) for rows, risks in of_groups],
            is_same,
            *self.settings,
        )
        return Verdict(**json.loads(text), _lines=tuple(lines))

    def of(self, column):
        """A column of the rows that count."""
        column = column if self._keep is None else column[self._keep]
        return np.ascontiguousarray(column)

    def losses(self, losses):
        """Losses of the rows that count, finite."""
        return np.minimum(self.of(losses), np.finfo(float).max)


def _cap(name, estimator, given, what, optional=False):
    """A bound on weights: what is given, or that of the estimator.

    ``what`` is the argument that it bounds, with whether it is there. An ``optional`` bound may be
    unknown.
    """
    argument, there = what
    if not there:
        if given is not None:
            raise ValueError(f"{name}={given!r}: without {argument} there is nothing to cap")
        return None
    if given is None:
        given = getattr(_last(estimator), f"{name}_", None)
    if given is None and optional:
        return None
    if given is None:
        raise ValueError(
            f"{name}=None: the estimator has no {name}_, since it was trained without {argument}: "
            "give a bound on the weights that is not taken from these rows"
        )
    return number(name, given, low=0, strictly=True)

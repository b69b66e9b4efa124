"""Charts with matplotlib: risks of groups, how a run went, and what robustness costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from ._estimators import GroupDROClassifier, GroupDRORegressor
    from .metrics import GroupReport

__all__ = ["group_risks", "trade_off", "trajectory"]


#: Lines that differ by colour; the next ones are dashed, then dotted.
_COLOURS = 10
_STYLES = ("-", "--", ":", "-.")


def _axes(ax, width=6.4):
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("gdro.plot needs matplotlib: pip install matplotlib") from None
    return plt.subplots(layout="constrained", figsize=(width, 4.8))[1]


def group_risks(
    reports: Mapping[str, GroupReport] | GroupReport,
    *,
    column: str = "clipped_risk",
    ax: Any = None,
) -> Any:
    """Risks (or accuracies) of the groups with their intervals, for several models.

    Parameters
    ----------
    reports : mapping of str to GroupReport, or GroupReport
        What :func:`gdro.metrics.evaluate` says of each model, on the same groups.
    column : str, default="clipped_risk"
        One of the ``columns`` of the reports: ``"clipped_risk"``, ``"accuracy"``,
        ``"true_positive_rate"``, ….
    ax : matplotlib Axes, default=None

    Returns
    -------
    ax : matplotlib Axes
    """
    if not hasattr(reports, "items"):
        reports = {"model": reports}
    if not reports:
        raise ValueError("reports is empty: expected at least one")
    for label, report in reports.items():
        if not hasattr(report, "clipped_risk"):
            raise ValueError(
                f"{label!r} is a {type(report).__name__}: expected a report of gdro.metrics.evaluate"
            )
    first = next(iter(reports.values()))
    names = first.names
    for label, report in reports.items():
        if report.names != names:
            raise ValueError(f"{label!r} has other groups: {report.names}, expected {names}")
        if column not in report.columns:
            columns = ", ".join(report.columns)
            raise ValueError(f"column={column!r}: expected one of {columns}, which {label!r} has")
        if column == "clipped_risk" and report.cap != first.cap:
            raise ValueError(
                f"{label!r} counts losses up to {report.cap:g}, others up to {first.cap:g}: "
                "evaluate all models with the same cap"
            )
    ax = _axes(ax, width=min(max(6.4, 0.2 * len(names) * (1 + len(reports))), 30.0))
    width = 0.6 / len(reports)
    places = np.arange(len(names), dtype=float)
    for j, (label, report) in enumerate(reports.items()):
        shown = getattr(report, column)
        at = places + (j - (len(reports) - 1) / 2) * width
        middle = np.array([np.nan if e is None or e.value is None else e.value for e in shown])
        low = np.array([np.nan if e is None else e.low for e in shown])
        high = np.array([np.nan if e is None else e.high for e in shown])
        bars = np.abs(np.vstack([middle - low, high - middle]))
        ax.errorbar(at, middle, yerr=bars, fmt="o", markersize=4, capsize=3, label=label)
    ax.set_xticks(places, names, rotation=0 if len(names) < 6 else 90)
    what = f"risk (losses to {report.cap:g})" if column == "clipped_risk" else column
    ax.set_ylabel(what.replace("_", " "))
    level = 100 * (1 - report.delta)
    ax.set_title(f"{level:g} % intervals, for all groups at once", fontsize="medium")
    if len(reports) > 1:
        ax.legend()
    return ax


def trajectory(
    model: GroupDROClassifier | GroupDRORegressor,
    *,
    what: Literal["group_risks", "group_weights", "objective"] = "group_risks",
    x: Literal["round", "samples", "seconds"] = "round",
    most: int = 12,
    ax: Any = None,
) -> Any:
    """The curve of a fit: group risks or weights, by rounds, samples or seconds.

    Solvers in rounds have a curve; the exact solver has a beginning and an end.

    Parameters
    ----------
    model : fitted GroupDROClassifier or GroupDRORegressor
    what : {"group_risks", "group_weights", "objective"}
    x : {"round", "samples", "seconds"}
    most : int, default=12
        Groups that are shown by name, those with the largest last values.
    ax : matplotlib Axes, default=None
    """
    check_is_fitted(model, "trace_")
    trace = model.trace_
    if what not in ("group_risks", "group_weights", "objective"):
        raise ValueError(f"what={what!r}: expected group_risks, group_weights or objective")
    if x not in ("round", "samples", "seconds"):
        raise ValueError(f"x={x!r}: expected round, samples or seconds")
    ax = _axes(ax)
    # The exact solver has a beginning and an end.
    marker = "o" if len(trace[x]) <= 2 else None
    if what == "objective":
        ax.plot(trace[x], trace[what], marker=marker)
    else:
        last = trace[what][-1]
        # From the top down, as the lines end.
        shown = np.argsort(-last, kind="stable")[:most]
        for place, i in enumerate(shown):
            style = _STYLES[place // _COLOURS % len(_STYLES)]
            label = model.group_names_[i]
            ax.plot(trace[x], trace[what][:, i], style, marker=marker, label=label)
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
        if len(shown) < len(last):
            ax.set_title(f"{len(shown)} of {len(last)} groups", fontsize="medium")
    ax.set_xlabel(x)
    ax.set_ylabel(what.replace("_", " "))
    return ax


def trade_off(
    models: Mapping[str, Any] | Sequence[GroupDROClassifier] | Sequence[GroupDRORegressor],
    *,
    ax: Any = None,
) -> Any:
    """The largest group risk of models against their mean risk over groups, on training rows.

    Parameters
    ----------
    models : mapping of str to fitted estimator, or sequence
        With the same groups, such as one for each ``k`` of ``objective="top-k"``.
    ax : matplotlib Axes, default=None
    """
    if not hasattr(models, "items"):
        models = {_label(model): model for model in models}
    if not models:
        raise ValueError("models is empty: expected at least one")
    ax = _axes(ax)
    # Models that are the same but for rounding share a point.
    points = {}
    for label, m in models.items():
        check_is_fitted(m, "group_risks_")
        place = (m.group_risks_.mean(), m.group_risks_.max())
        near = next((p for p in points if np.allclose(p, place, rtol=1e-6, atol=1e-9)), place)
        points.setdefault(near, []).append(label)
    places = sorted(points)
    ax.plot([p[0] for p in places], [p[1] for p in places], "o-", markersize=4)
    for j, place in enumerate(places):
        left = j > 0 and j == len(places) - 1
        ax.annotate(
            ", ".join(points[place]),
            place,
            textcoords="offset points",
            xytext=(-6 if left else 6, 4),
            ha="right" if left else "left",
            fontsize="small",
        )
    ax.margins(x=0.12)
    ax.set_xlabel("mean of the group risks")
    ax.set_ylabel("largest group risk")
    return ax


def _label(model):
    k = "" if model.k is None else f" {model.k:g}"
    return f"{model.objective}{k}"

"""Charts with matplotlib: risks of groups, how a run went, and what robustness costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from ._estimators import GroupDROClassifier, GroupDRORegressor
    from ._types import ReportColumn
    from .metrics import GroupReport

__all__ = ["group_risks", "trade_off", "trajectory"]


#: Lines that differ by colour; the next ones are dashed, then dotted.
_COLOURS = 10
_STYLES = ("-", "--", ":", "-.")

#: Colour, marker, its filling and dashes of models, the last of which is the one that it is about: as on
#: the program's page.
_FIRST = ("#555d68", "o", "none", (0, (1, 1.5)))
_SECOND = ("#0b66b5", "D", "full", (0, (4, 2)))
_LAST = ("#b03a06", "s", "full", "-")

#: Columns in which more is worse.
_WORSE = ("clipped_risk", "false_positive_rate")


def _axes(ax, width=6.4, height=4.8):
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("gdro.plot needs matplotlib: pip install matplotlib") from None
    return plt.subplots(layout="constrained", figsize=(width, height))[1]


def _kinds(count):
    """How models are drawn."""
    if count <= 3:
        return [_FIRST, _SECOND, _LAST][3 - count :] if count != 2 else [_FIRST, _LAST]
    markers = "osD^vPX"
    return [(f"C{j % _COLOURS}", markers[j % len(markers)], "full", "-") for j in range(count)]


def _limits(values, low, high):
    """Ends that hold all points, and half as much again on either side where intervals go on: wide
    ones are cut off, for they must not press all points together."""
    first, last = values.min(), values.max()
    room = max(last - first, 0.1 * abs(last), 1e-12) / 2
    first = max(first - room, min(first, low.min(initial=first)))
    last = min(last + room, max(last, high.max(initial=last)))
    edge = 0.02 * (last - first or 1)
    return first - edge, last + edge


def _short(name, most=36):
    return name if len(name) <= most else name[: most - 1] + "…"


def group_risks(
    reports: Mapping[str, GroupReport] | GroupReport,
    *,
    column: ReportColumn = "clipped_risk",
    most: int = 30,
    ax: Any = None,
) -> Any:
    """Risks (or accuracies) of the groups with their intervals, for several models.

    A line for each group, the worst one under the last model first; a mark for each model. Intervals
    that go on beyond the chart end in arrows.

    Parameters
    ----------
    reports : mapping of str to GroupReport, or GroupReport
        What :func:`gdro.metrics.evaluate` says of each model, on the same groups: ERM first, the
        model that it is about last.
    column : str, default="clipped_risk"
        One of the ``columns`` of the reports: ``"clipped_risk"``, ``"accuracy"``,
        ``"true_positive_rate"``, ….
    most : int, default=30
        Groups that are shown, the worst ones.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ImportError
        Without matplotlib.
    ValueError
        For what are no reports, reports on other groups or with another cap, and a column that they do
        not have.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from gdro import GroupDROClassifier, metrics, plot
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 20), np.array([0, 0, 1, 1] * 20)
    >>> site = np.array(["a", "b"] * 40)
    >>> model = GroupDROClassifier().fit(X[:40], y[:40], sensitive_features=site[:40])
    >>> report = metrics.evaluate(model, X[40:], y[40:], sensitive_features=site[40:])
    >>> ax = plot.group_risks({"robust": report})
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['a', 'b']
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
    # One row per model, one column per group.
    shown = [getattr(report, column) for report in reports.values()]
    value = np.array([[np.nan if e is None or e.value is None else e.value for e in row] for row in shown])
    tells = np.array([[e is not None and e.estimable for e in row] for row in shown])
    low, high = (
        np.array([[np.nan if e is None else getattr(e, end) for e in row] for row in shown])
        for end in ("low", "high")
    )
    key = value[-1] if column in _WORSE else -value[-1]
    order = np.argsort(-np.nan_to_num(key, nan=-np.inf), kind="stable")[:most]
    value, tells, low, high = (table[:, order] for table in (value, tells, low, high))

    step = 1 / (len(reports) + 1)
    ax = _axes(ax, height=min(1.4 + len(order) * (0.16 + 0.14 * len(reports)), 40.0))
    if np.isfinite(value).any():
        left, right = _limits(value[np.isfinite(value)], low[tells], high[tells])
        ax.set_xlim(left, right)
    for j, (label, kind) in enumerate(zip(reports, _kinds(len(reports)))):
        colour, marker, filling, dashes = kind
        # From the top down.
        y = np.arange(len(order)) + (j + 1) * step - 0.5
        bars = tells[j]
        if bars.any():
            ends = np.clip([low[j][bars], high[j][bars]], left, right)
            ax.hlines(y[bars], *ends, color=colour, linestyle=dashes, linewidth=1.3)
            for side, beyond in (("<", low[j] < left), (">", high[j] > right)):
                at = bars & beyond
                edge = np.full(at.sum(), left if side == "<" else right)
                ax.plot(edge, y[at], side, color=colour, markersize=5, clip_on=False)
        ax.plot(value[j], y, marker, color=colour, fillstyle=filling, markersize=5, label=label)
    for y in np.arange(1, len(order)) - 0.5:
        ax.axhline(y, color="0.9", linewidth=0.6, zorder=0)
    ax.set_yticks(np.arange(len(order)), [_short(names[i]) for i in order])
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(len(order) - 0.5, -0.5)
    what = f"risk (losses to {first.cap:g})" if column == "clipped_risk" else column
    ax.set_xlabel(what.replace("_", " "))
    level = 100 * (1 - first.delta)
    title = f"{level:g} % intervals, for all groups at once"
    if len(order) < len(names):
        title += f"; the worst {len(order)} of {len(names)} groups"
    ax.set_title(title, fontsize="medium")
    if len(reports) > 1:
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
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

    Rounds and samples are on a logarithmic axis that starts with 0. The exact solver goes straight to
    the end: its weights or risks are bars, the largest first.

    Parameters
    ----------
    model : fitted GroupDROClassifier or GroupDRORegressor
        Its ``trace_`` is drawn.
    what : {"group_risks", "group_weights", "objective"}, default="group_risks"
        What is drawn.
    x : {"round", "samples", "seconds"}, default="round"
        Against what.
    most : int, default=12
        Groups that are shown by name, those with the largest last values.
    ax : matplotlib Axes, default=None
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ImportError
        Without matplotlib.
    NotFittedError
        Before ``fit``.
    ValueError
        For other values of ``what`` and ``x``.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from gdro import GroupDROClassifier, metrics, plot
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 20), np.array([0, 0, 1, 1] * 20)
    >>> site = np.array(["a", "b"] * 40)
    >>> model = GroupDROClassifier().fit(X[:40], y[:40], sensitive_features=site[:40])
    >>> plot.trajectory(model, what="group_weights").get_xlabel()
    'group weights'
    """
    check_is_fitted(model, "trace_")
    trace = model.trace_
    if what not in ("group_risks", "group_weights", "objective"):
        raise ValueError(f"what={what!r}: expected group_risks, group_weights or objective")
    if x not in ("round", "samples", "seconds"):
        raise ValueError(f"x={x!r}: expected round, samples or seconds")
    is_curve = len(trace[x]) > 2
    name = what.replace("_", " ")
    if what == "objective":
        ax = _axes(ax)
        ax.plot(trace[x], trace[what], marker=None if is_curve else "o")
    else:
        last = trace[what][-1]
        # From the top down, as the lines end.
        shown = np.argsort(-last, kind="stable")[:most]
        if not is_curve:
            ax = _axes(ax, height=min(1.4 + 0.28 * len(shown), 40.0))
            ax.barh(np.arange(len(shown)), last[shown], color=_LAST[0], height=0.7)
            ax.set_yticks(np.arange(len(shown)), [_short(model.group_names_[i]) for i in shown])
            ax.set_ylim(len(shown) - 0.5, -0.5)
            ax.tick_params(axis="y", length=0)
        else:
            ax = _axes(ax)
            for place, i in enumerate(shown):
                style = _STYLES[place // _COLOURS % len(_STYLES)]
                label = _short(model.group_names_[i])
                ax.plot(trace[x], trace[what][:, i], style, label=label)
            ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
        if len(shown) < len(last):
            ax.set_title(f"{len(shown)} of {len(last)} groups", fontsize="medium")
        if not is_curve:
            ax.set_xlabel(name)
            return ax
    if x != "seconds":
        # Linear up to 1, so that 0 has a place.
        ax.set_xscale("symlog", linthresh=1)
        ax.set_xlim(left=0)
    ax.set_xlabel(x)
    ax.set_ylabel(name)
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
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ImportError
        Without matplotlib.
    NotFittedError
        Before ``fit``.
    ValueError
        Without models.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> import numpy as np
    >>> from gdro import GroupDROClassifier, metrics, plot
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 20), np.array([0, 0, 1, 1] * 20)
    >>> site = np.array(["a", "b"] * 40)
    >>> model = GroupDROClassifier().fit(X[:40], y[:40], sensitive_features=site[:40])
    >>> ax = plot.trade_off({"robust": model})
    >>> [text.get_text() for text in ax.texts]
    ['robust']
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
    ax.margins(x=0.15, y=0.1)
    _name_points(ax, {place: ", ".join(points[place]) for place in places})
    ax.set_xlabel("mean of the group risks")
    ax.set_ylabel("largest group risk")
    return ax


def _name_points(ax, names):
    """Names beside points; one that would lie on another goes further up or down, with a line to its
    point."""
    from matplotlib.text import Text

    ax.figure.canvas.draw()
    taken = []
    for place, name in names.items():
        is_left = ax.transAxes.inverted().transform(ax.transData.transform(place))[0] < 0.6
        text = ax.annotate(
            name,
            place,
            textcoords="offset points",
            xytext=(8 if is_left else -8, 4),
            ha="left" if is_left else "right",
            fontsize="small",
            arrowprops={"arrowstyle": "-", "color": "0.7", "linewidth": 0.6},
        )
        for up in (4, -12, 16, -24, 28, -36, 40, -48, 52):
            text.set_position((text.get_position()[0], up))
            text.update_positions(ax.figure.canvas.get_renderer())
            # Of the words alone, without the line.
            box = Text.get_window_extent(text)
            if not any(box.overlaps(other) for other in taken):
                break
        taken.append(box)


def _label(model):
    k = "" if model.k is None else f" {model.k:g}"
    return f"{model.objective}{k}"

"""Charts say what they should."""

import copy

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from gdro import GroupDROClassifier, metrics, plot  # noqa: E402


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(500, 3))
    g = rng.choice(["a", "b", "c"], size=500)
    y = (X[:, 0] * np.where(g == "c", -1, 1) + rng.logistic(size=500) > 0).astype(int)
    return X, y, g


@pytest.fixture(scope="module")
def reports(rows):
    X, y, g = rows
    models = {
        "ERM": GroupDROClassifier().fit(X, y),
        "gdro": GroupDROClassifier().fit(X, y, sensitive_features=g),
    }
    return {n: metrics.evaluate(m, X, y, sensitive_features=g) for n, m in models.items()}


def _segments(ax, model):
    """The bars of a model, from the top down."""
    return ax.collections[model].get_segments()


def test_group_risks_have_bars_of_their_intervals(reports):
    ax = plot.group_risks(reports)
    of = dict(zip(reports["gdro"].names, reports["gdro"].clipped_risk))
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert names == sorted(of, key=lambda name: -of[name].value), "the worst first"
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "from the top down"
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["ERM", "gdro"]
    marks = {line.get_label(): list(line.get_xdata()) for line in ax.lines}
    assert marks["gdro"] == [of[name].value for name in names]
    for model, report in enumerate(reports.values()):
        estimates = dict(zip(report.names, report.clipped_risk))
        for segment, name in zip(_segments(ax, model), names):
            ends = np.clip([estimates[name].low, estimates[name].high], *ax.get_xlim())
            assert segment[:, 0].tolist() == pytest.approx(ends)
    ax = plot.group_risks(reports["gdro"], column="accuracy")
    of = dict(zip(reports["gdro"].names, reports["gdro"].accuracy))
    names = [t.get_text() for t in ax.get_yticklabels()]
    assert ax.get_xlabel() == "accuracy" and names == sorted(of, key=lambda name: of[name].value)


def test_hopeless_intervals_do_not_set_the_axis(rows):
    X, y, g = rows
    g = g.astype("<U9")
    g[:6] = "few"
    report = metrics.evaluate(GroupDROClassifier().fit(X, y), X, y, sensitive_features=g, cap=100)
    ax = plot.group_risks(report)
    values = [e.value for e in report.clipped_risk]
    left, right = ax.get_xlim()
    assert right - left < 3 * (max(values) - min(values))
    at = [t.get_text() for t in ax.get_yticklabels()].index("few")
    few = report.clipped_risk[report.names.index("few")]
    (arrows,) = [line for line in ax.lines if line.get_marker() == ">"]
    assert few.high > right and at in arrows.get_ydata().round().tolist()
    for segment in _segments(ax, 0):
        assert left <= segment[0, 0] and segment[1, 0] <= right
    # Of many groups the worst are shown.
    ax = plot.group_risks(report, most=2)
    assert len(ax.get_yticklabels()) == 2 and "the worst 2 of 4 groups" in ax.get_title()


def test_names_do_not_lie_on_each_other(rows):
    X, y, _ = rows
    g = np.array([f"a rather long name of group {i}" for i in range(25)])[np.arange(500) % 25]
    model = GroupDROClassifier().fit(X, y, sensitive_features=g)
    report = metrics.evaluate(model, X, y, sensitive_features=g)
    # Models that are almost the same, and one that is not.
    models = {f"model {i}": copy.copy(model) for i in range(5)}
    for i, near in enumerate(models.values()):
        near.group_risks_ = model.group_risks_ * (1 + (1e-3 * i if i < 4 else 1))
    for ax, labels in (
        (plot.group_risks(report), lambda ax: ax.get_yticklabels()),
        (plot.trade_off(models), lambda ax: ax.texts),
    ):
        ax.figure.canvas.draw()
        boxes = [matplotlib.text.Text.get_window_extent(t) for t in labels(ax)]
        for i, box in enumerate(boxes):
            assert not any(box.overlaps(other) for other in boxes[:i]), labels(ax)[i].get_text()


def test_trajectories(rows):
    X, y, g = rows
    model = GroupDROClassifier(solver="smd-m", rounds=500, step_w=1, step_q=1, random_state=0)
    model.fit(X, y, sensitive_features=g)
    ax = plot.trajectory(model, what="group_weights", x="samples", most=2)
    assert len(ax.lines) == 2 and ax.get_title() == "2 of 3 groups"
    last = [line.get_ydata()[-1] for line in ax.lines]
    assert last == sorted(last, reverse=True)
    assert ax.get_xscale() == "symlog"
    assert plot.trajectory(model, what="objective").get_xlabel() == "round"
    assert plot.trajectory(model, x="seconds").get_xscale() == "linear"
    with pytest.raises(ValueError, match="x='time'"):
        plot.trajectory(model, x="time")


def test_trade_off(rows):
    X, y, g = rows
    models = [
        GroupDROClassifier(objective="top-k", k=k).fit(X, y, sensitive_features=g) for k in (1, 2, 3)
    ]
    ax = plot.trade_off(models)
    labels = [label for t in ax.texts for label in t.get_text().split(", ")]
    assert sorted(labels) == ["top-k 1", "top-k 2", "top-k 3"]
    x, worst = ax.lines[0].get_data()
    twice = {"a": models[0], "b": models[0], "c": models[2]}
    assert {t.get_text() for t in plot.trade_off(twice).texts} == {"a, b", "c"}
    assert np.all(np.diff(x) >= 0) and np.all(np.diff(worst) <= 1e-9)


def test_lines_of_many_groups_can_be_told_apart(rows):
    X, y, _ = rows
    model = GroupDROClassifier(solver="smd-m", rounds=100, step_w=1, step_q=1, random_state=0)
    ax = plot.trajectory(model.fit(X, y, sensitive_features=np.arange(500) % 25), most=25)
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == 25


def test_the_exact_solver_has_bars(rows):
    X, y, g = rows
    model = GroupDROClassifier().fit(X, y, sensitive_features=g)
    ax = plot.trajectory(model, what="group_weights")
    shown = {t.get_text(): bar.get_width() for t, bar in zip(ax.get_yticklabels(), ax.patches)}
    assert not ax.lines and shown == dict(zip(model.group_names_, model.group_weights_))
    assert list(shown.values()) == sorted(shown.values(), reverse=True)


def test_losses_are_capped_alike(rows):
    X, y, g = rows
    model = GroupDROClassifier().fit(X, y)
    reports = {
        str(cap): metrics.evaluate(model, X, y, sensitive_features=g, cap=cap) for cap in (2, 5)
    }
    with pytest.raises(ValueError, match="'5' counts losses up to 5, others up to 2"):
        plot.group_risks(reports)
    assert plot.group_risks(reports, column="accuracy").get_xlabel() == "accuracy"


def test_reports_of_other_groups_are_refused(rows):
    X, y, g = rows
    model = GroupDROClassifier().fit(X, y)
    reports = {
        "a": metrics.evaluate(model, X, y, sensitive_features=g),
        "b": metrics.evaluate(model, X, y, sensitive_features=None),
    }
    with pytest.raises(ValueError, match="'b' has other groups"):
        plot.group_risks(reports)
    with pytest.raises(ValueError, match="'model' is a GroupDROClassifier: expected a report"):
        plot.group_risks(model)
    with pytest.raises(ValueError, match="column='loss': expected one of clipped_risk"):
        plot.group_risks(reports["a"], column="loss")
    for draw in (plot.trajectory, lambda m: plot.trade_off([m])):
        with pytest.raises(NotFittedError):
            draw(GroupDROClassifier())

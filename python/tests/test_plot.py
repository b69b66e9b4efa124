"""Charts say what they should."""

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


def test_group_risks_have_bars_of_their_intervals(rows):
    X, y, g = rows
    models = {
        "ERM": GroupDROClassifier().fit(X, y),
        "gdro": GroupDROClassifier().fit(X, y, sensitive_features=g),
    }
    reports = {n: metrics.evaluate(m, X, y, sensitive_features=g) for n, m in models.items()}
    ax = plot.group_risks(reports)
    assert [t.get_text() for t in ax.get_xticklabels()] == ["a", "b", "c"]
    assert [t.get_text() for t in ax.get_legend().get_texts()] == ["ERM", "gdro"]
    line, _, (bars,) = ax.containers[1]
    estimates = reports["gdro"].clipped_risk
    assert line.get_ydata().tolist() == [e.value for e in estimates]
    for segment, e in zip(bars.get_segments(), estimates):
        assert segment[:, 1].tolist() == pytest.approx([e.low, e.high])
    assert plot.group_risks(reports["gdro"], column="accuracy").get_ylabel() == "accuracy"


def test_trajectories(rows):
    X, y, g = rows
    model = GroupDROClassifier(solver="smd-m", rounds=500, step_w=1, step_q=1, random_state=0)
    model.fit(X, y, sensitive_features=g)
    ax = plot.trajectory(model, what="group_weights", x="samples", most=2)
    assert len(ax.lines) == 2 and ax.get_title() == "2 of 3 groups"
    last = [line.get_ydata()[-1] for line in ax.lines]
    assert last == sorted(last, reverse=True)
    assert plot.trajectory(model, what="objective").get_xlabel() == "round"
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
    model = GroupDROClassifier().fit(X, y, sensitive_features=np.arange(500) % 25)
    ax = plot.trajectory(model, most=25)
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.lines}) == 25
    assert {line.get_marker() for line in ax.lines} == {"o"}, "two points are no curve"


def test_losses_are_capped_alike(rows):
    X, y, g = rows
    model = GroupDROClassifier().fit(X, y)
    reports = {
        str(cap): metrics.evaluate(model, X, y, sensitive_features=g, cap=cap) for cap in (2, 5)
    }
    with pytest.raises(ValueError, match="'5' counts losses up to 5, others up to 2"):
        plot.group_risks(reports)
    assert plot.group_risks(reports, column="accuracy").get_ylabel() == "accuracy"


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

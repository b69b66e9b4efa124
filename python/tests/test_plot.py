"""Charts say what they should."""

import numpy as np
import pytest

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
    assert plot.trajectory(model, what="objective").get_xlabel() == "round"
    with pytest.raises(ValueError, match="x='time'"):
        plot.trajectory(model, x="time")


def test_trade_off(rows):
    X, y, g = rows
    models = [
        GroupDROClassifier(objective="top-k", k=k).fit(X, y, sensitive_features=g) for k in (1, 2, 3)
    ]
    ax = plot.trade_off(models)
    assert {t.get_text() for t in ax.texts} == {"top-k 1", "top-k 2", "top-k 3"}
    x, worst = ax.lines[0].get_data()
    assert np.all(np.diff(x) >= 0) and np.all(np.diff(worst) <= 1e-9)


def test_reports_of_other_groups_are_refused(rows):
    X, y, g = rows
    model = GroupDROClassifier().fit(X, y)
    reports = {
        "a": metrics.evaluate(model, X, y, sensitive_features=g),
        "b": metrics.evaluate(model, X, y, sensitive_features=None),
    }
    with pytest.raises(ValueError, match="'b' has other groups"):
        plot.group_risks(reports)

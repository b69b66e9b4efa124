"""Metrics by group and their intervals."""

import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.svm import LinearSVC

import gdro
from gdro import GroupDROClassifier, GroupDRORegressor, metrics


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(1200, 3))
    g = rng.choice(["a", "b", "c"], size=1200, p=[0.5, 0.4, 0.1])
    y = np.where(X[:, 0] * np.where(g == "c", -1, 1) + rng.logistic(size=1200) > 0, "yes", "no")
    return X, y, g


def test_functions_against_scikit_learn(rows):
    X, y, g = rows
    weights = np.arange(1200) % 3 + 1.0
    model = LogisticRegression().fit(X, y)
    proba, predicted = model.predict_proba(X), model.predict(X)
    risks = metrics.group_risks(y, proba, sensitive_features=g, sample_weight=weights)
    for name in "abc":
        at = g == name
        expected = log_loss(y[at], proba[at], sample_weight=weights[at])
        assert risks[name] == pytest.approx(expected)
    assert metrics.worst_group_risk(
        y, proba, sensitive_features=g, sample_weight=weights
    ) == max(risks.values())
    right = predicted == y
    expected = min(right[g == name].mean() for name in "abc")
    assert metrics.worst_group_accuracy(y, predicted, sensitive_features=g) == expected
    squared = metrics.group_risks(X[:, 0], X[:, 1], sensitive_features=g)
    assert squared["a"] == pytest.approx(((X[:, 0] - X[:, 1]) ** 2)[g == "a"].mean())
    one = metrics.worst_group_risk(y, proba[:, 1], sensitive_features=g, loss="log")
    assert one == pytest.approx(metrics.worst_group_risk(y, proba, sensitive_features=g))


def test_families_count_in_all_of_their_groups(rows):
    X, y, g = rows
    h = np.where(X[:, 2] > 0, "up", "down")
    both = metrics.group_accuracies(y, y[::-1], sensitive_features=[g, h])
    assert set(both) == {"0=a", "0=b", "0=c", "1=down", "1=up"}
    alone = metrics.group_accuracies(y, y[::-1], sensitive_features=h)
    assert both["1=up"] == alone["up"]


def test_accuracies_have_clopper_pearson_intervals(rows):
    X, y, g = rows
    model = GroupDROClassifier().fit(X[:600], y[:600], sensitive_features=g[:600])
    report = metrics.evaluate(model, X[600:], y[600:], sensitive_features=g[600:])
    right = model.predict(X[600:]) == y[600:]
    for i, name in enumerate(report.names):
        k, n = right[g[600:] == name].sum(), (g[600:] == name).sum()
        alpha = 0.05 / 3
        assert report.rows[i] == n
        assert report.accuracy[i].value == pytest.approx(k / n)
        assert_allclose(report.accuracy[i].low, beta.ppf(alpha / 2, k, n - k + 1), rtol=1e-6)
        assert_allclose(report.accuracy[i].high, beta.ppf(1 - alpha / 2, k + 1, n - k), rtol=1e-6)
    assert report.worst_accuracy.value == min(a.value for a in report.accuracy)
    assert report.worst_accuracy.low == min(a.low for a in report.accuracy)
    assert report.worst_risk.high == max(r.high for r in report.clipped_risk)


def test_risks_are_those_of_training(rows):
    X, y, g = rows
    for estimator, target in (
        (GroupDROClassifier(), y),
        (GroupDROClassifier(loss="hinge", l2=0.1), y),
        (GroupDROClassifier(), g),
        (GroupDRORegressor(loss="huber:0.5"), X[:, 0] + X[:, 1] ** 2),
    ):
        model = estimator.fit(X, target, sensitive_features=g)
        report = metrics.evaluate(model, X, target, sensitive_features=g)
        assert_allclose(report.risk, model.group_risks_, atol=1e-12)
        assert report.cap == model.loss_cap_
        scorer = metrics.worst_group_risk_scorer
        assert scorer(model, X, target, sensitive_features=g) == pytest.approx(
            -model.group_risks_.max()
        )


def test_intervals_of_risks_hold_for_all_groups_at_once():
    """The true risks are known; 200 tables of 5 groups. Without Bonferroni, or at the wrong level,
    the number of misses would be far off: at 10 % one expects at most 20, and 34 has p < 1e-3."""
    rng = np.random.default_rng(1)
    model = GroupDRORegressor().fit(np.eye(2), [0.0, 0.0])
    model.coef_, model.intercept_ = np.zeros(2), 0.0
    g = np.repeat(np.arange(5), 60)
    misses = 0
    for _ in range(200):
        # Squared losses are uniform on [0, 1]: mean 1/2.
        y = np.sqrt(rng.random(300))
        report = metrics.evaluate(
            model, np.zeros((300, 2)), y, sensitive_features=g, delta=0.1, cap=1.0
        )
        misses += any(not (r.low <= 0.5 <= r.high) for r in report.clipped_risk)
    assert misses <= 34
    assert max(r.high - r.low for r in report.clipped_risk) < 0.5


def test_other_estimators_need_a_cap(rows):
    X, y, g = rows
    model = LogisticRegression().fit(X, y)
    with pytest.raises(ValueError, match="has no loss_cap_"):
        metrics.evaluate(model, X, y, sensitive_features=g)
    report = metrics.evaluate(model, X, y, sensitive_features=g, cap=2.0)
    assert_allclose(
        report.risk, list(metrics.group_risks(y, model.predict_proba(X), sensitive_features=g).values())
    )
    linear = LinearRegression().fit(X, X[:, 0])
    assert metrics.evaluate(linear, X, X[:, 0], sensitive_features=g, cap=1.0).accuracy is None


def test_the_table_reads_and_converts(rows):
    X, y, g = rows
    model = GroupDROClassifier().fit(X, y, sensitive_features=g)
    report = metrics.evaluate(model, X, y, sensitive_features=g)
    text = str(report)
    assert f"worst: {report.worst_group}" in text and "largest risk, least accuracy" in text
    assert "95 %" in text and "accuracy" in text
    frame = report.to_frame()
    assert frame.index.tolist() == ["a", "b", "c"]
    assert frame.loc["a", "accuracy_low"] == report.accuracy[0].low


def test_a_tiny_group_is_not_estimable(rows):
    X, y, g = rows
    few = np.where(np.arange(1200) == 7, "one", g)
    model = GroupDROClassifier().fit(X, y, sensitive_features=g)
    report = metrics.evaluate(model, X, y, sensitive_features=few)
    at = report.names.index("one")
    assert not report.clipped_risk[at].estimable
    assert "not estimable" in str(report)


def test_scorers_can_be_pickled_and_shown():
    for name in ("worst_group_accuracy_scorer", "worst_group_risk_scorer"):
        scorer = getattr(metrics, name)
        assert pickle.loads(pickle.dumps(scorer)) is scorer
        assert repr(scorer) == name


def test_unknown_classes_are_refused(rows):
    X, y, g = rows
    model = GroupDROClassifier().fit(X, y, sensitive_features=g)
    other = np.where(np.arange(1200) == 3, "maybe", y)
    with pytest.raises(ValueError, match="y of row 3 is .*maybe.*: no class of"):
        metrics.evaluate(model, X, other, sensitive_features=g)


def test_scores_that_are_no_probabilities(rows):
    X, y, g = rows
    with pytest.raises(AttributeError):
        metrics.evaluate(LinearSVC().fit(X, y), X, y, sensitive_features=g, cap=1.0)


def test_what_has_no_losses_is_named():
    X, y = np.arange(12.0).reshape(-1, 1), np.array(["no", "yes"] * 6)
    with pytest.raises(NotFittedError):
        metrics.evaluate(GroupDROClassifier(), X, y, sensitive_features=y)
    model = GroupDROClassifier().fit(X, y)
    with pytest.raises(ValueError, match="y of row 1 is 'maybe': no class of"):
        metrics.evaluate(model, X[:2], np.array(["no", "maybe"]), sensitive_features=None)
    with pytest.raises(ValueError, match="y_score holds texts"):
        metrics.worst_group_risk(y, y, sensitive_features=None)
    with pytest.raises(ValueError, match="y_true holds labels.*loss='log'"):
        metrics.worst_group_risk(y, X[:, 0], sensitive_features=None)


@pytest.fixture(scope="module")
def binary():
    """Targets 0 and 1, groups, and a model's probabilities of class 1."""
    rng = np.random.default_rng(4)
    y, g, p = rng.integers(0, 2, 200), rng.integers(0, 3, 200), rng.uniform(0.02, 0.98, 200)
    return y, g, p, np.log(p / (1 - p))


def test_a_loss_is_what_its_name_says(binary):
    y, g, p, s = binary
    sign = np.where(y == 1, 1, -1)

    def worst(y_true, y_score, loss=None, **more):
        return metrics.worst_group_risk(y_true, y_score, sensitive_features=g, loss=loss, **more)

    def of(losses):
        return pytest.approx(max(losses[g == i].mean() for i in range(3)))

    log = -np.log(np.where(y == 1, p, 1 - p))
    for labels in (y, sign, y == 1, np.where(y, "b", "a"), y.astype(object), y.astype(float)):
        assert worst(labels, p, "log") == of(log)
        assert worst(labels, np.column_stack([1 - p, p])) == of(log)
        assert worst(labels, s, "logistic") == of(log)
        assert worst(labels, s, "hinge") == of(np.maximum(0, 1 - sign * s))
        assert worst(labels, np.column_stack([0 * s, s]), "softmax") == of(log)
    flipped = np.array(["b", "a"])
    assert worst(np.where(y, "a", "b"), p, "log", labels=flipped) == of(log)
    assert worst(np.where(y, "a", "b"), s, "logistic", labels=flipped) == of(log)
    assert worst(y, p, "squared") == of((y - p) ** 2)
    assert worst(s, p) == of((s - p) ** 2)
    assert worst(y + 0.5, p) == of((y + 0.5 - p) ** 2)
    # Scores that happen to lie in [0, 1].
    assert worst(y, p.reshape(-1, 1), "hinge") == of(np.maximum(0, 1 - sign * p))


def nan_in(values):
    return np.where(np.arange(len(values)) == 7, np.nan, values)


#: Targets and scores of what is refused, the loss, and what is said.
MISREAD = {
    "probabilities or numbers": (lambda y, p, s: (y, p, None), "'log' if y_score are probabilities"),
    "texts without a loss": (lambda y, p, s: (np.where(y, "b", "a"), s, None), "'logistic' or"),
    "probabilities as log-odds": (lambda y, p, s: (y, p, "logistic"), "loss='log' for probabilities"),
    "probabilities as margins": (lambda y, p, s: (2 * y - 1, p, "hinge"), r"reshape\(-1, 1\)"),
    "two columns": (lambda y, p, s: (y, np.c_[1 - p, p], "logistic"), "for probabilities give"),
    "a column per class": (lambda y, p, s: (y, np.c_[1 - p, p], "softmax"), "give loss='log'"),
    "a single one": (lambda y, p, s: (y, s, "softmax"), "takes a score per class"),
    "log-odds as probabilities": (lambda y, p, s: (y, s, "log"), "expected a probability; of scores"),
    "scores as probabilities": (lambda y, p, s: (y, np.c_[-s, s], "log"), "expected a probability"),
    "no distribution": (lambda y, p, s: (y, np.c_[p, p], "log"), "that sum to 1"),
    "NaN": (lambda y, p, s: (s, nan_in(s), None), "y_score of row 7 is nan"),
    "NaN as a probability": (lambda y, p, s: (y, nan_in(p), "log"), "y_score of row 7 is nan"),
    "NaN as a target": (lambda y, p, s: (nan_in(y), p, "log"), "y_true of row 7 is nan"),
    "texts as numbers": (lambda y, p, s: (y.astype(str), p, "squared"), "takes numbers"),
    "one class": (lambda y, p, s: (0 * y, s, "logistic"), "give labels"),
    "another class": (lambda y, p, s: (np.arange(200) % 3, s, "hinge"), "takes two classes, found 3"),
    "no loss": (lambda y, p, s: (y, p, "brier"), "loss='brier'"),
}


@pytest.mark.parametrize("kind", MISREAD)
def test_scores_that_are_misread_are_refused(binary, kind):
    y, g, p, s = binary
    make, message = MISREAD[kind]
    y_true, y_score, loss = make(y, p, s)
    with pytest.raises(ValueError, match=message):
        metrics.group_risks(y_true, y_score, sensitive_features=g, loss=loss)


def test_predictions_that_are_no_labels_are_refused(binary):
    y, g, p, _ = binary
    for y_true, y_pred, message in (
        (y, p, "y_pred of row 0 is .*expected a label"),
        (y, np.c_[1 - p, p], "1d array"),
        (y.astype(str), y, "labels of one kind"),
        (y, 2 * y - 1, r"y_true holds \[0, 1\] and y_pred \[-1, 1\]"),
        (y, nan_in(y), "y_pred of row 7 is nan"),
    ):
        with pytest.raises(ValueError, match=message):
            metrics.worst_group_accuracy(y_true, y_pred, sensitive_features=g)
    for same in (y.astype(float), y == 1, y.astype(object), y.tolist()):
        assert metrics.worst_group_accuracy(y, same, sensitive_features=g) == 1


def test_no_group_disappears_but_that_of_weights_0(binary):
    y, g, p, _ = binary
    with pytest.raises(ValueError, match="NaN"):
        metrics.group_risks(
            y, p, loss="log", sensitive_features=g, sample_weight=np.where(g == 1, np.nan, 1)
        )
    with pytest.raises(ValueError, match="sample_weight of row 0 is -1"):
        metrics.group_risks(y, p, loss="log", sensitive_features=g, sample_weight=-np.ones(200))
    certain = np.where(g == 1, 1.0 - y, p)  # wrong, with loss ∞
    found = metrics.group_risks(
        y, certain, loss="log", sensitive_features=g, sample_weight=(g != 1).astype(float)
    )
    assert set(found) == {"0", "2"} and np.isfinite(list(found.values())).all()
    assert metrics.worst_group_risk(y, certain, loss="log", sensitive_features=g) == np.inf


def test_a_margin_loss_knows_its_classes(binary):
    y, g, _, s = binary
    model = GroupDROClassifier(loss="hinge", l2=0.1).fit(s[:, None], y, sensitive_features=g)
    with pytest.raises(ValueError, match="y of row 5 is 2: no class of"):
        metrics.evaluate(model, s[:, None], np.where(np.arange(200) == 5, 2, y), sensitive_features=g)


def weighted(rng, n):
    """Rows of which 1 % weigh 100 and have labels of a coin; the others' labels follow x."""
    x = rng.integers(0, 2, n)
    w = np.where(rng.random(n) < 0.01, 100.0, 1.0)
    y = np.where(rng.random(n) < np.where(w > 1, 0.5, 0.98), x, 1 - x)
    return x[:, None].astype(float), y, w, rng.choice(["a", "b"], n)


def test_the_bound_on_weights_is_that_of_the_training_rows():
    """60 rows have no heavy one in half of the cases: a bound from them misses in 30 % of the tables.
    Nominal 5 misses of 100; 13 or more have p < 2e-3."""
    rng = np.random.default_rng(11)
    X, y, w, g = weighted(rng, 4000)
    model = GroupDROClassifier().fit(X, y, sensitive_features=g, sample_weight=w)
    assert model.weight_cap_ == 100
    right = model.predict([[0.0], [1.0]])
    truth = (0.5 * 100 * 0.01 + 0.98 * 0.99) / (100 * 0.01 + 0.99)
    assert right.tolist() == [0, 1]
    misses = 0
    for _ in range(100):
        X, y, w, g = weighted(rng, 60)
        report = metrics.evaluate(model, X, y, sensitive_features=g, sample_weight=w)
        misses += any(not a.low <= truth <= a.high for a in report.accuracy)
    assert misses <= 12
    assert report.weight_cap == 100 and report.weights_capped == 0


def test_heavier_rows_count_as_the_cap():
    X, y, w, g = weighted(np.random.default_rng(12), 3000)
    model = GroupDROClassifier().fit(X, y, sensitive_features=g, sample_weight=w)
    report = metrics.evaluate(
        model, X, y, sensitive_features=g, sample_weight=w, weight_cap=10.0
    )
    same = metrics.evaluate(
        model, X, y, sensitive_features=g, sample_weight=np.minimum(w, 10), weight_cap=10.0
    )
    assert report.accuracy == same.accuracy and report.clipped_risk == same.clipped_risk
    assert report.weights_capped == pytest.approx((w > 10).mean()) and same.weights_capped == 0
    assert_allclose(report.risk, model.group_risks_, atol=1e-12)  # neither cap
    assert "Weights count as at most 10, which cuts" in str(report)


def test_weights_without_a_bound_are_refused(rows):
    X, y, g = rows
    plain = GroupDROClassifier().fit(X, y, sensitive_features=g)
    assert plain.weight_cap_ is None
    w = np.ones(len(y))
    with pytest.raises(ValueError, match="the estimator has no weight_cap_"):
        metrics.evaluate(plain, X, y, sensitive_features=g, sample_weight=w)
    with pytest.raises(ValueError, match="weight_cap=2.0: without sample_weight"):
        metrics.evaluate(plain, X, y, sensitive_features=g, weight_cap=2.0)
    ones = metrics.evaluate(
        plain, X, y, sensitive_features=g, sample_weight=w, weight_cap=1.0
    )
    none = metrics.evaluate(plain, X, y, sensitive_features=g)
    assert ones.clipped_risk == none.clipped_risk


def test_an_overfit_model_does_not_set_its_own_cap():
    rng = np.random.default_rng(13)
    X, y, g = rng.normal(size=(120, 80)), np.arange(120) % 2, np.array(["a", "b", "b"] * 40)
    model = GroupDROClassifier(l2=1e-9).fit(X[:60], y[:60], sensitive_features=g[:60])
    assert model.group_risks_.max() < 1e-3 and model.loss_cap_ == 1.0
    report = metrics.evaluate(model, X[60:], y[60:], sensitive_features=g[60:])
    for i, risk in enumerate(report.clipped_risk):
        assert report.clipped[i] > 0.2 * report.rows[i] and report.risk[i] > 1.5
        assert risk.low <= risk.value <= risk.high
    assert " % cut" in str(report)
    assert report.worst_group == report.names[np.argmax([r.value for r in report.clipped_risk])]


def test_groups_that_are_not_here_are_named(rows):
    X, y, g = rows
    model = GroupDROClassifier().fit(X, y, sensitive_features=g)
    here = np.where(g == "c", "new", g)
    report = metrics.evaluate(model, X, y, sensitive_features=here)
    assert report.names == ["a", "b", "c", "new"]  # as the program has them
    assert report.missing == ["c"] and report.unseen == ["new"]
    assert report.rows[2] == 0 and report.clipped_risk[2].value is None
    assert report.worst_risk.high == report.cap and not report.worst_risk.estimable
    assert "no rows here: c." in str(report) and "never saw: new." in str(report)
    # Another grouping than that of training has no missing groups.
    other = metrics.evaluate(model, X, y, sensitive_features=np.where(X[:, 2] > 0, "up", "down"))
    assert other.missing == [] and other.unseen == [] and other.worst_risk.estimable


def test_the_auc_of_weighted_rows(rows):
    X, y, g = rows
    w = 1.0 + np.arange(1200) % 3
    model = GroupDROClassifier().fit(X, y, sensitive_features=g, sample_weight=w)
    report = metrics.evaluate(model, X, y, sensitive_features=g, sample_weight=w)
    for i, name in enumerate(report.names):
        at = g == name
        expected = roc_auc_score(
            y[at] == "yes", model.decision_function(X[at]), sample_weight=w[at]
        )
        assert report.auc[i].value == pytest.approx(expected, abs=1e-12)
        assert report.auc[i].low <= expected <= report.auc[i].high


@pytest.fixture(scope="module")
def gain():
    """Rows of three groups, in the smallest of which the features say the opposite, in two halves."""
    rng = np.random.default_rng(5)
    n = 12000
    X = rng.normal(size=(n, 2))
    g = rng.choice(["a", "b", "c"], size=n, p=[0.55, 0.35, 0.1])
    sign = np.where(g == "c", -0.6, 1)
    y = np.where(sign * (X[:, 0] + X[:, 1] / 2) + rng.logistic(size=n) > 0, "yes", "no")
    half = np.arange(n) < n // 2
    return [(X[at], y[at], g[at]) for at in (half, ~half)]


def test_a_verdict_is_that_of_the_worst_groups(gain):
    (X, y, g), (X_new, y_new, g_new) = gain
    model = GroupDROClassifier(l2=1e-4).fit(X, y, sensitive_features=g)
    erm = GroupDROClassifier(l2=1e-4, objective="average").fit(X, y, sensitive_features=g)
    new = {"sensitive_features": g_new, "cap": model.loss_cap_}
    found = metrics.verdict(model, erm, X_new, y_new, **new)
    reports = [metrics.evaluate(m, X_new, y_new, **new) for m in (erm, model)]
    for of, report in zip((found.erm, found.model), reports):
        worst = max(zip((e.value for e in report.clipped_risk), report.names))
        assert (of["risk"], of["group"]) == (pytest.approx(worst[0], abs=1e-12), worst[1])
    assert found.difference == pytest.approx(found.model["risk"] - found.erm["risk"])
    assert found.word == "HELPED" and found.low <= found.difference <= found.high < 0
    # Paired, in the worst group of both: the ends are close to those of a normal approximation.
    assert found.high - found.low < 0.2 and found.level == 0.95
    means = [np.average([e.value for e in r.clipped_risk], weights=r.rows) for r in reports]
    assert found.average_cost == pytest.approx(means[1] - means[0])
    assert (found.groups, found.left_out, found.better) == (3, [], ["c"])
    # The largest loss first.
    risks = [dict(zip(r.names, (e.value for e in r.clipped_risk))) for r in reports]
    assert found.worse == sorted("ab", key=lambda name: risks[0][name] - risks[1][name])
    effect, cost, following = str(found).split("\n")
    first, second = found.worse
    assert cost.startswith(
        f"of 3 groups, `c` is clearly better, and `{first}` and `{second}` clearly worse; "
    )
    assert effect.startswith("HELPED: ") and cost.endswith(", the price")
    assert following == f"next: {found.next}"
    back = metrics.verdict(erm, model, X_new, y_new, **new)
    assert back.word == "HURT"
    assert (back.low, back.high) == pytest.approx((-found.high, -found.low))
    same = metrics.verdict(erm, erm, X_new, y_new, **new)
    assert (same.word, same.difference) == ("NO CLEAR EVIDENCE", 0.0)
    assert str(same).startswith("NO CLEAR EVIDENCE: the model is ordinary training itself\n")


def test_an_open_verdict_says_what_its_rows_could_show(gain):
    (X, y, g), (X_new, y_new, g_new) = gain
    model = GroupDROClassifier(l2=1e-4, objective="balanced").fit(X, y, sensitive_features=g)
    erm = GroupDROClassifier(l2=1e-4, objective="average").fit(X, y, sensitive_features=g)
    few = slice(0, 300)
    found = metrics.verdict(model, erm, X_new[few], y_new[few], sensitive_features=g_new[few])
    assert found.low <= 0 <= found.high
    told = re.search("which may be chance: only a fall of about ([0-9.]+) or more would show", str(found))
    # A fall so much larger than this difference would have its upper end at 0.
    assert float(told[1]) == pytest.approx(found.high - found.difference, abs=1e-3)


def test_verdicts_take_other_models_and_leave_small_groups_out(gain):
    (X, y, g), (X_new, y_new, g_new) = gain
    model = GroupDROClassifier(l2=1e-4).fit(X, y, sensitive_features=g)
    other = LogisticRegression().fit(X, y)
    assert metrics.verdict(model, other, X_new, y_new, sensitive_features=g_new).word == "HELPED"
    few = np.flatnonzero(g_new != "c")
    few = np.sort(np.concatenate([few, np.flatnonzero(g_new == "c")[:29]]))
    found = metrics.verdict(model, other, X_new[few], y_new[few], sensitive_features=g_new[few])
    assert found.left_out == ["c"] and "2 groups large enough" in str(found)
    found = metrics.verdict(model, other, X_new[:9], y_new[:9], sensitive_features=g_new[:9])
    assert found.word == "NO CLEAR EVIDENCE" and found.erm is None and found.low is None
    with pytest.raises(ValueError, match="estimator: expected a GroupDRO"):
        metrics.verdict(other, model, X_new, y_new, sensitive_features=g_new, cap=2.0)


def test_notebooks_show_reports_as_tables():
    rng = np.random.default_rng(5)
    X, names = rng.normal(size=(400, 2)), np.array(["<b>a</b>", "b & c"])
    g = names[rng.integers(2, size=400)]
    y = (X[:, 0] * np.where(g == names[1], -0.2, 1) + rng.logistic(size=400) > 0).astype(int)
    model = GroupDROClassifier().fit(X[:200], y[:200], sensitive_features=g[:200])
    report = metrics.evaluate(model, X[200:], y[200:], sensitive_features=g[200:])
    html = report._repr_html_()
    assert "<b>" not in html and "&lt;b&gt;a&lt;/b&gt;" in html and "b &amp; c" in html
    # Every cell of the text is there, the worst group first.
    for line in str(report).splitlines()[1:3]:
        assert line.split("  ")[-1].strip() in html
    places = [html.index(name) for name in ("&lt;b&gt;a", "b &amp; c")]
    assert (places[0] < places[1]) == (report.worst_group == names[0])
    assert html.count("<tr") == 4 and "probability 95 %" in html
    erm = GroupDROClassifier(objective="average").fit(X[:200], y[:200], sensitive_features=g[:200])
    verdict = metrics.verdict(model, erm, X[200:], y[200:], sensitive_features=g[200:])
    assert verdict.word in verdict._repr_html_() and verdict._repr_html_().count("<p>") == 3
    assert f"{model.certificate_.upper:.10g}" in model.certificate_._repr_html_()
    assert "GroupDROClassifier" in model._repr_html_()


def test_a_verdict_says_where_the_cap_cuts_the_losses_of_erm():
    X, y, site, _ = gdro.example("island")
    here = dict(sensitive_features=site[::2])
    erm = GroupDROClassifier(objective="average").fit(X[::2], y[::2], **here)
    robust = GroupDROClassifier(l2=1).fit(X[::2], y[::2], **here)
    later = dict(sensitive_features=site[1::2])
    cut = metrics.verdict(robust, erm, X[1::2], y[1::2], **later)
    s = erm.decision_function(X[1::2])
    losses = np.logaddexp(0, np.where(y[1::2] == erm.classes_[1], -s, s))[site[1::2] == cut.erm["group"]]
    share = np.mean(losses > robust.loss_cap_)
    assert share > 0.01
    said = f"the cap on losses cuts {100 * share:.0f} % of the rows of `{cut.erm['group']}` under ERM"
    assert said in str(cut)
    whole = metrics.verdict(robust, erm, X[1::2], y[1::2], cap=losses.max() + 1, **later)
    assert "the cap on losses" not in str(whole) and whole.erm["risk"] > cut.erm["risk"]


def test_clusters_of_the_training_are_missed(rows):
    X, y, g = rows
    model = GroupDROClassifier().fit(X, y, sensitive_features=g, clusters=np.arange(len(y)) // 3)
    with pytest.warns(UserWarning, match="trained on rows in clusters: without `clusters` intervals take"):
        metrics.evaluate(model, X, y, sensitive_features=g)

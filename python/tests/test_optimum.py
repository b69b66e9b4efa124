"""Optima against other solvers: scikit-learn without groups, cvxpy and SciPy with them."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression, Ridge

from gdro import GroupDROClassifier, GroupDRORegressor

ORACLES = Path(__file__).parent / "oracles"
sys.path.insert(0, str(ORACLES))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    n, d = 1500, 7
    X = rng.normal(size=(n, d)) * np.array([1, 2, 0.5, 1, 1, 3, 1])
    score = X @ rng.normal(size=d) / 2 + 0.7
    binary = (score + rng.logistic(size=n) > 0).astype(int)
    many = (X @ rng.normal(size=(d, 4)) + rng.gumbel(size=(n, 4))).argmax(axis=1)
    numbers = score + rng.normal(size=n) + 3
    weights = rng.integers(1, 5, n).astype(float)
    return X, binary, many, numbers, weights


@pytest.mark.parametrize("l2", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [True, False])
def test_without_groups_it_is_logistic_regression(rows, l2, weighted, intercept):
    X, y, _, _, weights = rows
    weights = weights if weighted else None
    total = len(y) if weights is None else weights.sum()
    ours = GroupDROClassifier(l2=l2, fit_intercept=intercept).fit(X, y, sample_weight=weights)
    other = LogisticRegression(
        C=1 / (total * l2), tol=1e-12, max_iter=10_000, fit_intercept=intercept
    ).fit(X, y, sample_weight=weights)
    assert_allclose(ours.coef_, other.coef_, atol=1e-6)
    assert_allclose(ours.intercept_, other.intercept_, atol=1e-6)
    assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=1e-6)


@pytest.mark.parametrize("l2", [1e-3, 1e-1])
def test_without_groups_it_is_multinomial_regression(rows, l2):
    X, _, y, _, _ = rows
    ours = GroupDROClassifier(l2=l2).fit(X, y)
    other = LogisticRegression(C=1 / (len(y) * l2), tol=1e-12, max_iter=10_000).fit(X, y)
    assert_allclose(ours.coef_, other.coef_, atol=1e-6)
    assert_allclose(ours.intercept_, other.intercept_, atol=1e-6)
    assert_allclose(ours.predict_log_proba(X), other.predict_log_proba(X), atol=1e-5)


@pytest.mark.parametrize("l2", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_without_groups_it_is_ridge(rows, l2, weighted):
    X, _, _, y, weights = rows
    weights = weights if weighted else None
    total = len(y) if weights is None else weights.sum()
    ours = GroupDRORegressor(l2=l2).fit(X, y, sample_weight=weights)
    other = Ridge(alpha=total * l2 / 2, tol=1e-12).fit(X, y, sample_weight=weights)
    assert_allclose(ours.coef_, other.coef_, atol=1e-6)
    assert_allclose(ours.intercept_, other.intercept_, atol=1e-6)
    assert isinstance(ours.intercept_, float)


CASES = json.loads((ORACLES / "exact.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c['loss']}-{c['objective']}-{c['ball']}")
def test_with_groups_it_is_the_exact_optimum(case):
    from problems import problem

    X, y, g, weights = problem(**case["data"])
    estimator = GroupDRORegressor if case["data"].get("regression") else GroupDROClassifier
    model = estimator(
        loss=case["loss"], objective=case["objective"], k=case["k"], l2=case["l2"], ball=case["ball"]
    )
    model.fit(X, y, sensitive_features=g, sample_weight=weights if case["weighted"] else None)
    kinked = case["loss"] in ("hinge", "absolute")
    certificate = model.certificate_
    scale = max(1.0, abs(case["optimum"]))
    assert abs(certificate.upper - case["optimum"]) < (1e-6 if kinked else 1e-7) * scale
    assert certificate.lower <= case["optimum"] + 1e-7 * scale
    # With kinks the objective determines the model to about the root of its accuracy.
    close = 1e-3 if kinked else 1e-6
    assert_allclose(np.atleast_2d(model.coef_), case["coef"], atol=close)
    assert_allclose(np.ravel(model.intercept_), case["intercept"], atol=close)


def test_the_objective_is_what_the_group_risks_say(rows):
    X, y, _, _, _ = rows
    g = np.arange(len(y)) % 5
    model = GroupDROClassifier(l2=1e-2, objective="top-k", k=2.5).fit(X, y, sensitive_features=g)
    s = model.decision_function(X)
    losses = np.logaddexp(0, np.where(y == 1, -s, s))
    risks = np.array([losses[g == i].mean() for i in range(5)])
    assert_allclose(model.group_risks_, risks, atol=1e-12)
    top = np.sort(risks)[::-1]
    mean = (top[0] + top[1] + 0.5 * top[2]) / 2.5
    ridge = 0.005 * (model.coef_**2).sum()
    assert_allclose(model.certificate_.upper, mean + ridge, atol=1e-10)
    assert model.group_weights_.sum() == pytest.approx(1)
    assert model.group_weights_.max() <= 1 / 2.5 + 1e-9


@pytest.mark.parametrize("tail", ["", ":groups"])
@pytest.mark.parametrize("tau", [0.003, 0.1, 10.0])
def test_tilted_risks_are_minimised(rows, tau, tail):
    """Another solver, SciPy's, on the formula: rows with weights in two families."""
    X, y, _, _, weights = rows
    X, y, weights = X[:300], y[:300], weights[:300]
    rng = np.random.default_rng(2)
    a, b = rng.choice(["x", "y"], len(y), p=[0.9, 0.1]), rng.choice(["p", "q", "r"], len(y))
    model = GroupDROClassifier(l2=1e-2, objective=f"tilted:{tau}{tail}")
    model.fit(X, y, sensitive_features=[a, b], sample_weight=weights)
    groups = [a == v for v in "xy"] + [b == v for v in "pqr"]
    share = np.array([weights[g].sum() for g in groups]) / weights.sum() / 2
    prior = np.full(5, 0.2) if tail else share
    sign = np.where(y == 1, 1.0, -1.0)

    def tilted(w):
        s = X @ w[:-1] + w[-1]
        losses, slopes = np.logaddexp(0, -sign * s), -sign / (1 + np.exp(sign * s))
        risks = np.array([np.average(losses[g], weights=weights[g]) for g in groups])
        terms = np.log(prior) + risks / tau
        value = terms.max() + np.log(np.exp(terms - terms.max()).sum())
        q = np.exp(terms - value)
        of_rows = sum(q_i * g * weights / weights[g].sum() for q_i, g in zip(q, groups))
        gradient = np.append(X.T @ (of_rows * slopes) + 1e-2 * w[:-1], of_rows @ slopes)
        return tau * value + 0.005 * (w[:-1] ** 2).sum(), gradient, q

    w = np.append(model.coef_, model.intercept_)
    found = minimize(
        lambda v: tilted(v)[:2], np.zeros_like(w), jac=True, method="BFGS",
        options={"gtol": 1e-9, "maxiter": 5000},
    )
    value, gradient, q = tilted(w)
    assert_allclose(model.certificate_.upper, value, atol=1e-10)
    assert abs(value - found.fun) < 1e-7 * found.fun
    assert abs(gradient).max() < 1e-6
    assert_allclose(model.group_weights_, q, atol=1e-6)
    assert model.certificate_.gap < 1e-9


def test_families_are_all_their_groups_at_once(rows):
    """Two families: the optimum is that of the groups of both."""
    X, y, _, _, _ = rows
    rng = np.random.default_rng(0)
    a, b = rng.choice(["x", "y"], len(y)), rng.choice(["p", "q", "r"], len(y))
    model = GroupDROClassifier(l2=1e-2).fit(X, y, sensitive_features=[a, b])
    assert model.group_names_.tolist() == ["0=x", "0=y", "1=p", "1=q", "1=r"]
    s = model.decision_function(X)
    losses = np.logaddexp(0, np.where(y == 1, -s, s))
    risks = [losses[a == v].mean() for v in "xy"] + [losses[b == v].mean() for v in "pqr"]
    assert_allclose(model.group_risks_, risks, atol=1e-12)
    assert model.certificate_.gap < 1e-10
    assert_allclose(
        model.certificate_.upper, max(risks) + 0.005 * (model.coef_**2).sum(), atol=1e-10
    )


def test_ordinary_training_counts_every_row_once(rows):
    X, y, _, _, _ = rows
    g = np.arange(len(y)) % 7 == 0
    ordinary = GroupDROClassifier(l2=1e-2).fit(X, y)
    by_objective = GroupDROClassifier(l2=1e-2, objective="average").fit(X, y, sensitive_features=g)
    assert_allclose(ordinary.coef_, by_objective.coef_, atol=1e-7)


def test_a_weight_of_two_is_a_row_twice(rows):
    X, y, _, numbers, weights = rows
    g = np.arange(len(y)) % 3
    X, y, g, weights = X[:400], y[:400], g[:400], weights[:400].astype(int) - 1  # some are 0
    rows_of = np.repeat(np.arange(400), weights)
    for estimator, target in ((GroupDROClassifier(), y), (GroupDRORegressor(), numbers[:400])):
        once = estimator.fit(X, target, sensitive_features=g, sample_weight=weights).coef_
        again = estimator.fit(
            X[rows_of], target[rows_of], sensitive_features=g[rows_of]
        ).coef_
        assert_allclose(once, again, atol=1e-7)


def test_offsets_scales_and_adjustment(rows):
    """A large offset takes a group out of the game; scales multiply its risk."""
    X, y, _, _, _ = rows
    g = np.where(np.arange(len(y)) % 3 == 0, "a", "b")
    alone = GroupDROClassifier(l2=1e-2).fit(X[g == "a"], y[g == "a"])
    shifted = GroupDROClassifier(l2=1e-2, offsets={"a": 0.0, "b": 50.0})
    assert_allclose(shifted.fit(X, y, sensitive_features=g).coef_, alone.coef_, atol=1e-7)
    assert shifted.group_offsets_.tolist() == [0.0, 50.0]
    scaled = GroupDROClassifier(l2=1e-2, scales={"a": 1.0, "b": 1e-3})
    assert_allclose(scaled.fit(X, y, sensitive_features=g).coef_, alone.coef_, atol=1e-7)
    adjusted = GroupDROClassifier(adjustment=2.0).fit(X, y, sensitive_features=g)
    assert_allclose(adjusted.group_offsets_, [-2 / np.sqrt(np.sum(g == v)) for v in "ab"])


def test_in_a_ball_there_is_no_ridge_unless_it_is_given(rows):
    X, y, _, _, _ = rows
    g = np.arange(len(y)) % 3
    model = GroupDROClassifier(ball=0.5).fit(X, y, sensitive_features=g)
    assert_allclose(model.certificate_.upper, model.group_risks_.max(), atol=1e-10)
    assert np.linalg.norm(model.coef_) == pytest.approx(0.5, abs=1e-6)
    free = GroupDROClassifier().fit(X, y, sensitive_features=g)
    ridge = 0.5e-4 * (free.coef_**2).sum()
    assert_allclose(free.certificate_.upper, free.group_risks_.max() + ridge, atol=1e-10)


def test_regret_is_the_excess_over_models_of_their_own(rows):
    X, y, _, _, _ = rows
    g = np.where(np.arange(len(y)) % 3 == 0, "a", "b")
    model = GroupDROClassifier(l2=1e-2, objective="regret").fit(X, y, sensitive_features=g)
    for i, name in enumerate("ab"):
        own = GroupDROClassifier(l2=1e-2).fit(X[g == name], y[g == name])
        assert model.group_offsets_[i] == pytest.approx(own.group_risks_[0], abs=1e-8)


@pytest.mark.parametrize("solver", ["smd-m", "online-1", "smd-m-single", "adaptive"])
def test_solvers_in_rounds_come_close_to_the_optimum(rows, solver):
    X, y, _, _, _ = rows
    g = np.arange(len(y)) % 4
    exact = GroupDROClassifier(l2=1e-2).fit(X, y, sensitive_features=g)
    model = GroupDROClassifier(l2=1e-2, solver=solver, rounds=60_000, random_state=1)
    model.fit(X, y, sensitive_features=g)
    assert model.n_iter_ == 60_000
    assert model.certificate_.lower <= exact.certificate_.upper
    assert 0 <= model.certificate_.upper - exact.certificate_.lower < 0.05
    again = model.__class__(**model.get_params()).fit(X, y, sensitive_features=g)
    assert np.array_equal(model.coef_, again.coef_)


def test_a_tolerance_is_kept_by_solvers_in_rounds(rows):
    X, y, _, _, _ = rows
    g = np.arange(len(y)) % 2
    model = GroupDROClassifier(l2=1e-1, solver="smd-m", tol=5e-3, rounds=2000, random_state=0)
    assert model.fit(X, y, sensitive_features=g).certificate_.gap <= 5e-3


def test_budgets_visit_rows_once(rows):
    X, y, _, _, _ = rows
    g = np.arange(len(y)) % 5 == 0
    model = GroupDROClassifier(l2=1e-2, solver="smd-r", budget="all", random_state=0)
    model.fit(X, y, sensitive_features=g)
    assert model.trace_["samples"][-1] <= len(y)


@pytest.mark.parametrize("domain", ["l1:5", "l1:1"])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_an_optimum_inside_of_a_ball_of_the_1_norm(domain, noise):
    """Points on a line in the second feature, up to noise that cancels."""
    X = np.repeat([[1.0, 3.0], [2.0, 1.0], [3.0, 3.0], [4.0, 1.0]], 4, axis=0)
    y = 2.5 - X[:, 1] / 2 + np.tile([noise, -noise], 8)
    for loss in ("squared", "huber"):
        model = GroupDRORegressor(domain=domain, loss=loss).fit(X, y)
        assert_allclose(model.coef_, [0, -0.5], atol=1e-4)
        assert model.intercept_ == pytest.approx(2.5, abs=1e-3)
        assert model.certificate_.gap < 1e-6


@pytest.mark.parametrize("loss", ["squared", "huber:0.5", "absolute", "quantile:0.9"])
@pytest.mark.parametrize("a, b", [(1e-6, 0.0), (1e9, 0.0), (1.0, 1e6)])
def test_units_and_zeros_of_targets_do_not_matter(rows, loss, a, b):
    X, _, _, y, _ = rows
    g = np.arange(len(y)) % 3
    l2 = {"squared": 0.01, "huber:0.5": 0.01}.get(loss, 0.01 / a)
    own = f"huber:{0.5 * a}" if loss.startswith("huber") else loss
    base = GroupDRORegressor(loss=loss, l2=0.01).fit(X, y, sensitive_features=g)
    other = GroupDRORegressor(loss=own, l2=l2).fit(X, a * y + b, sensitive_features=g)
    assert_allclose(other.coef_ / a, base.coef_, atol=2e-3)
    size = a * a if loss in ("squared", "huber:0.5") else a
    assert_allclose(other.certificate_.upper / size, base.certificate_.upper, rtol=1e-6)
    assert other.certificate_.relative_gap < 1e-6 and other.certificate_.any_intercept


def test_no_bound_keeps_an_intercept_from_its_place():
    X = 2000.0 + np.arange(300).reshape(-1, 1) % 21
    y = 0.5 * X[:, 0] + np.sin(np.arange(300))
    model = GroupDRORegressor(l2=1e-6).fit(X, y, sensitive_features=np.zeros(300, int))
    slope, intercept = np.polyfit(X[:, 0], y, 1)
    assert_allclose(model.coef_, [slope], rtol=1e-6)
    assert_allclose(model.intercept_, intercept, atol=1e-2)

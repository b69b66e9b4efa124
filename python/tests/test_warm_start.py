"""A second fit starts from the model that is there."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import gdro
from gdro import GroupDROClassifier, GroupDROClassifierCV, GroupDRORegressor, Solver

#: Steps so short that nothing moves: what comes out is where the run started.
STILL = {"step_w": 1e-13, "step_q": 1e-13, "rounds": 3, "random_state": 0}


def rows(n=600, seed=0, d=4):
    rng = np.random.default_rng(seed)
    site = rng.choice(["a", "b", "c"], size=n, p=[0.6, 0.3, 0.1])
    X = rng.normal(size=(n, d))
    slope = np.where(site == "c", -1.0, 1.5)
    score = slope * X[:, 0] + X[:, 1] + 0.5 + rng.logistic(size=n)
    return X, np.where(score > 0, "yes", "no"), site


def objective(model, X, y, site):
    """The largest mean logistic loss of a group, with the ridge."""
    margins = np.where(y == "yes", 1, -1) * (X @ model.coef_[0] + model.intercept_[0])
    losses = np.logaddexp(0, -margins)
    return max(losses[site == g].mean() for g in "abc") + model.l2 / 2 * (model.coef_**2).sum()


def many(n=3000, d=20, m=10, seed=0):
    """Rows of many groups, of which several decide."""
    rng = np.random.default_rng(seed)
    site = rng.integers(0, m, n)
    slopes = 0.6 * rng.normal(size=(m, d)) + rng.normal(size=d)
    X = rng.normal(size=(n, d))
    return X, (X * slopes[site]).sum(1), site, rng


@pytest.mark.parametrize(
    "kind, loss, share",
    [
        (GroupDROClassifier, "logistic", 0.95),
        (GroupDROClassifier, "smoothed-hinge:0.1", 0.5),
        (GroupDRORegressor, "squared", 0.95),
    ],
)
def test_the_exact_solver_needs_fewer_iterations_from_a_near_optimum(kind, loss, share):
    X, score, site, rng = many()
    noisy = score + rng.logistic(size=len(site))
    y = noisy if kind is GroupDRORegressor else np.where(noisy > 0, 1, -1)
    cold_iterations, warm_iterations = 0, 0
    for seed in range(4):
        own = {"loss": loss, "l2": 1e-3}
        rows = np.random.default_rng(seed).permutation(len(y))[:-30]
        given = {"sensitive_features": site[rows]}
        cold = kind(**own).fit(X[rows], y[rows], **given)
        warm = kind(warm_start=True, **own)
        first = warm.fit(X, y, sensitive_features=site)
        before, proof = first.coef_, first.certificate_
        warm.fit(X[rows], y[rows], **given)
        cold_iterations += cold.n_iter_
        warm_iterations += warm.n_iter_
        # The same optimum, of the new rows.
        assert_allclose(warm.coef_, cold.coef_, atol=1e-5)
        assert np.abs(warm.coef_ - before).max() > 1e-4
        assert warm.certificate_.lower <= cold.certificate_.upper
        assert cold.certificate_.lower <= warm.certificate_.upper
        assert abs(warm.certificate_.upper - proof.upper) > 1e-5 and warm.certificate_.gap < 1e-6
        if loss == "logistic":
            losses = np.logaddexp(0, -y[rows] * (X[rows] @ warm.coef_[0] + warm.intercept_[0]))
            largest = max(losses[site[rows] == g].mean() for g in range(10))
            assert warm.certificate_.upper == pytest.approx(largest + 5e-4 * (warm.coef_**2).sum(), abs=1e-10)
    print(loss, cold_iterations, warm_iterations)
    assert warm_iterations < share * cold_iterations


@pytest.mark.parametrize(
    "own",
    [
        {"solver": "adaptive"},
        {"solver": "smd-m", "step_w": 0.01, "step_q": 0.1},
        {"solver": "online-1", "step_w": 0.01, "step_q": 0.1, "loss_range": 1.0},
    ],
    ids=lambda own: own["solver"],
)
def test_rounds_from_the_optimum_stay_near_it(own):
    """Excess of the objective over its minimum, of as many rounds from the optimum and from nothing."""
    X, y, site = rows()
    exact = GroupDROClassifier(l2=1e-2).fit(X, y, sensitive_features=site)
    best = exact.certificate_.upper
    cold, warm = [], []
    for seed in range(8):
        own = {**own, "rounds": 300, "random_state": seed}
        cold.append(objective(clone(exact).set_params(**own).fit(X, y, sensitive_features=site), X, y, site) - best)
        model = pickle.loads(pickle.dumps(exact)).set_params(warm_start=True, **own)
        warm.append(objective(model.fit(X, y, sensitive_features=site), X, y, site) - best)
    print(own["solver"], np.round(cold, 4), np.round(warm, 4))
    assert max(warm) < min(cold)
    assert np.median(warm) < 0.6 * np.median(cold)


@pytest.mark.parametrize("solver", ["smd-m", "online-1", "smd-1", "flexible", "smpa-m"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_the_model_that_is_there_is_the_first_iterate(solver, form):
    X, y, site = rows(d=40)
    X[np.abs(X) < 1.5] = 0
    exact = GroupDROClassifier(l2=1e-2).fit(X, y, sensitive_features=site)
    model = pickle.loads(pickle.dumps(exact)).set_params(solver=solver, warm_start=True, **STILL)
    model.fit(form(X), y, sensitive_features=site)
    assert_allclose(model.coef_, exact.coef_, atol=1e-9)
    assert_allclose(model.intercept_, exact.intercept_, atol=1e-9)
    assert_allclose(model.group_weights_, [1 / 3] * 3, atol=1e-9)
    # Without warm_start, and in a clone, nothing is there.
    for cold in (clone(model), model.set_params(warm_start=False)):
        assert np.abs(cold.fit(form(X), y, sensitive_features=site).coef_).max() < 1e-9


def test_models_of_several_scores_and_of_numbers():
    X, y, site = rows()
    for loss, classes in (("softmax", y), ("softmax", np.where(X[:, 2] > 1, "odd", y))):
        for more in ({}, {"penalize_intercept": True}, {"fit_intercept": False}):
            exact = GroupDROClassifier(loss=loss, l2=1e-2, **more).fit(X, classes, sensitive_features=site)
            model = pickle.loads(pickle.dumps(exact)).set_params(solver="smd-m", warm_start=True, **STILL)
            model.fit(X, classes, sensitive_features=site)
            assert_allclose(model.coef_, exact.coef_, atol=1e-9)
            assert_allclose(model.intercept_, exact.intercept_, atol=1e-9)
    numbers = 30 * X[:, 0] + 500
    exact = GroupDRORegressor(l2=1e-2).fit(X, numbers, sensitive_features=site)
    model = pickle.loads(pickle.dumps(exact)).set_params(solver="smd-m", warm_start=True, **STILL)
    model.fit(X, numbers, sensitive_features=site)
    assert_allclose(model.coef_, exact.coef_, rtol=1e-7)
    assert model.intercept_ == pytest.approx(exact.intercept_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_a_start_outside_of_the_set_is_brought_into_it(form):
    X, y, site = rows(d=40)
    X[np.abs(X) < 1.5] = 0
    model = GroupDROClassifier(l2=1e-2, warm_start=True).fit(X, y, sensitive_features=site)
    long = model.coef_ / np.linalg.norm(model.coef_)
    model.set_params(l2=None, ball=0.1, solver="smd-m", **STILL).fit(form(X), y, sensitive_features=site)
    assert_allclose(model.coef_, 0.1 * long, atol=1e-9)
    for domain in ("l1:0.1", "box:-0.01,0.02"):
        model.set_params(ball=None, domain=domain).fit(form(X), y, sensitive_features=site)
    assert model.coef_.max() <= 0.02 + 1e-12 and model.coef_.min() >= -0.01 - 1e-12


def test_the_weights_of_the_same_groups_go_on():
    X, y, site = rows()
    own = {"l2": 1e-2, "solver": "smd-m", "anytime": True, "step_w": 0.5, "step_q": 20.0, "rounds": 1000}
    model = GroupDROClassifier(warm_start=True, random_state=3, **own).fit(X, y, sensitive_features=site)
    loop = Solver(own.pop("solver"), X, y, sensitive_features=site, random_state=3, **own)
    loop.advance(1000)
    assert_allclose(model.group_weights_, loop.weights, atol=1e-12)
    assert loop.last_weights.max() > 0.4
    model.set_params(**STILL).fit(X, y, sensitive_features=site)
    assert_allclose(model.group_weights_, loop.last_weights, atol=1e-9)
    model.fit(X, y, sensitive_features=np.char.add("new ", site))
    assert_allclose(model.group_weights_, [1 / 3] * 3, atol=1e-9)


def test_what_does_not_go_with_the_model_that_is_there_is_refused():
    pandas = pytest.importorskip("pandas")
    X, y, site = rows()
    model = GroupDROClassifier(warm_start=True).fit(X, y, sensitive_features=site)
    before = model.coef_
    with pytest.raises(ValueError, match="X has 3 features, .* expecting 4 .*warm_start=True starts .* or set warm_start=False"):
        model.fit(X[:, :3], y, sensitive_features=site)
    with pytest.raises(ValueError, match=r"classes are \['no', 'yes'\], and y holds \['no', 'odd', 'yes'\].*warm_start=False"):
        model.fit(X, np.where(X[:, 2] > 1, "odd", y), sensitive_features=site)
    assert model.coef_ is before and model.n_features_in_ == 4
    table = pandas.DataFrame(X, columns=list("pqrs"))
    model.set_params(warm_start=False).fit(table, y, sensitive_features=site)
    with pytest.raises(ValueError, match="(?s)feature names should match.*set warm_start=False"):
        model.set_params(warm_start=True).fit(table.rename(columns={"p": "t"}), y, sensitive_features=site)
    with pytest.raises(TypeError, match="no argument 'warm_start'"):
        GroupDROClassifierCV(warm_start=True)


def test_a_model_that_was_loaded_is_there(tmp_path):
    X, y, site = rows()
    exact = GroupDROClassifier(l2=1e-2).fit(X, y, sensitive_features=site)
    gdro.save(exact, tmp_path)
    model = gdro.load(tmp_path).set_params(solver="smd-m", warm_start=True, **STILL)
    assert_allclose(model.fit(X, y, sensitive_features=site).coef_, exact.coef_, atol=1e-9)


@pytest.mark.filterwarnings("ignore")
def test_a_checkpoint_is_of_one_start(tmp_path, monkeypatch):
    """A fit that is cut off goes on from its own start and from no other."""
    X, y, site = rows()
    path = tmp_path / "fit.checkpoint"
    own = {"solver": "smd-m", "rounds": 1_000_000, "step_w": 1.0, "step_q": 1.0, "random_state": 0}
    start = GroupDROClassifier(l2=1e-2).fit(X, y, sensitive_features=site)
    start.set_params(checkpoint=(path, 0.001), warm_start=True, **own)

    def cut(line):
        if path.exists():
            raise InterruptedError

    with monkeypatch.context() as patch:
        patch.setattr("gdro._estimators._listener", lambda verbose: cut)
        with pytest.raises(InterruptedError):
            pickle.loads(pickle.dumps(start)).fit(X, y, sensitive_features=site)
    with pytest.raises(ValueError, match="the model that it starts from is another"):
        clone(start).fit(X, y, sensitive_features=site)
    found, whole = pickle.loads(pickle.dumps(start)), pickle.loads(pickle.dumps(start)).set_params(checkpoint=None)
    found.fit(X, y, sensitive_features=site)
    assert not path.exists()
    assert np.array_equal(found.coef_, whole.fit(X, y, sensitive_features=site).coef_)


@pytest.mark.parametrize("kind", [GroupDROClassifier, GroupDRORegressor])
def test_scikit_learn_checks_estimators_that_start_warm(kind):
    check_estimator(kind(warm_start=True))

"""The loop itself."""

import copy
import json
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gdro import GroupDROClassifier, GroupDRORegressor, Solver


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(900, 4))
    g = rng.integers(0, 3, 900)
    y = (X @ rng.normal(size=4) * np.where(g == 2, -0.5, 1) + rng.logistic(size=900) > 0).astype(int)
    return X, y, g


def test_the_gap_bounds_the_optimum(rows):
    X, y, g = rows
    exact = GroupDROClassifier(l2=1e-2).fit(X, y, sensitive_features=g)
    solver = Solver("smd-m", X, y, sensitive_features=g, l2=1e-2, rounds=30_000, step_q=300)
    gaps = []
    for _ in range(3):
        assert solver.advance(10_000) == 10_000
        found = solver.gap()
        assert found.lower <= exact.certificate_.upper + 1e-9
        assert found.upper >= exact.certificate_.lower - 1e-9
        gaps.append(found.upper - exact.certificate_.upper)
    assert solver.rounds == 30_000
    assert solver.samples.tolist() == [30_000] * 3
    assert gaps[-1] < 0.02
    coef, intercept = solver.model
    assert coef.shape == (1, 4) and intercept.shape == (1,)
    s = X @ coef[0] + intercept[0]
    losses = np.logaddexp(0, np.where(y == 1, -s, s))
    assert_allclose(solver.group_risks(), [losses[g == i].mean() for i in range(3)], atol=1e-12)


def test_risks_under_an_own_loss_are_one_pass(rows):
    X, y, g = rows
    calls = []

    def squared(scores, target):
        calls.append(target)
        return (scores[0] - target) ** 2, [2 * (scores[0] - target)]

    solver = Solver(
        "online-1", X, y.astype(float), sensitive_features=g, loss=squared, loss_range=50.0,
        loss_lipschitz=50.0, ball=2.0, rounds=200,
    )
    solver.advance(200)
    calls.clear()
    risks = solver.group_risks()
    assert len(calls) == len(y)
    coef, intercept = solver.model
    losses = (X @ coef[0] + intercept[0] - y) ** 2
    assert_allclose(risks, [losses[g == i].mean() for i in range(3)], atol=1e-12)


def test_it_is_what_the_estimator_runs(rows):
    X, y, g = rows
    model = GroupDROClassifier(
        l2=1e-2, solver="online-1", rounds=4000, step_w=1.5, step_q=2, random_state=0
    ).fit(X, y, sensitive_features=g)
    solver = Solver(
        "online-1", X, y, sensitive_features=g, l2=1e-2, rounds=4000, step_w=1.5, step_q=2,
        random_state=0,
    )
    solver.advance(4000)
    assert np.array_equal(solver.model[0], model.coef_)
    assert np.array_equal(solver.weights, model.group_weights_)


@pytest.mark.parametrize("algorithm", ["smd-m", "online-1", "adaptive", "smd-reuse"])
def test_a_saved_run_goes_on_with_the_same_bits(rows, algorithm):
    X, y, g = rows

    def make():
        return Solver(algorithm, X, y, sensitive_features=g, l2=1e-2, rounds=2000)

    whole, first = make(), make()
    whole.advance(2000)
    first.advance(700)
    second = make()
    second.load_state_dict(first.state_dict())
    second.advance(1300)
    assert np.array_equal(whole.model[0], second.model[0])
    assert np.array_equal(whole.last_weights, second.last_weights)


def test_states_of_other_arguments_are_refused_by_name(rows):
    X, y, g = rows
    usual = dict(sensitive_features=g, l2=1e-2, ball=2.0, rounds=2000, random_state=3, budget=[50] * 3)

    def make(X=X, algorithm="smd-m", **other):
        return Solver(algorithm, X, y, **(usual | other))

    first = make()
    first.advance(10)
    state = json.loads(json.dumps(first.state_dict()))
    make(l2=np.float64(1e-2), rounds=np.int64(2000), budget=np.full(3, 50)).load_state_dict(state)
    make(rounds=1).load_state_dict({"state": state["state"]})  # as earlier versions wrote it
    for other, named in [
        (dict(algorithm="online-1"), "algorithm='smd-m', and this solver has algorithm='online-1'"),
        (dict(rounds=300), "rounds=2000, and this solver has rounds=300"),
        (dict(random_state=4), "random_state=3, and this solver has random_state=4"),
        (dict(ball=3.0), "ball=2.0, and this solver has ball=3.0"),
        (dict(ball=None), "ball=2.0, and this solver has ball=None"),
        (dict(ball=None, domain="l1:2"), "and this solver has"),
        (dict(fit_intercept=False), "fit_intercept=True, and this solver has fit_intercept=False"),
        (dict(sensitive_features=g + 1), "groups="),
        (dict(X=X + 1e-9), "rows='900 rows with the checksum"),
        (dict(sensitive_features=np.roll(g, 1)), "rows='900 rows with the checksum"),
    ]:
        with pytest.raises(ValueError, match=f"state: it was saved with .*{named}"):
            make(**other).load_state_dict(state)
    free = make(random_state=None)
    make(random_state=None).load_state_dict(free.state_dict())
    for away in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"keep what state_dict\(\) gives"):
            away(free)


def test_a_source_in_python():
    """Two groups of coins whose best model is known: with squared loss the means are 0.2 and 0.7,
    risks w² - 2 p w + p, equal at w = 0.5."""
    rng = np.random.default_rng(0)
    solver = Solver(
        "smd-m",
        source=lambda group: ([1.0], float(rng.random() < (0.2, 0.7)[group])),
        groups=["low", "high"],
        n_features=1,
        x_norm=1.0,
        loss="squared",
        ball=1.0,
        fit_intercept=False,
        rounds=20_000,
        step_w=5.0,
        step_q=5.0,
    )
    solver.advance(20_000)
    assert solver.model[0][0, 0] == pytest.approx(0.5, abs=0.03)
    assert solver.group_names.tolist() == ["low", "high"]
    with pytest.raises(ValueError, match="has no certificate"):
        solver.gap()


@pytest.mark.parametrize(
    "sample, message",
    [(([3.0, 4.0], 1.0), "beyond x_norm=4.9.*: found 5"), (([0.0, 0.0], -2.0), "beyond y_bound=1")],
)
def test_samples_beyond_what_steps_rest_on_are_refused(sample, message):
    solver = Solver(
        "online-1", source=lambda group: sample, groups=2, n_features=2, x_norm=4.9, ball=1.0,
        loss="squared",
    )
    with pytest.raises(ValueError, match=message):
        solver.advance(1)


@pytest.mark.parametrize(
    "loss, target, message",
    [
        ("logistic", 0.0, "target 0 of group 0: the logistic loss expects -1 or \\+1; unlike y of rows"),
        ("hinge", 7.0, "target 7 of group 0: the hinge loss expects -1 or"),
        ("softmax", 3.0, "target 3 of group 0: the softmax loss expects a class index from 0 to 2"),
    ],
)
def test_a_source_gives_targets_as_the_loss_takes_them(loss, target, message):
    solver = Solver(
        "online-1", source=lambda group: ([0.5], target), groups=1, n_features=1, x_norm=1, ball=1.0,
        loss=loss, outputs=3 if loss == "softmax" else 1,
    )
    with pytest.raises(ValueError, match=message):
        solver.advance(1)


@pytest.mark.parametrize(
    "answer, message",
    [
        ((-0.5, [0.0]), "the loss returned -0.5: expected a number from 0 to loss_range=2"),
        ((2.1, [0.0]), "a value beyond loss_range=2: found 2.1"),
        ((1.0, [-1.5]), "a gradient of norm beyond loss_lipschitz=1: found 1.5"),
    ],
)
def test_a_loss_in_python_is_held_to_what_it_declares(rows, answer, message):
    X, _, g = rows
    own = dict(sensitive_features=g, loss_range=2.0, loss_lipschitz=1.0, ball=1.0)
    value, (slope,) = answer
    for value, slope, refused in ((2 + 1e-12, 0.0, False), (1.0, 1 + 1e-12, False), (value, slope, True)):

        def line(s, t):
            return value + slope * s[0], [slope]

        solver = Solver("smd-m", 1e-15 * X, X[:, 0], loss=line, fit_intercept=False, **own)
        if refused:
            with pytest.raises(ValueError, match=message):
                solver.advance(3)
        else:
            solver.advance(3)


def test_the_duality_gap_is_that_of_the_averaged_weights(rows):
    """The least weighted risk with a ridge has a closed form for squared loss."""
    X, _, g = rows
    y = X[:, 0] - X[:, 1] * (g == g[0])
    solver = Solver(
        "smd-m", X, y, sensitive_features=g, loss="squared", l2=0.1, fit_intercept=False,
        loss_range=50.0, rounds=200,
    )
    solver.advance(200)
    w, q = solver.model[0][0], solver.weights
    groups = [g.astype(str) == name for name in solver.group_names]
    risks = [np.mean((X[rows] @ w - y[rows]) ** 2) for rows in groups]
    each = sum(q_i * rows / rows.sum() for q_i, rows in zip(q, groups))
    best = np.linalg.solve(2 * (X.T * each) @ X + 0.1 * np.eye(X.shape[1]), 2 * X.T @ (each * y))
    upper = max(risks) + 0.05 * w @ w
    lower = each @ (X @ best - y) ** 2 + 0.05 * best @ best
    found = solver.duality_gap()
    assert_allclose([found.upper, found.lower], [upper, lower], rtol=1e-8)
    assert solver.gap().gap < found.gap


def test_a_loss_in_python_does_what_the_named_one_does(rows):
    X, _, g = rows
    y = X[:, 0] - X[:, 1]
    arguments = dict(sensitive_features=g, ball=2.0, rounds=300, loss_range=50.0)

    def squared(s, t):
        return (s[0] - t) ** 2, 2 * (s - t)

    named = Solver("online-1", X, y, loss="squared", fit_intercept=False, **arguments)
    own = Solver(
        "online-1", X, y, loss=squared, loss_lipschitz=20.0, fit_intercept=False, **arguments
    )
    # The steps depend on the Lipschitz constant alone.
    scale = named.steps[0] / own.steps[0]
    own = Solver(
        "online-1", X, y, loss=squared, loss_lipschitz=20.0, fit_intercept=False, step_w=scale,
        **arguments,
    )
    named.advance(300)
    own.advance(300)
    assert_allclose(own.model[0], named.model[0], rtol=1e-9)


def test_exceptions_of_sources_and_losses_come_through(rows):
    X, y, g = rows

    class Mine(Exception):
        pass

    def fail(*_):
        raise Mine("here")

    source = Solver("online-1", source=fail, groups=2, n_features=1, x_norm=1, ball=1.0)
    loss = Solver(
        "online-1", X, y, sensitive_features=g, loss=lambda s, t: (0.0, [0.0, 0.0]),
        loss_range=1, loss_lipschitz=1, ball=1.0,
    )
    with pytest.raises(Mine, match="here"):
        source.advance(3)
    with pytest.raises(ValueError, match="a gradient of 2 numbers, expected 1"):
        loss.advance(3)
    short = Solver(
        "online-1", source=lambda g: ([1.0, 2.0], 1.0), groups=2, n_features=1, x_norm=1, ball=1.0
    )
    with pytest.raises(ValueError, match="2 features, expected 1"):
        short.advance(1)


def test_budgets_end_a_run(rows):
    X, y, g = rows
    least = int(np.bincount(g).min())
    solver = Solver("smd-m", X, y, sensitive_features=g, l2=1e-2, budget="all", rounds=10**6)
    assert solver.advance(10**6) == least
    with pytest.raises(StopIteration, match="used up"):
        solver.advance(1)


def test_rows_of_weight_zero_are_never_drawn(rows):
    X, y, g = rows
    weights = (np.arange(900) % 2).astype(float)
    poisoned = np.where(weights[:, None] > 0, X, 1e6)
    clean = Solver("smd-m", X, y, sensitive_features=g, sample_weight=weights, ball=1.0)
    solver = Solver("smd-m", poisoned, y, sensitive_features=g, sample_weight=weights, ball=1.0)
    scale = clean.steps[0] / solver.steps[0]  # steps go by the largest row
    solver = Solver(
        "smd-m", poisoned, y, sensitive_features=g, sample_weight=weights, ball=1.0, step_w=scale,
        loss_range=1.0, step_q=1.0,
    )
    solver.advance(200)
    assert np.abs(solver.model[0]).max() <= 1.0 and np.isfinite(solver.model[0]).all()


def test_top_k_and_multiclass(rows):
    X, _, g = rows
    y = np.array(["x", "y", "z"])[np.abs(X).argmax(axis=1) % 3]
    solver = Solver("atkro-k", X, y, sensitive_features=g, k=2, loss="softmax", l2=1e-2, rounds=500)
    solver.advance(500)
    assert solver.model[0].shape == (3, 4)
    assert solver.last_weights.max() <= 0.5 + 1e-12


REFUSED = [
    (dict(), "give either rows"),
    (dict(source=len), "a source needs groups and n_features and x_norm"),
    (dict(source=len, groups=2, n_features=1, x_norm=1), "a source needs a ball"),
    (
        dict(source=len, groups=2, n_features=1, x_norm=1, ball=1, sample_weight=[1]),
        "sample_weight is for rows",
    ),
    (dict(X=[[1.0], [2.0]], y=[0, 1], groups=2), "groups is for a source"),
    (dict(X=[[1.0], [2.0]], y=[0, 1], loss=len), "needs loss_range"),
    (dict(X=[[1.0], [2.0]], y=[0, 1], k=3), "smd-m does not minimise top-k:3"),
    (dict(X=[[1.0], [2.0]], y=[0, 1], nbar=3), "nbar=3: smd-m does not use it"),
    (dict(X=[[1.0], [2.0], [3.0]], y=[0, 1, 2]), "takes two classes"),
]


@pytest.mark.parametrize("arguments, message", REFUSED, ids=[m for _, m in REFUSED])
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Solver("smd-m", **arguments)


def test_what_functions_return_is_checked(rows):
    X, _, _ = rows
    y = X[:, 0]
    own = dict(loss_range=1.0, loss_lipschitz=1.0)
    with pytest.raises(ValueError, match="the loss returned 1: expected the loss and its gradient"):
        Solver("online-1", X, y, loss=lambda s, t: 1, **own).advance(3)
    with pytest.raises(ValueError, match="y holds texts, as 'a': a loss of numbers takes y as it is"):
        Solver("online-1", X, ["a", "b"] * (len(X) // 2), loss=lambda s, t: (0.0, [0.0]), **own)
    with pytest.raises(ValueError, match="the source returned 2: expected features and target"):
        Solver(
            "online-1", source=lambda group: 2, groups=2, n_features=1, x_norm=1, ball=1
        ).advance(3)
    solver = Solver("online-1", X, y, loss="squared")
    for state in ({}, {"state": "x"}):
        with pytest.raises(ValueError, match="state: expected what state_dict"):
            solver.load_state_dict(state)
    with pytest.raises(ValueError, match="loss='cubic': `cubic`: expected logistic"):
        Solver("online-1", X, y, loss="cubic")


def test_unknown_algorithms_are_named(rows):
    X, y, _ = rows
    with pytest.raises(ValueError, match="top-k:3 of only 1 groups"):
        Solver("atkro-1", X, y, k=3)
    with pytest.raises(ValueError, match="algorithm='exact' plays no rounds"):
        Solver("exact", X, y)
    with pytest.raises(ValueError, match="unknown solver `newton`: expected one of auto, exact, smd-m"):
        Solver("newton", X, y)


def test_regression(rows):
    X, _, g = rows
    y = X[:, 0] * np.where(g == 0, 2, 1)
    exact = GroupDRORegressor(l2=1e-1).fit(X, y, sensitive_features=g)
    solver = Solver(
        "smd-m", X, y, sensitive_features=g, loss="squared", l2=1e-1, rounds=50_000, step_w=3,
        step_q=1e4,
    )
    solver.advance(50_000)
    assert solver.gap().upper < exact.certificate_.upper * 1.2


@pytest.mark.parametrize("algorithm", ["smd-m", "online-1"])
@pytest.mark.parametrize("at", [100, 1000])
def test_a_loss_that_fails_within_a_round_leaves_whole_rounds(rows, algorithm, at):
    X, y, g = rows
    calls = []

    def loss(s, t):
        calls.append(None)
        if len(calls) == at:
            raise OSError("no answer")
        return np.logaddexp(0, -t * s[0]), [-t / (1 + np.exp(t * s[0]))]

    own = dict(sensitive_features=g, loss=loss, loss_range=9.0, loss_lipschitz=1.0, ball=1.0, rounds=2000)
    solver = Solver(algorithm, X, 2.0 * y - 1, **own)
    with pytest.raises(OSError, match="no answer"):
        solver.advance(2000)
    stood = solver.rounds
    played = at / (3 if algorithm != "online-1" else 1)
    # Some of the calls hold the loss against its tangents.
    assert 0.5 * played <= stood <= played
    other = Solver(algorithm, X, 2.0 * y - 1, **own)
    other.load_state_dict(json.loads(json.dumps(solver.state_dict())))
    whole = Solver(algorithm, X, 2.0 * y - 1, **own)
    whole.advance(2000)
    for solver in (solver, other):
        solver.advance(2000 - stood)
        assert solver.rounds == 2000 and np.array_equal(solver.samples, whole.samples)
        for found, expected in zip((*solver.model, solver.weights), (*whole.model, whole.weights)):
            assert np.array_equal(found, expected)


def test_algorithms_of_the_weighted_game_say_so(rows):
    X, y, g = rows
    small = np.flatnonzero((g > 0) | (np.arange(900) % 3 == 0))
    usual = dict(rounds=200, ball=1.0, objective="max")
    for solver in ("smd-r", "smpa-m"):
        with pytest.warns(UserWarning, match=f"{solver} plays the weighted game of the paper"):
            GroupDROClassifier(solver=solver, **usual).fit(X[small], y[small], sensitive_features=g[small])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".* plays the weighted game")
        GroupDROClassifier(solver="smd-m", **usual).fit(X[small], y[small], sensitive_features=g[small])
        even = np.concatenate([np.flatnonzero(g == i)[:250] for i in range(3)])
        GroupDROClassifier(solver="smd-r", **usual).fit(X[even], y[even], sensitive_features=g[even])
    with pytest.raises(ValueError, match="rounds=100000: 100000 rounds make nbar = 200000: expected a number between"):
        Solver("hybrid", X[small], y[small], sensitive_features=g[small], ball=1.0)


def scaled(s, t):
    d = s[0] - t
    return d * d / 2, [0.1 * d]


def turned(s, t):
    return np.logaddexp(0, -t * s[0]), [t / (1 + np.exp(t * s[0]))]


def bump(s, t):
    d = s[0] - 1.5
    return 1 - np.exp(-4 * d * d), [8 * d * np.exp(-4 * d * d)]


def of_classes(s, t):
    p = np.exp(s - s.max())
    p /= p.sum()
    return -np.log(p[int(t)]), p  # the label's own 1 is not taken from it


@pytest.mark.parametrize("loss", [scaled, turned, bump, of_classes])
def test_a_loss_that_is_below_its_tangents_is_refused(loss):
    """Certificates of a loss that is not convex, or has another gradient, would be false."""
    y = np.tile([1.0, 0.0] if loss is of_classes else [1.0, -1.0], 20)
    outputs = 3 if loss is of_classes else 1
    own = dict(loss_range=40.0, loss_lipschitz=9.0, ball=2.0, fit_intercept=False, rounds=3000, outputs=outputs)
    solver = Solver("smd-m", np.ones((40, 1)), y, sensitive_features=y, loss=loss, **own)
    with pytest.raises(ValueError, match="not convex, or its gradient is wrong: .* lies above its tangents"):
        solver.advance(3000)
        solver.gap()


def test_a_solver_is_not_asked_from_within():
    own = dict(groups=2, n_features=2, x_norm=1.0, ball=1.0, fit_intercept=False, rounds=50)
    for look in (lambda s: s.rounds, lambda s: s.model, lambda s: s.advance(1), lambda s: s.state_dict()):

        def source(group):
            if solver is not None and asked:
                look(solver)
            return [1.0, 0.0], 1.0

        asked = False
        solver = Solver("smd-m", source=source, **own)
        solver.advance(5)
        asked = True
        with pytest.raises(RuntimeError, match="the solver is at work: .* between two calls of advance"):
            solver.advance(5)
        asked = False
        assert solver.rounds == 5 and solver.advance(5) == 5


def test_budgets_of_a_source():
    """Algorithms 3 and 4 on a source: the coins of 0.2 and 0.7, of which the second counts half."""
    rng = np.random.default_rng(3)

    def source(group):
        return [1.0], float(rng.random() < (0.2, 0.7)[group])

    own = dict(groups=["a", "b"], n_features=1, x_norm=1.0, ball=1.0, loss="squared", fit_intercept=False)
    for algorithm, rounds in (("smd-r", 20_000), ("smpa-m", 5_000)):
        solver = Solver(algorithm, source=source, budget={"a": 20_000, "b": 10_000}, rounds=rounds, **own)
        solver.advance(rounds)
        a, b = solver.samples
        assert a == 20_000 and 0.9 * 10_000 < b <= 10_000
        assert 0.1 < solver.model[0][0, 0] < 0.9
    with pytest.raises(ValueError, match="budget: smd-r on a source needs a number of samples for every"):
        Solver("smd-r", source=source, **own)
    with pytest.raises(ValueError, match="all: nobody has counted the samples of a source"):
        Solver("smd-r", source=source, budget="all", **own)
    with pytest.raises(ValueError, match="smd-m on a source has no use for one"):
        Solver("smd-m", source=source, budget={"a": 5, "b": 5}, **own)


@pytest.mark.parametrize(
    "answer, message",
    [
        (([[1.0, 0.0]], 1.0), r"features of the shape \(1, 2\): expected \(n_features,\)"),
        (([1.0, 0.0], "yes"), "expected numbers"),
        ((["a", 0.0], 1.0), "expected numbers"),
    ],
)
def test_samples_of_another_shape_are_refused(answer, message):
    own = dict(groups=2, n_features=2, x_norm=1.0, ball=1.0, rounds=50)
    with pytest.raises(ValueError, match=f"the source returned .*{message}"):
        Solver("smd-m", source=lambda group: answer, **own).advance(1)
    ended = iter([])
    with pytest.raises(RuntimeError, match="the source has no more samples of group 0"):
        Solver("smd-m", source=lambda group: next(ended), **own).advance(1)

"""What fit takes: containers, types, labels, groups; and what it refuses."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils import Bunch, get_tags

from gdro import GroupDROClassifier, GroupDRORegressor, GroupWeights, Solver, metrics


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(600, 4))
    X[rng.random(X.shape) < 0.4] = 0.0
    g = rng.choice(["a", "b", "c"], size=600)
    turn = np.where(g == "a", -1.0, 1.0)
    y = (X[:, 0] + turn * X[:, 1] + rng.logistic(size=600) > 0).astype(int)
    return X, y, g


@pytest.fixture(scope="module")
def coef(rows):
    X, y, g = rows
    return GroupDROClassifier(l2=1e-2).fit(X, y, sensitive_features=g).coef_


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def strided(X):
    wide = np.zeros((2 * X.shape[0], 2 * X.shape[1]))
    wide[::2, ::2] = X
    return wide[::2, ::2]


def unaligned(X):
    """Numbers that begin at odd addresses."""
    packed = np.zeros(X.shape[0], dtype=[("odd", "u1"), ("row", "f8", X.shape[1:])])
    packed["row"] = X
    assert not packed["row"].flags.aligned
    return packed["row"]


NAMES = ["p", "q", "r", "s"]

CONTAINERS = {
    "list": lambda X: X.tolist(),
    "F-order": np.asfortranarray,
    "read-only": read_only,
    "strided": strided,
    "unaligned": unaligned,
    "reversed": lambda X: X[::-1].copy()[::-1],
    "big-endian": lambda X: X.astype(">f8"),
    "pandas": lambda X: pd.DataFrame(X, columns=NAMES),
    "polars": lambda X: pl.DataFrame(X, schema=NAMES),
    "arrow": lambda X: pa.table({n: X[:, j] for j, n in enumerate(NAMES)}),
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_matrix,
    "csr_array": sparse.csr_array,
}


@pytest.mark.parametrize("kind", CONTAINERS)
def test_every_container_gives_the_same_model(rows, coef, kind):
    X, y, g = rows
    X = CONTAINERS[kind](X)
    model = GroupDROClassifier(l2=1e-2).fit(X, y, sensitive_features=g)
    assert_allclose(model.coef_, coef, atol=1e-9)
    assert model.predict(X).shape == (600,)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    if kind in ("pandas", "polars", "arrow"):
        assert model.feature_names_in_.tolist() == NAMES


def test_unsorted_and_repeated_entries_of_a_sparse_matrix(rows, coef):
    X, y, g = rows
    m = sparse.csr_matrix(X)
    halves = sparse.csr_matrix(
        (
            np.concatenate([np.repeat(r, 2)[::-1] / 2 for r in np.split(m.data, m.indptr[1:-1])]),
            np.concatenate([np.repeat(r, 2)[::-1] for r in np.split(m.indices, m.indptr[1:-1])]),
            2 * m.indptr,
        ),
        shape=m.shape,
    )
    before = halves.indices.copy()
    model = GroupDROClassifier(l2=1e-2).fit(halves, y, sensitive_features=g)
    assert_allclose(model.coef_, coef, atol=1e-9)
    assert np.array_equal(halves.indices, before), "the matrix of the user stays as it is"


def test_float32_is_read_as_it_is(rows):
    X, y, g = rows
    single = GroupDROClassifier(l2=1e-2).fit(X.astype(np.float32), y, sensitive_features=g)
    double = GroupDROClassifier(l2=1e-2).fit(
        X.astype(np.float32).astype(np.float64), y, sensitive_features=g
    )
    assert np.array_equal(single.coef_, double.coef_)


@pytest.mark.parametrize(
    "labels",
    [["no", "yes"], [False, True], [-1, 1], [3.0, 7.0], np.array(["no", "yes"], dtype=object)],
    ids=str,
)
def test_labels_of_any_kind(rows, coef, labels):
    X, y, g = rows
    labels = np.asarray(labels)
    model = GroupDROClassifier(l2=1e-2).fit(X, labels[y], sensitive_features=g)
    assert_allclose(model.coef_, coef, atol=1e-12)
    assert model.classes_.tolist() == labels.tolist()
    assert set(model.predict(X).tolist()) <= set(labels.tolist())
    assert model.score(X, labels[y]) > 0.55


GROUPS = {
    "array": lambda g: g,
    "list": lambda g: g.tolist(),
    "objects": lambda g: g.astype(object),
    "pandas": lambda g: pd.Series(g, name="site"),
    "categorical": lambda g: pd.Series(pd.Categorical(g)),
    "shuffled index": lambda g: pd.Series(g, index=np.arange(len(g))[::-1]),
    "polars": lambda g: pl.Series("site", g),
    "arrow": lambda g: pa.array(g),
    "chunked": lambda g: pa.chunked_array([g[:100], g[100:]]),
    "column": lambda g: g[:, None],
    "one column": lambda g: pd.DataFrame({"site": g}),
    "one family": lambda g: [g],
}


@pytest.mark.parametrize("kind", GROUPS)
def test_groups_in_every_container(rows, coef, kind):
    X, y, g = rows
    model = GroupDROClassifier(l2=1e-2).fit(X, y, sensitive_features=GROUPS[kind](g))
    assert np.array_equal(model.coef_, coef)
    assert model.group_names_.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(
    "frame",
    [
        lambda a, b: np.column_stack([a, b]),
        lambda a, b: pd.DataFrame({"site": a, "sex": b}),
        lambda a, b: pl.DataFrame({"site": a, "sex": b}),
        lambda a, b: pa.table({"site": a, "sex": b}),
        # As for fairlearn's MetricFrame.
        lambda a, b: {"site": a, "sex": b},
        lambda a, b: {"site": pd.Series(a), "sex": b.tolist()},
        lambda a, b: [{"site": a, "sex": b}],
    ],
    ids=["array", "pandas", "polars", "arrow", "dict", "dict of columns", "list of a dict"],
)
def test_several_columns_are_intersections(rows, frame):
    X, y, g = rows
    sex = np.where(np.arange(600) % 2 == 0, "f", "m")
    joined = np.char.add(np.char.add(g, " / "), sex)
    expected = GroupDROClassifier().fit(X, y, sensitive_features=joined)
    model = GroupDROClassifier().fit(X, y, sensitive_features=frame(g, sex))
    assert model.group_names_.tolist() == expected.group_names_.tolist()
    assert np.array_equal(model.coef_, expected.coef_)


def test_families_have_names_of_their_columns(rows):
    X, y, g = rows
    sex = pd.Series(np.where(np.arange(600) % 2 == 0, "f", "m"), name="sex")
    model = GroupDROClassifier().fit(X, y, sensitive_features=[pd.Series(g, name="site"), sex])
    assert model.group_names_.tolist() == ["site=a", "site=b", "site=c", "sex=f", "sex=m"]


def test_a_mapping_of_one_column_is_that_column(rows):
    X, y, g = rows
    expected = GroupDROClassifier().fit(X, y, sensitive_features=g)
    for groups in ({"site": g}, {"site": g.tolist()}, Bunch(site=g), {0: pl.Series(g)}):
        model = GroupDROClassifier().fit(X, y, sensitive_features=groups)
        assert model.group_names_.tolist() == ["a", "b", "c"]
        assert np.array_equal(model.coef_, expected.coef_)
    sex = np.where(np.arange(600) % 2 == 0, "f", "m")
    families = GroupDROClassifier().fit(X, y, sensitive_features=[{"site": g}, {"sex": sex}])
    assert families.group_names_.tolist() == ["site=a", "site=b", "site=c", "sex=f", "sex=m"]
    found = metrics.group_accuracies(y, y, sensitive_features={"site": g, "sex": sex})
    assert set(found) == {f"{a} / {b}" for a in "abc" for b in "fm"}


def test_a_structured_array_holds_families_that_can_be_split(rows):
    X, y, g = rows
    sex = np.where(np.arange(600) % 2 == 0, "f", "m")
    fields = np.rec.fromarrays([g, sex], names=["site", "sex"])
    model = GroupDROClassifier().fit(X, y, sensitive_features=fields)
    named = [pd.Series(g, name="site"), pd.Series(sex, name="sex")]
    expected = GroupDROClassifier().fit(X, y, sensitive_features=named)
    assert model.group_names_.tolist() == expected.group_names_.tolist()
    assert np.array_equal(model.coef_, expected.coef_)
    found = cross_val_score(
        GroupDROClassifier(), X, y, cv=3, params={"sensitive_features": fields}, error_score="raise"
    )
    assert len(found) == 3


def test_numbers_are_groups_in_their_order(rows):
    X, y, _ = rows
    ages = np.array([10, 9, 100])[np.arange(600) % 3]
    for labels in (ages, ages.tolist(), ages.astype(object), ages.astype(float)):
        model = GroupDROClassifier().fit(X, y, sensitive_features=labels)
        assert [float(n) for n in model.group_names_] == [9, 10, 100]
        s = model.decision_function(X)
        losses = np.logaddexp(0, np.where(y == 1, -s, s))
        assert model.group_risks_[0] == pytest.approx(losses[ages == 9].mean())


def test_labels_have_no_blanks_around_them(rows):
    X, y, g = rows
    model = GroupDROClassifier().fit(X, y, sensitive_features=[f" {i % 2} " for i in range(len(y))])
    assert model.group_names_.tolist() == ["0", "1"]


REFUSED = {
    "too few": (lambda g: g[:-1], "599 rows, expected 600"),
    "missing": (lambda g: [None, *g[1:]], "row 0 has no label"),
    "NaN": (lambda g: np.r_[np.zeros(599), np.nan], "row 599 has no label"),
    "NA": (lambda g: pd.Series([pd.NA, *g[1:]], dtype="string"), "row 0 has no label"),
    "a name": (lambda g: "town", "sensitive_features='town': .* pass the column itself"),
    "a mapping of names": (lambda g: {"site": "town"}, "column 'site'=.* pass the column itself"),
    "an empty mapping": (lambda g: {}, "sensitive_features has no columns"),
    "a short one": (lambda g: {"site": g, "sex": g[:3]}, "column 'sex' has 3 rows, expected 600"),
    "cube": (lambda g: np.zeros((600, 2, 2)), "expected one label per row"),
    "two that read alike": (lambda g: [1, "1"] * 300, "two different labels read '1'"),
    "blanks": (lambda g: np.tile(["a", "a "], 300), "two different labels read 'a': 'a' and 'a '; make"),
    "families of other length": (lambda g: [g, g[:3]], "3 rows, expected 600"),
    "lists": (lambda g: np.array([[1], *g[1:]], dtype=object), "expected a label"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_bad_groups_are_refused_by_name(rows, kind):
    X, y, g = rows
    make, message = REFUSED[kind]
    with pytest.raises(ValueError, match=message):
        GroupDROClassifier().fit(X, y, sensitive_features=make(g))


ARGUMENTS = [
    (dict(objective="mean"), "objective='mean': `mean`: expected max, top-k:K, tilted:TAU"),
    (dict(objective=3), "objective=3: expected a text"),
    (dict(objective="top-k"), "needs k"),
    (dict(objective="top-k:x"), "expected a number K of at least 1 after top-k:"),
    (dict(objective="top-k", k=4), "objective='top-k:4.0': top-k:4 of only 3 groups"),
    (dict(objective="top-k:2", k=2), "says k already"),
    (dict(objective="tilted:x"), "expected a number TAU above 0 after tilted:"),
    (dict(objective=("tilted", "x")), "the number of objective=('tilted', 'x')='x': expected a number"),
    (dict(objective="tilted:0.1", k=2), "k=2 does nothing"),
    (dict(k=2), "k=2 does nothing"),
    (dict(l2=0), "l2=0: expected a positive penalty, or a ball"),
    (dict(l2=-1), "l2=-1: expected a number of at least 0"),
    (dict(l2=float("nan")), "l2=nan"),
    (dict(l2="much"), "l2='much'"),
    (dict(ball=0), "ball=0: expected a radius above 0"),
    (dict(tol=0), "tol=0"),
    (dict(max_iter=1.5), "max_iter=1.5: expected a whole number"),
    (dict(loss="squared"), "loss='squared' is for numbers: expected a loss for labels or classes"),
    (dict(loss="cubic"), "loss='cubic': `cubic`: expected logistic, hinge"),
    (dict(loss=2), "loss=2: expected"),
    (dict(loss=("smoothed-hinge", "1")), "the number of loss=('smoothed-hinge', '1')='1'"),
    (dict(loss=("cubic", 1.0)), "`cubic:1.0`: expected logistic, hinge"),
    (dict(loss=("logistic", 1.0)), "logistic takes no number"),
    (dict(loss=("smoothed-hinge",)), "loss=[\"smoothed-hinge\"]: expected a text"),
    (dict(loss="smoothed-hinge:-1"), "above 0"),
    (dict(solver="newton"), "unknown solver `newton`: expected one of auto, exact, smd-m"),
    (dict(solver=3), "solver=3: expected a text"),
    (dict(rounds=10), "rounds=10: exact plays no rounds: name a solver that uses it"),
    (dict(solver="auto", step_w=1.0), "step_w=1.0: auto decides by itself"),
    (dict(solver="smd-m", max_iter=3), "max_iter=3: smd-m plays rounds: say how many with rounds"),
    (dict(solver="smd-m", nbar=3), "nbar=3: smd-m does not use it, hybrid does"),
    (dict(solver="smd-m", budget={"a": 1e9, "b": 1, "c": 1}), "budgets: found 1000000000 for group `a`"),
    (dict(solver="smd-m", average="mean"), "average='mean'"),
    (dict(solver="adaptive", step_w=2.0), "step_w=2.0: adaptive finds its steps by itself"),
    (dict(solver="smd-m", objective="top-k", k=2), "smd-m does not minimise top-k:2"),
    (dict(solver="smd-m", objective="tilted:0.1"), "does not minimise tilted:0.1: use exact, or top-k"),
    (dict(solver="atkro-1"), "atkro-1 minimises top-k:K, not max"),
    (dict(solver="mero"), "mero minimises regret, not max"),
    (dict(solver="smd-r", anytime=True), "anytime=True: smd-r has no anytime form"),
    (dict(solver="atkro-1", subsets="dep-round", objective="top-k", k=2), "atkro-k does"),
    (
        dict(solver="atkro-k", subsets="all", objective="top-k", k=2),
        "subsets='all': expected dep-round or systematic",
    ),
    (dict(solver="smd-m", delta=0.1), "delta=0.1: intervals need rows that are held out"),
    (dict(solver="eliminate", delta=1.0), "delta=1.0: expected a probability between 0 and 1"),
    (dict(solver="flexible", queries=[]), "queries=[]: expected a number of groups, or a list of them"),
    (dict(solver="smd-m", objective="average", step_q=1.0), "group weights do not move"),
    (dict(objective="average", scales=[1, 2, 3]), "scales change nothing"),
    (dict(objective="balanced", adjustment=1), "adjustment=1: offsets change nothing"),
    (dict(adjustment=0), "adjustment=0: expected a number above 0"),
    (dict(offsets={"a": 1}), "no offset for group `b`"),
    (dict(offsets={"z": 1}), "offsets: `z` has no training rows: expected one of `a`, `b`, `c`"),
    (dict(offsets=[1, 2]), "2 numbers, expected 3"),
    (dict(scales=[1, 2, 0]), "scales: found 0 for group `c`, expected a number above 0"),
    (dict(offsets=[0, 0, 0], adjustment=1), "adjustment=1: offsets come from one place"),
    (dict(objective="regret", adjustment=1), "regret has offsets of its own"),
    (
        dict(penalize_intercept=True, fit_intercept=False),
        "penalize_intercept=True: fit_intercept=False leaves no intercept to penalise",
    ),
    (dict(threads=0), "threads=0: expected at least 1, or -1 for all cores"),
    (dict(threads=-2), "threads=-2: expected at least 1, or -1 for all cores"),
    (dict(threads=1.5), "threads=1.5"),
    (dict(solver="smd-m", random_state=-1), "random_state=-1: expected a whole number from 0"),
    (dict(solver="smd-m", random_state="x"), "random_state='x': expected a whole number, a numpy"),
    (dict(solver="smd-m", random_state=True), "random_state=True: expected a whole number, a numpy"),
]


@pytest.mark.parametrize("arguments, message", ARGUMENTS, ids=lambda v: str(v)[:40])
def test_bad_arguments_are_refused_by_name(rows, arguments, message):
    X, y, g = rows
    with pytest.raises(ValueError) as caught:
        GroupDROClassifier(**arguments).fit(X, y, sensitive_features=g)
    assert message in str(caught.value)


def test_rows_that_are_visited_once_have_one_group_and_no_weight(rows):
    X, y, g = rows
    model = GroupDROClassifier(solver="smd-r", budget="all")
    with pytest.raises(ValueError, match="budget='all': rows that are visited once cannot be weighted"):
        model.fit(X, y, sensitive_features=g, sample_weight=np.full(600, 2.0))
    with pytest.raises(ValueError, match="budget='all': a row is in a group of each family"):
        model.fit(X, y, sensitive_features=[g, g == "a"])


def test_every_solver_of_a_job_file_is_one_here(rows):
    """All names that the program lists, each with an objective that it minimises."""
    X, y, g = rows
    with pytest.raises(ValueError) as caught:
        GroupDROClassifier(solver="none").fit(X, y)
    names = str(caught.value).rpartition("expected one of ")[2].split(", ")
    assert names[:2] == ["auto", "exact"] and len(names) >= 22
    for name in names:
        goal = {"mero": dict(objective="regret")}.get(name, {})
        if name.startswith("atkro"):
            goal = dict(objective="top-k", k=2)
        if name not in ("auto", "exact", "adaptive"):
            goal |= dict(rounds=40, step_w=1.0, step_q=1.0)
        model = GroupDROClassifier(solver=name, random_state=0, **goal)
        if name == "adaptive":
            model.set_params(rounds=40)
        if name == "hybrid":  # its rounds are half of a number between those of the groups
            with pytest.raises(ValueError, match="rounds=40: 40 rounds make nbar = 80: expected a number between"):
                model.fit(X, y, sensitive_features=g)
            model.set_params(rounds=None)
        model.fit(X, y, sensitive_features=g)
        assert model.solver_ == ("exact" if name == "auto" else name)
        assert np.isfinite(model.certificate_.gap)


def test_auto_is_exact_where_that_fits(rows, coef):
    X, y, g = rows
    model = GroupDROClassifier(l2=1e-2, solver="auto").fit(X, y, sensitive_features=g)
    assert np.array_equal(model.coef_, coef)


def test_bad_rows_are_refused(rows):
    X, y, g = rows
    fit = GroupDROClassifier().fit
    with pytest.raises(ValueError, match="one class only"):
        fit(X, np.zeros(600))
    with pytest.raises(ValueError, match="infinity|NaN"):
        fit(np.where(X == X[3, 1], np.inf, X), y)
    with pytest.raises(ValueError, match="sample_weight of row 5 is -1"):
        fit(X, y, sample_weight=np.r_[np.ones(5), -1, np.ones(594)])
    with pytest.raises(ValueError, match="all weights are 0|weights"):
        fit(X, y, sample_weight=np.zeros(600))
    texts = pd.DataFrame(X, columns=NAMES).assign(town="Ulm")
    with pytest.raises(ValueError, match="column 'town' of X holds texts .*'Ulm'.*OneHotEncoder"):
        fit(texts, y)
    with pytest.raises(ValueError, match="column 'town' of X holds texts"):
        fit(pa.Table.from_pandas(texts), y)
    with pytest.raises(ValueError, match="^y: expected numbers"):
        GroupDRORegressor().fit(X, np.where(y > 0, "ill", "well"))
    with pytest.raises(ValueError, match="^y of row 2 is None: expected a label"):
        fit(X, np.array([1, 0, None, *y[3:]], dtype=object))
    with pytest.raises(ValueError, match="X has no columns"):
        fit(pd.DataFrame(X)[[]], y)
    with pytest.raises(ValueError, match="Only binary classification is supported by loss='hinge'"):
        GroupDROClassifier(loss="hinge").fit(X, np.arange(600) % 3)


def test_before_fit_nothing_is_predicted(rows):
    X = rows[0]
    with pytest.raises(NotFittedError):
        GroupDROClassifier().predict(X)
    with pytest.raises(NotFittedError):
        GroupDRORegressor().predict(X)


def test_hinge_has_scores_and_no_probabilities(rows):
    X, y, g = rows
    model = GroupDROClassifier(loss="hinge", l2=0.1)
    assert not hasattr(model, "predict_proba")
    model.fit(X, y, sensitive_features=g)
    assert not hasattr(model, "predict_proba")
    assert model.decision_function(X).shape == (600,)


def test_softmax_of_two_classes_is_logistic(rows):
    """Coefficients of both classes share the penalty, so that it counts half."""
    X, y, g = rows
    two = GroupDROClassifier(loss="softmax", l2=2e-2).fit(X, y, sensitive_features=g)
    one = GroupDROClassifier(l2=1e-2).fit(X, y, sensitive_features=g)
    assert_allclose(two.coef_, one.coef_, atol=1e-6)
    assert_allclose(two.predict_proba(X), one.predict_proba(X), atol=1e-6)


def test_a_penalised_intercept_is_a_column_of_ones(rows):
    X, y, g = rows
    ones = np.column_stack([X, np.ones(600)])
    expected = GroupDROClassifier(fit_intercept=False).fit(ones, y, sensitive_features=g)
    for container in (X, sparse.csr_matrix(X)):
        model = GroupDROClassifier(penalize_intercept=True).fit(container, y, sensitive_features=g)
        assert_allclose(model.coef_[0], expected.coef_[0, :4], atol=1e-9)
        assert_allclose(model.intercept_[0], expected.coef_[0, 4], atol=1e-9)


def test_what_did_not_converge_says_so(rows):
    X, y, g = rows
    with pytest.warns(ConvergenceWarning, match="certified gap"):
        GroupDROClassifier(max_iter=1).fit(X, y, sensitive_features=g)


def test_a_row_of_weight_zero_is_absent(rows):
    X, y, g = rows
    weights = (g != "c").astype(float)
    model = GroupDROClassifier().fit(X, y, sensitive_features=g, sample_weight=weights)
    assert model.group_names_.tolist() == ["a", "b"]


def test_a_loss_with_its_number(rows):
    X, y, g = rows
    for name, number, target in (
        ("huber", 0.5, X[:, 0] + g.size * 1e-3), ("quantile", 0.9, X[:, 1]), ("huber", 1, X[:, 2]),
    ):
        pair = GroupDRORegressor(loss=(name, number)).fit(X, target, sensitive_features=g)
        text = GroupDRORegressor(loss=f"{name}:{number}").fit(X, target, sensitive_features=g)
        assert np.array_equal(pair.coef_, text.coef_)
        assert clone(pair).loss == (name, number) and pair.loss_ == f"{name}:{float(number)}"
        assert metrics.group_risks(
            target, pair.predict(X), sensitive_features=g, loss=(name, number)
        ) == pytest.approx(dict(zip(pair.group_names_, pair.group_risks_)))
    model = GroupDROClassifier(loss=("smoothed-hinge", 0.5)).fit(X, y, sensitive_features=g)
    assert not get_tags(model).classifier_tags.multi_class
    assert len(metrics.evaluate(model, X, y, sensitive_features=g).rows) == 3
    Solver("smd-m", X, y, sensitive_features=g, l2=0.1, loss=("smoothed-hinge", 0.5), rounds=9)


def test_all_cores(rows, coef):
    X, y, g = rows
    for threads in (-1, np.int64(-1), None, 2):
        model = GroupDROClassifier(l2=1e-2, threads=threads).fit(X, y, sensitive_features=g)
        assert np.array_equal(model.coef_, coef)


#: Random states that say the same each time that they are made.
STATES = {
    "int": lambda: 5,
    "NumPy int": lambda: np.int64(5),
    "Generator": lambda: np.random.default_rng(5),
    "RandomState": lambda: np.random.RandomState(5),
}


@pytest.mark.parametrize("kind", STATES)
def test_random_states(rows, kind):
    X, y, g = rows
    arguments = dict(solver="online-1", rounds=300, step_w=1.0, step_q=1.0)

    def coefficients(state):
        model = GroupDROClassifier(random_state=state, **arguments)
        return model.fit(X, y, sensitive_features=g).coef_

    def round_by_round(state):
        solver = Solver("online-1", X, y, sensitive_features=g, l2=0.1, random_state=state)
        solver.advance(50)
        return solver.last_weights

    def drawn(state):
        player = GroupWeights(50, step=1.0, random_state=state)
        return [player.draw() for _ in range(20)]

    model = GroupDROClassifier().fit(X, y, sensitive_features=g)

    def evaluated(state):
        report = metrics.evaluate(model, X, y, sensitive_features=g, random_state=state)
        return [(r.low, r.high) for r in report.clipped_risk]

    for what in (coefficients, round_by_round, drawn, evaluated):
        assert np.array_equal(what(STATES[kind]()), what(STATES[kind]()))
        if kind.endswith("int"):
            assert np.array_equal(what(STATES[kind]()), what(5))
            continue
        # A generator goes on.
        state = STATES[kind]()
        assert not np.array_equal(what(state), what(state)), what
        what(None)


def test_losses_of_margins_declare_themselves_binary():
    for loss, many in {None: True, "softmax": True, "logistic": False, "hinge": False,
                       "smoothed-hinge:0.5": False, "cubic": True, 3: True}.items():
        tags = get_tags(GroupDROClassifier(loss=loss))
        assert tags.classifier_tags.multi_class is many, loss

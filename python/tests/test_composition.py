"""Inside of pipelines, searches, copies and other processes."""

import copy
import multiprocessing
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from gdro import GroupDROClassifier, GroupDRORegressor, metrics


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(11)
    n = 900
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, n),
            "pay": rng.lognormal(3, 1, n),
            "town": rng.choice(["A", "B", "C"], n),
        }
    )
    site = rng.choice(["north", "south", "east"], n, p=[0.6, 0.3, 0.1])
    turn = np.where(site == "east", -1, 1)
    score = (frame["age"] - 40) / 10 * turn + (frame["town"] == "B")
    ill = np.where(score + rng.logistic(size=n) > 0, "ill", "well")
    return frame, ill, site


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def columns():
    return ColumnTransformer(
        [("numbers", StandardScaler(), ["age", "pay"]), ("texts", OneHotEncoder(), ["town"])]
    )


def test_pipeline_without_routing(table):
    frame, y, site = table
    pipe = Pipeline([("columns", columns()), ("model", GroupDROClassifier(l2=1e-2))])
    pipe.fit(frame, y, model__sensitive_features=site)
    assert pipe[-1].group_names_.tolist() == ["east", "north", "south"]
    by_hand = GroupDROClassifier(l2=1e-2).fit(
        columns().fit_transform(frame), y, sensitive_features=site
    )
    assert np.array_equal(pipe[-1].coef_, by_hand.coef_)
    assert pipe.predict_proba(frame).shape == (900, 2)


def test_pipeline_with_routing_passes_groups_on(table, routing):
    frame, y, site = table
    pipe = make_pipeline(columns(), GroupDROClassifier(l2=1e-2))
    pipe.fit(frame, y, sensitive_features=site)
    assert len(pipe[-1].group_names_) == 3


@pytest.mark.parametrize(
    "scorer", [metrics.worst_group_accuracy_scorer, metrics.worst_group_risk_scorer]
)
def test_grid_search_by_the_worst_group(table, routing, scorer):
    frame, y, site = table
    pipe = make_pipeline(columns(), GroupDROClassifier())
    search = GridSearchCV(
        pipe, {"groupdroclassifier__l2": [1e-3, 1e-1, 10.0]}, scoring=scorer, cv=3
    )
    search.fit(frame, y, sensitive_features=site)
    # The same by hand.
    best = {}
    for l2 in (1e-3, 1e-1, 10.0):
        scores = []
        for train, test in sklearn.model_selection.StratifiedKFold(3).split(frame, y):
            model = make_pipeline(columns(), GroupDROClassifier(l2=l2))
            model.fit(frame.iloc[train], y[train], sensitive_features=site[train])
            scores.append(
                scorer(model, frame.iloc[test], y[test], sensitive_features=site[test])
            )
        best[l2] = np.mean(scores)
    assert_allclose(search.cv_results_["mean_test_score"], list(best.values()))
    assert search.best_params_["groupdroclassifier__l2"] == max(best, key=best.get)
    report = metrics.evaluate(search, frame, y, sensitive_features=site)
    assert report.names == ["east", "north", "south"]


def test_cross_validate_with_groups_of_a_splitter(table, routing):
    frame, y, site = table
    patients = np.arange(900) // 3
    found = cross_validate(
        make_pipeline(columns(), GroupDROClassifier()),
        frame,
        y,
        cv=GroupKFold(3),
        scoring={"worst": metrics.worst_group_accuracy_scorer, "mean": "accuracy"},
        params={"sensitive_features": site, "groups": patients},
        error_score="raise",
    )
    assert np.all(found["test_worst"] <= found["test_mean"])


def test_cross_validation_without_routing(table):
    frame, y, site = table
    model = make_pipeline(columns(), GroupDROClassifier())
    predicted = cross_val_predict(
        model, frame, y, cv=3, params={"groupdroclassifier__sensitive_features": site}
    )
    assert metrics.worst_group_accuracy(y, predicted, sensitive_features=site) > 0.3
    with pytest.raises(ValueError, match="needs sensitive_features: enable metadata routing"):
        metrics.worst_group_accuracy_scorer(model.fit(frame, y), frame, y)


@pytest.mark.parametrize("error_score", [np.nan, 0.5, "raise"])
@pytest.mark.parametrize("is_routed", [False, True])
def test_scorers_without_groups_raise_whatever_the_score_of_errors(table, error_score, is_routed):
    """A search would go on with NaN for every candidate, and take the first one."""
    frame, y, _ = table
    X, scorer = frame[["age"]], metrics.worst_group_risk_scorer
    with sklearn.config_context(enable_metadata_routing=is_routed):
        message = "worst_group_risk_scorer needs sensitive_features: enable metadata routing"
        search = GridSearchCV(
            GroupDROClassifier(), {"l2": [1e-2, 1.0]}, scoring=scorer, cv=2, error_score=error_score
        )
        with pytest.raises(ValueError, match=message):
            search.fit(X, y)
        for scoring in (scorer, {"worst": scorer, "mean": "accuracy"}):
            with pytest.raises(ValueError, match=message):
                cross_validate(
                    GroupDROClassifier(), X, y, cv=2, scoring=scoring, error_score=error_score
                )
        with pytest.raises(ValueError, match=message):
            cross_val_score(
                GroupDROClassifier(), X, y, cv=2, scoring=scorer, error_score=error_score
            )
        with pytest.raises(ValueError, match=message):
            search.set_params(refit=False).fit(X, y)


def test_clones_and_copies(table):
    frame, y, site = table
    X = frame[["age", "pay"]]
    model = GroupDROClassifier(l2=0.1, objective="top-k", k=2, random_state=3)
    assert clone(model).get_params() == model.get_params()
    model.fit(X, y, sensitive_features=site)
    copies = [copy.copy(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for other in copies:
        assert np.array_equal(other.predict_proba(X), model.predict_proba(X))
        assert other.certificate_ == model.certificate_
    assert not hasattr(clone(model), "coef_")


def test_joblib(table, tmp_path):
    frame, y, site = table
    X = frame[["age", "pay"]]
    model = GroupDRORegressor().fit(X, frame["pay"] * 2, sensitive_features=site)
    joblib.dump(model, tmp_path / "model.joblib")
    assert np.array_equal(joblib.load(tmp_path / "model.joblib").predict(X), model.predict(X))


def test_a_grid_search_in_processes(table, routing):
    frame, y, site = table
    search = GridSearchCV(
        GroupDROClassifier(),
        {"l2": [1e-2, 1.0]},
        scoring=metrics.worst_group_risk_scorer,
        cv=2,
        n_jobs=2,
    )
    search.fit(frame[["age", "pay"]], y, sensitive_features=site)
    assert search.best_score_ < 0


def fit_once(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(5000, 5))
    return GroupDRORegressor().fit(X, X[:, 0], sensitive_features=np.arange(5000) % 3).coef_[0]


@pytest.mark.skipif(sys.platform != "linux", reason="fork")
@pytest.mark.filterwarnings("ignore:.*fork.*")
def test_a_process_forks_after_a_fit():
    """No pool of threads outlives a call, that a forked child would wait for in vain."""
    fit_once(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(fit_once, [0, 1]).get(timeout=60)
    assert_allclose(found, 1.0, atol=1e-3)


def test_the_same_seed_gives_the_same_bits(table):
    frame, y, site = table
    X = frame[["age", "pay"]]
    X = (X - X.mean()) / X.std()
    for arguments in (dict(), dict(solver="online-1", rounds=5000, random_state=4)):
        fits = [
            GroupDROClassifier(threads=t, **arguments).fit(X, y, sensitive_features=site)
            for t in (1, 2, 2)
        ]
        for other in fits[1:]:
            for name in ("coef_", "intercept_", "group_weights_", "group_risks_"):
                assert np.array_equal(getattr(fits[0], name), getattr(other, name)), name
            assert fits[0].certificate_ == other.certificate_
            for name in fits[0].trace_.keys() - {"seconds"}:
                assert np.array_equal(fits[0].trace_[name], other.trace_[name]), name
        assert np.array_equal(fits[0].predict_proba(X), fits[0].predict_proba(X))
    other = GroupDROClassifier(solver="online-1", rounds=5000, random_state=5)
    assert not np.array_equal(other.fit(X, y, sensitive_features=site).coef_, fits[0].coef_)


def big():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60_000, 40))
    return X, (X[:, 0] + rng.logistic(size=60_000) > 0).astype(int), rng.integers(0, 6, 60_000)


def test_other_threads_run_while_a_model_is_fitted():
    X, y, g = big()
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.perf_counter()
    model = GroupDROClassifier(solver="smd-m", rounds=200_000, step_w=1, step_q=1, random_state=0)
    model.fit(X, y, sensitive_features=g)
    ended = time.perf_counter()
    stop.set()
    thread.join()
    inside = np.array([began, *[t for t in ticks if began < t < ended], ended])
    assert ended - began > 0.1
    # With the interpreter held, one gap would be the whole fit.
    assert np.diff(inside).max() < 0.5 * (ended - began)


def test_two_fits_overlap():
    X, y, g = big()
    spans = []

    def work():
        began = time.perf_counter()
        GroupDROClassifier(threads=1).fit(X, y, sensitive_features=g)
        spans.append((began, time.perf_counter()))

    threads = [threading.Thread(target=work) for _ in range(2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    (a, b), (c, d) = spans
    assert max(a, c) < min(b, d)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("solver", ["exact", "smd-m"])
def test_ctrl_c_ends_a_fit(solver):
    code = f"""
        import numpy as np, time
        from gdro import GroupDROClassifier
        rng = np.random.default_rng(0)
        X = rng.normal(size=(150_000, 60))
        y = (X[:, 0] + rng.logistic(size=len(X)) > 0).astype(int)
        model = GroupDROClassifier(solver={solver!r})
        if {solver!r} != "exact":
            model.set_params(rounds=10**9, step_w=1, step_q=1)
        print("go", flush=True)
        try:
            for _ in range(100):
                model.fit(X, y, sensitive_features=np.arange(len(X)) % 5)
        except KeyboardInterrupt:
            print("stopped", hasattr(model, "coef_") and {solver!r} != "exact", flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "go\n"
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    began = time.perf_counter()
    assert process.communicate(timeout=60)[0] == "stopped False\n"
    assert time.perf_counter() - began < 20
    assert process.returncode == 0


def test_verbose_shows_the_progress(table, capsys):
    frame, y, site = table
    X = frame[["age"]] / 40
    GroupDROClassifier(verbose=1).fit(X, y, sensitive_features=site)
    assert "[gdro] 900 rows, 3 groups, 1 features" in capsys.readouterr().out
    GroupDROClassifier().fit(X, y, sensitive_features=site)
    assert capsys.readouterr().out == ""


def test_an_exception_of_the_listener_ends_the_fit(monkeypatch, table):
    frame, y, site = table

    def fail(*_, **__):
        raise OSError("no terminal")

    monkeypatch.setattr("builtins.print", fail)
    with pytest.raises(OSError, match="no terminal"):
        GroupDROClassifier(verbose=1).fit(frame[["age"]], y, sensitive_features=site)


def test_importing_is_quick():
    """At most a tenth of a second on top of sklearn.base; the best of several, on a busy machine."""
    code = (
        "import time, sklearn.base; a = time.perf_counter(); import gdro;"
        "print(time.perf_counter() - a)"
    )
    times = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout)
        for _ in range(5)
    ]
    assert min(times) < 0.1, times

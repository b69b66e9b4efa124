"""Rows that belong together, and rows that stand for several: in Python as in the program."""

import json
import os
import subprocess

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import gdro
from gdro import GroupDROClassifier, metrics

PROGRAM = os.environ.get("GDRO_PROGRAM")


def visits(rng, patients, rows=50):
    """Rows of patients that are all alike; the label is x in four of five patients."""
    x = rng.integers(0, 2, patients)
    y = np.where(rng.random(patients) < 0.8, x, 1 - x)
    g = np.where(np.arange(patients) % 2 == 0, "a", "b")
    who = np.array([f"p{i}" for i in range(patients)], dtype=object)
    return [np.repeat(column, rows) for column in (x.astype(float), y, g, who)]


def test_clusters_leave_the_model_as_it_is_and_give_a_bound():
    x, y, g, who = visits(np.random.default_rng(1), 20)
    rows = np.r_[: len(x) - 30]  # the last patient has 20 rows
    X, y, g, who = x[rows, None], y[rows], g[rows], who[rows]
    plain = GroupDROClassifier().fit(X, y, sensitive_features=g)
    model = GroupDROClassifier().fit(X, y, sensitive_features=g, clusters=who)
    assert_array_equal(model.coef_, plain.coef_)
    assert (model.cluster_cap_, plain.cluster_cap_) == (50, None)
    weighted = GroupDROClassifier().fit(
        X, y, sensitive_features=g, sample_weight=np.full(len(y), 0.5), clusters=who
    )
    assert weighted.cluster_cap_ == 25
    with pytest.raises(ValueError, match="clusters has 3 entries|clusters"):
        GroupDROClassifier().fit(X, y, sensitive_features=g, clusters=who[:3])
    index = pd.Series(who[::-1], index=range(len(who))[::-1])
    with pytest.raises(ValueError, match="clusters has another index than y"):
        GroupDROClassifier().fit(X, pd.Series(y), sensitive_features=g, clusters=index)


def test_patients_are_the_unit():
    """24 patients of 50 equal rows: taken as 1,200 rows, intervals miss in nine tables of ten. Nominal
    5 misses of 100; 16 or more have p < 1e-4."""
    rng = np.random.default_rng(2)
    x, y, g, who = visits(rng, 400)
    model = GroupDROClassifier().fit(x[:, None], y, sensitive_features=g, clusters=who)
    assert model.predict([[0.0], [1.0]]).tolist() == [0, 1]
    by_patient, by_row = 0, 0
    for _ in range(100):
        x, y, g, who = visits(rng, 24)
        arguments = {"sensitive_features": g}
        report = metrics.evaluate(model, x[:, None], y, clusters=who, **arguments)
        assert [e.clusters for e in report.accuracy] == [12, 12] and report.auc is None
        by_patient += any(not e.low <= 0.8 <= e.high for e in report.accuracy)
        report = metrics.evaluate(model, x[:, None], y, **arguments)
        by_row += any(not e.low <= 0.8 <= e.high for e in report.accuracy)
    assert by_patient <= 15
    assert by_row > 50
    assert report.cluster_cap is None


def test_what_needs_a_bound_asks_for_it():
    x, y, g, who = visits(np.random.default_rng(3), 24)
    X = x[:, None]
    plain = GroupDROClassifier().fit(X, y, sensitive_features=g)
    with pytest.raises(ValueError, match="the estimator has no cluster_cap_"):
        metrics.evaluate(plain, X, y, sensitive_features=g, clusters=who)
    with pytest.raises(ValueError, match="cluster_cap=3: without clusters there is nothing to cap"):
        metrics.evaluate(plain, X, y, sensitive_features=g, cluster_cap=3)
    report = metrics.evaluate(plain, X, y, sensitive_features=g, clusters=who, cluster_cap=20)
    assert report.clusters_capped == 24
    assert "A cluster counts as at most 20, which cuts 24 clusters." in str(report)


def test_frequencies_are_rows():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2)).round(2)
    y = rng.integers(0, 2, 60)
    g = np.where(rng.random(60) < 0.4, "a", "b")
    n = rng.integers(0, 6, 60)
    rows = np.repeat(np.arange(60), n)
    for arguments in ({}, {"adjustment": 0.5}, {"solver": "smd-m", "rounds": 200, "random_state": 1}):
        counted = GroupDROClassifier(weight_kind="frequency", **arguments)
        counted.fit(X, y, sensitive_features=g, sample_weight=n)
        repeated = GroupDROClassifier(**arguments).fit(X[rows], y[rows], sensitive_features=g[rows])
        assert_array_equal(counted.coef_, repeated.coef_)
        assert counted.certificate_ == repeated.certificate_
        assert counted.weight_cap_ is None
    found = metrics.evaluate(
        counted, X, y, sensitive_features=g, sample_weight=n, weight_kind="frequency"
    )
    expected = metrics.evaluate(repeated, X[rows], y[rows], sensitive_features=g[rows])
    assert found.rows == expected.rows and sum(found.rows) == n.sum()
    assert found.accuracy == expected.accuracy and found.clipped_risk == expected.clipped_risk
    fit = GroupDROClassifier(weight_kind="frequency").fit
    with pytest.raises(ValueError, match="sample_weight of row 0 is 0.5: expected a number of rows"):
        fit(X, y, sensitive_features=g, sample_weight=np.full(60, 0.5))
    with pytest.raises(ValueError, match="adds up to 60000000 rows: expected at most 20,000,000"):
        fit(X, y, sensitive_features=g, sample_weight=np.full(60, 1e6))
    with pytest.raises(ValueError, match="does nothing without sample_weight"):
        fit(X, y, sensitive_features=g)
    with pytest.raises(ValueError, match="weight_kind='count': expected one of importance, freq"):
        GroupDROClassifier(weight_kind="count").fit(X, y, sample_weight=n)


@pytest.mark.skipif(PROGRAM is None, reason="GDRO_PROGRAM names no program")
def test_program_and_package_agree(tmp_path):
    """The same options give the same record, and the program evaluates what Python saved as Python
    does."""
    x, y, g, who = visits(np.random.default_rng(5), 21, rows=4)
    n = np.arange(len(x)) % 3 + 1
    table = tmp_path / "t.csv"
    pd.DataFrame({"x0": x, "y": y, "group": g, "who": who, "n": n}).to_csv(table, index=False)

    def program(*arguments):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    usual = ["--target", "y", "--groups", "group", "--group-features", "drop", "--scaling", "none"]
    usual += ["--holdout", "0", "--objective", "max", "--solver", "exact", "--quiet"]
    for kind, given in (("clusters", ["--cluster", "who", "--ignore", "n"]),
                        ("frequency", ["--weight", "n", "--weight-kind", "frequency", "--ignore", "who"]),
                        ("both", ["--weight", "n", "--cluster", "who"])):
        program("fit", str(table), *usual, *given, "--out", str(tmp_path / "program"))
        model = GroupDROClassifier(weight_kind="frequency" if kind == "frequency" else "importance")
        arguments = {"sensitive_features": g}
        if kind != "clusters":
            arguments["sample_weight"] = n
        if kind != "frequency":
            arguments["clusters"] = who
        model.fit(x[:, None], y, **arguments)
        names = {"weight": "n"} if kind != "clusters" else {}
        names |= {"cluster": "who"} if kind != "frequency" else {}
        gdro.save(model, tmp_path / "python", **names)
        ours, theirs = (
            json.loads((tmp_path / who / "model.json").read_text()) for who in ("python", "program")
        )
        # The program's matrix is sparse: sums of other orders.
        for part in ("weights", "intercepts"):
            assert_allclose(ours[part], theirs[part], rtol=1e-12, err_msg=f"{kind}, {part}")
        for part in ("upper", "lower"):
            bounds = [model["certificate"][part] for model in (ours, theirs)]
            assert_allclose(*bounds, rtol=1e-12, err_msg=f"{kind}, {part}")
        for part in ("cap", "grouping"):
            assert ours[part] == theirs[part], (kind, part)
        for part in ("cluster-cap", "one-cluster", "weight-cap"):
            assert ours.get(part) == theirs.get(part), (kind, part)
        for part in ("cluster", "weight", "weight-kind"):
            assert ours["job"]["data"][part] == theirs["job"]["data"][part], (kind, part)
        found = json.loads(program("evaluate", str(tmp_path / "python"), str(table), "--json"))
        if kind == "frequency":
            arguments["weight_kind"] = "frequency"
        report = metrics.evaluate(model, x[:, None], y, **arguments)
        for group, accuracy in zip(found["intervals"]["groups"], report.accuracy):
            interval = group["accuracy"]["interval"]
            assert (interval["low"], interval["high"]) == (accuracy.low, accuracy.high), kind
        again = gdro.load(tmp_path / "python")
        assert again.cluster_cap_ == model.cluster_cap_
        gdro.save(again, tmp_path / "again")
        assert json.loads((tmp_path / "again" / "model.json").read_text()) == ours


def test_groups_of_one_cluster_are_judged_by_rows():
    rng = np.random.default_rng(6)
    x = rng.integers(0, 2, 400).astype(float)
    y = np.where(rng.random(400) < 0.8, x, 1 - x).astype(int)
    who = np.where(np.arange(400) % 2 == 0, "p", "q")
    model = GroupDROClassifier().fit(x[:, None], y, sensitive_features=who, clusters=who)
    report = metrics.evaluate(model, x[:, None], y, sensitive_features=who, clusters=who)
    plain = metrics.evaluate(model, x[:, None], y, sensitive_features=who)
    assert report.accuracy == plain.accuracy
    assert [e.clusters for e in report.accuracy] == [None, None]

"""The estimators that choose: the same choice as the program, and scikit-learn's manners."""

import json
import os
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from gdro import (
    GroupDROClassifier,
    GroupDROClassifierCV,
    GroupDRORegressor,
    GroupDRORegressorCV,
)

PROGRAM = os.environ.get("GDRO_PROGRAM")


def rows(seed=1, n=330, differ=True):
    """Rows of a large group and of a small one with another slope, the largest first."""
    rng = np.random.default_rng(seed)
    site = np.where(np.arange(n) % 5 == 4, "b", "a")
    X = rng.normal(size=(n, 2)).round(3)
    slope = np.where((site == "b") & differ, -1.5, 1.5)
    score = slope * X[:, 0] + 0.5 * X[:, 1]
    return X, score, site, rng


def classes(**more):
    X, score, site, rng = rows(**more)
    return X, (score + rng.logistic(size=len(X)) > 0).astype(int), site


def numbers(**more):
    X, score, site, rng = rows(**more)
    return X, (score + rng.normal(size=len(X))).round(3), site


def alike(ours, theirs):
    """Compares texts and whole numbers, and others but for the digits that ordinary training stops at."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key in theirs:
            alike(ours[key], theirs[key])
    elif isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for one, other in zip(ours, theirs):
            alike(one, other)
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=1e-6)
    else:
        assert ours == theirs


@pytest.mark.skipif(PROGRAM is None, reason="GDRO_PROGRAM names no program")
@pytest.mark.parametrize("make, kind", [(classes, GroupDROClassifierCV), (numbers, GroupDRORegressorCV)])
@pytest.mark.parametrize("clustered", [False, True])
def test_the_choice_is_the_programs(make, kind, clustered, tmp_path):
    X, y, site = make()
    table = pd.DataFrame(X, columns=["x0", "x1"]).assign(y=y, group=site)
    more, options = {}, []
    if clustered:
        more["clusters"] = np.arange(len(y)) // 3
        table["patient"] = [f"p{c}" for c in more["clusters"]]
        options = ["--cluster", "patient"]
    table.to_csv(tmp_path / "rows.csv", index=False)
    command = [
        PROGRAM, "select", tmp_path / "rows.csv", "--target", "y", "--groups", "group",
        "--group-features", "drop", "--scaling", "none", "--holdout", "0", "--solver", "exact",
        "--grid", "1e-3:1:4", "--folds", "4", "--seed", "3", "--json", "--quiet",
        "--out", tmp_path / "out", *options,
    ]  # fmt: skip
    found = subprocess.run(command, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    theirs = json.loads(found.stdout)["selection"]
    model = kind(l2s=[1e-3, 1e-2, 1e-1, 1], cv=4, random_state=3)
    model.fit(X, y, sensitive_features=site, **more)
    alike(model.selection_, theirs)
    weights = json.loads((tmp_path / "out" / "model.json").read_text())["weights"]
    # Up to rounding: the two set out for the last optimum from different models.
    assert np.ravel(model.coef_) == pytest.approx(weights, rel=1e-9)


def test_a_group_unlike_the_others_is_seen():
    X, y, site = numbers(n=2400)
    model = GroupDRORegressorCV(random_state=0).fit(X, y, sensitive_features=site)
    assert not model.kept_erm_ and model.chosen_["better"] >= model.chosen_["asked"] == 0.95
    assert model.best_params_["objective"] != "average"
    assert model.erm_params_["objective"] == "average"
    assert model.chosen_["best"] < model.chosen_["erm"]
    # The model is that of the estimator with these arguments.
    params = dict(model.best_params_)
    same = GroupDRORegressor(**params).fit(X, y, sensitive_features=site)
    assert np.array_equal(model.coef_, same.coef_) and model.intercept_ == same.intercept_
    assert np.array_equal(model.predict(X), same.predict(X))


def test_erm_is_kept_where_groups_are_alike():
    X, y, site = classes(differ=False)
    model = GroupDROClassifierCV(objectives=["max"], random_state=0, cv=3)
    model.fit(X, y, sensitive_features=site)
    assert model.kept_erm_ and model.best_params_ == model.erm_params_
    same = GroupDROClassifier(**model.best_params_).fit(X, y, sensitive_features=site)
    assert np.array_equal(model.coef_, same.coef_)
    assert model.predict_proba(X).shape == (len(X), 2)
    table = pd.DataFrame(model.cv_results_)
    assert len(table) == 2 * 15 and set(table["param_objective"]) == {"average", "max"}
    erm = table[table["param_objective"] == "average"]
    assert erm.loc[erm["criterion"].idxmin(), "params"] == model.erm_params_
    assert set(table["worst_group"]) <= {"a", "b"} and table["rank"].min() == 1
    assert model.judges_.tolist() == [True, True]
    assert clone(model).get_params() == model.get_params()


def test_balls_criteria_and_what_is_refused():
    X, y, site = classes(n=120)
    model = GroupDROClassifierCV(
        objectives=["balanced", "top-k:2", "max"], balls=[0.5, 2], validation=0.3,
        criterion="accuracy", judge_rows=30, random_state=0,
    )  # fmt: skip
    model.fit(X, y, sensitive_features=site)
    assert set(model.best_params_) == {"objective", "ball"}
    assert model.judges_.tolist() == [True, False]
    for arguments, why in [
        ({"objectives": "max"}, "objectives='max': expected 'auto' or a list"),
        ({"objectives": ["least"]}, "objectives=.*`least`: expected"),
        ({"l2s": [0.1]}, "2 to 1000 values"),
        ({"l2s": [0.1, -1]}, "numbers above 0"),
        ({"l2s": [0.1, 1], "balls": [1, 2]}, "not both at once"),
        ({"cv": 1}, "from 2 to 1000"),
        ({"cv": 121}, "cv=121: found 120 samples, expected one per fold"),
        ({"criterion": "best"}, "expected risk, accuracy or top-k:K"),
        ({"judge_rows": 0}, "judge_rows"),
        ({"adjustment": -1}, "adjustment"),
    ]:
        with pytest.raises(ValueError, match=why):
            GroupDROClassifierCV(**arguments).fit(X, y, sensitive_features=site)
    with pytest.raises(ValueError, match="numbers are not right or wrong"):
        GroupDRORegressorCV(criterion="accuracy").fit(X, y, sensitive_features=site)


@pytest.mark.parametrize("estimator", [
    GroupDROClassifierCV(l2s=[0.001, 0.1], cv=2, random_state=0),
    GroupDRORegressorCV(l2s=[0.001, 0.1], cv=2, random_state=0),
])  # fmt: skip
def test_scikit_learns_checks(estimator):
    why = "a row of weight 2 is in one fold, two rows may be in two"
    expected = dict.fromkeys(
        [
            "check_sample_weight_equivalence_on_dense_data",
            "check_sample_weight_equivalence_on_sparse_data",
        ],
        why,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(estimator, expected_failed_checks=expected, on_skip=None)

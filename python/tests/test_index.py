"""Rows go by position: a Series or frame with another index than X's is refused, never realigned or misjoined."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from gdro import GroupDROClassifier, GroupDRORegressor, Solver, metrics


@pytest.fixture(scope="module")
def rows():
    """Columns with labels in an order of their own, as after a split or a sort."""
    rng = np.random.default_rng(1)
    n = 400
    index = pd.Index(rng.permutation(n) + 1000)
    X = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"), index=index)
    g = pd.Series(rng.choice(["u", "v", "w"], n, p=[0.6, 0.3, 0.1]), index=index, name="site")
    turn = np.where(g == "w", -1, 1)
    y = pd.Series((X["a"] * turn + rng.logistic(size=n) > 0).astype(int), index=index)
    return X, y, g, pd.Series(1.0 + np.arange(n) % 2, index=index)


CALLS = {
    "fit": lambda X, y, g, w: GroupDROClassifier().fit(X, y, sensitive_features=g, sample_weight=w),
    "fit of numbers": lambda X, y, g, w: GroupDRORegressor().fit(
        X, y, sensitive_features=g, sample_weight=w
    ),
    "families": lambda X, y, g, w: GroupDROClassifier().fit(
        X, y, sensitive_features=[np.arange(400) % 2, g], sample_weight=w
    ),
    "a mapping": lambda X, y, g, w: GroupDROClassifier().fit(
        X, y, sensitive_features={"half": np.arange(400) % 2, "site": g}, sample_weight=w
    ),
    "a family of a mapping": lambda X, y, g, w: GroupDROClassifier().fit(
        X, y, sensitive_features=[np.arange(400) % 2, {"site": g}], sample_weight=w
    ),
    "a frame of groups": lambda X, y, g, w: GroupDROClassifier().fit(
        X, y, sensitive_features=g.to_frame(), sample_weight=w
    ),
    "a matrix": lambda X, y, g, w: GroupDROClassifier().fit(
        X.to_numpy(), y, sensitive_features=g, sample_weight=w
    ),
    "Solver": lambda X, y, g, w: Solver(
        "smd-m", X, y, sensitive_features=g, sample_weight=w, l2=0.1, rounds=10
    ),
    "score": lambda X, y, g, w: GroupDROClassifier()
    .fit(X, y.to_numpy())
    .score(X, y, sample_weight=w),
    "score of numbers": lambda X, y, g, w: GroupDRORegressor()
    .fit(X, y.to_numpy())
    .score(X, y, sample_weight=w),
    "accuracies": lambda X, y, g, w: metrics.worst_group_accuracy(
        y, y.to_numpy(), sensitive_features=g, sample_weight=w
    ),
    "risks": lambda X, y, g, w: metrics.worst_group_risk(
        y, np.full(len(y), 0.5), loss="log", sensitive_features=g, sample_weight=w
    ),
    "scorer": lambda X, y, g, w: metrics.worst_group_risk_scorer(
        GroupDROClassifier().fit(X, y.to_numpy()), X, y, sensitive_features=g, sample_weight=w
    ),
    "evaluate": lambda X, y, g, w: metrics.evaluate(
        GroupDROClassifier().fit(X, y.to_numpy()), X, y, sensitive_features=g
    ),
}

#: The arguments that each call takes, beside the first column with an index.
TAKES = {
    "a matrix": "gw",
    "score": "yw",
    "score of numbers": "yw",
    "accuracies": "gw",
    "risks": "gw",
    "evaluate": "yg",
}


@pytest.mark.parametrize("call", CALLS)
def test_another_order_is_refused_wherever_rows_are_joined(rows, call):
    CALLS[call](*rows)  # the same index
    for name in TAKES.get(call, "ygw"):
        other = list(rows)
        at = "Xygw".index(name)
        other[at] = rows[at].sort_index()
        with pytest.raises(ValueError, match=r"has another index than .*position.*\.loc\[.*to_numpy"):
            CALLS[call](*other)


def test_the_message_says_where_and_what_to_do(rows):
    X, y, g, _ = rows
    fit = GroupDROClassifier().fit
    with pytest.raises(ValueError) as caught:
        fit(X, y, sensitive_features=g.sort_index())
    text = str(caught.value)
    assert f"sensitive_features has another index than X: row 0 is 1000, in X {X.index[0]}" in text
    assert "sensitive_features.loc[X.index]" in text
    with pytest.raises(ValueError, match=r"y has another index.*take both from the same rows"):
        fit(X, y.reset_index(drop=True), sensitive_features=g)
    with pytest.raises(ValueError, match=r"sensitive_features\[1\] has another index"):
        fit(X, y, sensitive_features=[g, g.sort_index()])
    repeated = X.set_axis(np.zeros(400), axis=0)
    with pytest.raises(ValueError, match="take both from the same rows"):
        fit(repeated, y)


def test_both_remedies_give_the_model_of_the_right_rows(rows):
    X, y, g, _ = rows
    right = GroupDROClassifier().fit(X.to_numpy(), y.to_numpy(), sensitive_features=g.to_numpy())
    for groups in (g.sort_index().loc[X.index], g.to_numpy(), pl.Series(g.to_numpy())):
        model = GroupDROClassifier().fit(X, y, sensitive_features=groups)
        assert np.array_equal(model.coef_, right.coef_)
        assert np.array_equal(model.group_risks_, right.group_risks_)


def test_what_has_no_index_of_its_own_goes_by_position(rows):
    X, y, g, w = rows
    frames = (
        (X.to_numpy(), y.to_numpy(), g, w),
        (X, y.tolist(), g.tolist(), w.to_numpy()),
        # Equal labels of another kind of index.
        (X.reset_index(drop=True), y.set_axis(np.arange(400.0)), g.to_numpy(), None),
        (pl.DataFrame(X.to_dict("list")), y, g, w),
    )
    expected = GroupDROClassifier().fit(X, y, sensitive_features=g, sample_weight=w)
    for X_, y_, g_, w_ in frames:
        model = GroupDROClassifier().fit(X_, y_, sensitive_features=g_, sample_weight=w_)
        if w_ is not None:
            assert np.array_equal(model.coef_, expected.coef_)


def test_splits_and_pipelines_keep_what_belongs_together(rows):
    X, y, g, w = rows
    parts = train_test_split(X, y, g, w, random_state=0)
    train, test = parts[::2], parts[1::2]
    pipe = make_pipeline(StandardScaler(), GroupDROClassifier()).fit(
        train[0], train[1], groupdroclassifier__sensitive_features=train[2]
    )
    metrics.evaluate(pipe, test[0], test[1], sensitive_features=test[2])
    found = cross_val_score(
        GroupDROClassifier(), X, y, cv=3, params={"sensitive_features": g}, error_score="raise"
    )
    assert len(found) == 3

"""What users of scikit-learn are used to: class weights, n_jobs, routed weights, words for what was meant."""

import copy
import pickle
import re

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.utils.class_weight import compute_sample_weight

import gdro
from gdro import GroupDROClassifier, GroupDROClassifierCV, GroupDRORegressor, metrics


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(11)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] + rng.logistic(size=200) > 1.2, "rare", "usual")
    return X, y, rng.choice(["a", "b"], 200, p=[0.7, 0.3]), rng.integers(0, 4, 200)


@pytest.mark.parametrize("class_weight", ["balanced", {"rare": 5.0, "usual": 0.5}, {"rare": 3}])
def test_class_weights_are_those_of_scikit_learn(rows, class_weight):
    """With one group the model is that of LogisticRegression."""
    X, y, _, weights = rows
    model = GroupDROClassifier(l2=1e-2, class_weight=class_weight).fit(X, y)
    scale = compute_sample_weight(class_weight, y).sum()
    peer = LogisticRegression(C=1 / (scale * 1e-2), class_weight=class_weight, tol=1e-10, max_iter=5000)
    peer.fit(X, y)
    assert_allclose(model.coef_, peer.coef_, atol=2e-5)
    assert_allclose(model.intercept_, peer.intercept_, atol=2e-5)
    assert model.weight_cap_ is None
    # They multiply the weights of the rows, and are the same as weights that the user multiplies.
    if class_weight != "balanced":
        both = weights * compute_sample_weight(class_weight, y)
        one = GroupDROClassifier(class_weight=class_weight).fit(X, y, sample_weight=weights)
        other = GroupDROClassifier().fit(X, y, sample_weight=both)
        assert_allclose(one.coef_, other.coef_, atol=1e-9)
        assert one.weight_cap_ == weights.max()


def test_class_weights_of_groups_and_frequencies(rows):
    X, y, groups, weights = rows
    at = np.repeat(np.arange(len(y)), weights)
    for class_weight in ("balanced", {"usual": 0.25}):
        arguments = {"class_weight": class_weight, "l2": 1e-2}
        one = GroupDROClassifier(weight_kind="frequency", **arguments)
        one.fit(X, y, sensitive_features=groups, sample_weight=weights)
        other = GroupDROClassifier(**arguments).fit(X[at], y[at], sensitive_features=groups[at])
        assert_allclose(one.coef_, other.coef_, atol=1e-8)
        assert_allclose(one.group_risks_, other.group_risks_, atol=1e-8)
    # A class of weight 0 is absent.
    three = np.where(np.arange(len(y)) % 5 == 0, "odd", y)
    model = GroupDROClassifier(class_weight={"odd": 0.0}).fit(X, three, sensitive_features=groups)
    keep = three != "odd"
    peer = GroupDROClassifier().fit(X[keep], y[keep], sensitive_features=groups[keep])
    assert model.classes_.tolist() == ["rare", "usual"]
    assert_allclose(model.coef_, peer.coef_, atol=1e-12)


def test_class_weights_that_are_none(rows):
    X, y, _, _ = rows
    for class_weight, message in (
        ("even", "class_weight='even': expected a mapping"),
        (2.0, "expected a mapping"),
        ({"rare": -1.0}, "class_weight of 'rare'=-1.0: expected a number of at least 0"),
        ({"other": 1.0}, "rare.*are not in class_weight"),
    ):
        with pytest.raises(ValueError, match=message):
            GroupDROClassifier(class_weight=class_weight).fit(X, y)
    with pytest.raises(TypeError, match="GroupDRORegressor has no argument 'class_weight'"):
        GroupDRORegressor(class_weight="balanced")


def test_a_saved_model_is_saved_without_class_weights(rows, tmp_path):
    X, y, groups, _ = rows
    model = GroupDROClassifier(class_weight="balanced").fit(X, y, sensitive_features=groups)
    gdro.save(model, tmp_path)
    assert_allclose(gdro.load(tmp_path).predict_proba(X), model.predict_proba(X), atol=1e-12)


def test_a_choice_takes_class_weights(rows):
    X, y, groups, _ = rows
    arguments = {"objectives": ["max"], "l2s": [1e-2, 1e-1], "cv": 2, "random_state": 0}
    weighted = GroupDROClassifierCV(class_weight="balanced", **arguments)
    weighted.fit(X, y, sensitive_features=groups)
    plain = GroupDROClassifierCV(n_jobs=1, **arguments).fit(X, y, sensitive_features=groups)
    assert (weighted.predict(X) == "rare").sum() > (plain.predict(X) == "rare").sum()


def test_jobs_are_threads(rows):
    X, y, groups, _ = rows
    found = [
        GroupDROClassifier(**arguments).fit(X, y, sensitive_features=groups).coef_
        for arguments in ({}, {"n_jobs": 2}, {"n_jobs": -1}, {"n_jobs": -2}, {"threads": 1})
    ]
    assert all((coef == found[0]).all() for coef in found)
    for n_jobs, threads, message in (
        (0, None, "n_jobs=0: expected at least 1, or -1"),
        (1.5, None, "n_jobs=1.5: expected a whole number"),
        (2, 2, "n_jobs=2 and threads=2 are the same: give one"),
    ):
        with pytest.raises(ValueError, match=message):
            GroupDROClassifier(n_jobs=n_jobs, threads=threads).fit(X, y)


@pytest.mark.parametrize("kind", [GroupDROClassifier, GroupDRORegressor, GroupDROClassifierCV])
def test_arguments_that_are_none_say_what_was_meant(kind):
    name = kind.__name__
    for arguments, message in (
        ({"C": 1.0}, f"{name} has no argument 'C': the ridge is l2: C of LogisticRegression is l2 = 1/(C n)"),
        ({"alpha": 1.0}, "alpha of Ridge is l2 = 2 alpha/n"),
        ({"random_stat": 0}, "did you mean random_state?"),
        ({"xyz": 0}, "expected one of "),
        ({"sensitive_features": [1]}, "an argument of fit"),
    ):
        with pytest.raises(TypeError, match=re.escape(message)) as caught:
            kind(**arguments)
        assert "_" + name not in str(caught.value) and "__init__" not in str(caught.value)
    with pytest.raises(TypeError, match=f"{name} takes its arguments by name, such as "):
        kind("max")


def test_copies_and_classes_of_users():
    class Own(GroupDROClassifier):
        """With an argument of its own, by position."""

        def __init__(self, shift, l2=1e-4):
            super().__init__(l2=l2)
            self.shift = shift

    own = Own(3, l2=0.5)
    assert clone(own).get_params()["shift"] == 3
    assert copy.deepcopy(own).l2 == 0.5
    with pytest.raises(TypeError, match="Own has no argument 'C'"):
        Own(3, C=1)
    with pytest.raises(TypeError, match="shift"):
        Own()
    model = GroupDROClassifier(domain=("box", -1, 2), loss=("smoothed-hinge", 0.5))
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()


def test_pairs_are_texts(rows):
    X, y, groups, _ = rows
    one = GroupDROClassifier(domain=("box", -0.1, 0.2)).fit(X, y, sensitive_features=groups)
    other = GroupDROClassifier(domain="box:-0.1,0.2").fit(X, y, sensitive_features=groups)
    assert (one.coef_ == other.coef_).all() and one.coef_.max() <= 0.2 + 1e-9
    chosen = GroupDROClassifierCV(
        criterion=("top-k", 2), objectives=[("tilted", 0.1)], l2s=[1e-2, 1e-1], cv=2, random_state=0
    )
    assert chosen.fit(X, y, sensitive_features=groups).selection_["criterion"] == "top-k:2"


def test_weights_are_routed_to_scorers(rows):
    """By hand: the model of each fold, and its weighted accuracies there."""
    X, y, groups, weights = rows
    folds = [(np.arange(0, 100), np.arange(100, 200)), (np.arange(100, 200), np.arange(0, 100))]
    plain = metrics.worst_group_accuracy_scorer
    weighted = plain.set_score_request(sample_weight=True)
    assert weighted is not plain
    for scorer in (weighted, pickle.loads(pickle.dumps(weighted))):
        with sklearn.config_context(enable_metadata_routing=True):
            model = GroupDROClassifier(l2=1e-2).set_fit_request(sample_weight=True)
            params = {"sensitive_features": groups, "sample_weight": weights}
            found = cross_validate(model, X, y, scoring=scorer, cv=folds, params=params)["test_score"]
        for score, (train, test) in zip(found, folds, strict=True):
            own = {"sensitive_features": groups[train], "sample_weight": weights[train]}
            right = GroupDROClassifier(l2=1e-2).fit(X[train], y[train], **own).predict(X[test]) == y[test]
            shares = [
                np.average(right[groups[test] == g], weights=weights[test][groups[test] == g]) for g in "ab"
            ]
            assert score == pytest.approx(min(shares))
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(GroupDROClassifier().set_fit_request(sample_weight=False), {"l2": [1e-2]}, scoring=weighted)
        search.fit(X, y, sensitive_features=groups, sample_weight=weights)
    assert plain.set_score_request().get_metadata_routing().score.requests == {"sensitive_features": True}
    with pytest.raises(ValueError, match="sample_weight='yes'"):
        plain.set_score_request(sample_weight="yes")


def test_examples_that_ship():
    sizes = {"adult": (48_842, 6), "german_credit": (1000, 2), "island": (15_000, 3)}
    for name, (n, m) in sizes.items():
        if name == "adult":
            continue  # a matrix of 42 MB
        X, y, groups, names = gdro.example(name)
        assert X.shape == (n, len(names)) and len(y) == len(groups) == n
        assert len(set(groups.tolist())) == m and len(set(y.tolist())) == 2
        assert_allclose(X[:, [j for j, title in enumerate(names) if "=" not in title]].mean(axis=0), 0, atol=1e-9)
    with pytest.raises(ValueError, match='expected one of "adult"'):
        gdro.example("nothing")

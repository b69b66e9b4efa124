"""The methods: each trains on the same rows, chooses what it has to choose by the worst group in five folds of
them, and says what it predicts for new rows."""

import warnings

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import StratifiedKFold

FOLDS = 5
# Groups with fewer training rows do not choose, as in `gdro select`.
JUDGES = 20
L2S = np.logspace(-6, 1, 8)


def losses(y, answer, classes):
    """Loss of every row: the log loss of probabilities, the squared error of numbers."""
    if answer.ndim == 1:
        return (y - answer) ** 2
    column = np.searchsorted(classes, y)
    return -np.log(np.clip(answer[np.arange(len(y)), column], 1e-12, None))


def errors(y, answer, classes):
    """Share of wrong labels in expectation; None for numbers."""
    return None if answer.ndim == 1 else (classes[answer.argmax(axis=1)] != y).astype(float)


def worst(values, groups, least):
    """The largest mean of a group with so many rows, or of any if none has."""
    names, index, n = np.unique(groups, return_inverse=True, return_counts=True)
    means = np.bincount(index, weights=values) / n
    kept = n >= least
    return float(means[kept if kept.any() else n > 0].max())


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


class Split:
    """Rows for training and new rows of a table, both encoded by what the training rows say."""

    def __init__(self, table, seed):
        rng = np.random.default_rng(seed)
        train = np.zeros(len(table.y), dtype=bool)
        for name in np.unique(table.groups):
            rows = rng.permutation(np.flatnonzero(table.groups == name))
            train[rows[: len(rows) - round(0.3 * len(rows))]] = True
        X = table.encode(np.flatnonzero(train))
        self.X, self.y, self.g = X[train], table.y[train], table.groups[train]
        self.new_X, self.new_y, self.new_g = X[~train], table.y[~train], table.groups[~train]
        self.task, self.seed, self.slow = table.task, seed, table.slow
        self.classes = np.unique(self.y)

    def answer(self, model, X):
        return model.predict(X) if self.task == "regression" else model.predict_proba(X)

    def folds(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # groups with fewer rows than folds
            folds = StratifiedKFold(FOLDS, shuffle=True, random_state=self.seed)
            return list(folds.split(self.X, self.g))

    def choose(self, candidates):
        """The answer on new rows of the best of several functions (X, y, g) -> model, by the worst group
        on rows left out."""
        scores = []
        for candidate in candidates:
            out = np.empty(len(self.y))
            for fit, judge in self.folds():
                model = candidate(self.X[fit], self.y[fit], self.g[fit])
                answer = self.answer(model, self.X[judge])
                out[judge] = losses(self.y[judge], answer, model.classes_ if answer.ndim > 1 else None)
            scores.append(worst(out, self.g, JUDGES))
        model = candidates[int(np.argmin(scores))](self.X, self.y, self.g)
        return self.answer(model, self.new_X)


def gdro(split):
    """`GroupDROClassifierCV` and every member of its family by itself, each with the penalty that is best
    for it: {name: answer}, and what was chosen."""
    import gdro as package

    kind = "Regressor" if split.task == "regression" else "Classifier"
    fewer = {"objectives": ["balanced", "max"], "l2s": np.logspace(-3, 0, 4)} if split.slow else {}
    chooser = getattr(package, f"GroupDRO{kind}CV")(random_state=split.seed, threads=1, **fewer)
    chooser.fit(split.X, split.y, sensitive_features=split.g)
    answers = {"select": split.answer(chooser, split.new_X)}
    members = chooser.selection_["members"]
    for i, member in enumerate(members):
        model = getattr(package, f"GroupDRO{kind}")(
            objective=member["objective"], l2=member["value"], threads=1
        ).fit(split.X, split.y, sensitive_features=split.g)
        # τ is in the unit of the table's loss: members are told apart by their places in the family.
        name, *rest = member["objective"].split(":")
        if name == "tilted":
            name = f"{i:02} tilted, {rest[1] if rest[1:] else 'rows'}"
        answers[name] = split.answer(model, split.new_X)
    chosen = {"chosen": members[chooser.selection_["chosen"]]["objective"], **chooser.chosen_}
    return answers, chosen


def _linear(split, l2, n):
    if split.task == "regression":
        return Ridge(alpha=n * l2)
    return LogisticRegression(C=1 / (n * l2), max_iter=500)


def two_stage(split):
    """Reweighting in two stages (JTT): rows that a first model gets wrong, or for numbers the fifth with the
    largest errors, count several times in the second."""

    def candidate(l2, times):
        def fit(X, y, g):
            first = _linear(split, l2, len(y)).fit(X, y)
            if split.task == "regression":
                error = np.abs(y - first.predict(X))
                wrong = error > np.quantile(error, 0.8)
            else:
                wrong = first.predict(X) != y
            return _linear(split, l2, len(y)).fit(X, y, sample_weight=1 + (times - 1) * wrong)

        return fit

    return split.choose([candidate(l2, times) for l2 in L2S[::2] for times in (2, 5, 20)])


def subsampled(split):
    """As many rows of each group as the smallest group has that is large enough to judge."""

    def candidate(l2):
        def fit(X, y, g):
            names, index, n = np.unique(g, return_inverse=True, return_counts=True)
            size = n[n >= JUDGES].min() if (n >= JUDGES).any() else n.min()
            rng = np.random.default_rng(split.seed)
            kept = [rng.permutation(np.flatnonzero(index == i))[:size] for i in range(len(names))]
            kept = np.sort(np.concatenate(kept))
            return _linear(split, l2, len(kept)).fit(X[kept], y[kept])

        return fit

    return split.choose([candidate(l2) for l2 in L2S])


def boosted(split):
    """Gradient boosting with its defaults: a mark from outside of linear models."""
    kind = HistGradientBoostingRegressor if split.task == "regression" else HistGradientBoostingClassifier
    model = kind(random_state=split.seed).fit(dense(split.X), split.y)
    return split.answer(model, dense(split.new_X))


def bounded(split):
    """fairlearn: exponentiated gradient under a bound on every group's loss, the smallest of several bounds
    that it keeps in training. The answer is that of a model drawn at random: for labels the probability of each,
    for numbers their mean."""
    from fairlearn.reductions import BoundedGroupLoss, ExponentiatedGradient, SquareLoss, ZeroOneLoss

    if split.task == "classes":
        return None
    numbers = split.task == "regression"
    y = split.y.astype(float)

    def largest(answer):
        return worst((answer - y) ** 2 if numbers else np.abs(answer - y), split.g, 1)

    def answer(model, X):
        # One column for each model that may be drawn.
        drawn = np.asarray(model._pmf_predict(dense(X)), dtype=float)
        return drawn @ model.weights_.to_numpy()[: drawn.shape[1]]

    base = _linear(split, 1e-4, len(y))
    start = largest(clone(base).fit(split.X, y).predict(split.X))
    best = None
    for share in (0.95, 0.85, 0.7, 0.5):
        loss = SquareLoss(y.min(), y.max()) if numbers else ZeroOneLoss()
        constraint = BoundedGroupLoss(loss, upper_bound=share * start)
        model = ExponentiatedGradient(clone(base), constraint, max_iter=30)
        model.fit(dense(split.X), y, sensitive_features=split.g)
        if best is not None and largest(answer(model, split.X)) > 1.05 * share * start:
            break
        best = model
    told = answer(best, split.new_X)
    return told if numbers else np.column_stack([1 - told, told])


def dro(split):
    """The package dro: hard GDRO without a penalty, by a conic solver, with the group as a feature."""
    from dro.linear_model import GroupDRO

    if split.task == "classes":
        return None
    names, group = np.unique(split.g, return_inverse=True)

    def rows(X, group):
        return np.column_stack([dense(X), group])

    X = rows(split.X, group)
    numbers = split.task == "regression"
    model = GroupDRO(X.shape[1], X.shape[1] - 1, model_type="ols" if numbers else "logistic")
    model.fit(X, split.y if numbers else np.where(split.y > 0, 1.0, -1.0))
    score = rows(split.new_X, np.searchsorted(names, split.new_g)) @ model.theta + model.b
    if numbers:
        return score
    p = 1 / (1 + np.exp(-np.clip(score, -500, 500)))
    return np.column_stack([1 - p, p])


PEERS = {
    "two-stage": two_stage,
    "subsampled": subsampled,
    "boosted": boosted,
    "fairlearn": bounded,
    "dro": dro,
}

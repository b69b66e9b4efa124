"""The rows of the problems of exact.json, for the script that solves them and for the tests."""

import numpy as np


def problem(seed, n, d, m, classes=2, regression=False):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, d)), 6)
    g = rng.integers(0, m, n)
    w = rng.normal(size=(m, d))
    score = (X * w[g]).sum(axis=1)
    if regression:
        y = np.round(score + rng.normal(size=n), 6)
    elif classes == 2:
        y = (score + rng.logistic(size=n) > 0).astype(int)
    else:
        W = rng.normal(size=(classes, d))
        y = (X @ W.T + score[:, None] * np.arange(classes) / classes).argmax(axis=1)
        y[: classes * m] = np.tile(np.arange(classes), m)
    weights = rng.integers(1, 4, n)
    return X, y, g, weights

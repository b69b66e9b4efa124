"""Intervals by other means. Prints intervals.json. Needs numpy and scipy.

Clopper-Pearson: scipy.stats.beta. Betting: the hedged capital of Waudby-Smith and Ramdas (2024), typed from the paper's
formulas in logarithms and root-found by scipy.optimize.brentq, each gambler separately; the weighted form bets on
u (x - mean). AUC: scipy.stats.mannwhitneyu.
"""
import json

import numpy as np
from scipy.optimize import brentq
from scipy.stats import beta, mannwhitneyu

from golden import Xoshiro

C = 0.75


def clopper_pearson():
    cases = [(0, 1, 0.05), (1, 1, 0.05), (5, 5, 0.05), (3, 5, 0.05), (27, 30, 0.0025), (29, 30, 0.0025), (100, 364, 0.004)]
    cases += [(363, 364, 1e-6), (15000, 20000, 1e-4), (4000, 50000, 2e-3), (500000, 1000000, 2e-6), (999999, 1000000, 2e-6)]
    cases += [(10, 1000000, 2e-6), (30000, 1000000, 2e-6), (700000, 1000000, 0.05), (500000, 1000000, 0.5), (7, 30, 1e-12)]
    for k, n, alpha in cases:
        low = 0.0 if k == 0 else float(beta.ppf(alpha / 2, k, n - k + 1))
        high = 1.0 if k == n else float(beta.isf(alpha / 2, k + 1, n - k))
        yield dict(successes=k, trials=n, alpha=alpha, low=low, high=high)


def bets(x, u, alpha):
    n = len(x)
    before = np.arange(1, n + 1)
    typical = (1 + np.cumsum(u)) / (before + 1)
    mean = (0.5 * typical + np.cumsum(u * x)) / (typical + np.cumsum(u))
    variance = (0.25 * typical**2 + np.cumsum((u * (x - mean)) ** 2)) / (before + 1)
    variance = np.concatenate([[0.25], variance[:-1]])
    return np.sqrt(2 * np.log(2 / alpha) / (n * variance))


def betting(x, u, alpha):
    bet = bets(x, u, alpha)

    def larger(m):
        return np.max(np.cumsum(np.log1p(np.minimum(bet, C / m) * u * (x - m)))) - np.log(2 / alpha)

    def smaller(m):
        return np.max(np.cumsum(np.log1p(-np.minimum(bet, C / (1 - m)) * u * (x - m)))) - np.log(2 / alpha)

    tiny = 1e-13
    low = brentq(larger, tiny, 1 - tiny, xtol=1e-14) if larger(tiny) > 0 else 0.0
    high = brentq(smaller, tiny, 1 - tiny, xtol=1e-14) if smaller(1 - tiny) > 0 else 1.0
    return low, high


def means():
    for seed, n, alpha, kind in [(1, 1, 0.05, "uniform"), (2, 5, 0.05, "coin"), (3, 30, 0.05, "uniform"), (4, 30, 0.001, "square"),
                                 (5, 364, 0.05 / 12, "small"), (6, 364, 0.05, "coin"), (7, 2000, 0.01, "square"),
                                 (8, 2000, 0.01, "small"), (9, 100, 0.3, "weighted"), (10, 1000, 0.01, "weighted")]:
        rng = Xoshiro(seed)
        x = np.array([rng.unit() for _ in range(n)])
        u = np.ones(n)
        if kind == "coin":
            x = (x < 0.7) * 1.0
        if kind == "square":
            x = x**2
        if kind == "small":
            x = 0.05 * x
        if kind == "weighted":
            u = 0.2 + 0.8 * x * np.array([rng.unit() for _ in range(n)])
        low, high = betting(x, u, alpha)
        yield dict(seed=seed, n=n, alpha=alpha, kind=kind, low=low, high=high)


def aucs():
    for seed, n, levels in [(11, 20, 5), (12, 300, 10**6), (13, 300, 3)]:
        rng = Xoshiro(seed)
        scores = np.array([rng.below(levels) for _ in range(n)])
        positive = np.array([rng.unit() < 0.3 for _ in range(n)])
        up, down = scores[positive], scores[~positive]
        yield dict(seed=seed, n=n, levels=levels, auc=float(mannwhitneyu(up, down).statistic / (len(up) * len(down))))


print(json.dumps(dict(clopper_pearson=list(clopper_pearson()), means=list(means()), auc=list(aucs())), indent=1))

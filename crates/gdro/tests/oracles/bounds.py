"""Bounds of the paper's theorems, typed from their statements, with 50 digits.

Usage: python bounds.py > bounds.json   (needs mpmath)

Every bound at three settings or more, on average and with probability 1 - delta. A setting is
m, k, D2 = D^2, G, L, kappa, c, the interval [low, high] of the payoffs, T, delta, budgets. For payoffs in
an interval of length M the statement is that of the game divided by M, times M.
"""

import json

from mpmath import log, mp, mpf, sqrt

mp.dps = 50


class Setting:
    def __init__(self, m, k, D2, G, L, kappa, c, low, high, T, delta, budgets):
        self.raw = dict(m=m, k=k, D2=D2, G=G, L=L, kappa=kappa, c=c, low=low, high=high, T=T,
                        delta=delta, budgets=budgets)
        self.m, self.k, self.D2 = mpf(m), mpf(k), mpf(D2)
        self.D = sqrt(self.D2)
        self.M = mpf(high) - mpf(low)
        self.G, self.L = mpf(G) / self.M, mpf(L) / self.M
        self.kappa, self.c, self.T, self.delta = mpf(kappa), mpf(c), mpf(T), mpf(delta)
        self.n = [mpf(b) for b in budgets]


SETTINGS = [
    Setting(16, 5, 0.5, 2.0, 2.0, 1.0, 1.0, 0.0, 1.0, 10000, 0.05, [60, 20, 400, 100]),
    Setting(20, 3, 12.5, 31.6, 250.0, 1.0, 0.25, 0.0, 1.0, 3, 0.3, [26656, 11519, 1780, 1720, 999, 364]),
    Setting(6, 2, 200.0, 9.25, 21.0, 3.5, 2.0, -0.5, 12.0, 2000000, 0.001, [7, 9, 1000]),
    Setting(1000, 37, 1e-3, 0.01, 0.5, 1.0, 1.0, 0.0, 0.25, 1, 0.5, [2, 3, 1000000]),
]


# Algorithms 1 and 5.
def thm_1(s, entropy, delta):
    root = sqrt(10 * (s.D2 * s.G**2 + entropy) / s.T)
    return 2 * root if delta is None else (8 + 2 * log(2 / delta)) * root


def thm_alg1_anytime(s, entropy, delta):
    t = s.T
    front = sqrt(s.D2 * s.G**2 + entropy) / (sqrt(mpf(2)) * (sqrt(t + 1) - 1))
    if delta is None:
        return front * (5 + 3 * log(t))
    return front * (9 + 11 * log(2 / delta) + 7 * log(t) + 3 * log(2 / delta) * log(t))


# Algorithm 2.
def thm_2(s, delta):
    if delta is None:
        return 2 * s.D * s.G * sqrt(5 * s.T)
    return s.D * s.G * sqrt(s.T) * (2 * sqrt(mpf(5)) + 8 * sqrt(log(1 / delta)))


def thm_3(s, delta):
    m, T = s.m, s.T
    front = 3 * sqrt(m * T * log(m)) + sqrt(T / 2)
    bracket = sqrt(m * T / log(m)) + sqrt(T / 2) + 1
    return front + (3 if delta is None else log(3 / delta)) * bracket


def thm_4(s, delta):
    m, T, D, G = s.m, s.T, s.D, s.G
    if delta is None:
        return (2 * D * G * sqrt(5 / T) + 3 * sqrt(m * log(m) / T) + sqrt(1 / (2 * T))
                + 3 * (sqrt(m / (T * log(m))) + sqrt(1 / (2 * T)) + 1 / T))
    return (D * G * sqrt(1 / T) * (2 * sqrt(mpf(5)) + 8 * sqrt(log(2 / delta))) + 3 * sqrt(m * log(m) / T)
            + sqrt(1 / (2 * T))
            + (sqrt(m / (T * log(m))) + sqrt(1 / (2 * T)) + 1 / T) * log(6 / delta))


def thm_alg2_anytime_w(s, delta):
    t = s.T
    front = s.D * s.G / (sqrt(t + 1) - 1)
    if delta is None:
        return front * (mpf(9) / 4 + mpf(5) / 4 * log(t))
    return front * (mpf(17) / 4 + mpf(13) / 4 * log(t) + 2 * log(1 / delta))


def thm_alg2_anytime_q(s, delta):
    t, m = s.T, s.m
    front = 1 / (2 * (sqrt(t + 1) - 1))
    h = sqrt((1 + log(t)) / 2)
    if delta is None:
        return front * ((3 + log(t)) * sqrt(m * log(m)) + 6 * sqrt(m / log(m)) + 4 * h)
    return front * ((3 + log(t)) * sqrt(m * log(m)) + (2 * sqrt(m / log(m)) + h) * log(3 / delta) + h)


def thm_alg2_anytime(s, delta):
    t, m, D, G = s.T, s.m, s.D, s.G
    below = 2 * (sqrt(t + 1) - 1)
    h = sqrt((1 + log(t)) / 2)
    if delta is None:
        return ((3 + log(t)) * sqrt(m * log(m)) + 6 * sqrt(m / log(m)) + 4 * h
                + D * G * (5 + 3 * log(t))) / below
    return ((3 + log(t)) * sqrt(m * log(m)) + (2 * sqrt(m / log(m)) + h) * log(6 / delta) + h
            + D * G * (9 + 7 * log(t) + 4 * log(2 / delta))) / below


# Algorithm 6.
def thm_9(s, delta):
    m, k, T = s.m, s.k, s.T
    if delta is None:
        return (3 * sqrt(T / 2) + 2 * m / k + 2 * sqrt(m * T / (k * log(m)))
                + 3 * sqrt(m * T * log(m) / k) + m * log(m) / k)
    return (sqrt(T / 2) + (sqrt(T / 2) + m / k + sqrt(m * T / (k * log(m)))) * log(2 / delta)
            + 3 * sqrt(m * T * log(m) / k) + m * log(m) / k)


def thm_10(s, delta):
    m, k, T, D, G = s.m, s.k, s.T, s.D, s.G
    if delta is None:
        return (2 * D * G * sqrt(5 / T) + 3 * sqrt(1 / (2 * T)) + 2 * sqrt(m / (k * T * log(m)))
                + 3 * sqrt(m * log(m) / (k * T)) + m * (2 + log(m)) / (k * T))
    return (D * G * sqrt(1 / T) * (2 * sqrt(mpf(5)) + 8 * sqrt(log(2 / delta))) + sqrt(1 / (2 * T))
            + (sqrt(1 / (2 * T)) + m / (k * T) + sqrt(m / (k * T * log(m)))) * log(4 / delta)
            + 3 * sqrt(m * log(m) / (k * T)) + m * log(m) / (k * T))


# Algorithm 3: T = n_1. The m of the logarithm is the number of groups of the setting.
def thm_5(s, delta):
    n_1 = max(s.n)
    mu = 8 + 2 * log(2 / delta)
    return [mu * sqrt(10 * (s.D2 * s.G**2 + log(s.m)) * n_1) / n for n in s.n]


# Algorithm 4: n_m even, batches rounded down, D^2 G replaced by max(D, D^2) G in L~ (its proof has D).
def thm_7(s, delta):
    n_m = 2 * (int(min(s.n)) // 2)
    least = min(s.n)
    p = [(1 / sqrt(least) + 1) / (1 / sqrt(least) + sqrt(least / n)) for n in s.n]
    batch = [int(n) // int(least) for n in s.n]
    omega = max(pi**2 / b for pi, b in zip(p, batch))
    # In units of M: L~ has D^2 L + max(D, D^2) G sqrt(ln m), of payoffs; the paper's M is 1, and
    # L~ does not change with M, so here L and G are those of the payoffs.
    L, G = s.L * s.M, s.G * s.M
    smooth = 2 * sqrt(mpf(2)) * max(p) * (s.D2 * L + max(s.D, s.D2) * G * sqrt(log(s.m)))
    sigma2 = 2 * s.c * omega * (s.kappa * s.D2 * G**2 + s.M**2 * log(s.m)**2)
    by = (14 * sqrt(mpf(2) / 3) + 7 * sqrt(3 * log(2 / delta)) + mpf(14) / n_m * log(2 / delta))
    value = 7 * smooth / n_m + sqrt(sigma2 / n_m) * by
    return [value / pi / s.M for pi in p]


SCALAR = {
    "smd_m": lambda s, d: thm_1(s, log(s.m), d),
    "atkro_m": lambda s, d: thm_1(s, log(s.m / s.k), d),
    "smd_m_anytime": lambda s, d: thm_alg1_anytime(s, log(s.m), d),
    "atkro_m_anytime": lambda s, d: thm_alg1_anytime(s, log(s.m / s.k), d),
    "model_regret": thm_2,
    "bandit_regret": thm_3,
    "online_1": thm_4,
    "model_regret_anytime": thm_alg2_anytime_w,
    "bandit_regret_anytime": thm_alg2_anytime_q,
    "online_1_anytime": thm_alg2_anytime,
    "semi_bandit_regret": thm_9,
    "atkro_k": thm_10,
    "atkro_1": thm_alg2_anytime,
}
PER_GROUP = {"smd_r": thm_5, "smpa_m": thm_7}

rows = []
for s in SETTINGS:
    for name, bound in SCALAR.items():
        for delta in (None, s.delta):
            value = float(s.M * bound(s, delta))
            rows.append({"bound": name, **s.raw, "delta": None if delta is None else s.raw["delta"],
                         "values": [value]})
    for name, bound in PER_GROUP.items():
        values = [float(s.M * v) for v in bound(s, s.delta)]
        rows.append({"bound": name, **s.raw, "values": values})
print("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]")

"""Optima of small games and linear minima over simplex, p-norm ball, box and 1-norm ball, by a conic solver (cvxpy
with Clarabel). Prints geometries.json.

Games: objective and data as in optima.py. Minima: min <h, w> + (ridge/2)|w|^2 over the set. Needs numpy, cvxpy and
clarabel.
"""
import json
import sys

import cvxpy as cp
import numpy as np

from golden import Lcg, make_data

GROUPS = [(0, 20), (15, 30), (30, 40), (40, 52), (50, 60)]
FEATURES = 4
LOW = [-0.5, 0.1, -2.0, -0.3]
HIGH = [0.4, 0.6, 2.0, 0.0]
SETS = {
    "simplex": dict(simplex=1.0),
    "simplex-2.5": dict(simplex=2.5),
    "p-1.5": dict(p=1.5, radius=0.8),
    "p-1.1": dict(p=1.1, radius=0.8),
    "p-1.5-large": dict(p=1.5, radius=30.0),
    "box": dict(low=LOW, high=HIGH),
    "box-fixed": dict(low=LOW, high=[HIGH[0], LOW[1], HIGH[2], HIGH[3]]),
    "l1:0.8": dict(p=1, radius=0.8),
    "l1:30": dict(p=1, radius=30.0),
    "ball:0.5": dict(p=2, radius=0.5),
    "box:-0.3,0.4": dict(low=[-0.3] * FEATURES, high=[0.4] * FEATURES),
}
GOALS = {
    "max": dict(k=1.0),
    "top-2.5": dict(k=2.5),
    "fixed": dict(k=1.0, q=[0.1, 0.3, 0.2, 0.25, 0.15]),
    "scales-offsets": dict(k=1.0, p=[1.0, 0.5, 2.0, 1.5, 0.8], b=[0.1, -0.2, 0.0, 0.3, -0.1]),
}


def members(w, s):
    if "simplex" in s:
        return [w >= 0, cp.sum(w) == s["simplex"]]
    if "p" in s:
        return [cp.pnorm(w, s["p"]) <= s["radius"]]
    times = w.size // len(s["low"])
    return [w >= np.repeat(s["low"], times), w <= np.repeat(s["high"], times)]


def optimum(problem):
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11, max_iter=500)
    assert problem.status in ("optimal", "optimal_inaccurate"), problem.status
    return problem.value


def game(loss, name, goal, ridge, intercept):
    data = make_data(seed=21, rows=60, features=FEATURES, loss=loss, sparse=True, groups=GROUPS)
    x, y, omega = np.array(data["x"]), np.array(data["y"]), np.array(data["weights"])
    c = 3 if loss == "softmax" else 1
    W, b = cp.Variable((FEATURES, c)), cp.Variable(c)
    scores = x @ W + (np.ones((len(y), 1)) @ cp.reshape(b, (1, c), order="C") if intercept else 0)
    constraints = [cp.abs(b) <= 10] if intercept else [b == 0]
    constraints += members(cp.vec(W, order="C"), SETS[name])
    if loss == "logistic":
        losses = cp.logistic(-cp.multiply(y, scores[:, 0]))
    elif loss == "squared":
        losses = cp.square(scores[:, 0] - y)
    else:
        hot = np.eye(3)[y.astype(int)]
        losses = cp.log_sum_exp(scores, axis=1) - cp.sum(cp.multiply(hot, scores), axis=1)
    m = len(GROUPS)
    p, offsets = goal.get("p", [1.0] * m), goal.get("b", [0.0] * m)
    payoffs = []
    for i, rows in enumerate(data["groups"]):
        share = omega[rows] / omega[rows].sum()
        payoffs.append(p[i] * (share @ losses[rows] - offsets[i]))
    if "q" in goal:
        objective = sum(q * r for q, r in zip(goal["q"], payoffs))
    else:
        t = cp.Variable()
        objective = t + sum(cp.pos(r - t) for r in payoffs) / goal["k"]
    return optimum(cp.Problem(cp.Minimize(objective + ridge / 2 * cp.sum_squares(W)), constraints))


if __name__ == "__main__":
    games, minima = [], []
    for loss in ("logistic", "squared", "softmax"):
        for name in SETS:
            if loss == "softmax" and name.startswith("box"):
                continue
            for goal in GOALS:
                for ridge in (0.0, 0.05):
                    intercept = loss != "squared" and ridge > 0
                    value = game(loss, name, GOALS[goal], ridge, intercept)
                    print(loss, name, goal, ridge, value, file=sys.stderr)
                    games.append(dict(loss=loss, set=name, goal=goal, ridge=ridge, intercept=intercept, value=value))
    lcg = Lcg(7)
    for name in SETS:
        for ridge in (0.0, 0.01, 1.0, 30.0):
            h = [2 * lcg.next() for _ in range(FEATURES)]
            w = cp.Variable(FEATURES)
            objective = cp.Minimize(np.array(h) @ w + ridge / 2 * cp.sum_squares(w))
            minima.append(dict(set=name, h=h, ridge=ridge, value=optimum(cp.Problem(objective, members(w, SETS[name])))))
    print(json.dumps(dict(games=games, minima=minima), indent=1))

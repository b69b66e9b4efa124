"""Exact optima by cvxpy with Clarabel, written to exact.json beside this file.

    pip install cvxpy clarabel numpy && python python/tests/oracles/exact.py
"""

import json
from pathlib import Path

import cvxpy as cp
import numpy as np
from problems import problem


def row_losses(loss, scores, y, classes):
    if loss == "logistic":
        return cp.logistic(cp.multiply(1 - 2 * y, scores))
    if loss == "hinge":
        return cp.pos(1 - cp.multiply(2 * y - 1, scores))
    if loss == "softmax":
        truth = np.eye(classes)[y]
        return cp.log_sum_exp(scores, axis=1) - cp.sum(cp.multiply(scores, truth), axis=1)
    if loss == "squared":
        return cp.square(scores - y)
    if loss == "absolute":
        return cp.abs(scores - y)
    raise ValueError(loss)


def solve(case):
    X, y, g, weights = problem(**case["data"])
    loss, l2, m = case["loss"], case["l2"], case["data"]["m"]
    classes = case["data"].get("classes", 2)
    c = classes if loss == "softmax" else 1
    W = cp.Variable((X.shape[1], c))
    b = cp.Variable(c)
    scores = X @ W + np.ones((len(y), 1)) @ cp.reshape(b, (1, c), order="C")
    if c == 1:
        scores = scores[:, 0]
    each = row_losses(loss, scores, y, classes)
    v = weights.astype(float) if case["weighted"] else np.ones(len(y))
    risks = [cp.sum(cp.multiply(v * (g == i), each)) / v[g == i].sum() for i in range(m)]
    if case["objective"] == "max":
        value = cp.max(cp.hstack(risks))
    elif case["objective"] == "top-k":
        value = cp.sum_largest(cp.hstack(risks), case["k"]) / case["k"]
    elif case["objective"] == "balanced":
        value = cp.sum(cp.hstack(risks)) / m
    elif case["objective"] == "regret":
        offsets = []
        for i in range(m):
            cp.Problem(cp.Minimize(risks[i] + l2 / 2 * cp.sum_squares(W))).solve(**SOLVER)
            offsets.append(float(risks[i].value))
        value = cp.max(cp.hstack([r - o for r, o in zip(risks, offsets)]))
    constraints = [] if case["ball"] is None else [cp.norm(W, "fro") <= case["ball"]]
    constraints += [cp.abs(b) <= 100]
    objective = value + l2 / 2 * cp.sum_squares(W)
    optimum = cp.Problem(cp.Minimize(objective), constraints).solve(**SOLVER)
    intercept = np.atleast_1d(b.value)
    if c > 1:
        intercept = intercept - intercept.mean()
    return {
        "optimum": float(optimum),
        "coef": np.atleast_2d(W.value.T).tolist(),
        "intercept": intercept.tolist(),
    }


SOLVER = dict(
    solver=cp.CLARABEL,
    tol_gap_abs=1e-11,
    tol_gap_rel=1e-11,
    tol_feas=1e-11,
    max_iter=500,
)

BINARY = dict(seed=1, n=240, d=4, m=3)
CASES = [
    dict(data=BINARY, loss="logistic", objective="max", l2=1e-2),
    dict(data=BINARY, loss="logistic", objective="max", l2=1e-2, weighted=True),
    dict(data=BINARY, loss="logistic", objective="max", l2=0.0, ball=0.3),
    dict(data=BINARY, loss="logistic", objective="top-k", k=2, l2=1e-2),
    dict(data=BINARY, loss="logistic", objective="balanced", l2=1e-2),
    dict(data=BINARY, loss="logistic", objective="regret", l2=1e-2),
    dict(data=BINARY, loss="hinge", objective="max", l2=1e-1),
    dict(data=dict(seed=2, n=240, d=3, m=3, classes=3), loss="softmax", objective="max", l2=1e-2),
    dict(data=dict(seed=3, n=200, d=4, m=3, regression=True), loss="squared", objective="max", l2=0.1),
    dict(data=dict(seed=3, n=200, d=4, m=3, regression=True), loss="absolute", objective="max", l2=0.1),
]

if __name__ == "__main__":
    found = []
    for case in CASES:
        case = {"weighted": False, "ball": None, "k": None, **case}
        found.append({**case, **solve(case)})
        print(case["loss"], case["objective"], found[-1]["optimum"])
    path = Path(__file__).with_name("exact.json")
    path.write_text(json.dumps(found, indent=1) + "\n")

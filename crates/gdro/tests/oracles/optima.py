"""Optimal values of small games by a conic solver (cvxpy with Clarabel). Prints optima.json.

Objective: max over q in {q >= 0, sum = 1, q_i <= 1/k} of sum_i q_i p_i (R_i(w) - b_i), plus (ridge/2)|w|^2, as
t + (1/k) sum_i max(r_i - t, 0); or fixed q; or, with a prior, tau log sum_i prior_i exp(r_i/tau). Needs numpy, cvxpy and clarabel.
"""
import json
import sys

import cvxpy as cp
import numpy as np

from golden import make_data

GROUPS = [(0, 20), (15, 30), (30, 40), (40, 52), (50, 60)]
FEATURES = 4
DOMAINS = {
    "ball": dict(radius=0.7, ridge=0.0, intercept=False),
    "ridge": dict(radius=None, ridge=0.05, intercept=False),
    "ridge-intercept": dict(radius=None, ridge=0.05, intercept=True),
}
GOALS = {
    "max": dict(k=1.0),
    "top-2": dict(k=2.0),
    "top-2.5": dict(k=2.5),
    "fixed": dict(k=1.0, q=[0.1, 0.3, 0.2, 0.25, 0.15]),
    "scales-offsets": dict(k=1.0, p=[1.0, 0.5, 2.0, 1.5, 0.8], b=[0.1, -0.2, 0.0, 0.3, -0.1]),
    "top-1.7-scales-offsets": dict(k=1.7, p=[1.0, 0.5, 2.0, 1.5, 0.8], b=[0.1, -0.2, 0.0, 0.3, -0.1]),
}


def solve(loss, domain, goal, own=None, tol=1e-11):
    """Status and optimal value; `own(scores, y)` replaces the loss on the data of `loss`."""
    data = make_data(seed=21, rows=60, features=FEATURES, loss=loss, sparse=True, groups=GROUPS)
    x, y, omega = np.array(data["x"]), np.array(data["y"]), np.array(data["weights"])
    c = 3 if loss == "softmax" else 1
    W, b = cp.Variable((FEATURES, c)), cp.Variable(c)
    scores = x @ W + (np.ones((len(y), 1)) @ cp.reshape(b, (1, c), order="C") if domain["intercept"] else 0)
    constraints = [cp.abs(b) <= 100] if domain["intercept"] else [b == 0]
    if own:
        losses = own(scores[:, 0], y)
    elif loss == "logistic":
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
    elif "prior" in goal:
        tau = goal["tau"]
        terms = [r / tau + np.log(share) for r, share in zip(payoffs, goal["prior"])]
        objective = tau * cp.log_sum_exp(cp.hstack(terms))
    else:
        t = cp.Variable()
        objective = t + sum(cp.pos(r - t) for r in payoffs) / goal["k"]
    if "l1" in domain:
        constraints.append(cp.norm1(W) <= domain["l1"])
    if domain["radius"]:
        constraints.append(cp.norm(cp.vec(W, order="C")) <= domain["radius"])
    objective = objective + domain["ridge"] / 2 * cp.sum_squares(W)
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=tol, tol_gap_rel=tol, tol_feas=tol, max_iter=500)
    return problem.status, problem.value


if __name__ == "__main__":
    table = []
    for loss in ("logistic", "squared", "softmax"):
        for domain in DOMAINS:
            for goal in GOALS:
                status, value = solve(loss, DOMAINS[domain], GOALS[goal])
                print(loss, domain, goal, status, value, file=sys.stderr)
                assert status in ("optimal", "optimal_inaccurate")
                table.append(dict(loss=loss, domain=domain, goal=goal, value=value, status=status))
    print(json.dumps(table, indent=1))

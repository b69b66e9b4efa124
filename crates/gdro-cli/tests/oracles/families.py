"""Optima over the union of two families of groups, by cvxpy (CLARABEL).

Usage: python families.py > families.json   (needs cvxpy, numpy)

Minimises max_i R_i(w, b) + (l2/2) |w|^2 over the groups i of both families, where R_i is the weighted
mean loss of the rows of group i and b is free. Features are standardised by their weighted mean and
population deviation over all rows, as the program does. The table is written by `table`, and once
more by the test.
"""

import json

import cvxpy as cp
import numpy as np

L2 = 0.01


def table():
    """Rows x, z, site, sex, weight and one label per task."""
    rows = []
    for i in range(90):
        x, z = i * 37 % 23, i * 29 % 17
        site, sex = i % 4 % 3, i * 5 % 7 % 2
        binary = int((x if site else 22 - x) + i % 7 > 12)
        classes = (x + 2 * z + site) % 11 % 3
        number = (x - 11) * (1 + sex) + z * (site - 1) + i % 5
        rows.append((x, z, site, sex, 1 + i % 3, binary, classes, number))
    return rows


def solve(task, weighted):
    rows = table()
    features = np.array([r[:2] for r in rows], float)
    weight = np.array([r[4] if weighted else 1 for r in rows], float)
    mean = weight @ features / weight.sum()
    features = (features - mean) / np.sqrt(weight @ (features - mean) ** 2 / weight.sum())
    if task == "classes":
        w, b = cp.Variable((2, 3)), cp.Variable((1, 3))
        scores = features @ w + np.ones((len(rows), 1)) @ b
        own = [scores[i, r[6]] for i, r in enumerate(rows)]
        losses = cp.log_sum_exp(scores, axis=1) - cp.hstack(own)
    else:
        w, b = cp.Variable(2), cp.Variable()
        scores = features @ w + b
        if task == "binary":
            losses = cp.logistic(cp.multiply(1 - 2 * np.array([r[5] for r in rows]), scores))
        else:
            losses = cp.square(scores - np.array([r[7] for r in rows], float))
    risks = []
    for column in (2, 3):
        for group in sorted({r[column] for r in rows}):
            share = weight * np.array([r[column] == group for r in rows])
            risks.append(share @ losses / share.sum())
    objective = cp.max(cp.hstack(risks)) + L2 / 2 * cp.sum_squares(w)
    # A softmax does not see what all intercepts have in common.
    constraints = [cp.sum(b) == 0] if task == "classes" else []
    problem = cp.Problem(cp.Minimize(objective), constraints)
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == "optimal", problem.status
    return problem.value


print(
    json.dumps(
        [
            {"task": task, "weighted": weighted, "objective": solve(task, weighted)}
            for task in ("binary", "classes", "number")
            for weighted in (False, True)
        ],
        indent=1,
    )
)

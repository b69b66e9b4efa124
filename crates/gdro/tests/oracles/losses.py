"""Optimal values for the losses that are non-smooth or of piecewise curvature (cvxpy with Clarabel). Prints losses.json.

The games, domains and data of optima.py; the losses are written out from their definitions. Needs numpy, cvxpy and
clarabel.
"""
import json
import sys

import cvxpy as cp

import optima

GOALS = {name: optima.GOALS[name] for name in ("max", "top-2.5", "fixed", "scales-offsets")}
LABELS, NUMBERS = "logistic", "squared"
LOSSES = {
    "absolute": (NUMBERS, lambda s, y: cp.abs(s - y)),
    "huber:0.3": (NUMBERS, lambda s, y: cp.huber(s - y, 0.3) / 2),
    "quantile:0.9": (NUMBERS, lambda s, y: cp.maximum(0.9 * (y - s), 0.1 * (s - y))),
    "hinge": (LABELS, lambda s, y: cp.pos(1 - cp.multiply(y, s))),
    # min over v of (1 - z - v)+ + v^2/(2 gamma): the infimal convolution of the hinge with a parabola.
    "smoothed-hinge:0.5": (LABELS, None),
}


def smoothed_hinge(s, y, gamma=0.5):
    v = cp.Variable(len(y))
    return cp.pos(1 - cp.multiply(y, s) - v) + cp.square(v) / (2 * gamma)


if __name__ == "__main__":
    table = []
    for name, (kind, loss) in LOSSES.items():
        for domain in optima.DOMAINS:
            for goal in GOALS:
                status, value = optima.solve(kind, optima.DOMAINS[domain], GOALS[goal], loss or smoothed_hinge)
                print(name, domain, goal, status, value, file=sys.stderr)
                assert status in ("optimal", "optimal_inaccurate")
                table.append(dict(loss=name, domain=domain, goal=goal, value=value, status=status))
    print(json.dumps(table, indent=1))

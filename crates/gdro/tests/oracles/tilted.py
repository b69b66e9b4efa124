"""Optimal values of tilted risks (cvxpy with Clarabel). Prints tilted.json.

The domains and data of optima.py, and the losses of losses.py. Problems on which Clarabel's exponential cones stall are
left out. Needs numpy, cvxpy and clarabel.
"""
import json
import sys

import cvxpy as cp

import losses
import optima

PRIOR, EVEN = [0.1, 0.3, 0.2, 0.25, 0.15], [0.2] * 5
SCALED = {name: optima.GOALS["scales-offsets"][name] for name in ("p", "b")}
GOALS = {
    "small": dict(prior=PRIOR, tau=0.02),
    "medium": dict(prior=EVEN, tau=0.2),
    "large": dict(prior=PRIOR, tau=5.0),
    "scales-offsets": dict(prior=PRIOR, tau=0.1, **SCALED),
}
DOMAINS = optima.DOMAINS | {"l1": dict(radius=None, l1=0.6, ridge=0.05, intercept=False)}
LOSSES = {name: (name, None) for name in ("logistic", "squared", "softmax")} | {
    name: (kind, loss or losses.smoothed_hinge) for name, (kind, loss) in losses.LOSSES.items()
}



def solve(kind, domain, terms, own):
    """Value at the least tolerance for which Clarabel ends, and this tolerance; None when there is none."""
    for tol in (1e-10, 3e-10, 1e-9, 3e-9, 1e-8):
        try:
            status, value = optima.solve(kind, domain, terms, own, tol=tol)
        except cp.SolverError:
            continue
        if status == "optimal":
            return value, tol
    return None, None


if __name__ == "__main__":
    table = []
    for name, (kind, own) in LOSSES.items():
        for domain in DOMAINS:
            for goal, terms in GOALS.items():
                value, tol = solve(kind, DOMAINS[domain], terms, own)
                print(name, domain, goal, value, tol, file=sys.stderr)
                if value is not None:
                    table.append(dict(loss=name, domain=domain, goal=goal, value=value))
    print(json.dumps(table, indent=1))

"""From constructor arguments to what the solver is told."""

import math
from numbers import Integral, Real

import numpy as np

OBJECTIVES = ("max", "top-k", "regret", "average", "balanced")

#: Ridge where neither it nor a ball is given.
USUAL_L2 = 1e-4


def number(name, value, low=None, strictly=False, high=None, whole=False):
    """A finite number in its range, or a ``ValueError`` that names it."""
    kind = Integral if whole else Real
    fits = isinstance(value, kind) and not isinstance(value, (bool, np.bool_))
    fits = fits and math.isfinite(value)
    fits = fits and (low is None or value > low or (value == low and not strictly))
    fits = fits and (high is None or value <= high)
    if not fits:
        what = "a whole number" if whole else "a number"
        if low is not None:
            what += f" above {low}" if strictly else f" of at least {low}"
        if high is not None:
            what += f" and at most {high}"
        raise ValueError(f"{name}={value!r}: expected {what}")
    return int(value) if whole else float(value)


def objective_of(objective, k):
    """The objective as the solver reads it, with k."""
    if isinstance(objective, str) and objective.startswith("top-k:"):
        if k is not None:
            raise ValueError(f"objective={objective!r} says k already: leave out k={k!r}")
        text = objective[len("top-k:") :]
        try:
            k = float(text)
        except ValueError:
            raise ValueError(
                f"objective={objective!r}: expected a number after top-k:, such as top-k:3"
            ) from None
        objective = "top-k"
    if objective not in OBJECTIVES:
        raise ValueError(f"objective={objective!r}: expected one of {', '.join(OBJECTIVES)}")
    if objective == "top-k":
        if k is None:
            raise ValueError("objective='top-k' needs k, the number of largest risks, such as k=3")
        return {"top-k": number("k", k, low=1)}
    if k is not None:
        raise ValueError(f"k={k!r} does nothing with objective={objective!r}: use 'top-k'")
    return objective


def penalty_of(l2, ball):
    """Ridge and radius."""
    ball = None if ball is None else number("ball", ball, low=0, strictly=True)
    if l2 is None:
        return (0.0 if ball is not None else USUAL_L2), ball
    l2 = number("l2", l2, low=0)
    if l2 == 0 and ball is None:
        raise ValueError("l2=0 without a ball leaves the model unbounded: give l2 > 0 or ball")
    return l2, ball


def per_group(name, values, names, low=None):
    """One number per group from a mapping by name or a sequence in the order of the names."""
    if values is None:
        return None
    if hasattr(values, "keys"):
        known = set(names)
        for key in values.keys():
            if str(key) not in known:
                some = ", ".join(map(repr, names[:8]))
                raise ValueError(f"{name}: {key!r} is no group: expected {some}")
        by_name = {str(key): values[key] for key in values.keys()}
        missing = [n for n in names if n not in by_name]
        if missing:
            raise ValueError(f"{name}: no number for group {missing[0]!r}")
        values = [by_name[n] for n in names]
    values = list(values)
    if len(values) != len(names):
        raise ValueError(f"{name} has {len(values)} numbers, expected {len(names)}, one per group")
    return [
        number(f"{name} of {n!r}", v, low=low, strictly=low is not None)
        for n, v in zip(names, values)
    ]


def rounds_of(solver, given, families, names, seed):
    """How an algorithm plays, as the solver reads it."""

    def above(name, low=0, strictly=True, whole=False):
        value = given[name]
        if value is None:
            return None
        return number(name, value, low=low, strictly=strictly, whole=whole)

    average = given["average"]
    if average not in (None, "uniform", "weighted", "suffix", "last"):
        raise ValueError(
            f"average={average!r}: expected one of uniform, weighted, suffix, last"
        )
    queries = given["queries"]
    if queries is not None:
        queries = [queries] if isinstance(queries, Integral) else list(queries)
        high = len(names)
        queries = [number("queries", q, low=1, high=high, whole=True) for q in queries]
    only = {"nbar": "hybrid", "queries": "flexible", "kept": "eliminate"}
    for name, algorithm in only.items():
        if given[name] is not None and solver != algorithm:
            raise ValueError(f"{name}={given[name]!r} is for solver={algorithm!r}")
    return {
        "algorithm": solver,
        "rounds": above("rounds", low=1, strictly=False, whole=True),
        "step_w": above("step_w"),
        "step_q": above("step_q"),
        "anytime": bool(given["anytime"]),
        "average": average,
        "loss_range": above("loss_range"),
        "budget": budget_of(given["budget"], families, names),
        "nbar": above("nbar", low=1, strictly=False, whole=True),
        "queries": queries,
        "kept": above("kept", low=1, strictly=False, whole=True),
        "delta": 0.05,
        "seed": seed,
    }


def budget_of(budget, families, names):
    """The number of rows of each group that may be used."""
    if budget is None:
        return None
    counts = np.concatenate(
        [np.bincount(family.codes, minlength=len(family.names)) for family in families]
    )
    if isinstance(budget, str):
        if budget != "all":
            raise ValueError(f"budget={budget!r}: expected 'all', or a number for each group")
        return [int(n) for n in counts]
    values = per_group("budget", budget, names, low=0)
    for name, value, count in zip(names, values, counts):
        if value != int(value) or value > count:
            raise ValueError(
                f"budget of {name!r}: {value:g}: expected a whole number from 1 to its {count} rows"
            )
    return [int(v) for v in values]

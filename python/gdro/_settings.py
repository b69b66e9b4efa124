"""From constructor arguments to what the solver is told."""

import math
from numbers import Integral, Real

import numpy as np

from . import _gdro

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
    """The objective as the solver reads it: ``max``, ``top-k:3.0``, …."""
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
        return f"top-k:{number('k', k, low=1)!r}"
    if k is not None:
        raise ValueError(f"k={k!r} does nothing with objective={objective!r}: use 'top-k'")
    return objective


def k_of(objective):
    """k of an objective as the solver reads it; 1 of others."""
    return float(objective.partition(":")[2] or 1)


def targets_of(loss, kinds=("labels", "classes", "numbers")):
    """What a loss takes as targets, which must be one of ``kinds``."""
    if not isinstance(loss, str):
        raise ValueError(f"loss={loss!r}: expected the name of a loss")
    try:
        found = _gdro.targets_of(loss)
    except ValueError as error:
        raise ValueError(f"loss={loss!r}: {error}") from None
    if found not in kinds:
        raise ValueError(
            f"loss={loss!r} is for {found}: expected a loss for {' or '.join(kinds)}"
        )
    return found


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


#: Arguments of the solvers that play rounds, with what leaves them out.
OF_ROUNDS = {
    "rounds": None,
    "step_w": None,
    "step_q": None,
    "anytime": False,
    "average": None,
    "loss_range": None,
    "budget": None,
    "nbar": None,
    "queries": None,
    "kept": None,
    "subsets": None,
    "delta": 0.05,
}


def refuse_conflicts(solver, objective, given):
    """Refuses arguments that nothing uses, and what the solver does not minimise.

    ``given`` has offsets, adjustment, scales and the arguments of rounds by name.
    """
    if not isinstance(solver, str):
        raise ValueError(f"solver={solver!r}: expected 'exact', 'auto' or the name of an algorithm")
    usual = {"offsets": None, "adjustment": None, "scales": None, **OF_ROUNDS}
    names = [name for name, value in given.items() if not _is_same(value, usual[name])]
    of_rounds = [name for name in names if name in OF_ROUNDS]
    if solver in ("exact", "auto") and of_rounds:
        why = "plays no rounds" if solver == "exact" else "decides by itself"
        raise ValueError(
            f"{of_rounds[0]}={given[of_rounds[0]]!r} does nothing: solver={solver!r} {why}; "
            "name a solver that uses it, such as 'smd-m' or 'online-1'"
        )
    if "delta" in names and solver != "eliminate":
        raise ValueError(f"delta={given['delta']!r} is for solver='eliminate'")
    found = _gdro.conflict(objective, solver, [name.replace("_", "-") for name in names])
    if found is not None:
        name, why = found[0].replace("-", "_"), found[1]
        raise ValueError(f"{name}={solver if name == 'solver' else given[name]!r}: {why}")


def _is_same(value, usual):
    return value is usual or (isinstance(usual, (bool, float)) and value == usual)


def rounds_of(given, families, names, weighted, seed):
    """How an algorithm plays, as the solver reads it."""

    def above(name, low=0, strictly=True, whole=False, high=None):
        value = given[name]
        if value is None:
            return None
        return number(name, value, low=low, strictly=strictly, whole=whole, high=high)

    for name, known in (
        ("average", ("uniform", "weighted", "suffix", "last")),
        ("subsets", ("dep-round", "systematic")),
    ):
        if given[name] is not None and given[name] not in known:
            raise ValueError(f"{name}={given[name]!r}: expected one of {', '.join(known)}")
    queries = given["queries"]
    if queries is not None:
        queries = [queries] if isinstance(queries, Integral) else list(queries)
        high = len(names)
        queries = [number("queries", q, low=1, high=high, whole=True) for q in queries]
        if not queries:
            raise ValueError("queries is empty: expected a number of groups, or a list of them")
    if given["budget"] is not None and weighted:
        raise ValueError(
            "budget: rows that are visited once cannot be weighted: leave out sample_weight or budget"
        )
    if given["budget"] is not None and len(families) > 1:
        raise ValueError(
            "budget: a row is in a group of each family, so that rows cannot be visited once each: "
            "give one family, or leave budget out"
        )
    delta = number("delta", given["delta"], low=0, strictly=True)
    if delta >= 1:
        raise ValueError(f"delta={given['delta']!r}: expected a probability between 0 and 1")
    return {
        "rounds": above("rounds", low=1, strictly=False, whole=True),
        "step_w": above("step_w"),
        "step_q": above("step_q"),
        "anytime": bool(given["anytime"]),
        "average": given["average"],
        "loss_range": above("loss_range"),
        "budget": budget_of(given["budget"], families, names),
        "nbar": above("nbar", low=1, strictly=False, whole=True),
        "queries": queries,
        "kept": above("kept", low=1, strictly=False, whole=True),
        "subsets": given["subsets"],
        "delta": delta,
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

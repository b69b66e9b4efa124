"""From arguments of Python to those that the solver reads.

What can be given, in which range, and what goes together, is decided by the options of the program:
here stands only what arrays and scikit-learn add to it.
"""

import math
import os
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

from . import _gdro

#: Arguments with a number for each group.
PER_GROUP = ("offsets", "scales", "budget")


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
    """The objective as the solver reads it: ``max``, ``top-k:3.0``, ``tilted:0.1``, …."""
    objective = with_number("objective", objective)
    if isinstance(objective, str) and objective.startswith("top-k:"):
        if k is not None:
            raise ValueError(f"objective={objective!r} says k already: leave out k={k!r}")
        return objective
    if objective == "top-k":
        if k is None:
            raise ValueError("objective='top-k' needs k, the number of largest risks, such as k=3")
        return f"top-k:{number('k', k, low=1)!r}"
    if k is not None:
        raise ValueError(f"k={k!r} does nothing with objective={objective!r}: use 'top-k'")
    return objective


def loss_of(loss):
    """The name of a loss as the solver reads it: ``("huber", 0.5)`` is ``"huber:0.5"``."""
    return with_number("loss", loss)


def with_number(argument, value):
    """A name and its numbers as the solver reads them, ``("huber", 0.5)`` as ``"huber:0.5"``."""
    if isinstance(value, tuple) and len(value) > 1 and isinstance(value[0], str):
        numbers = (number(f"the number of {argument}={value!r}", v) for v in value[1:])
        return f"{value[0]}:{','.join(map(repr, numbers))}"
    return value


def targets_of(loss, kinds=("labels", "classes", "numbers")):
    """What a loss takes as targets, which must be one of ``kinds``."""
    if callable(loss):
        raise ValueError(
            f"loss={loss!r}: the estimators take the name of a loss; gdro.Solver takes a function, too"
        )
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


WEIGHT_KINDS = ("importance", "frequency")

#: Most rows that frequencies may add up to, as in the program.
MOST_ROWS = 20_000_000


def is_text(values):
    """Whether an array holds texts."""
    if values.dtype.kind == "O":
        return any(isinstance(value, (str, bytes)) for value in values.tolist())
    return values.dtype.kind in "US"


def as_written(y, classes):
    """Labels that are whole numbers as texts, if the classes are texts and theirs are among them.

    A model of the program has the texts of its table.
    """
    if y.dtype.kind not in "iu" or not is_text(classes):
        return y
    texts = y.astype(str)
    return texts if np.isin(np.unique(texts), classes.astype(str)).all() else y


def weights_of(sample_weight, X, kind="importance"):
    """The weights of the rows of X, and which rows count: those above 0, or ``None`` for all.

    Frequencies are no weights, but the numbers of the rows, each as often as it counts.
    """
    if kind not in WEIGHT_KINDS:
        raise ValueError(f"weight_kind={kind!r}: expected one of {', '.join(WEIGHT_KINDS)}")
    if sample_weight is None:
        if kind != "importance":
            raise ValueError(f"weight_kind={kind!r} does nothing without sample_weight")
        return None, None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64)
    if np.any(weights < 0):
        row = int(np.flatnonzero(weights < 0)[0])
        raise ValueError(f"sample_weight of row {row} is {weights[row]}: expected at least 0")
    keep = weights > 0
    if not keep.any():
        raise ValueError("sample_weight: all weights are 0")
    if kind == "frequency":
        if np.any(weights != np.floor(weights)):
            row = int(np.flatnonzero(weights != np.floor(weights))[0])
            raise ValueError(
                f"sample_weight of row {row} is {weights[row]}: expected a number of rows, or "
                "weight_kind='importance'"
            )
        if weights.sum() > MOST_ROWS:
            raise ValueError(
                f"weight_kind={kind!r}, but sample_weight adds up to {weights.sum():.0f} rows: "
                f"expected at most {MOST_ROWS:,}; weights of surveys are importance"
            )
        return None, np.repeat(np.arange(len(weights)), weights.astype(np.intp))
    return weights, None if keep.all() else keep


def given(arguments, usual, names=None):
    """The arguments that differ from the usual ones, as the solver reads them.

    ``names`` are those of the groups, where they are known yet.
    """
    found = {n: v for n, v in arguments.items() if not _is_same(v, usual[n])}
    for name in PER_GROUP:
        if name in found and not isinstance(found[name], str):
            found[name] = {} if names is None else by_name(name, found[name], names)
    if "loss" in found:
        found["loss"] = loss_of(found["loss"])
    if "domain" in found:
        found["domain"] = with_number("domain", found["domain"])
    if isinstance(found.get("queries"), np.ndarray):
        found["queries"] = found["queries"].tolist()
    return found


def _is_same(value, usual):
    return value is usual or (isinstance(usual, (bool, float, int)) and value == usual)


def by_name(name, values, names):
    """Numbers of groups by name, from a mapping or a sequence in the order of the names."""
    if hasattr(values, "keys"):
        values = {str(key): values[key] for key in values.keys()}
    else:
        values = list(values)
        if len(values) != len(names):
            raise ValueError(
                f"{name} has {len(values)} numbers, expected {len(names)}, one per group"
            )
        values = dict(zip(names, values))
    return {n: number(f"{name} of {n!r}", v) for n, v in values.items()}


def seed_of(random_state):
    """A seed: a whole number as it is, otherwise one that the generator draws.

    ``None`` is the global generator of NumPy, as in scikit-learn.
    """
    if isinstance(random_state, Integral) and not isinstance(random_state, (bool, np.bool_)):
        return int(random_state)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(2**31 - 1))
    raise ValueError(
        f"random_state={random_state!r}: expected a whole number, a numpy.random.Generator or "
        "RandomState, or None"
    )


def checkpoint_of(checkpoint):
    """The file of a checkpoint and the seconds between two of them, ``None`` for a minute."""
    if checkpoint is None:
        return None
    path, every = checkpoint if isinstance(checkpoint, tuple) and len(checkpoint) == 2 else (checkpoint, None)
    if not isinstance(path, (str, os.PathLike)):
        raise ValueError(f"checkpoint={checkpoint!r}: expected a path, or (path, seconds)")
    if every is not None:
        every = number("the seconds of checkpoint", every, low=0)
    return os.fspath(path), every


def threads_of(threads, n_jobs=None):
    """A number of threads; ``None``, all cores, for -1 as well.

    ``n_jobs`` is the same as scikit-learn writes it: -2 is all cores but one.
    """
    if n_jobs is not None:
        if threads is not None:
            raise ValueError(f"n_jobs={n_jobs!r} and threads={threads!r} are the same: give one")
        jobs = number("n_jobs", n_jobs, whole=True)
        if jobs == 0:
            raise ValueError("n_jobs=0: expected at least 1, or -1 for all cores")
        if jobs < -1:
            return max(1, (os.cpu_count() or 1) + 1 + jobs)
        return None if jobs == -1 else number("n_jobs", jobs, high=1024, whole=True)
    if threads is None or (isinstance(threads, Integral) and threads == -1):
        return None
    if isinstance(threads, Integral) and threads < 1:
        raise ValueError(f"threads={threads!r}: expected at least 1, or -1 for all cores")
    return number("threads", threads, low=1, high=1024, whole=True)

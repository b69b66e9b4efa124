"""Rows that carry labels of their own, in pandas: they must be those of the other columns."""

from ._groups import parts_of


def same_index(*, sensitive_features=None, **columns):
    """Refuses columns whose index is not that of the first one that has an index.

    Rows go by position, in gdro as in scikit-learn, so that a column in another order would be
    joined to the wrong rows without a word. Arrays, lists, polars and Arrow have no index and go by
    position; columns of another length are left to the checks of lengths.
    """
    first, index = None, None
    groups = _leaves("sensitive_features", sensitive_features)
    for name, column in [*columns.items(), *groups]:
        found = getattr(column, "index", None)
        if not hasattr(found, "equals"):  # that of a list is a method
            continue
        if index is None:
            first, index = name, found
        elif len(found) == len(index) and not index.equals(found):
            raise ValueError(_explained(first, index, name, found))


def _leaves(name, value):
    """The columns and tables that groups are made of, each with what it is called."""
    parts = parts_of(name, value)
    if len(parts) == 1 and parts[0][1] is value:
        return parts
    return [leaf for part in parts for leaf in _leaves(*part)]


def _explained(first, index, name, found):
    ours, theirs = found.tolist(), index.tolist()
    # Labels of other types may be equal: then row 0 shows the types.
    row = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b), 0)
    text = (
        f"{name} has another index than {first}: row {row} is {ours[row]!r}, in {first} "
        f"{theirs[row]!r}. Rows are joined by position: "
    )
    if index.is_unique and found.is_unique and index.isin(found).all():
        # A label of the one is a label of the other: they can be aligned.
        return text + (
            f"give {name}.loc[{first}.index], which brings its rows into the order of {first}, or "
            f"{name}.to_numpy() if they are in that order already"
        )
    return text + (
        f"take both from the same rows, or give {name}.to_numpy() if its rows are in the order of "
        f"{first}"
    )

"""Groups of rows from whatever users have: labels, columns, families."""

from collections.abc import Mapping

import numpy as np

#: Name of the only group where no groups were given.
ALL = "all"


class Family:
    """Groups of which every row is in exactly one.

    Attributes
    ----------
    codes : ndarray of uint32
        The number of the group of each row.
    names : list of str
        The names of the groups, in the order of their numbers.
    columns : list of str
        The columns that they are made of.
    """

    def __init__(self, codes, names, columns=()):
        self.codes = np.ascontiguousarray(codes, dtype=np.uint32)
        self.names = list(names)
        self.columns = list(columns)


def families_of(sensitive_features, rows, keep=None):
    """The families that ``sensitive_features`` means for a table of so many rows.

    ``keep`` selects rows, by a mask or by their numbers; the others are left out before groups are
    made.
    """
    if sensitive_features is None:
        kept = rows if keep is None else np.arange(rows)[keep].size
        return [Family(np.zeros(kept), [ALL])]
    fields = getattr(getattr(sensitive_features, "dtype", None), "names", None)
    if fields:  # a structured array, which unlike a list can be split
        return [
            _family(sensitive_features[f], rows, keep, f"sensitive_features[{f!r}]", default=f)
            for f in fields
        ]
    if _is_families(sensitive_features):
        if len(sensitive_features) == 1:
            return [_family(sensitive_features[0], rows, keep)]
        return [
            _family(part, rows, keep, what, default=str(i))
            for i, (what, part) in enumerate(parts_of("sensitive_features", sensitive_features))
        ]
    return [_family(sensitive_features, rows, keep)]


def clusters_of(clusters, rows, keep=None):
    """The number of the cluster of each row, or ``None`` without clusters."""
    return None if clusters is None else _family(clusters, rows, keep, "clusters").codes


def parts_of(name, value):
    """The columns or tables that an argument consists of, each with what it is called."""
    if _is_families(value):
        return [(f"{name}[{i}]", part) for i, part in enumerate(value)]
    if isinstance(value, Mapping):
        return [(f"{name}[{key!r}]", part) for key, part in value.items()]
    return [(name, value)]


def names_of(families):
    """The names of all groups, family by family."""
    names = [name for family in families for name in family.names]
    seen = set()
    for name in names:
        if name in seen:
            raise ValueError(f"sensitive_features: two groups are called {name!r}; rename a label")
        seen.add(name)
    return np.array(names, dtype=object)


def _is_families(value):
    """Whether this is a list of arrays, and not a list of labels."""
    if not isinstance(value, (list, tuple)) or not value:
        return False
    return all(_is_column(part) for part in value)


def _is_column(part):
    if isinstance(part, (str, bytes)):
        return False
    return getattr(part, "ndim", None) in (1, 2) or isinstance(part, list) or _is_frame(part)


def _is_frame(value):
    return (
        hasattr(value, "columns") or hasattr(value, "column_names") or isinstance(value, Mapping)
    )


def _columns(value):
    """(name, values) of each column of a frame or an array."""
    if _is_frame(value):
        if hasattr(value, "column_names"):  # pyarrow
            return [(str(n), value.column(n)) for n in value.column_names]
        if isinstance(value, Mapping):
            return [(str(n), column) for n, column in value.items()]
        return [(str(n), value[n]) for n in value.columns]
    if not isinstance(value, (list, tuple)) and getattr(value, "ndim", 1) == 2:
        value = np.asarray(value)
        return [(str(j), value[:, j]) for j in range(value.shape[1])]
    name = getattr(value, "name", None)
    return [(None if name is None else str(name), value)]


def _family(value, rows, keep, what="sensitive_features", default=None):
    columns = _columns(value)
    if not columns:
        raise ValueError(f"{what} has no columns")
    combined, names = None, None
    for name, column in columns:
        # Where there are several families a label says of which column it is.
        prefix = "" if default is None else f"{name if name is not None else default}="
        codes, labels = _labels(column, rows, keep, what, name)
        texts = [prefix + text for text in labels]
        if combined is None:
            combined, names = codes, texts
        else:
            pairs = combined * len(texts) + codes
            found, combined = np.unique(pairs, return_inverse=True)
            names = [f"{names[p // len(texts)]} / {texts[p % len(texts)]}" for p in found]
    own = "group" if default is None else default
    return Family(combined, names, [own if name is None else name for name, _ in columns])


def in_order(family, known, is_only):
    """The family with its groups in the order of training, and those that it never saw last: intervals rest
    on the order. The only family has the groups without rows, too.
    """
    rank = {name: at for at, name in enumerate(known)}
    names = sorted(family.names, key=lambda name: rank.get(name, len(known)))
    if is_only:
        names = [*known, *(name for name in names if name not in rank)]
    place = {name: at for at, name in enumerate(names)}
    codes = np.array([place[name] for name in family.names], dtype=family.codes.dtype)[family.codes]
    return Family(codes, names, family.columns)


def labels_of(values, what):
    """The labels among values, in order, as text."""
    return _labels(values, len(values), None, what, None)[1]


def _labels(column, rows, keep, what, name):
    """The number of the label of each row, and the labels in order, as text."""
    where = what if name is None else f"{what}, column {name!r}"
    if hasattr(column, "to_numpy"):
        try:
            values = column.to_numpy(zero_copy_only=False)  # pyarrow
        except TypeError:
            values = column.to_numpy()
    elif isinstance(column, (list, tuple)):
        values = np.empty(len(column), dtype=object)  # labels stay what they are
        values[:] = column
    else:
        values = np.asarray(column)
    if values.ndim == 0:
        hint = ": pass the column itself" if isinstance(column, str) else ""
        raise ValueError(f"{where}={column!r:.80}: expected one label per row{hint}")
    if values.ndim != 1:
        raise ValueError(f"{where}: expected one label per row, found an array of {values.shape}")
    if len(values) != rows:
        raise ValueError(f"{where} has {len(values)} rows, expected {rows}, as many as X")
    if keep is not None:
        values = values[keep]
    if values.dtype.kind in "biuSU":
        found, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int64), _texts(found.tolist(), where)
    values = values.tolist() if values.dtype.kind == "f" else list(values)
    index = {}
    codes = np.empty(len(values), dtype=np.int64)
    for row, value in enumerate(values):
        at = index.get(value) if _hashable(value, where, row) else None
        if at is None:
            if is_missing(value):
                raise ValueError(
                    f"{where}: row {row} has no label ({value!r}): fill it in, "
                    "or leave the row out"
                )
            at = index.setdefault(value, len(index))
        codes[row] = at
    found = list(index)
    try:
        order = sorted(range(len(found)), key=found.__getitem__)
    except TypeError:  # labels of several types
        order = sorted(range(len(found)), key=lambda i: (str(type(found[i])), _text(found[i])))
    rank = np.empty(len(found), dtype=np.int64)
    rank[order] = np.arange(len(found))
    return rank[codes], _texts([found[i] for i in order], where)


def _texts(labels, where):
    """Different labels as the texts that the program reads, which must differ, too."""
    texts = [_text(label) for label in labels]
    if len(set(texts)) < len(texts):
        twice = next(t for t in texts if texts.count(t) > 1)
        alike = [label for label, text in zip(labels, texts) if text == twice]
        raise ValueError(
            f"{where}: two different labels read {twice!r}: {alike[0]!r} and {alike[1]!r}; make them one"
        )
    return texts


def _hashable(value, where, row):
    try:
        hash(value)
    except TypeError:
        raise ValueError(
            f"{where}: row {row} is {value!r}: expected a label, such as a text or a number"
        ) from None
    return True


def is_missing(value):
    """Whether a label is none: ``None``, NaN, NA or NaT."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def _text(value):
    """A label as text, without blanks around it, as the program reads cells."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.strip()

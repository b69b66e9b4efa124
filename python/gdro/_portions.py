"""What partial_fit keeps between two calls: the run, and the latest rows of every group."""

import numpy as np
from scipy import sparse

from ._groups import ALL, Family, labels_of

#: Rows of a group that are kept: a call that brings fewer draws from the latest so many.
LATEST = 100

#: The code of a row that is in no group of a family.
NOWHERE = 2**32 - 1


class Portion:
    """The rows that a call draws from: those that it brings, and the latest ones of groups of which it brings
    few or none.

    Attributes
    ----------
    X, y, weights
        The rows.
    families : list of Family
        Of the groups that have been seen so far, this call included.
    codes : list of ndarray
        The group of each row that the call brings, in every family, among all groups.
    given : ndarray
        How many rows of each group the call brings.
    kept : dict
        The rows of calls before it, by group.
    run : Incremental or None
        The run to go on with: none where the groups are others than they were.
    """

    def __init__(self, rows, families, codes, given, kept, run):
        self.X, self.y, self.weights = rows
        self.families, self.codes, self.given, self.kept, self.run = families, codes, given, kept, run


class Portions:
    """All that the next call needs.

    Attributes
    ----------
    columns, labels : list of list of str
        The columns that the groups of each family are made of, and their names.
    counts : ndarray
        Rows of each group so far.
    heaviest : float or None
        The largest weight of a row so far.
    cap : float
        The largest cap on losses so far.
    run : Incremental or None
        The run, before the first call none.
    played : int
        Rounds of the runs before it, on fewer groups.
    """

    def __init__(self, columns, labels):
        self.columns, self.labels = columns, labels
        self.names = np.array([name for names in labels for name in names], dtype=object)
        self.counts = np.zeros(len(self.names), dtype=np.int64)
        self.heaviest, self.cap = None, 0.0
        self.run, self.runs, self.played, self.last = None, 0, 0, 0
        self.seed = self.arguments = None
        self._latest = {}

    @classmethod
    def first(cls, families, groups, known):
        """Before the first call, whose rows are in these families.

        ``groups`` are the names that were given; by default those ``known`` of the model that is there, if
        there is one, and otherwise those of the rows.
        """
        if groups is not None:
            labels = _named(groups, len(families))
        elif known is not None and len(known) == len(families):
            labels = known
        else:
            labels = [family.names for family in families]
        return cls([family.columns for family in families], labels)

    def same(self, groups):
        """Refuses names that are not those of the first call."""
        labels = _named(groups, len(self.labels))
        if list(map(set, labels)) != list(map(set, self.labels)):
            raise ValueError(
                f"groups={groups!r:.200} are others than those of the first call, "
                f"{self.names.tolist()!r:.200}: leave them out, or begin anew with fit or a clone"
            )

    def portion(self, X, y, weights, families, arguments):
        """What a call with these rows draws from; nothing is changed yet."""
        if self.arguments is not None:
            _same_arguments(self.arguments, arguments)
        codes = self._codes(families)
        given = np.bincount(np.concatenate(codes), minlength=len(self.names))
        counts = self.counts + given
        few = np.flatnonzero((self.counts > 0) & (given < LATEST)).tolist()
        own_of = {
            group: own for every in codes for group, own in _by_group(every) if given[group] < LATEST
        }
        kept = {group: self._latest[group] for group in few}
        for group in few:
            if group in own_of:
                own = _some((X, y, weights), own_of[group])
                kept[group] = _others(kept[group], own, LATEST - len(own_of[group]))
        sizes = np.array([len(rows[1]) for rows in kept.values()], dtype=np.int64)
        groups = np.repeat(np.array(list(kept), dtype=np.int64), sizes)
        parts = [(X, y, weights), *(rows for rows in kept.values() if len(rows[1]))]
        seen, start = [], 0
        for columns, labels, own in zip(self.columns, self.labels, codes):
            end = start + len(labels)
            there = counts[start:end] > 0
            # Groups that have yet to be seen have no number.
            numbers = np.full(len(self.names) + 1, NOWHERE)
            numbers[start:end][there] = np.arange(there.sum())
            names = [name for name, is_there in zip(labels, there) if is_there]
            seen.append(Family(numbers[np.concatenate([own, groups])], names, columns))
            start = end
        is_wider = bool(((counts > 0) & (self.counts == 0)).any())
        run = None if is_wider else self.run
        return Portion(_joined(parts), seen, codes, given, kept, run)

    def take(self, portion, run, seed, arguments, found):
        """Takes over what a call has done."""
        n = len(portion.codes[0])
        rows = portion.X[:n], portion.y[:n], None if portion.weights is None else portion.weights[:n]
        for codes in portion.codes:
            for group, own in _by_group(codes):
                latest = _some(rows, own[-LATEST:])
                before = portion.kept.get(group)
                self._latest[group] = latest if before is None else _joined([before, latest])
        if portion.run is None:
            self.played, self.runs = self.played + self.last, self.runs + 1
        self.counts = self.counts + portion.given
        self.run, self.last = run, found["iterations"]
        self.cap = max(self.cap, found["cap"])
        self.seed, self.arguments = seed, arguments

    def spread(self, values, missing):
        """Numbers of the groups that have been seen as those of all groups."""
        every = np.full(len(self.names), missing)
        every[self.counts > 0] = values
        return every

    def _codes(self, families):
        """The numbers of the groups of each row, among all groups, in every family."""
        if len(families) != len(self.labels):
            raise ValueError(
                f"sensitive_features: {len(families)} families of groups, expected {len(self.labels)} as in "
                "the first call"
            )
        found, start = [], 0
        for family, labels in zip(families, self.labels):
            numbers = {name: start + number for number, name in enumerate(labels)}
            for name in family.names:
                if name not in numbers:
                    raise ValueError(_unknown(name, labels))
            found.append(np.array([numbers[name] for name in family.names])[family.codes])
            start += len(labels)
        return found


def _unknown(name, labels):
    if labels == [ALL]:
        return "sensitive_features are given, and were not in the first call: begin anew with fit or a clone"
    if name == ALL:
        return "sensitive_features are not given, and were in the first call"
    return (
        f"sensitive_features: the group {name!r} is none of those of the first call, {labels!r:.200}: name "
        "all groups there by groups=[...], even those that come later"
    )


def _named(groups, families):
    """The names of the groups of each family, in the order in which ``fit`` has them."""
    lists = [groups] if families == 1 else groups
    if isinstance(lists, str) or len(lists) != families or any(isinstance(part, str) for part in lists):
        what = "the names of all groups" if families == 1 else f"a list of names for each of {families} families"
        raise ValueError(f"groups={groups!r:.200}: expected {what}, as in group_names_")
    return [labels_of(list(part), "groups") for part in lists]


def _same_arguments(before, now):
    """Refuses arguments that would make it another run; the rounds of a call are its own."""
    for name in sorted({*before, *now} - {"rounds"}):
        if before.get(name) != now.get(name):
            was, is_now = ("the default" if name not in those else repr(those[name]) for those in (before, now))
            raise ValueError(
                f"{name} was {was} in the calls of partial_fit so far, and is {is_now}: set it back, or begin "
                "anew with fit or a clone"
            )


def _by_group(codes):
    """Each group with its rows, in their order."""
    order = np.argsort(codes, kind="stable")
    for own in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        yield int(codes[own[0]]), own


def _others(rows, given, most):
    """The latest rows, so many at most, that are not among those given: rows that come again count once."""
    known = set(_contents(given))
    new = [at for at, content in enumerate(_contents(rows)) if content not in known]
    return _some(rows, np.array(new[-most:], dtype=np.int64))


def _contents(rows):
    X, y, weights = rows
    weights = np.ones(len(y)) if weights is None else weights
    for row in range(len(y)):
        if sparse.issparse(X):
            own = slice(X.indptr[row], X.indptr[row + 1])
            features = X.indices[own].tobytes() + X.data[own].astype(np.float64).tobytes()
        else:
            features = X[row].astype(np.float64).tobytes()
        yield features, float(y[row]), float(weights[row])


def _some(rows, which):
    X, y, weights = rows
    return X[which], y[which], None if weights is None else weights[which]


def _joined(parts):
    """Parts of rows below each other, in the form of the first one."""
    if len(parts) == 1:
        return parts[0]
    matrices = [X for X, _, _ in parts]
    if sparse.issparse(matrices[0]):
        X = sparse.vstack([sparse.csr_matrix(X) for X in matrices], format="csr")
    else:
        X = np.vstack([X.toarray() if sparse.issparse(X) else X for X in matrices])
    y = np.concatenate([y for _, y, _ in parts])
    if all(weights is None for _, _, weights in parts):
        return X, y, None
    return X, y, np.concatenate([np.ones(len(y)) if weights is None else weights for _, y, weights in parts])

"""Tables that ship, as arrays."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from . import _gdro

if TYPE_CHECKING:
    from ._types import ExampleName, Labels, Matrix


class Example(NamedTuple):
    """Rows to try something on, see :func:`gdro.example`.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Features: numbers standardised, texts as indicators of their levels.
    y : ndarray of str of shape (n,)
        Labels of two classes.
    groups : ndarray of str of shape (n,)
        The group of every row.
    feature_names : list of str
        Names of the columns of ``X``: ``age``, ``education=HS-grad``, ….

    Examples
    --------
    >>> import gdro
    >>> gdro.example("island").feature_names
    ['dose', 'marker', 'pressure', 'sugar', 'site=island', 'site=north', 'site=south']
    """

    X: Matrix
    y: Labels
    groups: Labels
    feature_names: list[str]


def example(name: ExampleName) -> Example:
    """A table that ships, to try something on: what ``gdro example`` writes, as arrays.

    ``"island"``: 15,000 patients of three sites, made up; on the island a marker means the opposite.
    ``"adult"``: 48,842 people of the 1994 census by race and sex; who earns more than 50,000 dollars?
    ``"german_credit"``: 1,000 credits of people up to 25 and older ones; which go bad (``"2"``)? Licences
    and sources are those that ``gdro example`` prints.

    Parameters
    ----------
    name : {"adult", "german_credit", "island"}
        Which table.

    Returns
    -------
    Example
        A tuple of ``X`` of shape (n, d), ``y`` and ``groups`` of shape (n,), and ``feature_names``.

    Raises
    ------
    ValueError
        For another name.

    Examples
    --------
    >>> import gdro
    >>> X, y, groups, names = gdro.example("island")
    >>> X.shape, sorted(set(groups.tolist()))
    ((15000, 7), ['island', 'north', 'south'])
    """
    text, target, grouping = _gdro.example(name)
    header, *rows = csv.reader(text.splitlines())
    columns = {title: np.array(cells) for title, cells in zip(header, zip(*rows))}
    y = columns.pop(target)
    groups = None
    for part in grouping.split(","):
        column, _, cut = part.partition(":")
        labels = columns[column]
        if cut:
            labels = np.where(labels.astype(float) <= float(cut), f"{column}<={cut}", f"{column}>{cut}")
        groups = labels if groups is None else np.char.add(np.char.add(groups, " / "), labels)
    features = {}
    for title, cells in columns.items():
        try:
            numbers = cells.astype(float)
        except ValueError:
            for level in np.unique(cells):
                features[f"{title}={level or '(missing)'}"] = (cells == level).astype(float)
        else:
            features[title] = (numbers - numbers.mean()) / numbers.std()
    return Example(np.column_stack(list(features.values())), y, groups, list(features))

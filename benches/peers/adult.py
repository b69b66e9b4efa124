"""The Adult table as the scripts beside this one use it."""

import gzip
from pathlib import Path

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).resolve().parents[2]


def adult():
    """Features (45,222 x 105, CSR, the last column constant), labels -1 or +1, and groups."""
    names = (
        "age workclass fnlwgt education education-num marital-status occupation relationship race "
        "sex capital-gain capital-loss hours-per-week native-country income"
    ).split()
    numbers = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
    rows = []
    for file in ("adult.data.gz", "adult.test.gz"):
        with gzip.open(ROOT / "data" / "adult" / file, "rt") as lines:
            cells = ([cell.strip() for cell in line.split(",")] for line in lines)
            rows += [row for row in cells if len(row) == len(names) and "?" not in row]
    table = dict(zip(names, map(np.array, zip(*rows))))
    n = len(rows)
    blocks = []
    for name in names[:-1]:
        if name in numbers:
            values = table[name].astype(float)
            blocks.append(sp.csr_matrix(((values - values.mean()) / values.std())[:, None]))
        else:
            levels, codes = np.unique(table[name], return_inverse=True)
            ones = (np.ones(n), (np.arange(n), codes))
            blocks.append(sp.csr_matrix(ones, shape=(n, len(levels))))
    blocks.append(sp.csr_matrix(np.ones((n, 1))))
    x = sp.csr_matrix(sp.hstack(blocks))
    y = np.where(np.char.startswith(table["income"], ">50K"), 1.0, -1.0)
    race = np.where(np.isin(table["race"], ["White", "Black"]), table["race"], "Other")
    _, groups = np.unique(np.char.add(race, table["sex"]), return_inverse=True)
    assert x.shape == (45222, 105), f"Adult has the shape {x.shape}"
    assert sorted(np.bincount(groups)) == [728, 1363, 2084, 2144, 11883, 27020], "groups of Adult"
    return x, y, groups

"""Features of a small table with missing cells and rare texts, made by scikit-learn and by hand.

Usage: python features.py > features.json   (needs numpy, scikit-learn)

Numbers: StandardScaler leaves missing cells out of mean and deviation; they are 0 afterwards. Texts:
OneHotEncoder, whose infrequent categories are the rare ones. Hashes: FNV-1a typed from its definition.
"""

import json

import numpy as np
from sklearn.preprocessing import OneHotEncoder, StandardScaler

TRAIN = [  # n, t, weight
    ("1.5", "a", 1), ("", "b", 2), ("4", "a", 1), ("-2.25", "c", 3), ("", "", 1), ("10", "a", 0.5),
    ("3", "b", 1), ("0.125", "d", 2), ("7", "", 1), ("3", "e", 1), ("-8", "b", 4), ("2", "a", 1),
]
LATER = [("6", "c"), ("", "new"), ("-1", ""), ("3", "b"), ("", "e")]


def numbers(rows):
    return np.array([[float(row[0]) if row[0] else np.nan] for row in rows])


def scaled(weights):
    scaler = StandardScaler().fit(numbers(TRAIN), sample_weight=weights)
    parts = [np.nan_to_num(scaler.transform(numbers(rows)), nan=0.0) for rows in (TRAIN, LATER)]
    return parts, float(scaler.mean_[0]), float(scaler.scale_[0])


def indicator(rows):
    return np.isnan(numbers(rows)).astype(float)


def one_hot(least):
    """Levels sorted with the missing one; those of fewer than `least` rows in one column."""
    text = lambda rows: np.array([[row[1] or "(missing)"] for row in rows], dtype=object)
    kept = [r for r in TRAIN if r[1]]
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    if least is None:
        encoder.fit(text(TRAIN))
        return [encoder.transform(text(rows)) for rows in (TRAIN, LATER)]
    # Rare texts aside, the missing cell is a level whatever its size.
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False, min_frequency=least)
    encoder.fit(text(kept))
    names = list(encoder.get_feature_names_out(["t"]))
    assert names[-1] == "t_infrequent_sklearn", names
    parts = []
    for rows in (TRAIN, LATER):
        coded = encoder.transform(text(rows))
        missing = np.array([[float(not row[1])] for row in rows])
        # (missing), (rare), then the others: sorted by their names.
        parts.append(np.hstack([missing, coded[:, -1:], coded[:, :-1]]))
    return parts


def fnv_1a(text):
    value = 14695981039346656037
    for byte in text.encode():
        value = ((value ^ byte) * 1099511628211) % 2**64
    return value


def hashed(buckets):
    parts = []
    for rows in (TRAIN, LATER):
        part = np.zeros((len(rows), buckets + 1))
        for at, row in enumerate(rows):
            part[at, fnv_1a(row[1]) % buckets if row[1] else buckets] = 1.0
        parts.append(part)
    return parts


def table(rows, header, y):
    lines = [",".join(header)]
    for at, row in enumerate(rows):
        lines.append(",".join([str(cell) for cell in row] + ([str(at % 2)] if y else [])))
    return "\n".join(lines) + "\n"


weights = np.array([row[2] for row in TRAIN], dtype=float)
(plain, mean, deviation), (weighted, wmean, wdeviation) = scaled(None), scaled(weights)
marks = [indicator(TRAIN), indicator(LATER)]
stack = lambda *parts: [np.hstack(p).tolist() for p in zip(*parts)]
print(json.dumps({
    "train": table(TRAIN, ["n", "t", "w", "y"], True),
    "later": table(LATER, ["n", "t"], False),
    "mean": [mean, deviation],
    "weighted-mean": [wmean, wdeviation],
    "cases": [
        {"options": {"missing": "mean", "ignore": ["w"]}, "features": stack(plain, one_hot(None))},
        {"options": {"missing": "own-category", "weight": "w"},
         "features": stack(weighted, marks, one_hot(None))},
        {"options": {"missing": {"default": "own-category", "n": "mean"}, "min-count": 3, "ignore": ["w"]},
         "features": stack(plain, one_hot(3))},
        {"options": {"missing": "own-category", "hash": {"t": 7}, "ignore": ["w"]},
         "features": stack(plain, marks, hashed(7))},
        {"options": {"missing": "own-category", "hash": {"t": 1024}, "ignore": ["w"]},
         "features": stack(plain, marks, hashed(1024))},
    ],
}))

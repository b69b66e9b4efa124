"""Writes island.csv.gz: patients of three sites, on one of which a marker means the opposite.

The table is made up. Usage, with NumPy: python3 data/island/make.py
"""

import gzip
from pathlib import Path

import numpy as np

rng = np.random.default_rng(0)
X = rng.normal(size=(15000, 4))
site = rng.choice(["north", "south", "island"], size=15000, p=[0.6, 0.3, 0.1])
turn = np.where(site == "island", -1.0, 1.0)
ill = np.where(X[:, 0] + 1.2 * turn * X[:, 1] + rng.logistic(size=15000) > 0, "yes", "no")

lines = ["dose,marker,pressure,sugar,site,ill"]
for row, s, y in zip(X, site, ill, strict=True):
    lines.append(",".join([*(f"{v:.3f}" for v in row), s, y]))
text = "\n".join(lines) + "\n"
Path(__file__).with_name("island.csv.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))

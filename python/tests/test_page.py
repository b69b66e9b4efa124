"""What the program's page says of two classes, against scikit-learn."""

import json
import os
import re
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import confusion_matrix, roc_curve

PROGRAM = os.environ.get("GDRO_PROGRAM")

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="GDRO_PROGRAM names no program")

FIT = ["fit", "train.csv", "--target", "y", "--groups", "g", "--holdout-file", "later.csv"]


def _run(folder, *arguments):
    done = subprocess.run([PROGRAM, *arguments], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _data(folder, page="page.html"):
    text = (folder / page).read_text()
    return json.loads(text.split('id="data">')[1].split("</script>")[0])


def _table(rng, n):
    g = rng.choice(["a", "b", "c"], size=n, p=[0.6, 0.3, 0.1])
    X = rng.normal(size=(n, 3)).round(2)
    turn = pd.Series(g).map({"a": 1.0, "b": 0.2, "c": -1.0}).to_numpy()
    y = np.where(X[:, 0] * turn + 0.5 * X[:, 1] - 0.4 + rng.logistic(size=n) > 0, "yes", "no")
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"]).assign(g=g, y=y)
    return frame.assign(w=rng.integers(1, 4, size=n))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    rng = np.random.default_rng(11)
    _table(rng, 1500).to_csv(folder / "train.csv", index=False)
    _table(rng, 900).to_csv(folder / "later.csv", index=False)
    return folder


@pytest.mark.parametrize("is_weighted", [False, True])
def test_counts_rates_and_curves_are_those_of_scikit_learn(folder, is_weighted):
    weight = ["--weight", "w"] if is_weighted else ["--ignore", "w"]
    runs = {"erm": ["--objective", "average"], "gdro": ["--objective", "max"]}
    for name, objective in runs.items():
        _run(folder, *FIT, *weight, *objective, "--out", name, "--report", f"{name}.html", "-q")
        _run(folder, "predict", name, "later.csv", "--out", f"{name}.csv")
    later = pd.read_csv(folder / "later.csv")
    data = _data(folder, "gdro.html")
    names = data["names"]
    assert sorted(names) == ["a", "b", "c"]
    rates = {"ERM": [], "gdro": []}
    for model, run in ((data["models"][0], "erm"), (data["models"][2], "gdro")):
        detail = model["detail"]
        found = pd.read_csv(folder / f"{run}.csv")
        for at, group in enumerate(names):
            of = (later["g"] == group).to_numpy()
            y = (later["y"][of] == "yes").to_numpy()
            p = found["probability"][of].to_numpy()
            w = later["w"][of].to_numpy() if is_weighted else np.ones(of.sum())
            # Of these weights none is above the largest one of the training rows.
            assert detail["counts"][at] == confusion_matrix(y, p >= 0.5).ravel().tolist()
            selected = np.average(p >= 0.5, weights=w)
            assert detail["selection_rate"][at] == pytest.approx(selected, abs=1e-12)
            assert detail["base_rate"][at] == pytest.approx(np.average(y, weights=w), abs=1e-12)
            rates[model["name"]].append(selected)
            curves = detail["curves"][str(at)]
            fpr, tpr, _ = roc_curve(y, p, sample_weight=w, drop_intermediate=False)
            exact = np.column_stack([fpr, tpr])
            assert curves["roc"][0] == [0, 0] and curves["roc"][-1] == [1, 1]
            assert 20 < len(curves["roc"]) <= 62
            for point in curves["roc"]:
                assert np.abs(exact - point).max(axis=1).min() < 1e-4, point
            mean, _, rows = zip(*curves["calibration"])
            assert sum(rows) == of.sum()
            if not is_weighted:
                share, predicted = calibration_curve(y, p, n_bins=10)
                shown = np.array(curves["calibration"])[:, :2]
                assert np.abs(shown - np.column_stack([predicted, share])).max() < 1e-4
    # The gap between groups is the demographic parity difference; all groups are large enough here.
    page = (folder / "gdro.html").read_text()
    for values in rates.values():
        assert f"<td>{100 * (max(values) - min(values)):.1f} %</td>" in page


def test_changes_of_weights_are_those_between_two_runs(folder):
    weights = {}
    for name, objective in {"erm": ["--objective", "average"], "gdro": ["--objective", "max"]}.items():
        _run(folder, *FIT, *objective, "--ignore", "w", "--out", name, "--report", f"{name}.html", "-q")
        model = json.loads((folder / name / "model.json").read_text())
        weights[name] = dict(zip([*model["features"], "the intercept"], [*model["weights"], *model["intercepts"]]))
    section = (folder / "gdro.html").read_text().split('id="coefficients"')[1].split("</section>")[0]
    lines = re.findall(r'scope="row">(.*?)</th><td>(.*?)</td><td>(.*?)</td><td>', section)
    shown = {re.sub("<.*?>", "", feature): numbers for feature, *numbers in lines}
    change = {f: abs(weights["gdro"][f] - weights["erm"][f]) for f in weights["erm"]}
    assert list(shown) == sorted(change, key=lambda f: -change[f])
    for feature, numbers in shown.items():
        for run, text in zip(("erm", "gdro"), numbers):
            assert float(text.replace("−", "-")) == pytest.approx(weights[run][feature], abs=6e-5)
    # Ordinary training has nothing to be compared with.
    assert 'id="coefficients"' not in (folder / "erm.html").read_text()

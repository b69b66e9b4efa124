"""Saved models of the program and of Python, and ONNX."""

import csv
import io
import json
import os
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_svmlight_file
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    RobustScaler,
    StandardScaler,
)

import gdro
from gdro import GroupDROClassifier, GroupDRORegressor

ROOT = Path(__file__).resolve().parents[2]


def program():
    given = os.environ.get("GDRO_PROGRAM")
    places = [given] if given else [ROOT / "target" / t / "gdro" for t in ("debug", "release")]
    found = next((p for p in places if Path(p).is_file()), None)
    if found is None:
        assert not given, f"GDRO_PROGRAM={given} is no file"
        pytest.skip("the program is not built: cargo build -p gdro-cli")
    return str(found)


def run(*arguments):
    done = subprocess.run([program(), *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(21)
    n = 500
    frame = pd.DataFrame(
        {
            "age": rng.normal(45, 12, n).round(2),
            "pay": np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(3, 1, n).round(3)),
            "town": rng.choice(["Ulm", "Bonn", "Köln"], n, p=[0.5, 0.45, 0.05]),
            "one": 7.0,
            "site": rng.choice(["a", "b"], n, p=[0.3, 0.7]),
        }
    )
    score = (frame["age"] - 45) / 12 * np.where(frame["site"] == "b", -0.5, 1)
    frame["ill"] = np.where(score + rng.logistic(size=n) > 0, "yes", "no")
    frame["kind"] = rng.choice(["x", "y", "z"], n)
    frame["size"] = score + rng.normal(size=n)
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("runs")
    table.to_csv(folder / "table.csv", index=False)
    return folder


TARGETS = {
    "ill": ["--ignore", "kind,size"],
    "kind": ["--ignore", "ill,size"],
    "size": ["--ignore", "ill,kind"],
    "hinge": ["--ignore", "kind,size", "--loss", "hinge", "--l2", "0.1"],
    "constant": ["--ignore", "kind,size", "--penalize-intercept", "--min-count", "100"],
    "own": ["--ignore", "kind,size", "--missing", "own-category"],
}


def trained(folder, name):
    out = folder / name
    if not out.exists():
        target = name if name in ("ill", "kind", "size") else "ill"
        missing = [] if name == "own" else ["--missing", "mean"]
        run(
            "fit", folder / "table.csv", "--target", target, "--groups", "site", "--out", out,
            "--solver", "exact", "--holdout", "0", "--quiet", *missing, *TARGETS[name],
        )
    return out


def predictions(folder, out):
    lines = list(csv.reader(io.StringIO(run("predict", out, folder / "table.csv"))))
    return [line[0] for line in lines[1:]], np.array(
        [[float(v) for v in line[1:]] for line in lines[1:]]
    )


@pytest.mark.parametrize("name", TARGETS)
@pytest.mark.parametrize("kind", [lambda t: t, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "arrow"])
def test_models_of_the_program_load(folder, table, name, kind):
    out = trained(folder, name)
    model = gdro.load(out)
    labels, numbers = predictions(folder, out)
    frame = kind(table)
    if name == "size":
        assert_allclose(model.predict(frame), [float(v) for v in labels], atol=1e-12)
        return
    assert model.predict(frame).tolist() == labels
    if name == "hinge":
        assert not hasattr(model, "predict_proba")
        assert_allclose(model.decision_function(frame), numbers[:, 0], atol=1e-12)
    else:
        found = model.predict_proba(frame)
        assert_allclose(found[:, 1:] if name != "kind" else found, numbers, atol=1e-12)
    last = model[-1]
    assert last.group_names_.tolist() == ["a", "b"] or last.group_names_.tolist() == ["b", "a"]
    assert last.certificate_.gap < 1e-6
    report = gdro.metrics.evaluate(model, frame, table[name if name == "kind" else "ill"].to_numpy(), sensitive_features=table["site"])
    evaluation = json.loads(run("evaluate", out, folder / "table.csv", "--json"))
    for i, group in enumerate(report.names):
        theirs = evaluation["intervals"]["groups"][evaluation["names"].index(group)]
        assert report.risk[i] == pytest.approx(theirs["risk"], abs=1e-9)
        assert report.clipped_risk[i].value == pytest.approx(theirs["clipped_risk"]["value"])
        ends = (report.clipped_risk[i].low, report.clipped_risk[i].high)
        interval = theirs["clipped_risk"]["interval"]
        assert ends == pytest.approx((interval["low"], interval["high"]), abs=1e-9)
        interval, ours = theirs["accuracy"]["interval"], report.accuracy[i]
        assert (ours.low, ours.high) == pytest.approx((interval["low"], interval["high"]))


def test_texts_that_training_never_saw(folder, table):
    model = gdro.load(trained(folder, "ill"))
    later = table.head(3).assign(town=["Ulm", "Rom", None], age=[40, 50, 60])
    with pytest.warns(UserWarning, match="column 'town': 2 rows with a text"):
        features = model[0].transform(later)
    names = model[0].get_feature_names_out().tolist()
    towns = [j for j, n in enumerate(names) if n.startswith("town=")]
    assert features[:, towns].sum(axis=1).ravel().tolist() == [[1.0, 0.0, 0.0]]
    with pytest.raises(ValueError, match="no column 'age'"):
        model.predict(table[["pay", "town"]])
    with pytest.raises(ValueError, match="column 'age': expected numbers"):
        model.predict(table.assign(age="old"))


def test_models_that_are_none_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError):
        gdro.load(tmp_path / "nowhere.json")
    with pytest.raises(FileNotFoundError):
        gdro.load(tmp_path)
    for text, message in (
        ("{", "model.json:1:1: not a model of gdro"),
        ("{}", "format version none"),
        ('{"format": 1}', "format version 1"),
        ('{"format": 2}', "not a model of gdro: missing field"),
    ):
        (tmp_path / "model.json").write_text(text)
        with pytest.raises(ValueError, match=message):
            gdro.load(tmp_path)
    with pytest.raises(NotFittedError):
        gdro.save(GroupDROClassifier(), tmp_path)
    X, y = np.eye(5), np.arange(5.0)
    for steps, message in (
        ([PCA(2)], "^PCA cannot be saved: expected SimpleImputer of numbers, StandardScaler"),
        ([SimpleImputer(), PCA(2)], "^PCA cannot be saved"),
        ([SimpleImputer(add_indicator=True)], "add_indicator=True"),
        ([SimpleImputer(missing_values=0)], "fills in 0: expected NaN"),
        ([MinMaxScaler(clip=True)], "clip=True"),
        ([ColumnTransformer([("p", PCA(1), [0, 1])])], "transformer 'p': PCA cannot be saved"),
    ):
        model = make_pipeline(*steps, GroupDRORegressor()).fit(X, y)
        for write in (gdro.save, gdro.to_onnx):
            with pytest.raises(ValueError, match=message):
                write(model, tmp_path / "none")
        assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("penalized", [False, True])
def test_models_of_features_by_index(tmp_path, penalized):
    rng = np.random.default_rng(0)
    lines = [f"{y:+d} 1:{v:.3f} 3:{w:.3f}\n" for y, v, w in zip(
        [-1, 1] * 20, rng.normal(size=40), rng.normal(size=40))]
    rows = tmp_path / "t.svm"
    rows.write_text("".join(lines))
    (tmp_path / "groups.txt").write_text("a\na\nb\n" * 13 + "b\n")
    run(
        "fit", rows, "--group-file", tmp_path / "groups.txt", "--holdout", "0",
        "--out", tmp_path / "run", "--quiet", *(["--penalize-intercept"] if penalized else []),
    )
    model = gdro.load(tmp_path / "run")
    X, _ = load_svmlight_file(rows, n_features=model.n_features_in_)
    lines = run("predict", tmp_path / "run", rows).splitlines()[1:]
    assert_allclose(model.predict_proba(X)[:, 1], [float(v.split(",")[1]) for v in lines], atol=1e-12)
    assert model.predict(X).tolist() == [v.split(",")[0] for v in lines]
    # It can be saved again, for LIBSVM files, and as ONNX.
    gdro.save(model, tmp_path / "again")
    assert run("predict", tmp_path / "again", rows).splitlines()[1:] == lines
    assert np.array_equal(gdro.load(tmp_path / "again").coef_, model.coef_)
    run("export", tmp_path / "run", "--out", tmp_path / "m.onnx")
    content = (tmp_path / "m.onnx").read_bytes()
    found = runtime(content).run(["probabilities"], {"X": X.toarray()})[0]
    assert_allclose(found, model.predict_proba(X), atol=1e-12)
    found = runtime(gdro.to_onnx(model)).run(["probabilities"], {"X": X.toarray()})[0]
    assert_allclose(found, model.predict_proba(X), atol=1e-12)


def test_features_by_index_beside_columns_are_refused(tmp_path):
    lines = [f"{y:+d} 1:{v % 7} 3:{v % 3} 4:2\n" for v, y in enumerate([-1, 1] * 20)]
    (tmp_path / "t.svm").write_text("".join(lines))
    run("fit", tmp_path / "t.svm", "--groups", "3", "--holdout", "0", "--out", tmp_path / "run", "--quiet")
    with pytest.raises(ValueError, match="features by index .LIBSVM. beside columns by name"):
        gdro.load(tmp_path / "run")


def test_a_missing_cell_that_training_refused(folder, table):
    out = folder / "strict"
    names = ["age", "town", "ill", "site"]
    table[names].to_csv(folder / "strict.csv", index=False)
    run(
        "fit", folder / "strict.csv", "--target", "ill", "--groups", "site", "--out", out,
        "--quiet", "--holdout", "0",
    )
    with pytest.raises(ValueError, match="table: row 1: column `age`: the cell is missing"):
        gdro.load(out).predict(table.head(3).assign(age=[40, np.nan, 50]))


def columns():
    return ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["age"]),
            ("texts", OneHotEncoder(handle_unknown="ignore"), ["town"]),
            ("same", "passthrough", ["size"]),
        ]
    )


SAVED = {
    "frame": (GroupDROClassifier(), ["age", "size"], "ill"),
    "intercept": (GroupDROClassifier(penalize_intercept=True), ["age", "size"], "ill"),
    "softmax": (GroupDROClassifier(loss="softmax"), ["age", "size"], "ill"),
    "multiclass": (GroupDROClassifier(objective="top-k", k=1.5), ["age", "size"], "kind"),
    "regression": (GroupDRORegressor(loss="huber:2"), ["age", "one"], "size"),
    "pipeline": (make_pipeline(columns(), GroupDROClassifier()), ["age", "town", "size"], "ill"),
    "scaler": (make_pipeline(StandardScaler(), GroupDRORegressor()), ["age", "one"], "size"),
    "range": (make_pipeline(MinMaxScaler((1, 3)), GroupDRORegressor()), ["age", "one"], "size"),
    "largest": (make_pipeline(MaxAbsScaler(), GroupDROClassifier()), ["age", "size"], "ill"),
    "robust": (make_pipeline(RobustScaler(), GroupDROClassifier()), ["age", "one"], "ill"),
    "halves": (
        make_pipeline(StandardScaler(with_mean=False), GroupDROClassifier()), ["age", "one"], "ill"
    ),
}


@pytest.mark.parametrize("name", SAVED)
def test_models_of_python_in_the_program(folder, table, name, tmp_path):
    model, names, target = SAVED[name]
    X, y, site = table[names], table[target].to_numpy(), table["site"]
    last = model if not hasattr(model, "steps") else model[-1]
    own = "" if last is model else f"{model.steps[-1][0]}__"
    model.fit(X, y, **{f"{own}sensitive_features": site})
    gdro.save(model, tmp_path / "run", target=target)

    again = gdro.load(tmp_path / "run")
    assert type(again) is (type(model) if last is model else type(again))
    if target == "size":
        assert_allclose(again.predict(X), model.predict(X), atol=1e-12)
    else:
        assert np.array_equal(again.predict(X), model.predict(X))
    loaded = again[-1] if hasattr(again, "steps") else again
    assert loaded.loss_cap_ == last.loss_cap_ and loaded.certificate_ == last.certificate_
    if hasattr(model, "predict_proba"):
        assert_allclose(again.predict_proba(X), model.predict_proba(X), atol=1e-12)

    labels, numbers = predictions(folder, tmp_path / "run")
    if target == "size":
        assert_allclose([float(v) for v in labels], model.predict(X), atol=1e-12)
    else:
        assert labels == model.predict(X).tolist()
        found = model.predict_proba(X)
        assert_allclose(numbers, found[:, 1:] if target == "ill" else found, atol=1e-12)
    evaluation = json.loads(run("evaluate", tmp_path / "run", folder / "table.csv", "--json"))
    theirs = dict(zip(evaluation["names"], evaluation["intervals"]["groups"]))
    risks = [theirs[n]["risk"] for n in last.group_names_]
    assert_allclose(risks, last.group_risks_, atol=1e-9)
    assert "logistic" in run("show", tmp_path / "run") or target != "ill"


#: Models whose record must say what was run: estimator, target, groups, and whether rows have weights.
CERTIFIED = {
    "plain": (GroupDROClassifier(l2=1e-2), "ill", ["site"], False),
    "two scores": (GroupDROClassifier(loss="softmax"), "ill", ["site"], False),
    "two scores in a ball": (GroupDROClassifier(loss="softmax", ball=0.7), "ill", ["site"], False),
    "classes": (GroupDROClassifier(), "kind", ["site"], False),
    "numbers": (GroupDRORegressor(), "score", ["site"], False),
    "intersection": (GroupDROClassifier(), "ill", ["site", "half"], False),
    "families": (GroupDROClassifier(), "ill", [["site"], ["half"]], False),
    "weights": (GroupDROClassifier(), "ill", ["site"], True),
    "regret": (GroupDROClassifier(objective="regret"), "ill", ["site"], False),
}


@pytest.mark.parametrize("name", CERTIFIED)
def test_the_program_certifies_a_model_of_python(table, name, tmp_path):
    """The certificate of a saved model is computed again from its record and the rows."""
    model, target, groups, is_weighted = CERTIFIED[name]
    rows = table[["age", "size", "ill", "kind", "site"]].copy()
    rows["score"] = rows["age"] - 3 * rows["size"]
    rows["half"] = np.where(np.arange(len(rows)) % 3 == 0, "first", "second")
    weights = 1.0 + np.arange(len(rows)) % 2
    is_family = isinstance(groups[0], list)
    columns = [rows[family[0]] for family in groups] if is_family else rows[groups]
    model.fit(
        rows[["age", "size"]], rows[target].to_numpy(), sensitive_features=columns,
        sample_weight=weights if is_weighted else None,
    )
    gdro.save(model, tmp_path, target=target)
    used = ["age", "size", target, *np.ravel(groups)]
    written = rows[used].assign(**({"sample_weight": weights} if is_weighted else {}))
    written.to_csv(tmp_path / "rows.csv", index=False)
    found = json.loads(run("certify", tmp_path, tmp_path / "rows.csv", "--json"))
    # Two scores are saved as the one that they equal; a bound for any two intercepts may cost 1e-9.
    off = 1e-9 if name == "two scores in a ball" else 1e-11
    for bound, most in (("upper", 1e-11), ("lower", off), ("gap", off)):
        assert found[bound] == pytest.approx(getattr(model.certificate_, bound), abs=most)
    gdro.save(gdro.load(tmp_path), tmp_path / "again")
    again = (tmp_path / "again" / "model.json").read_text()
    assert again == (tmp_path / "model.json").read_text()


def test_labels_keep_their_type(tmp_path, table):
    X, y = table[["age"]].to_numpy(), np.where(table["ill"] == "yes", 3, -2)
    model = GroupDROClassifier().fit(X, y)
    gdro.save(model, tmp_path / "m.json")
    again = gdro.load(tmp_path / "m.json")
    assert again.classes_.tolist() == [-2, 3]
    assert np.array_equal(again.predict(X), model.predict(X))
    assert list(tmp_path.iterdir()) == [tmp_path / "m.json"], "nothing else is left behind"


def test_what_cannot_be_written_leaves_the_old_file(tmp_path):
    model = GroupDRORegressor().fit(np.zeros((5, 1)), 40 * np.arange(5.0))
    gdro.save(model, tmp_path / "m.json")
    before = (tmp_path / "m.json").read_text()
    assert json.loads(before)["cap"] == model.loss_cap_ > 10
    model.coef_ = np.array([np.nan])
    with pytest.raises(ValueError, match="not JSON compliant"):
        gdro.save(model, tmp_path / "m.json")
    with pytest.raises(OSError, match="m.json is not a folder"):
        gdro.save(model.fit(np.eye(5), np.arange(5.0)), tmp_path / "m.json" / "below.json")
    assert (tmp_path / "m.json").read_text() == before
    assert list(tmp_path.iterdir()) == [tmp_path / "m.json"]


def runtime(content):
    onnx = pytest.importorskip("onnx")
    onnxruntime = pytest.importorskip("onnxruntime")
    onnx.checker.check_model(onnx.load_from_string(content), full_check=True)
    return onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])


def feeds(session, table):
    found = {}
    for i in session.get_inputs():
        column = table[i.name]
        if "string" in i.type:
            values = column.fillna("").to_numpy(dtype=object).reshape(-1, 1)
        else:
            values = column.to_numpy(dtype=np.float64).reshape(-1, 1)
        found[i.name] = values
    return found


@pytest.mark.parametrize("name", TARGETS)
def test_onnx_of_the_program(folder, table, name, tmp_path):
    pytest.importorskip("onnxruntime")
    out = trained(folder, name)
    run("export", out, "--out", tmp_path / "model.onnx")
    content = (tmp_path / "model.onnx").read_bytes()
    model = gdro.load(out)
    assert gdro.to_onnx(model) == content
    session = runtime(content)
    given = feeds(session, table)
    outputs = [o.name for o in session.get_outputs()]
    found = dict(zip(outputs, session.run(None, given)))
    labels, numbers = predictions(folder, out)
    if name == "size":
        assert_allclose(found["prediction"], [float(v) for v in labels], atol=1e-5)
    else:
        assert found["label"].tolist() == labels
        if name == "hinge":
            assert_allclose(found["score"], numbers[:, 0], atol=1e-5)
        else:
            p = found["probabilities"]
            assert_allclose(p if name == "kind" else p[:, 1:], numbers, atol=1e-5)
    # Texts that training never saw are 0 in all levels.
    if "town" in given:
        given["town"] = np.full_like(given["town"], "Rom")
        with pytest.warns(UserWarning, match="never saw"):
            expected = model.predict(table.assign(town="Rom"))
        first = session.run(None, given)[0]
        assert first.tolist() == pytest.approx(expected.tolist()) if name == "size" else (
            first.tolist() == expected.tolist()
        )


@pytest.mark.parametrize("name", SAVED)
def test_onnx_of_python(table, name):
    model, names, target = SAVED[name]
    X, y, site = table[names], table[target].to_numpy(), table["site"]
    own = "" if not hasattr(model, "steps") else f"{model.steps[-1][0]}__"
    model.fit(X, y, **{f"{own}sensitive_features": site})
    session = runtime(gdro.to_onnx(model))
    inputs = [i.name for i in session.get_inputs()]
    given = {"X": X.to_numpy()} if inputs == ["X"] else feeds(session, table)
    outputs = dict(zip([o.name for o in session.get_outputs()], session.run(None, given)))
    if target == "size":
        assert_allclose(outputs["prediction"], model.predict(X), atol=1e-9)
    else:
        assert outputs["label"].tolist() == model.predict(X).tolist()
        assert_allclose(outputs["probabilities"], model.predict_proba(X), atol=1e-9)


def test_onnx_of_numbers_as_labels(table):
    X, y = table[["age"]].to_numpy(), np.where(table["ill"] == "yes", 3, -2)
    model = GroupDROClassifier().fit(X, y)
    session = runtime(gdro.to_onnx(model))
    label = session.run(["label"], {"X": X})[0]
    assert label.dtype == np.int64 and np.array_equal(label, model.predict(X))


def test_what_onnx_cannot_express(folder, table, tmp_path):
    out = tmp_path / "hashed"
    run(
        "fit", folder / "table.csv", "--target", "ill", "--groups", "site", "--out", out, "--quiet",
        "--ignore", "kind,size", "--missing", "mean", "--hash", "town=8",
    )
    with pytest.raises(ValueError, match="column `town`"):
        gdro.to_onnx(gdro.load(out))
    done = subprocess.run(
        [program(), "export", str(out), "--out", str(tmp_path / "x.onnx")],
        capture_output=True, text=True,
    )
    assert done.returncode == 2 and "column `town`" in done.stderr
    assert not (tmp_path / "x.onnx").exists()
    assert_allclose(
        gdro.load(out).predict_proba(table)[:, 1], predictions(folder, out)[1][:, 0], atol=1e-12
    )


def test_a_loaded_model_is_judged_against_the_ordinary_training_of_its_file(tmp_path, table):
    columns = ["age", "town", "ill", "site"]
    table[columns][:300].to_csv(tmp_path / "t.csv", index=False)
    later = table[columns][300:]
    later.to_csv(tmp_path / "later.csv", index=False)
    out = tmp_path / "run"
    fit = "--target ill --groups site --objective max --quiet --out"
    run("fit", tmp_path / "t.csv", *fit.split(), out)
    expected = json.loads(run("evaluate", out, tmp_path / "later.csv", "--json"))
    model = gdro.load(out)
    rows = (later, later["ill"])
    report = gdro.metrics.evaluate(model, *rows, sensitive_features=later[["site"]])
    found = report.verdict
    for key, value in expected["verdict"].items():
        if key in ("text", "next"):
            continue
        got = getattr(found, key)
        if isinstance(value, dict):
            assert got["group"] == value["group"]
            got, value = got["risk"], value["risk"]
        assert got == (pytest.approx(value, abs=1e-9) if isinstance(value, float) else value), key
    assert str(report).endswith(str(found))
    assert str(found).split("\n")[:2] == expected["verdict"]["text"][:2]
    again = gdro.metrics.verdict(model, None, *rows, sensitive_features=later[["site"]])
    assert again == found
    # It is kept when the model is saved again, and gone when it is fitted anew.
    gdro.save(model, tmp_path / "again")
    kept = json.loads((tmp_path / "again" / "model.json").read_text())["baseline"]
    assert kept == json.loads((out / "model.json").read_text())["baseline"]
    estimator = model.steps[-1][1]
    X = model.steps[0][1].transform(later)
    here = {"sensitive_features": later["site"]}
    estimator.fit(X, later["ill"], **here)
    with pytest.raises(ValueError, match="erm=None: the estimator was not loaded"):
        gdro.metrics.verdict(estimator, None, X, later["ill"], **here)
    assert gdro.metrics.evaluate(estimator, X, later["ill"], **here).verdict is None


def test_a_loaded_model_that_is_ordinary_training_is_the_same_as_itself(tmp_path, table):
    columns = ["age", "town", "ill", "site"]
    table[columns][:300].to_csv(tmp_path / "t.csv", index=False)
    later = table[columns][300:]
    fit = "--target ill --groups site --objective average --quiet --out"
    run("fit", tmp_path / "t.csv", *fit.split(), tmp_path / "run")
    saved = json.loads((tmp_path / "run" / "model.json").read_text())
    assert saved["baseline"]["weights"] == saved["weights"]
    saved["baseline"]["weights"][0] += 1e-6  # as an earlier version wrote it
    (tmp_path / "old.json").write_text(json.dumps(saved))
    for path in ("run", "old.json"):
        model = gdro.load(tmp_path / path)
        # Nearly the same numbers, as from another order of sums.
        other = gdro.load(tmp_path / path)
        other.steps[-1][1].coef_ *= 1 + 1e-14
        rows = (later, later["ill"])
        here = {"sensitive_features": later[["site"]]}
        for found in (
            gdro.metrics.evaluate(model, *rows, **here).verdict,
            gdro.metrics.verdict(model, None, *rows, **here),
            gdro.metrics.verdict(model, other, *rows, **here),
        ):
            assert "the model is ordinary training itself" in str(found)
            assert (found.low, found.difference, found.high, found.average_cost) == (0, 0, 0, 0)
            assert found.model == found.erm


def test_whole_numbers_are_labels_of_a_loaded_model_whose_texts_they_are(tmp_path, table):
    frame = table[["age", "site"]].assign(ill=(table["ill"] == "yes").astype(int))
    frame.to_csv(tmp_path / "t.csv", index=False)
    fit = "--target ill --groups site --objective max --quiet --out"
    run("fit", tmp_path / "t.csv", *fit.split(), tmp_path / "run")
    model = gdro.load(tmp_path / "run")
    here = {"sensitive_features": frame[["site"]]}
    expected = gdro.metrics.evaluate(model, frame, frame["ill"].astype(str), **here)
    found = gdro.metrics.evaluate(model, frame, frame["ill"], **here)
    assert found.clipped_risk == expected.clipped_risk and found.accuracy == expected.accuracy
    scorer = gdro.metrics.worst_group_risk_scorer
    assert scorer(model, frame, frame["ill"], **here) == scorer(model, frame, frame["ill"].astype(str), **here)
    assert model.score(frame, frame["ill"]) == model.score(frame, frame["ill"].astype(str)) > 0.5
    with pytest.raises(ValueError, match=r"y_true holds . and y_pred '.'.*, such as y_true.astype\(str\)"):
        gdro.metrics.worst_group_accuracy_scorer(model, frame, frame["ill"], **here)
    for other in (frame["ill"] + 1, frame["ill"].astype(float)):
        with pytest.raises(ValueError, match=r"no class of \['0', '1'\], which are texts: see y.astype\(str\)"):
            gdro.metrics.evaluate(model, frame, other, **here)



@pytest.fixture(scope="module")
def holes():
    """Numbers with holes and texts, of two groups."""
    rng = np.random.default_rng(7)
    n = 300
    frame = pd.DataFrame(
        {
            "age": rng.exponential(20, n) + 20,
            "pay": rng.lognormal(3, 1, n),
            "town": rng.choice(["Bonn", "Ulm", "Ulm"], n),
        }
    )
    y = np.where(frame["age"] / 20 - frame["pay"] / 30 + rng.logistic(size=n) > 0.5, "yes", "no")
    frame.loc[rng.random(n) < 0.2, "age"] = np.nan
    frame.loc[rng.random(n) < 0.3, "pay"] = np.nan
    return frame, y, rng.choice(["a", "b"], n)


#: What may stand before an estimator: imputers before and after scalers, within and outside of others.
BEFORE = {
    "median": lambda: [SimpleImputer(strategy="median"), StandardScaler()],
    "constant": lambda: [SimpleImputer(strategy="constant", fill_value=-7.0), MinMaxScaler()],
    "after": lambda: [RobustScaler(), SimpleImputer(strategy="most_frequent"), StandardScaler()],
    "mean": lambda: [make_pipeline(SimpleImputer(), StandardScaler())],
    "parts": lambda: [
        ColumnTransformer(
            [
                ("median", make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), ["pay"]),
                ("town", OneHotEncoder(sparse_output=False), ["town"]),
            ],
            remainder=make_pipeline(StandardScaler(), SimpleImputer(strategy="constant", fill_value=2.0)),
        ),
        "passthrough",
    ],
    "twice": lambda: [
        ColumnTransformer([("n", SimpleImputer(strategy="median"), ["pay", "age"])]),
        ColumnTransformer([("second", StandardScaler(), [1]), ("first", "passthrough", [0])]),
    ],
}


@pytest.mark.parametrize("name", BEFORE)
@pytest.mark.parametrize("classes", [2, 3, None])
def test_longer_pipelines_with_imputers(tmp_path, holes, name, classes):
    frame, y, groups = holes
    frame = frame if name in ("parts", "twice") else frame[["age", "pay"]]
    if classes == 3:
        y = np.where(np.arange(len(y)) % 5 == 0, "maybe", y)
    estimator = GroupDRORegressor(l2=0.01) if classes is None else GroupDROClassifier(l2=0.01)
    target = (y == "yes") * 3.0 if classes is None else y
    *before, last = BEFORE[name]() + [estimator]
    pipeline = make_pipeline(*before, last)
    key = f"{pipeline.steps[-1][0]}__sensitive_features"
    pipeline.fit(frame, target, **{key: groups})

    def answers(model, rows):
        return model.predict(rows) if classes is None else model.predict_proba(rows)

    expected = answers(pipeline, frame)
    gdro.save(pipeline, tmp_path / "run")
    assert_allclose(answers(gdro.load(tmp_path / "run"), frame), expected, atol=1e-12)
    # The program agrees, and so does any runtime of ONNX.
    frame.to_csv(tmp_path / "t.csv", index=False)
    lines = list(csv.reader(io.StringIO(run("predict", tmp_path / "run", tmp_path / "t.csv"))))[1:]
    numbers = np.array([[float(v) for v in (line if classes is None else line[1:])] for line in lines])
    shown = expected[:, None] if classes is None else expected[:, 1:] if classes == 2 else expected
    assert_allclose(numbers, shown, atol=1e-12)
    session = pytest.importorskip("onnxruntime").InferenceSession(gdro.to_onnx(pipeline))
    feed = {
        i.name: frame[[i.name]].to_numpy(dtype=object if i.name == "town" else float)
        for i in session.get_inputs()
    }
    found = session.run(None, feed)
    assert_allclose(np.squeeze(found[0]) if classes is None else found[1], expected, atol=1e-9)


def test_imputers_need_an_intercept(tmp_path, holes):
    frame, y, _ = holes
    steps = SimpleImputer(strategy="median"), StandardScaler()
    for arguments in ({"fit_intercept": False}, {"penalize_intercept": True}):
        model = make_pipeline(*steps, GroupDROClassifier(**arguments)).fit(frame[["age", "pay"]], y)
        with pytest.raises(ValueError, match="expected fit_intercept=True"):
            gdro.save(model, tmp_path)
    model = make_pipeline(OneHotEncoder(sparse_output=False), StandardScaler(), GroupDROClassifier())
    with pytest.raises(ValueError, match="StandardScaler after OneHotEncoder"):
        gdro.save(model.fit(frame[["town"]], y), tmp_path)
    model = make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(), GroupDROClassifier())
    with pytest.raises(ValueError, match="SimpleImputer of texts, such as column 'town'"):
        gdro.save(model.fit(frame[["town"]], y), tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_model_that_is_not_of_its_run_is_refused(tmp_path):
    model = GroupDRORegressor().fit(np.eye(5), np.arange(5.0))
    gdro.save(model, tmp_path)
    file = tmp_path / "model.json"
    content = file.read_bytes()
    entry = {"bytes": len(content), "crc32": f"{zlib.crc32(content):08x}"}
    run = {"format": 1, "gdro": "0.1.0", "id": "1", "files": {"model.json": entry}}
    (tmp_path / "manifest.json").write_text(json.dumps(run))
    assert_allclose(gdro.load(tmp_path).coef_, model.coef_)
    with pytest.raises(ValueError, match="it belongs to a run of gdro: name another file"):
        gdro.save(model, tmp_path)
    assert file.read_bytes() == content
    file.write_bytes(content + b" ")
    with pytest.raises(ValueError, match="files of several runs are mixed"):
        gdro.load(tmp_path)
    gdro.load(file.rename(tmp_path / "alone.json"))


@pytest.mark.parametrize("kind", [lambda t: t, pl.from_pandas, pa.Table.from_pandas], ids=["pandas", "polars", "arrow"])
def test_what_means_a_missing_cell_in_the_program_means_it_in_python(tmp_path, table, kind):
    frame = table.assign(age=table["age"].where(np.arange(len(table)) % 7 > 0, 0.0), pay=table["pay"].fillna(-999))
    frame.loc[::5, "town"] = "?"
    frame.to_csv(tmp_path / "table.csv", index=False)
    run(
        "fit", tmp_path / "table.csv", "--target", "ill", "--groups", "site", "--out", tmp_path / "run",
        "--ignore", "kind,size", "--missing", "mean", "--missing", "town=own-category", "--na", "age=0,pay=-999,?", "--quiet",
    )
    labels, numbers = predictions(tmp_path, tmp_path / "run")
    gdro.save(gdro.load(tmp_path / "run"), tmp_path / "again")
    for path in ("run", "again"):
        model = gdro.load(tmp_path / path)
        assert model[0].na == ("age=0", "pay=-999", "?")
        assert model.predict(kind(frame)).tolist() == labels
        assert_allclose(model.predict_proba(kind(frame))[:, 1:], numbers, atol=1e-12)
        # Where a text means it, the numbers beside it are texts, too.
        marked = frame.assign(age=frame["age"].astype(str).replace("0.0", "?"))
        assert model.predict(kind(marked)).tolist() == labels
        with pytest.raises(ValueError, match="column 'age': expected numbers"):
            model.predict(kind(marked.replace({"age": {"?": "old"}})))
    # They are not what stands there.
    plain = gdro.TableEncoder(model[0].encoding)
    with pytest.warns(UserWarning, match="never saw"):
        assert abs(plain.transform(frame) - model[0].transform(frame)).max() > 1


@pytest.mark.parametrize("spell", [str.lower, str, str.upper], ids=["true", "True", "TRUE"])
def test_booleans_are_the_texts_of_the_training(tmp_path, table, spell):
    rng = np.random.default_rng(4)
    member = rng.random(len(table)) < 0.4
    ill = np.where(member ^ (rng.random(len(table)) < 0.2), "yes", "no")
    frame = table[["age", "site"]].assign(member=[spell(str(bool(m))) for m in member], ill=ill)
    frame.to_csv(tmp_path / "table.csv", index=False)
    run(
        "fit", tmp_path / "table.csv", "--target", "ill", "--groups", "site", "--objective", "max",
        "--out", tmp_path / "run", "--quiet",
    )
    labels, numbers = predictions(tmp_path, tmp_path / "run")
    again = pd.read_csv(tmp_path / "table.csv")
    assert again["member"].dtype == bool
    model = gdro.load(tmp_path / "run")
    tables = [frame, again, again.astype({"member": object}), pl.from_pandas(again), pa.Table.from_pandas(again)]
    for given in tables:
        assert model.predict(given).tolist() == labels
        assert_allclose(model.predict_proba(given)[:, 1:], numbers, atol=1e-12)


def test_dates_are_days(tmp_path, table):
    rng = np.random.default_rng(5)
    days = pd.Timestamp("2019-03-01") + pd.to_timedelta(rng.integers(0, 1000 * 24, len(table)), unit="h")
    ill = np.where(days < pd.Timestamp("2020-06-01"), table["ill"], "no")
    frame = table[["age", "site"]].assign(day=days.strftime("%Y-%m-%d %H:%M:%S"), ill=ill)
    frame.to_csv(tmp_path / "table.csv", index=False)
    run(
        "fit", tmp_path / "table.csv", "--target", "ill", "--groups", "site", "--objective", "max",
        "--date", "day", "--out", tmp_path / "run", "--quiet",
    )
    labels, numbers = predictions(tmp_path, tmp_path / "run")
    model = gdro.load(tmp_path / "run")
    again = pd.read_csv(tmp_path / "table.csv", parse_dates=["day"])
    tables = [again.astype({"day": f"datetime64[{unit}]"}) for unit in ("s", "ms", "us", "ns")]
    for given in [*tables, pl.from_pandas(again), pa.Table.from_pandas(again)]:
        assert model.predict(given).tolist() == labels
        assert_allclose(model.predict_proba(given)[:, 1:], numbers, atol=1e-9)
    for given in (frame, again.assign(day=again["day"].dt.tz_localize("UTC"))):
        with pytest.raises(ValueError, match="column 'day': expected numbers, or dates as datetime64"):
            model.predict(given)

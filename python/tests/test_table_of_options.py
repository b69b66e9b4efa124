"""Program and package are one: the whole table of options, each alone and in pairs."""

import inspect
import json
import os
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest

import gdro
from gdro import GroupDROClassifier, _gdro

PROGRAM = os.environ.get("GDRO_PROGRAM")

#: Headings of options that are about tables, which arrays have no use for.
OF_TABLES = ("Choice", "Table", "Tables larger than memory", "Output")

PLAYS = {"rounds": 60, "step-w": 1.0, "step-q": 0.5}

#: A value of each option that arrays have, and the options that it needs beside it.
VALUES = {
    "objective": ("tilted:0.1:groups", {}),
    "offsets": ({"a": 0.1, "b": 0.0, "c": -0.2}, {}),
    "adjustment": (0.3, {}),
    "scales": ({"a": 1.0, "b": 2.0, "c": 0.5}, {}),
    "loss": ("smoothed-hinge:0.5", {}),
    "ball": (1.5, {}),
    "domain": ("l1:1", {}),
    "l2": (0.02, {}),
    "no-intercept": (True, {}),
    "penalize-intercept": (True, {}),
    "solver": ("online-1", PLAYS),
    "tol": (0.3, {}),
    "max-iter": (7, {}),
    "anytime": (True, {"solver": "smd-m", **PLAYS}),
    "rounds": (50, {"solver": "smd-m"}),
    "step-w": (0.7, {"solver": "smd-m", "rounds": 60}),
    "step-q": (0.7, {"solver": "smd-m", "rounds": 60}),
    "average": ("last", {"solver": "smd-m", **PLAYS}),
    "loss-range": (3.0, {"solver": "online-1", **PLAYS}),
    "nbar": (20, {"solver": "hybrid", "budget": "all", "step-w": 1.0, "step-q": 1.0}),
    "queries": ([1, 2], {"solver": "flexible", **PLAYS}),
    "kept": (5, {"solver": "eliminate", **PLAYS}),
    "subsets": ("systematic", {"solver": "atkro-k", "objective": "top-k:2", **PLAYS}),
    "budget": ({"a": 30, "b": 20, "c": 10}, {"solver": "smd-r", "step-w": 1.0, "step-q": 1.0}),
    "seed": (7, {"solver": "smd-m", **PLAYS}),
    "delta": (0.2, {"solver": "eliminate", **PLAYS}),
}

#: Arguments that no option has.
OWN = {"k", "threads", "verbose", "n_jobs", "class_weight", "warm_start", "checkpoint"}

#: Arguments about a column of the rows: test_clusters.py compares them with the program.
OF_COLUMNS = {"weight_kind"}


def in_python():
    """The names of the options in Python, with those on the command line."""
    return {name: (key, heading) for name, key, heading in _gdro.options()}


def test_every_argument_is_an_option_and_every_option_is_tested():
    arguments = set(inspect.signature(GroupDROClassifier.__init__).parameters) - {"self"} - OWN
    assert arguments <= set(in_python()) and OF_COLUMNS <= arguments
    arguments -= OF_COLUMNS
    of_rows = {key for key, heading in in_python().values() if heading not in OF_TABLES}
    assert of_rows | {"delta"} == set(VALUES)
    assert arguments == {name for name, (key, _) in in_python().items() if key in VALUES}


@pytest.fixture(scope="module")
def rows():
    """Rows of three groups, the largest first, as the program orders them."""
    rng = np.random.default_rng(5)
    sizes = {"a": 40, "b": 30, "c": 20}
    site = np.repeat(list(sizes), list(sizes.values()))
    X = rng.normal(size=(len(site), 2)).round(3)
    slope = np.where(site == "c", -1.0, 1.5)
    y = (slope * X[:, 0] - 0.3 * X[:, 1] + rng.logistic(size=len(site)) > 0).astype(int)
    return X, y, site


@pytest.fixture(scope="module")
def table(rows, tmp_path_factory):
    X, y, site = rows
    path = tmp_path_factory.mktemp("table") / "rows.csv"
    pd.DataFrame(X, columns=["x0", "x1"]).assign(y=y, group=site).to_csv(path, index=False)
    return path


def of_python(rows, options, folder):
    """The record of the package, or what it refuses with."""
    X, y, site = rows
    names = {key: name for name, (key, _) in in_python().items()}
    arguments = {names[key]: value for key, value in options.items()}
    if "fit_intercept" in arguments:
        arguments["fit_intercept"] = False
    arguments = {"solver": "exact", "random_state": 0} | arguments
    model = GroupDROClassifier(**arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a model that is far from the optimum
            model.fit(X, y, sensitive_features=site)
    except ValueError as error:
        return str(error)
    gdro.save(model, folder / "python")
    return json.loads((folder / "python" / "model.json").read_text())


def of_program(table, options, folder):
    """The record of the program, or what it refuses with."""
    job = {
        "tables": [str(table)],
        "target": "y",
        "positive": "1",
        "groups": ["group"],
        "group-features": "drop",
        "scaling": "none",
        "holdout": 0.0,
        "objective": "max",
        "solver": "exact",
        **options,
    }
    # What JSON writes of these values is TOML, but for objects.
    lines = [f"{key} = {_toml(value)}" for key, value in job.items()]
    (folder / "job.toml").write_text("\n".join(lines), encoding="utf-8")
    done = subprocess.run(
        [PROGRAM, "fit", folder / "job.toml", "--out", folder / "program", "--quiet"],
        capture_output=True, text=True,
    )
    if done.returncode == 2:
        return done.stderr
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "program" / "model.json").read_text())


def _toml(value):
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(v)}" for key, v in value.items()) + "}"
    return json.dumps(value)


def alike(rows, table, options, folder):
    """Compares both; whether they accept the options."""
    theirs = of_program(table, options, folder)
    ours = of_python(rows, options, folder)
    if isinstance(theirs, str) or isinstance(ours, str):
        assert isinstance(theirs, str) and isinstance(ours, str), (options, theirs, ours)
        return False
    for part in ("weights", "intercepts", "group-weights", "certificate", "loss", "cap"):
        assert ours[part] == theirs[part], (options, part)
    assert ours["job"]["training"] == theirs["job"]["training"], options
    for part in ("encoding", "grouping", "target"):
        assert ours[part] == theirs[part], (options, part)
    return True


def merged(first, second):
    """The options of two entries together, or ``None`` where they need different things."""
    found = {}
    for name in (first, second):
        value, needs = VALUES[name]
        for key, wanted in {**needs, name: value}.items():
            if key in (first, second):
                wanted = VALUES[key][0]
            if found.setdefault(key, wanted) != wanted:
                return None
    return found


pytestmark = pytest.mark.skipif(PROGRAM is None, reason="GDRO_PROGRAM names no program")


@pytest.mark.parametrize("name", VALUES)
def test_each_option_alone(rows, table, name, tmp_path):
    value, needs = VALUES[name]
    assert alike(rows, table, {**needs, name: value}, tmp_path), f"{name} is refused"


@pytest.mark.parametrize("first", VALUES)
def test_pairs_of_options(rows, table, first, tmp_path):
    names = list(VALUES)
    pairs = [(first, second) for second in names[names.index(first) + 1 :]]
    options = [merged(*pair) for pair in pairs]
    for chosen in filter(None, options):
        alike(rows, table, chosen, tmp_path)


def test_what_python_saves_the_program_certifies(rows, table, tmp_path):
    """The record says what was run: the certificate is computed again from it and the table."""
    for name, (value, needs) in VALUES.items():
        made = of_python(rows, {**needs, name: value}, tmp_path)
        done = subprocess.run(
            [PROGRAM, "certify", tmp_path / "python", table, "--json"],
            capture_output=True, text=True,
        )
        assert done.returncode == 0, (name, done.stderr)
        found = json.loads(done.stdout)
        for bound in ("upper", "lower", "gap"):
            assert found[bound] == pytest.approx(made["certificate"][bound], abs=1e-12), name

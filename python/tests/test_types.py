"""The types that checkers read: complete, and those of the run time."""

import inspect
import re
import subprocess
import sys
import textwrap
from types import UnionType
from typing import Literal, Union, get_args, get_origin

import pytest

import gdro
from gdro import _gdro, _types, metrics, plot

def public():
    for module in (gdro, metrics, plot):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isclass(thing):
                if thing.__init__ is not object.__init__:
                    yield f"{name}.__init__", thing.__init__
                for part, value in vars(thing).items():
                    if inspect.isfunction(value) and not part.startswith("_"):
                        yield f"{name}.{part}", value
            elif inspect.isfunction(thing):
                yield name, thing


@pytest.mark.parametrize("name, function", list(public()), ids=lambda v: v if isinstance(v, str) else "")
def test_everything_public_has_types(name, function):
    signature = inspect.signature(function)
    for parameter in signature.parameters.values():
        if parameter.name != "self":
            assert parameter.annotation is not parameter.empty, f"{name}: {parameter.name}"
    assert signature.return_annotation is not signature.empty, name


def test_the_stubs_are_what_is_compiled(tmp_path):
    pytest.importorskip("mypy")
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "gdro._gdro"],
        capture_output=True, text=True, cwd=tmp_path,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def names_of(alias):
    """The names that an alias of Literals allows, without the numbers that some need."""
    if get_origin(alias) is Literal:
        return set(get_args(alias))
    if get_origin(alias) in (tuple, Union, UnionType):
        return set().union(*map(names_of, get_args(alias)))
    return set()


def listed(option):
    """The names that the options of the program list where they refuse one."""
    with pytest.raises(ValueError) as caught:
        _gdro.check({option: "none", **({} if option == "solver" else {"solver": "smd-m"})})
    text = re.sub(r"\(.*?\)|:\w+|\[.*?\]", "", str(caught.value).rpartition("expected ")[2])
    return {name.strip() for name in re.split(r", | or ", text.removeprefix("one of "))}


def test_the_names_are_those_of_the_options():
    assert names_of(_types.Objective) == listed("objective")
    assert names_of(_types.SolverName) == listed("solver")
    assert names_of(_types.Loss) == listed("loss")
    assert names_of(_types.Average) == listed("average")
    for name in names_of(_types.Loss) - {"quantile"}:
        _gdro.targets_of(name)  # is one without a number
    with_numbers = names_of(get_args(_types.Loss)[-1])
    for name in names_of(_types.Loss):
        if name in with_numbers:
            _gdro.targets_of(f"{name}:0.5")
        else:
            with pytest.raises(ValueError, match="takes no number"):
                _gdro.targets_of(f"{name}:0.5")
    assert names_of(_types.Algorithm) == listed("solver") - {"auto", "exact"}


def checked(tmp_path, code):
    (tmp_path / "user.py").write_text(textwrap.dedent(code))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports",
         "--disable-error-code=no-untyped-call", str(tmp_path / "user.py")],
        capture_output=True, text=True, cwd=tmp_path,
    )
    return done.stdout + done.stderr


def test_a_checker_follows_a_program(tmp_path):
    pytest.importorskip("mypy")
    found = checked(
        tmp_path,
        """
        import numpy as np
        import gdro
        from gdro import GroupDROClassifier, GroupDRORegressor, GroupWeights, Solver, metrics, plot

        X, y, g = np.zeros((4, 2)), ["a", "b", "a", "b"], np.array([0, 0, 1, 1])
        model = GroupDROClassifier(objective="top-k", k=1.5, offsets={"0": 0.1, "1": 0.2})
        model.fit(X, y, sensitive_features=[g, g], sample_weight=[1.0, 2.0, 1.0, 1.0])
        upper: float = model.certificate_.upper
        numbers: list[int] = model.trace_["round"].tolist()
        report = metrics.evaluate(model, X, y, sensitive_features=g)
        low: float = report.worst_risk.low
        plot.group_risks({"one": report}, column="accuracy")
        slope: float = GroupDRORegressor(l2=1e-2).fit(X, g).intercept_
        player = GroupWeights(["a", "b"], rule="exp3-ix", rounds=10)
        player.update({"a": 0.1})
        solver = Solver("online-1", X, y, sensitive_features=g, rounds=100)
        GroupDRORegressor(loss=("huber", 0.5), threads=-1, random_state=np.random.default_rng(0))
        model.fit(X, y, sensitive_features={"site": g, "sex": y})
        metrics.group_risks(y, X, sensitive_features={"site": g}, loss="log")
        player = GroupWeights(2, step=0.1, absent="importance", presence=[1.0, 0.5], random_state=None)
        played: int = solver.advance(10)
        gdro.save(model, "model.json")
        content: bytes = gdro.to_onnx(model)
        """,
    )
    assert found.startswith("Success"), found
    found = checked(
        tmp_path,
        """
        from gdro import GroupDROClassifier, GroupWeights, Solver, metrics

        GroupDROClassifier(l2="much")
        GroupDROClassifier(average="mean")
        GroupWeights(["a"], rule="exp4", rounds=10)
        Solver("online-1", rounds="many")
        text: str = GroupDROClassifier().certificate_.gap
        GroupDROClassifier().fit([[1.0]])
        GroupDROClassifier(objective="worst")
        GroupDROClassifier(loss="logisitc")
        GroupDROClassifier(loss=("hubr", 0.5))
        GroupDROClassifier(solver="smd_m")
        Solver("exact")
        GroupWeights(["a"], rounds=10, absent="zero")
        metrics.group_risks([0], [0.5], sensitive_features=None, loss="brier")
        """,
    )
    lines = [f"user.py:{line}: error" for line in range(4, 17)]
    assert all(line in found for line in lines), found

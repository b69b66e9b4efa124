"""The README, the docstrings and the examples run and show what they say."""

import doctest
import importlib
import importlib.util
import re
from pathlib import Path

import pytest
import sklearn

import gdro

PYTHON = Path(__file__).resolve().parents[1]


def test_the_readme_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (PYTHON / "README.md").read_text(), re.DOTALL)
    assert len(blocks) >= 3
    names = {}
    with sklearn.config_context():
        for block in blocks:
            exec(compile(block, "README.md", "exec"), names)
    shown = capsys.readouterr().out
    assert "worst: " in shown and "l2" in shown
    assert names["robust"].group_risks_.max() < 0.9
    assert names["ordinary"].certificate_.gap < 1e-9


@pytest.mark.parametrize("module", ["_estimators", "_player", "_solver", "_model", "metrics"])
def test_the_examples_of_docstrings_run(module):
    failed, tried = doctest.testmod(importlib.import_module(f"gdro.{module}"))
    assert failed == 0
    assert tried > 0 or module not in ("_estimators", "_player")


def example(name):
    spec = importlib.util.spec_from_file_location(name, PYTHON / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_mixture_helps_the_domain_that_is_furthest(capsys):
    weights, excess, plain = example("data_mixture").main()
    assert weights.argmax() == plain.argmax() == 2
    assert excess.max() < 0.9 * plain.max()
    assert "poems" in capsys.readouterr().out


def test_a_network_does_well_on_the_small_group():
    pytest.importorskip("torch")
    found, player = example("torch_network").main()
    assert found["robust"]["few"] > found["ordinary"]["few"] + 0.15
    assert min(found["robust"].values()) > 0.8
    assert player.weights[1] > 0.2


def test_everything_public_is_documented():
    for name in gdro.__all__:
        thing = getattr(gdro, name)
        assert name.startswith("__") or thing.__doc__, name
        if not isinstance(thing, type):
            continue
        for part, value in vars(thing).items():
            if callable(value) and not part.startswith("_"):
                assert value.__doc__ or part in ("fit_transform",), f"{name}.{part}"


def test_names_that_are_none():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        gdro.nothing

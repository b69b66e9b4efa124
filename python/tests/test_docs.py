"""The README, the docstrings and the examples run and show what they say."""

import doctest
import importlib.util
import inspect
import itertools
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


def test_the_first_page_runs(capsys):
    blocks = re.findall(r"```python\n(.*?)```", (PYTHON.parent / "README.md").read_text(), re.DOTALL)
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert capsys.readouterr().out.startswith("HELPED: ")
    assert names["model"][:-1].get_feature_names_out().size == names["model"][-1].n_features_in_


def test_the_page_of_the_package_has_links_that_work_anywhere():
    text = (PYTHON / "README.md").read_text()
    assert all(link.startswith("https://") for link in re.findall(r"\]\(([^)]*)\)", text))


def functions():
    """Everything public that can be called, by name, and the classes."""
    for module in (gdro, gdro.metrics, gdro.plot):
        for name in module.__all__:
            thing = getattr(module, name)
            if not name.startswith("__") and callable(thing):
                yield f"{module.__name__}.{name}", thing


def methods():
    for name, thing in functions():
        if isinstance(thing, type):
            for part in dir(thing):
                value = getattr(thing, part, None)
                if callable(value) and not part.startswith("_") and (getattr(value, "__module__", "") or "").startswith("gdro"):
                    yield f"{name}.{part}", value


def sections(thing):
    """The sections of a docstring: its title, and the lines below it."""
    found, title = {}, "Summary"
    lines = inspect.cleandoc(thing.__doc__).split("\n") + [""]
    for line, below in itertools.pairwise(lines):
        if below and set(below) == {"-"} and len(below) == len(line):
            title = line
        elif not (line and set(line) == {"-"}):
            found.setdefault(title, []).append(line)
    return found


def described(lines):
    """The names that the lines of a section begin with, each with a line below it that says what it is."""
    for line, below in itertools.pairwise([*lines, ""]):
        if line and not line.startswith(" "):
            names = line.partition(" : ")[0]
            assert below.startswith("    ") or "ignored" in line, line
            yield from (name.strip() for name in names.split(","))


def parameters(function):
    function = function.__init__ if isinstance(function, type) else function
    if not inspect.isfunction(function) and not inspect.ismethod(function):
        function = type(function).__call__
    return [name for name in inspect.signature(function).parameters if name != "self"]


#: What users do not make themselves: described by attributes.
GIVEN = {"Certificate", "Example", "GroupReport", "Interval", "Verdict"}


@pytest.mark.parametrize("name, thing", [*functions(), *methods()], ids=lambda v: v if isinstance(v, str) else "")
def test_everything_public_has_a_docstring_of_every_section(name, thing):
    found = sections(thing)
    assert found["Summary"][0].endswith("."), name
    if name.rpartition(".")[2] in GIVEN:
        wanted = {"Attributes": [f for f in vars(thing)["__annotations__"] if not f.startswith("_")]}
    elif parameters(thing):
        wanted = {"Parameters": parameters(thing)}
    else:
        wanted = {}
    for title, names in wanted.items():
        said = list(described(found[title]))
        assert sorted(said) == sorted(names) or (title == "Attributes" and set(names) <= set(said)), name
    is_class, is_method = isinstance(thing, type), name not in dict(functions())
    if not is_class and inspect.signature(thing).return_annotation not in (None, "None"):
        assert "Returns" in found, name
    if wanted and "ignored" not in thing.__doc__ and name.rpartition(".")[2] not in GIVEN:
        assert "Raises" in found, name
    assert is_method or any(line.startswith(">>> ") for line in found["Examples"]), name


@pytest.mark.parametrize("name, thing", list(functions()), ids=lambda v: v if isinstance(v, str) else "")
def test_the_examples_of_docstrings_run(name, thing):
    parts = doctest.DocTestParser().get_doctest(thing.__doc__, {}, name, None, None)
    assert parts.examples
    with sklearn.config_context():
        assert doctest.DocTestRunner().run(parts).failed == 0


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


def test_names_that_are_none():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        gdro.nothing

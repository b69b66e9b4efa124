"""Writes gdro/_gdro.pyi, the types of what is compiled, anew: python stubs.py, in python/.

It needs maturin, and builds the package. Types that Rust does not know, such as those of arrays, are
written as names of gdro/_types.py in the signatures; maturin leaves them as texts.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHON = Path(__file__).resolve().parent

HEADER = '''"""The compiled half of `gdro`; its names may change at any time. Made by stubs.py."""

'''


def generated(folder):
    """What maturin writes, of a library whose symbols were not stripped."""
    project = PYTHON / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    try:
        project.write_text(text.replace("strip = true\n", ""), encoding="utf-8")
        command = ["maturin", "generate-stubs", "--features", "stubs", "--out", str(folder)]
        subprocess.run(command, cwd=PYTHON, check=True)
    finally:
        project.write_text(text, encoding="utf-8")
    return next(Path(folder).rglob("_gdro.pyi")).read_text(encoding="utf-8")


def finished(text):
    """Types in the place of texts, with their imports."""
    text = re.sub(r'(: |-> )"([^"\n]+)"', r"\1\2", text)
    if "Incomplete" in text.partition("__all__")[2]:
        sys.exit("a type is unknown: give it in the signature, in src/")
    names = set(re.findall(r"^(\w+): TypeAlias", (PYTHON / "gdro/_types.py").read_text(), re.M))
    used = sorted(n for n in names if re.search(rf"\b{n}\b", text))
    text = re.sub(r'^""".*?"""\n', "", text, flags=re.DOTALL).lstrip()
    text = re.sub(r"^from _typeshed import .*\n", "", text, flags=re.M)
    typing = sorted(set(re.findall(r"\b(?:Any|Final|final|SupportsIndex|SupportsFloat)\b", text)))
    text = re.sub(r"^from typing import .*\n", "", text, flags=re.M).lstrip()
    imports = "from collections.abc import Sequence\n"
    imports += f"from typing import {', '.join(typing)}\n\n"
    imports += "import numpy as np\nfrom numpy.typing import NDArray\n\n"
    imports += f"from ._types import {', '.join(used)}\n\n"
    return HEADER + imports + text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        stubs = finished(generated(folder))
    (PYTHON / "gdro" / "_gdro.pyi").write_text(stubs, encoding="utf-8")

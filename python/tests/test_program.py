"""The command that the package installs is the program: outputs, exit codes, signals and pipes alike."""

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

BINARY = os.environ.get("GDRO_PROGRAM")
COMMAND = [sys.executable, "-m", "gdro"]

pytestmark = pytest.mark.skipif(BINARY is None, reason="GDRO_PROGRAM names no program")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    rng = np.random.default_rng(4)
    n = 600
    x, z = rng.normal(size=(2, n))
    site = rng.choice(["north", "south", "east"], n)
    y = np.where(x + 0.5 * z + rng.logistic(size=n) > 0, "yes", "no")
    path = tmp_path_factory.mktemp("table") / "t.csv"
    lines = [f"{a:.4f},{b:.4f},{s},{t}" for a, b, s, t in zip(x, z, site, y, strict=True)]
    path.write_text("x,z,site,y\n" + "\n".join(lines) + "\n")
    return path


def both(table, tmp_path):
    """A folder for each of the two, with the same table."""
    for name, command in (("binary", [BINARY]), ("command", COMMAND)):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        (folder / "t.csv").write_bytes(table.read_bytes())
        yield command, folder


def without_times(data):
    """Bytes without what a clock says, and in a manifest without the run's own number and the checksums."""
    return re.sub(rb'"seconds[a-z_]*":\s*[-0-9.e]+|\b[0-9.]+ (ms|s)\b|"(id|crc32)": "\w+"|"bytes": \d+', b"", data)


FIT = "fit t.csv --target y --groups site --objective max --l2 1e-3"
JOBS = [
    "",
    "example german_credit && example",
    "inspect t.csv --target y --groups site",
    f"{FIT} --holdout 0.3 --out run",
    f"{FIT} --holdout 0.3 --out run --json",
    f"{FIT} --solver smd-m --rounds 2000 --seed 3 --out run --report page.html",
    "fit t.csv --target y --groups site --objective tilted:0.1 --l2 1e-2 --out run",
    "fit t.csv --target y --groups site --stream --rounds 500 --out run",
    "select t.csv --target y --groups site --grid 1e-3:1:3 --holdout 0.3 --out run",
    f"{FIT} --out run -q && evaluate run/model.json t.csv",
    f"{FIT} --out run -q && predict run/model.json t.csv --out p.csv",
    f"{FIT} --out run -q && certify run/model.json t.csv && show run/model.json",
    f"{FIT} --out run -q && export run/model.json --out m.onnx",
]


@pytest.mark.parametrize("job", JOBS)
def test_outputs_are_the_same_bytes(table, tmp_path, job):
    found = []
    for command, folder in both(table, tmp_path):
        said = []
        for part in job.split(" && "):
            done = subprocess.run([*command, *part.split()], cwd=folder, capture_output=True)
            assert done.returncode == 0, done.stderr.decode()
            said.append(without_times(done.stdout))
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        written = {str(p.relative_to(folder)): without_times(p.read_bytes()) for p in files}
        found.append((said, written))
    assert len(found[0][1]) > 1 or not job or job.startswith("inspect")
    assert found[0] == found[1]


ERRORS = [
    "fit",
    "nonsense",
    "fit nothing.csv --target y --groups site",
    "fit t.csv --target nothing --groups site",
    "fit t.csv --target y --groups nothing",
    "fit t.csv --target y --groups site --top-k 9",
    "fit t.csv --groups site",
    "fit t.csv --target y --groups site --l2 -1",
    "fit t.csv --target y --groups site --l2 many",
    "fit t.csv --target y --groups site --objective best",
    "fit t.csv --target y --groups site --solver magic",
    "fit t.csv --target y --groups site --holdout -1",
    "fit t.csv --target y --groups site --unheard-of",
    "fit t.csv --target y --groups site --ball 0",
    "fit t.csv --target y --groups site --loss squared",
    "evaluate nothing.json t.csv",
    "predict t.csv t.csv",
    "certify t.csv t.csv",
    "show t.csv",
    "export t.csv --out m.onnx",
    "select t.csv --target y --groups site --grid 1:2",
]


@pytest.mark.parametrize("job", ERRORS)
def test_errors_are_the_same_words_and_codes(table, tmp_path, job):
    found = []
    for command, folder in both(table, tmp_path):
        done = subprocess.run([*command, *job.split()], cwd=folder, capture_output=True)
        found.append((done.returncode, done.stdout, done.stderr, sorted(os.listdir(folder))))
    assert found[0] == found[1]
    assert found[0][0] == 2


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_both_alike(table, tmp_path, number):
    found = []
    for command, folder in both(table, tmp_path):
        job = f"{FIT} --solver smd-m --rounds 2000000000 --step-w 1 --step-q 1 --out run".split()
        running = subprocess.Popen([*command, *job], cwd=folder, stderr=subprocess.PIPE)
        time.sleep(3)
        assert running.poll() is None, running.stderr.read()
        running.send_signal(number)
        running.stderr.read()
        found.append((running.wait(60), sorted(os.listdir(folder))))
    assert found[0] == found[1]
    if number == signal.SIGINT:
        assert "run" in found[0][1]


@pytest.mark.skipif(sys.platform == "win32", reason="no such pipes")
def test_nobody_reads(table, tmp_path):
    for command, folder in both(table, tmp_path):
        reader, writer = os.pipe()
        os.close(reader)
        job = f"{FIT} --holdout 0.3".split()
        done = subprocess.run(
            [*command, *job], cwd=folder, stdout=writer, stderr=subprocess.PIPE, timeout=60
        )
        os.close(writer)
        assert done.returncode == 0, done.stderr.decode()


def test_the_program_waits_for_no_package():
    code = (
        "import sys; import gdro.__main__; "
        "print([m for m in ('numpy', 'scipy', 'sklearn') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr

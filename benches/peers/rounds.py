"""Measures rounds of gdro beside scikit-learn's SGDClassifier and PyTorch on the same rows, in one run.

    .venv/bin/python benches/peers/rounds.py [NUMPY_ROUNDS.py]

Builds gdro's benchmark of rounds, measures in turns, and prints a table; README.md says what it holds. Times are those of the processor, so that other
programs count little. The file that may be named is a baseline in plain NumPy: a module with `data()`, `smd_m(groups, rounds)` and
`online_1(groups, rounds)`. Writes nothing but a temporary folder, which it deletes.
"""

import os

# Settings for one machine's BLAS would be a bias.
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)

import importlib.util
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from adult import ROOT, adult
from sklearn.linear_model import SGDClassifier

RUNS = 7
# Rounds of one run, and passes of SGDClassifier over 45,222 rows.
ROUNDS = 1_000_000
PASSES = 20


def build():
    """The benchmark's program."""
    command = "cargo bench -p gdro --no-default-features --bench rounds --no-run --message-format=json"
    done = subprocess.run(command.split(), cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    messages = map(json.loads, done.stdout.splitlines())
    return [m["executable"] for m in messages if m.get("executable")][-1]


def write(path, x, y, groups):
    """The rows as `crates/gdro/benches/adult` reads them."""
    counts = [x.shape[0], x.nnz, x.shape[1], groups.max() + 1]
    with open(path, "wb") as file:
        for values, kind in (
            (counts, "<u8"),
            (x.indptr, "<u8"),
            (x.indices, "<u4"),
            (x.data, "<f8"),
            (y, "<f8"),
            (groups, "<u4"),
        ):
            file.write(np.asarray(values, dtype=kind).tobytes())


def gdro(program, name, path):
    """Nanoseconds per sample of one run of gdro."""
    command = [program, "time", name, str(ROUNDS if name != "smd-m" else ROUNDS // 6), str(path)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def sgd(x, y, average):
    """Nanoseconds per sample of scikit-learn: the same loss and kind of steps, one row at a time."""
    model = SGDClassifier(
        loss="log_loss",
        alpha=1e-4,
        learning_rate="constant",
        eta0=1e-3,
        fit_intercept=False,
        max_iter=PASSES,
        tol=None,
        average=average,
        random_state=0,
    )
    start = time.process_time()
    model.fit(x, y)
    return (time.process_time() - start) * 1e9 / PASSES / len(y)


def pytorch(x, y, groups, rows, steps=2000):
    """Nanoseconds per sample of GroupDRO steps as they are written in PyTorch: so many rows of every group, dense, one thread."""
    import torch

    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    features = torch.from_numpy(x.toarray()).float()
    targets = torch.from_numpy(y).float()
    members = [torch.from_numpy(np.flatnonzero(groups == i)) for i in range(groups.max() + 1)]
    model = torch.nn.Linear(x.shape[1], 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    average = torch.zeros_like(model.weight)
    q = torch.ones(len(members)) / len(members)
    start = time.process_time()
    for _ in range(steps):
        batch = torch.cat([m[torch.randint(len(m), (rows,), generator=generator)] for m in members])
        losses = torch.nn.functional.softplus(-targets[batch] * model(features[batch]).squeeze(1))
        risks = losses.view(len(members), rows).mean(1)
        q = q * torch.exp(1e-3 * risks.detach())
        q = q / q.sum()
        optimizer.zero_grad()
        (q * risks).sum().backward()
        optimizer.step()
        average += model.weight.detach()
    return (time.process_time() - start) * 1e9 / steps / rows / len(members)


def load(path):
    spec = importlib.util.spec_from_file_location("baseline", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numpy_rounds(play, groups, rounds=2000):
    """Nanoseconds per round of the baseline."""
    start = time.process_time()
    play(groups, rounds)
    return (time.process_time() - start) * 1e9 / rounds


def main():
    program = build()
    x, y, groups = adult()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows"
        write(path, x, y, groups)
        works = {
            "gdro, online-1": lambda: gdro(program, "online-1", path),
            "gdro, smd-m": lambda: gdro(program, "smd-m", path),
            "gdro, smd-1": lambda: gdro(program, "smd-1", path),
            "SGDClassifier(average=True)": lambda: sgd(x, y, True),
            "SGDClassifier": lambda: sgd(x, y, False),
        }
        if importlib.util.find_spec("torch"):
            for rows in (1, 32):
                works[f"PyTorch, GroupDRO, {rows} of every group"] = lambda rows=rows: pytorch(x, y, groups, rows)
        else:
            print("PyTorch is not installed: its line is missing.")
        for file in sys.argv[1:]:
            module = load(file)
            dense = module.data()
            works["NumPy, online-1"] = lambda: numpy_rounds(module.online_1, dense)
            works["NumPy, smd-m, per sample"] = lambda: numpy_rounds(module.smd_m, dense) / len(dense)
        times = {name: [] for name in works}
        before = os.getloadavg()[0]
        for turn in range(RUNS + 1):
            for name, work in works.items():
                nanoseconds = work()
                # The first turn warms up.
                if turn > 0:
                    times[name].append(nanoseconds)
    ours = times["gdro, online-1"]
    print("| | ns per sample, median | least to most | time / gdro's online-1 |")
    print("|---|---:|---:|---:|")
    for name, own in times.items():
        ratio = statistics.median(a / b for a, b in zip(own, ours))
        spread = f"{min(own):.0f} to {max(own):.0f}"
        print(f"| {name} | {statistics.median(own):.0f} | {spread} | {ratio:.2f} |")
    print(f"\n{RUNS} turns; load {before:.1f} before, {os.getloadavg()[0]:.1f} after.")


if __name__ == "__main__":
    main()

"""Measures gdro's Python estimator beside the packages dro and fairlearn, and its memory, in one run.

    .venv/bin/pip install ./python -r benches/peers/estimators.txt
    .venv/bin/python benches/peers/estimators.py

Prints the tables of docs/benchmarks.md, and fails when an answer is wrong. README.md says more.
"""

import os
import platform
import resource
import statistics
import subprocess
import sys
import threading
import time
import warnings
from importlib.metadata import version

import numpy as np

RUNS = 5
GROUPS = 6


def rows(n, seed=0):
    """n × 20 normal features, 6 groups with n_i ∝ 2^-i, coefficients that differ by group."""
    rng = np.random.default_rng(seed)
    share = 0.5 ** np.arange(GROUPS)
    g = rng.choice(GROUPS, size=n, p=share / share.sum())
    X = rng.normal(size=(n, 20))
    shared, own = rng.normal(size=20), rng.normal(size=(GROUPS, 20))
    score = (X * (shared + 0.5 * own[g])).sum(axis=1) / 2
    y = np.where(score + rng.logistic(size=n) > 0, 1, -1)
    return X, y, g


def timed(action):
    start = time.perf_counter()
    value = action()
    return time.perf_counter() - start, value


def speed():
    from dro.linear_model import GroupDRO
    from fairlearn.reductions import ErrorRateParity, ExponentiatedGradient
    from sklearn.linear_model import LogisticRegression

    from gdro import GroupDROClassifier

    X, y, g = rows(50_000)

    def ours():
        return GroupDROClassifier(l2=1e-3).fit(X, y, sensitive_features=g)

    def fair():
        model = ExponentiatedGradient(LogisticRegression(), ErrorRateParity())
        return model.fit(X, (y > 0).astype(int), sensitive_features=g)

    few_X, few_y, few_g = rows(20_000)
    with_group = np.column_stack([few_X, few_g])

    def conic():
        model = GroupDRO(input_dim=21, group_idx=20, model_type="logistic")
        return model, model.fit(with_group, few_y)

    ours()
    gdro = []
    for _ in range(RUNS):
        seconds, model = timed(ours)
        gdro.append(seconds)
    assert model.certificate_.relative_gap < 1e-9
    seconds = statistics.median(gdro)
    fairlearn, _ = timed(fair)
    dro, (other, _) = timed(conic)
    seconds_after, _ = timed(ours)
    # The same problem: dro has no penalty and takes the number of the group as a feature.
    same = GroupDROClassifier(l2=1e-9, tol=1e-7).fit(with_group, few_y, sensitive_features=few_g)
    risk = same.group_risks_.max()
    assert abs(risk - other.robust_loss_) < 1e-4, (risk, other.robust_loss_)

    print("| estimator | rows | seconds | times as long |")
    print("|---|---|---|---|")
    print(f"| `GroupDROClassifier`, certified to 1e-9 | 50,000 | {seconds:.3f} | 1 |")
    print(f"| dro {version('dro')}, `GroupDRO` | 20,000 | {dro:.1f} | {dro / seconds:.0f} |")
    print(
        f"| fairlearn {version('fairlearn')}, `ExponentiatedGradient` | 50,000 | {fairlearn:.1f} "
        f"| {fairlearn / seconds:.0f} |"
    )
    print(f"\ngdro: {min(gdro):.3f} to {max(gdro):.3f} s, {seconds_after:.3f} s at the end")
    assert dro > 20 * seconds and fairlearn > 20 * seconds


MEMORY = """
import resource, sys
import numpy as np
import gdro, sklearn.utils.validation
unit = 1 if sys.platform == "darwin" else 1024
rng = np.random.default_rng(0)
n, d = 1_000_000, 50
warm = rng.normal(size=(200, 3))
gdro.GroupDROClassifier().fit(warm, warm[:, 0] > 0, sensitive_features=warm[:, 1] > 0)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
X = np.empty((n, d))
for row in range(0, n, 1000):
    X[row : row + 1000] = rng.normal(size=(1000, d))
y = (X[:, 0] > rng.logistic(size=n)).astype(np.int8)
g = (X[:, 1] > 0).astype(np.int8)
made = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
model = gdro.GroupDROClassifier(l2=1e-3).fit(X, y, sensitive_features=g)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
print(before, made, peak, X.nbytes)
"""


def memory():
    out = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    before, made, peak, array = map(int, out.stdout.split())
    ratio = (peak - before) / array
    print(f"Memory: array {array / 2**20:.0f} MiB, peak of the process {peak / 2**20:.0f} MiB, of")
    print(f"which {before / 2**20:.0f} MiB before the array: {ratio:.2f} times the array,")
    print(f"{peak / array:.2f} times with Python itself.\n")
    return ratio


def overlap():
    """Two fits in two threads, each with one thread of its own, beside one after the other."""
    from gdro import GroupDROClassifier

    X, y, g = rows(200_000)
    fit = lambda: GroupDROClassifier(threads=1).fit(X, y, sensitive_features=g)  # noqa: E731
    fit()
    single, _ = timed(fit)

    def both():
        threads = [threading.Thread(target=fit) for _ in range(2)]
        [t.start() for t in threads]
        [t.join() for t in threads]

    double, _ = timed(both)
    print(f"\nTwo fits in two threads take {double / single:.2f} times as long as one alone.")


if __name__ == "__main__":
    os.environ.setdefault("PYTHONWARNINGS", "ignore")
    warnings.simplefilter("ignore")
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    cores = os.cpu_count()
    print(f"{platform.machine()}, {cores} cores, Python {platform.python_version()}, ", end="")
    print(f"load before {load:.1f}\n")
    # First: a process starts with the peak of the one that makes it.
    ratio = memory()
    speed()
    overlap()
    print(f"\nload after {os.getloadavg()[0]:.1f}")
    assert ratio <= 2.2, ratio

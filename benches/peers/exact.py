"""Measures gdro's exact solver beside cvxpy with Clarabel and beside scikit-learn, in one run.

    .venv/bin/python benches/peers/exact.py

Builds gdro, measures, checks that all answers to one problem agree, and prints two tables; README.md
says what they hold. Writes nothing but a temporary folder, which it deletes.
"""

import os

# Settings for one machine's BLAS would be a bias.
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)

import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import clarabel
import cvxpy as cp
import numpy as np
import scipy
import scipy.sparse as sp
import sklearn
from adult import ROOT, adult
from sklearn.linear_model import LogisticRegression, Ridge

TARGET = ROOT / os.environ.get("CARGO_TARGET_DIR", "target")
GDRO = TARGET / "release" / "gdro"
RUNS = 5

# The exact optimum of part A lies between these: a certificate with gap 2e-11.
ADULT_OPTIMUM = (0.400495725107, 0.400495725128)

# Runs a command, and writes exit code, peak memory and wall time as the last line of standard error. A
# process of its own, because a child starts with the peak of the process that forks it, and this one is
# large.
LAUNCHER = """
import os, sys, time
start = time.perf_counter()
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
unit = 1 if sys.platform == "darwin" else 1024
wall = time.perf_counter() - start
print(os.waitstatus_to_exitcode(status), usage.ru_maxrss * unit, wall, file=sys.stderr)
"""


class Run:
    """One run of `gdro fit`: what it reports, its wall time and its peak memory."""

    def __init__(self, folder, *arguments):
        command = [str(GDRO), "fit", *map(str, arguments), "--solver", "exact", "--holdout", "0"]
        command += ["--json", "--quiet", "--out", str(folder / "out")]
        launcher = [sys.executable, "-I", "-S", "-c", LAUNCHER, *command]
        done = subprocess.run(launcher, capture_output=True, text=True, cwd=ROOT, check=True)
        *messages, last = done.stderr.splitlines()
        code, peak, wall = last.split()
        if int(code) != 0:
            sys.exit("\n".join([f"gdro failed with {code}: {' '.join(command)}", *messages]))
        self.peak, self.wall = int(peak) / 2**20, float(wall)
        self.summary = json.loads(done.stdout)
        self.seconds = self.summary["seconds"]
        self.certificate = self.summary["certificate"]


def timed(action):
    """Seconds that an action takes, and its value."""
    start = time.perf_counter()
    value = action()
    return time.perf_counter() - start, value


def check(holds, what):
    if not holds:
        sys.exit(f"check failed: {what}")


def same_erm(name, run, risk):
    """Checks that the ERM fits of both sides are fits of one problem."""
    other = run.summary["erm"]["avg_risk_rows"]
    check(abs(risk - other) <= 1e-5 * other, f"{name}: ERM risks {risk} and {other}")


# Part A


def max_risk_objective(x, y, groups, ridge, w):
    losses = np.logaddexp(0, -y * (x @ w))
    means = [losses[groups == i].mean() for i in range(groups.max() + 1)]
    return max(means) + ridge / 2 * (w @ w)


def solve_cvxpy(x, y, groups, ridge, **options):
    """Seconds of solve(), Clarabel's own seconds, the weights."""
    w, top = cp.Variable(x.shape[1]), cp.Variable()
    risks = []
    for i in range(groups.max() + 1):
        rows = groups == i
        signed = sp.csr_matrix(sp.diags(-y[rows]) @ x[rows])
        risks.append(cp.sum(cp.logistic(signed @ w)) / rows.sum())
    problem = cp.Problem(
        cp.Minimize(top + ridge / 2 * cp.sum_squares(w)), [risk <= top for risk in risks]
    )
    seconds, _ = timed(lambda: problem.solve(solver=cp.CLARABEL, **options))
    check(problem.status == cp.OPTIMAL, f"Clarabel ended with {problem.status}")
    return seconds, problem.solver_stats.solve_time, w.value


def erm_gap(x, y, ridge, w):
    """Relative gap of an ERM fit to its optimum, bounded by strong convexity."""
    margins = y * (x @ w)
    gradient = x.T @ (-y / (1 + np.exp(margins))) / len(y) + ridge * w
    objective = np.logaddexp(0, -margins).mean() + ridge / 2 * (w @ w)
    return (gradient @ gradient) / (2 * ridge) / objective


def part_a(folder):
    ridge = 1e-4
    x, y, groups = adult()
    job = ["examples/adult.toml", "--penalize-intercept", "--tol", "4e-7", "--l2", ridge]

    def liblinear(tol):
        model = LogisticRegression(
            solver="liblinear", C=1 / (ridge * len(y)), tol=tol, fit_intercept=False
        )
        seconds, _ = timed(lambda: model.fit(x, y))
        w = model.coef_[0]
        return seconds, erm_gap(x, y, ridge, w), np.logaddexp(0, -y * (x @ w)).mean()

    # Taken in turns, so that a change in the load of the machine meets all of them.
    runs, single, tight, loose = [], [], [], []
    same_erm("Adult", Run(folder, *job), liblinear(1e-6)[2])
    for _ in range(RUNS):
        runs.append(Run(folder, *job))
        single.append(Run(folder, *job, "--threads", 1))
        tight.append(liblinear(1e-6))
        loose.append(liblinear(1e-4))

    gap = max(run.certificate["relative_gap"] for run in runs + single)
    check(gap <= 1e-6, f"certified relative gap {gap}")
    for run in runs + single:
        lower, upper = run.certificate["lower"], run.certificate["upper"]
        check(lower <= ADULT_OPTIMUM[1] and upper >= ADULT_OPTIMUM[0], "bounds hold the optimum")

    peers = []
    like = {name: 1e-6 for name in ("tol_gap_abs", "tol_gap_rel", "tol_feas")}
    for label, options in (
        ("cvxpy + Clarabel, its tolerances", {}),
        ("cvxpy + Clarabel, tolerances 1e-6", like),
    ):
        seconds, inner, w = solve_cvxpy(x, y, groups, ridge, **options)
        objective = max_risk_objective(x, y, groups, ridge, w)
        check(
            abs(objective - runs[0].certificate["upper"]) <= 1e-6 * objective,
            f"{label}: objective {objective}, gdro {runs[0].certificate['upper']}",
        )
        # Its objective is an upper bound; the known lower bound turns that into a gap.
        found = (objective - ADULT_OPTIMUM[0]) / objective
        peers.append((label, [seconds], found))
        peers.append((f"{label}: Clarabel alone", [inner], found))

    base = [run.seconds for run in runs]
    lines = [
        ("gdro, exact", base, gap),
        ("gdro, one thread", [run.seconds for run in single], gap),
        ("gdro, whole command", [run.wall for run in runs], gap),
        *peers,
        *(
            (
                f"scikit-learn ERM, liblinear, tol {tol}",
                [fit[0] for fit in fits],
                max(fit[1] for fit in fits),
            )
            for tol, fits in (("1e-6", tight), ("1e-4", loose))
        ),
    ]
    print("\nA. Adult: 45,222 x 105 sparse, race x sex (6 groups), logistic, ridge 1e-4\n")
    print("| | seconds, median | least to most | runs | relative gap | time / gdro's |")
    print("|---|---:|---:|---:|---:|---:|")
    for label, seconds, gap in lines:
        print(
            f"| {label} | {statistics.median(seconds):.3f} | {spread(seconds)} | {len(seconds)} "
            f"| {gap:.0e} | {ratio(seconds, base)} |"
        )
    return [
        ("A: ERM fit / gdro", ratio(lines[-2][1], base), "at least 1"),
        ("A: ERM fit of like accuracy / gdro", ratio(lines[-1][1], base), "–"),
        ("A: cvxpy / gdro", ratio(peers[0][1], base), "at least 50"),
        ("A: cvxpy of like accuracy / gdro", ratio(peers[2][1], base), "–"),
    ]


def spread(values):
    return f"{min(values):.3f} to {max(values):.3f}" if len(values) > 1 else ""


def ratio(values, base):
    return f"{statistics.median(values) / statistics.median(base):.2f}"


# Part B


def planted(loss):
    """50,000 x 20 normal features, 6 groups with n_i proportional to 2^-i, targets of the loss."""
    rng = np.random.default_rng(0)
    n, d, m, classes = 50_000, 20, 6, 3
    sizes = np.floor(n * 0.5 ** np.arange(1, m + 1) / (1 - 0.5**m)).astype(int)
    sizes[0] += n - sizes.sum()
    groups = np.repeat(np.arange(m), sizes)
    x = rng.standard_normal((n, d))
    # What all groups share, and as much of their own.
    outputs = classes if loss == "softmax" else 1
    planted = rng.standard_normal((1, d, outputs)) + rng.standard_normal((m, d, outputs))
    scores = np.einsum("nd,ndo->no", x, planted[groups]) / np.sqrt(d)
    if loss == "logistic":
        y = (rng.random(n) < 1 / (1 + np.exp(-scores[:, 0]))).astype(int)
    elif loss == "squared":
        y = scores[:, 0] + rng.standard_normal(n)
    else:
        y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return x, y, groups


def write_csv(path, loss, x, y, groups):
    with open(path, "w") as out:
        out.write(",".join(f"x{j}" for j in range(x.shape[1])) + ",y,g\n")
        for row, target, group in zip(x, y, groups):
            # repr keeps every bit; classes are texts, so that they cannot be taken for numbers.
            label = repr(float(target)) if loss == "squared" else f"c{target}"
            out.write(",".join(repr(float(v)) for v in row) + f",{label},g{group + 1}\n")


def part_b(folder):
    ridge = 1e-3
    lines, verdicts = [], []
    for loss in ("logistic", "squared", "softmax"):
        x, y, groups = planted(loss)
        table = folder / f"{loss}.csv"
        write_csv(table, loss, x, y, groups)
        job = [table, "--target", "y", "--groups", "g", "--group-features", "drop"]
        job += ["--loss", loss, "--l2", ridge]
        # The fit is timed on what gdro makes of the table.
        x = (x - x.mean(axis=0)) / x.std(axis=0)

        def erm():
            # The same objective with rows alike: mean loss + ridge/2 |w|^2, free intercept.
            if loss == "squared":
                return Ridge(alpha=ridge * len(y) / 2).fit(x, y)
            return LogisticRegression(C=1 / (ridge * len(y)), tol=1e-6, max_iter=1000).fit(x, y)

        runs, peer = [], []
        fit = erm()
        if loss == "squared":
            risk = ((fit.predict(x) - y) ** 2).mean()
        else:
            risk = -fit.predict_log_proba(x)[np.arange(len(y)), y].mean()
        same_erm(loss, Run(folder, *job), risk)
        for _ in range(RUNS):
            runs.append(Run(folder, *job))
            peer.append(timed(erm)[0])
        table.unlink()
        gap = max(run.certificate["relative_gap"] for run in runs)
        check(gap <= 1e-4, f"{loss}: certified relative gap {gap}")
        seconds, peak = [run.seconds for run in runs], max(run.peak for run in runs)
        wall = statistics.median(run.wall for run in runs)
        lines.append(
            f"| {loss} | {statistics.median(seconds):.3f} | {spread(seconds)} | {wall:.3f} "
            f"| {gap:.0e} | {peak:.0f} | {statistics.median(peer):.3f} | {ratio(peer, seconds)} |"
        )
        verdicts.append((f"B: {loss}, seconds", f"{statistics.median(seconds):.3f}", "under 2"))
        verdicts.append((f"B: {loss}, peak MB", f"{peak:.0f}", "under 200"))
    print("\nB. 50,000 x 20 dense, 6 groups of sizes 2^-i, ridge 1e-3\n")
    print(
        "| loss | gdro, seconds, median | least to most | whole command | relative gap | peak MB "
        "| scikit-learn ERM, seconds | ERM / gdro |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    print("\n".join(lines))
    return verdicts


def version(program):
    return subprocess.check_output([program, "--version"], text=True).split()[1]


def load():
    return f"{os.getloadavg()[0]:.1f}"


def main():
    build = ["cargo", "build", "--release", "--locked", "--package", "gdro-cli"]
    subprocess.run(build, cwd=ROOT, check=True)
    print(
        f"gdro {version(GDRO)}, rustc {version('rustc')}, "
        f"Python {platform.python_version()}, numpy {np.__version__}, scipy {scipy.__version__}, "
        f"scikit-learn {sklearn.__version__}, cvxpy {cp.__version__}, "
        f"Clarabel {clarabel.__version__}; {os.cpu_count()} cores"
    )
    before = load()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        verdicts = part_a(folder) + part_b(folder)
    print("\n| | measured | target |\n|---|---:|---:|")
    for line in verdicts:
        print(f"| {' | '.join(line)} |")
    print(f"\nLoad of the machine: {before} before, {load()} after (1 minute, this run included).")


if __name__ == "__main__":
    main()

"""Prints the tables of docs/new-rows.md from results.jsonl."""

import json
import statistics
from collections import defaultdict
from pathlib import Path

import numpy as np

RESULTS = Path(__file__).parent / "results.jsonl"


def load(path=RESULTS):
    """{table: {seed: {name: worst group's loss}}}, the same of errors, and what was chosen."""
    loss, error = defaultdict(lambda: defaultdict(dict)), defaultdict(lambda: defaultdict(dict))
    rest = defaultdict(list)
    for row in map(json.loads, path.read_text().splitlines()):
        if "failed" in row:
            rest[row["table"], row["method"]].append(row["failed"])
            continue
        loss[row["table"]][row["seed"]].update(row["loss"])
        error[row["table"]][row["seed"]].update(row["error"])
        if "choice" in row:
            loss[row["table"]][row["seed"]]["kept"] = float(row["choice"]["chosen"] == "average")
    return loss, error, rest


def paired(differences):
    """Mean, and half the width of its 95 % t-interval."""
    from scipy.stats import t

    n = len(differences)
    mean = statistics.fmean(differences)
    if n < 2:
        return mean, float("nan")
    return mean, t.ppf(0.975, n - 1) * statistics.stdev(differences) / n**0.5


def digits(value):
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def main():
    loss, error, failed = load()
    print("| table | splits | ERM | balanced | hard GDRO | `select` | select − ERM, % (95 %) | wins, ties, losses | ERM kept |")
    print("|---|---|---|---|---|---|---|---|---|")
    relative, helped = [], []
    for table, splits in loss.items():
        rows = [r for r in splits.values() if "select" in r]
        if not rows:
            continue
        names = [name for name in rows[0] if all(name in r for r in rows)]
        mean = {name: statistics.fmean(r[name] for r in rows) for name in names}
        erm, select = mean["average"], mean["select"]
        change = [100 * (r["select"] - r["average"]) / erm for r in rows]
        middle, half = paired(change)
        relative.append(middle)
        signs = np.sign([r["select"] - r["average"] for r in rows])
        counts = ", ".join(str(int((signs == s).sum())) for s in (-1, 0, 1))
        print(
            f"| {table} | {len(rows)} | {digits(erm)} | {digits(mean['balanced'])} | {digits(mean['max'])} "
            f"| {digits(select)} | {middle:+.1f} ± {half:.1f} | {counts} | {sum(int(r['kept']) for r in rows)} |"
        )
        fixed = {n: v for n, v in mean.items() if n not in ("select", "kept", "average", *PEERS)}
        name = min(fixed, key=fixed.get)
        helped.append((table, name, 100 * (fixed[name] / erm - 1), middle))
    print(f"\nMedian over tables of the relative difference: {statistics.median(relative):+.2f} %.\n")
    print("| table | best fixed member | its difference to ERM, % | `select`'s, % |")
    print("|---|---|---|---|")
    for table, name, best, chosen in helped:
        print(f"| {table} | {name} | {best:+.1f} | {chosen:+.1f} |")
    for what, values in (("loss", loss), ("error", error)):
        print(f"\nPeers, worst group's {what} on the splits that they have:\n")
        print("| table | ERM | `select` | " + " | ".join(PEERS) + " |")
        print("|---|---|---|" + "---|" * len(PEERS))
        for table, splits in values.items():
            cells = []
            peers = [s for s in splits.values() if any(p in s for p in PEERS) and "select" in s]
            for name in ("average", "select", *PEERS):
                those = [s[name] for s in peers if name in s]
                late = failed.get((table, name))
                hidden = what == "loss" and name == "fairlearn" and error[table][next(iter(splits))]
                if hidden:
                    cells.append("")
                elif those:
                    cells.append(digits(statistics.fmean(those)) + ("" if len(those) == len(peers) else "*"))
                else:
                    cells.append(late[0] if late else "")
            if any(cells):
                print(f"| {table} | " + " | ".join(cells) + " |")


PEERS = ("two-stage", "subsampled", "boosted", "fairlearn", "dro")

if __name__ == "__main__":
    main()

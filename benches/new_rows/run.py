"""Does it help on new rows? Twelve tables, the same splits for gdro and for other ways to help the worst group.

    .venv/bin/pip install ./python -r benches/new_rows/requirements.txt
    .venv/bin/python benches/new_rows/run.py [--splits 20] [--peer-splits 5] [--jobs 2] [--tables NAME …]

Appends a line for each split to benches/new_rows/results.jsonl, skips those that are there, and prints the tables
of docs/new-rows.md. README.md says more.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

RESULTS = Path(__file__).parent / "results.jsonl"
# Disjoint from the seeds that were used while the choice was built.
FIRST = 5000
# Groups with fewer rows held out do not count.
LEAST = 30


def measure(table, seed, method):
    """Worst group's loss and error on new rows, and seconds of the processor, of one method on one split."""
    import methods
    import tables

    warnings.simplefilter("ignore")
    split = methods.Split(tables.TABLES[table](), seed)
    found = {"table": table, "seed": seed, "method": method}
    start = time.process_time()
    if method == "gdro":
        answers, found["choice"] = methods.gdro(split)
    else:
        answers = {method: methods.PEERS[method](split)}
    found["seconds"] = round(time.process_time() - start, 2)
    found["loss"], found["error"] = {}, {}
    for name, answer in answers.items():
        if answer is None:
            return found | {"failed": "no such task"}
        loss = methods.losses(split.new_y, answer, split.classes)
        found["loss"][name] = float(f"{methods.worst(loss, split.new_g, LEAST):.6g}")
        error = methods.errors(split.new_y, answer, split.classes)
        if method == "fairlearn" and error is not None:
            error = 1 - answer[range(len(error)), (split.new_y > 0).astype(int)]
        if error is not None:
            found["error"][name] = float(f"{methods.worst(error, split.new_g, LEAST):.6g}")
    return found


def apart(task, limit):
    """The same in a process of its own, which ends after `limit` seconds: solvers seldom stop when asked."""
    table, seed, method = task
    command = [sys.executable, __file__, "--only", json.dumps(task)]
    # One thread each: the processes share the machine.
    threads = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"], "1")
    found = {"table": table, "seed": seed, "method": method}
    try:
        done = subprocess.run(command, env=os.environ | threads, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return found | {"failed": f"not done in {limit} s"}
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    if method == "gdro":
        raise RuntimeError(done.stderr)
    return found | {"failed": done.stderr.strip().splitlines()[-1][:120]}


def main():
    import methods
    import tables

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--peer-splits", type=int, default=5)
    parser.add_argument("--limit", type=int, default=300, help="seconds for each peer on a split")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--tables", nargs="*", default=list(tables.TABLES), choices=list(tables.TABLES))
    parser.add_argument("--methods", nargs="*", default=["gdro", *methods.PEERS])
    parser.add_argument("--only", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        print(json.dumps(measure(*given.only)))
        return
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    done = {(r["table"], r["seed"], r["method"]) for r in map(json.loads, lines)}
    tasks = [
        (table, FIRST + k, method)
        for k in range(given.splits)
        for table in given.tables
        for method in given.methods
        if (method == "gdro" or k < given.peer_splits) and (table, FIRST + k, method) not in done
    ]

    def one(task):
        return apart(task, None if task[2] == "gdro" else given.limit)

    with ThreadPoolExecutor(given.jobs) as pool:
        for n, found in enumerate(pool.map(one, tasks), 1):
            with RESULTS.open("a") as out:
                out.write(json.dumps(found) + "\n")
            what = found.get("failed") or f"{found['seconds']:.0f} s"
            told = f"{n} of {len(tasks)}: {found['table']}, {found['seed']}, {found['method']}: {what}"
            print(told, file=sys.stderr, flush=True)
    import summary

    summary.main()


if __name__ == "__main__":
    main()

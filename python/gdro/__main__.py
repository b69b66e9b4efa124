"""The program ``gdro``: what ``pip install`` puts on the path, and ``python -m gdro``."""

import signal
import sys

from ._gdro import program


def main() -> int:
    """Runs the program with the arguments of this process, and gives its exit code."""
    # Ctrl-C is the program's own business.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return program(["gdro", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

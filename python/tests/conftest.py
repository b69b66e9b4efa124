"""Settings that have to be made before SciPy or a test is imported."""

import os

# So that scikit-learn's check of array API input runs, too.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

# Tests run the program in other folders.
if "GDRO_PROGRAM" in os.environ:
    os.environ["GDRO_PROGRAM"] = os.path.abspath(os.environ["GDRO_PROGRAM"])

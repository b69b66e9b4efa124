"""Settings that have to be made before SciPy is imported."""

import os

# So that scikit-learn's check of array API input runs, too.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

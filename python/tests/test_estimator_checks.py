"""scikit-learn's own checks, with no expected failures."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from gdro import GroupDROClassifier, GroupDRORegressor

#: Skipped unless SciPy was imported with SCIPY_ARRAY_API=1.
SKIPPED = {"check_array_api_input"}


@pytest.mark.parametrize("estimator", [GroupDROClassifier(), GroupDRORegressor()], ids=str)
def test_check_estimator(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    statuses = {}
    for result in results:
        statuses.setdefault(result["status"], []).append(result["check_name"])
    passed, skipped = len(statuses.pop("passed")), statuses.pop("skipped", [])
    print(f"{type(estimator).__name__}: {passed} passed, skipped {skipped}")
    assert not statuses, statuses
    assert set(skipped) <= SKIPPED
    assert passed >= 50

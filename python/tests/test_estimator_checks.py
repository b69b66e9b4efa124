"""scikit-learn's own checks: no expected failures, and none skipped."""

import pytest
from sklearn.utils.estimator_checks import check_estimator

from gdro import GroupDROClassifier, GroupDRORegressor


@pytest.mark.parametrize("estimator", [GroupDROClassifier(), GroupDRORegressor()], ids=str)
def test_check_estimator(estimator):
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    statuses = {}
    for result in results:
        statuses.setdefault(result["status"], []).append(result["check_name"])
    passed = len(statuses.pop("passed"))
    print(f"{type(estimator).__name__}: {passed} passed, {statuses or 'no other'}")
    assert not statuses, statuses
    assert passed >= 50

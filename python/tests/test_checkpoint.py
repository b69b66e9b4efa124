"""A fit that is killed goes on to the same bits."""

import inspect
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from gdro import GroupDROClassifier, GroupDROClassifierCV

FIT = """
import numpy as np
import gdro
{make}
X, y, site = rows()
{fit}
"""


def rows():
    rng = np.random.default_rng(3)
    site = rng.choice(["a", "b", "c"], size=600, p=[0.6, 0.3, 0.1])
    X = rng.normal(size=(600, 3))
    slope = np.where(site == "c", -1.0, 1.5)
    y = (slope * X[:, 0] + X[:, 1] + rng.logistic(size=600) > 0).astype(int)
    return X, y, site


ROUNDS = {"solver": "smd-m", "rounds": 2_000_000, "step_w": 1.0, "step_q": 1.0, "random_state": 4}


def killed(fit, path, how=signal.SIGKILL):
    """A process that fits, killed when it has written its first checkpoint."""
    child = subprocess.Popen([sys.executable, "-W", "ignore", "-c", FIT.format(make=inspect.getsource(rows), fit=fit)])
    end = time.monotonic() + 60
    while not path.exists():
        assert child.poll() is None, "it ended before it wrote a checkpoint"
        assert time.monotonic() < end
        time.sleep(0.01)
    child.send_signal(how)
    child.wait()
    assert path.exists()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_fit_goes_on(tmp_path, how):
    path = tmp_path / "fit.checkpoint"
    given = f"checkpoint=({str(path)!r}, 0.1), **{ROUNDS!r}"
    fit = f"gdro.GroupDROClassifier({given}).fit(X, y, sensitive_features=site)"
    killed(fit, path, how)
    X, y, site = rows()
    whole = GroupDROClassifier(**ROUNDS).fit(X, y, sensitive_features=site)
    model = GroupDROClassifier(checkpoint=path, **ROUNDS).fit(X, y, sensitive_features=site)
    assert np.array_equal(model.coef_, whole.coef_)
    assert np.array_equal(model.intercept_, whole.intercept_)
    assert np.array_equal(model.group_weights_, whole.group_weights_)
    assert np.array_equal(model.trace_["objective"], whole.trace_["objective"])
    assert model.certificate_ == whole.certificate_
    assert os.listdir(tmp_path) == []


@pytest.mark.filterwarnings("ignore")
def test_a_choice_goes_on(tmp_path):
    path = tmp_path / "cv.checkpoint"
    own = {"l2s": [1e-4, 1e-3, 1e-2, 1e-1], "cv": 5, "random_state": 0}
    fit = f"gdro.GroupDROClassifierCV(checkpoint=({str(path)!r}, 0.001), **{own!r}).fit(X, y, sensitive_features=site)"
    killed(fit, path)
    X, y, site = rows()
    whole = GroupDROClassifierCV(**own).fit(X, y, sensitive_features=site)
    model = GroupDROClassifierCV(checkpoint=str(path), **own).fit(X, y, sensitive_features=site)
    assert model.best_params_ == whole.best_params_
    assert np.array_equal(model.coef_, whole.coef_)
    assert not path.exists()


@pytest.mark.filterwarnings("ignore")
def test_another_fit_is_refused(tmp_path):
    path = tmp_path / "fit.checkpoint"
    fit = f"gdro.GroupDROClassifier(checkpoint=({str(path)!r}, 0.1), **{ROUNDS!r}).fit(X, y, sensitive_features=site)"
    killed(fit, path)
    X, y, site = rows()
    with pytest.raises(ValueError, match="of another run: random_state was 4 and is 5"):
        other = GroupDROClassifier(checkpoint=path, **ROUNDS | {"random_state": 5})
        other.fit(X, y, sensitive_features=site)
    X[0, 0] += 1e-9
    with pytest.raises(ValueError, match="of another run: the rows are others"):
        GroupDROClassifier(checkpoint=path, **ROUNDS).fit(X, y, sensitive_features=site)
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="not a checkpoint of gdro"):
        GroupDROClassifier(checkpoint=path, **ROUNDS).fit(X, y, sensitive_features=site)


@pytest.mark.parametrize("bad", [3, ("a", -1), ("a", "b"), ("a", 1, 2)])
def test_what_is_no_checkpoint(bad):
    X, y, site = rows()
    with pytest.raises(ValueError, match="checkpoint"):
        GroupDROClassifier(checkpoint=bad).fit(X, y, sensitive_features=site)

"""Draws docs/island.png, the picture of the README: python docs/island.py, with gdro and matplotlib."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import numpy as np

import gdro
from gdro import GroupDROClassifier, metrics, plot

X, y, site, _ = gdro.example("island")
train, test = np.arange(len(y)) % 2 == 0, np.arange(len(y)) % 2 == 1
ordinary = GroupDROClassifier(objective="average").fit(X[train], y[train], sensitive_features=site[train])
robust = GroupDROClassifier().fit(X[train], y[train], sensitive_features=site[train])
rows = {"sensitive_features": site[test], "cap": robust.loss_cap_}
reports = {
    "ordinary training": metrics.evaluate(ordinary, X[test], y[test], **rows),
    "gdro": metrics.evaluate(robust, X[test], y[test], **rows),
}
verdict = metrics.verdict(robust, ordinary, X[test], y[test], **rows)

import matplotlib.pyplot as plt

figure, ax = plt.subplots(figsize=(8, 2.9), layout="constrained")
plot.group_risks(reports, ax=ax)
ax.set_xlabel("mean loss on rows held out, with 95 % intervals for all sites at once")
ax.set_title("")
ax.set_title(
    f"{verdict.word}: the largest mean loss of a site falls from {verdict.erm['risk']:.2f} to "
    f"{verdict.model['risk']:.2f}",
    loc="left",
)
for spine in ("top", "right"):
    ax.spines[spine].set_visible(False)
figure.savefig(Path(__file__).with_name("island.png"), dpi=150, metadata={"Software": None})

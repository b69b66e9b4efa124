"""A small network that does well on every group: GroupWeights in a PyTorch training loop.

    pip install torch && python python/examples/torch_network.py

The label is an XOR of two features, but in the small group its opposite depends on a third one.
Ordinary training gives the small group up; with the q-player its loss counts as much as it hurts.
"""

import numpy as np
import torch
from torch import nn

from gdro import GroupWeights, metrics

NAMES = ["many", "few"]


def rows(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.uniform(-1, 1, size=(n, 3))
    few = rng.random(n) < 0.05
    y = np.where(few, x[:, 2] > 0, x[:, 0] * x[:, 1] > 0)
    flip = rng.random(n) < 0.02
    # The last feature says which group it is, faintly.
    x = np.column_stack([x, few + rng.normal(scale=0.6, size=n)])
    return (
        torch.tensor(x, dtype=torch.float32),
        torch.tensor(y ^ flip, dtype=torch.float32),
        torch.tensor(few, dtype=torch.long),
    )


def train(x, y, g, player=None, epochs=60, seed=0):
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
    adam = torch.optim.Adam(model.parameters(), lr=3e-3)
    each = nn.BCEWithLogitsLoss(reduction="none")
    for _ in range(epochs):
        for batch in torch.randperm(len(x)).split(512):
            losses = each(model(x[batch])[:, 0], y[batch])
            if player is None:
                loss = losses.mean()
            else:
                # The mean loss of each group in the batch; of a group without rows the last one stands.
                there = g[batch].unique()
                of_group = torch.stack([losses[g[batch] == i].mean() for i in there])
                player.update(of_group, groups=there)
                q = torch.tensor(player.weights, dtype=torch.float32)
                loss = (q[there] * of_group).sum()
            adam.zero_grad()
            loss.backward()
            adam.step()
    return model


def main():
    torch.set_num_threads(1)
    x, y, g = rows(8000, 1)
    test_x, test_y, test_g = rows(8000, 2)
    groups = np.array(NAMES)[test_g.numpy()]
    found = {}
    player = GroupWeights(NAMES, step=0.02)
    for name, own in (("ordinary", None), ("robust", player)):
        model = train(x, y, g, own)
        with torch.no_grad():
            predicted = (model(test_x)[:, 0] > 0).numpy()
        accuracies = metrics.group_accuracies(
            test_y.numpy() > 0, predicted, sensitive_features=groups
        )
        found[name] = accuracies
        shown = ", ".join(f"{n} {a:.3f}" for n, a in accuracies.items())
        print(f"{name:8} accuracy: {shown}")
    print("weights:", dict(zip(NAMES, player.weights.round(3).tolist())))
    return found, player


if __name__ == "__main__":
    main()

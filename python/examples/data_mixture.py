"""Domain weights for a data mixture: which share of each domain should a model be trained on?

    python python/examples/data_mixture.py

A bandit player draws the domain of every batch, receives how far the model is above a reference
there (the excess loss, as in DoReMi, arXiv 2305.10429), and draws domains with excess more often.
Its average is the mixture. The model is a table of word frequencies, learnt online.
"""

import numpy as np

from gdro import GroupWeights

DOMAINS = ["news", "code", "poems"]
WORDS = 50


def frequencies(rng):
    """Word frequencies of the domains: code and poems share little with the rest."""
    common = rng.dirichlet(np.full(WORDS, 0.5))
    own = rng.dirichlet(np.full(WORDS, 0.2), size=3)
    share = np.array([0.1, 0.5, 0.9])
    return (1 - share[:, None]) * common + share[:, None] * own


def mixture(steps=4000, batch=32, seed=0):
    rng = np.random.default_rng(seed)
    truth = frequencies(rng)
    entropy = -(truth * np.log(truth + 1e-300)).sum(axis=1)  # what a reference model attains
    player = GroupWeights(DOMAINS, rule="exp3-ix", rounds=steps, loss_range=4.0, random_state=seed)
    logits = np.zeros(WORDS)
    mean = np.zeros(WORDS)
    for t in range(steps):
        domain = player.draw()
        words = rng.choice(WORDS, size=batch, p=truth[domain])
        log_p = logits - np.log(np.exp(logits).sum())
        excess = -log_p[words].mean() - entropy[domain]
        player.update([max(excess, 0.0)])
        counts = np.bincount(words, minlength=WORDS) / batch
        logits -= 0.5 / np.sqrt(1 + t / 50) * (np.exp(log_p) - counts)
        mean += np.exp(log_p)
    return truth, entropy, mean / steps, player


def main():
    truth, entropy, model, player = mixture()
    weights = player.average
    excess = -(truth * np.log(model)).sum(axis=1) - entropy
    uniform = truth.mean(axis=0)
    plain = -(truth * np.log(uniform + 1e-300)).sum(axis=1) - entropy
    print("domain   weight  excess  excess of the even mixture")
    for row in zip(DOMAINS, weights, excess, plain):
        print("{:8} {:6.3f}  {:6.3f}  {:6.3f}".format(*row))
    return weights, excess, plain


if __name__ == "__main__":
    main()

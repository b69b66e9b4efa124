"""The q-player alone."""

import copy
import json
import math
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

from gdro import GroupWeights


def test_hedge_is_exponential_weights():
    rng = np.random.default_rng(0)
    losses = rng.random((50, 4))
    player = GroupWeights(4, step=0.3)
    met = []
    for loss in losses:
        met.append(player.weights)
        player.update(loss)
    expected = np.exp(0.3 * losses.sum(axis=0))
    assert_allclose(player.weights, expected / expected.sum(), rtol=1e-12)
    assert_allclose(player.average, np.mean(met, axis=0), rtol=1e-12)
    assert player.updates == 50


def test_the_capped_step_is_the_projection():
    """q ∝ min(c · e^{gain}, cap) with the c that makes the sum 1."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        m, k = 6, 1 + 4 * rng.random()
        player = GroupWeights(m, k=k, step=1.0)
        gains = 3 * rng.random(m)
        player.update(gains)
        low, high = 0.0, 1e9
        for _ in range(200):
            c = (low + high) / 2
            low, high = (c, high) if np.minimum(c * np.exp(gains), 1 / k).sum() < 1 else (low, c)
        assert_allclose(player.weights, np.minimum(c * np.exp(gains), 1 / k), atol=1e-9)


def test_steps_by_the_number_of_rounds():
    assert GroupWeights(5, rounds=100).step == math.sqrt(8 * math.log(5) / 100)
    player = GroupWeights(6, rule="exp3-ix", k=2, rounds=100)
    assert player.step == math.sqrt(2 * math.log(6) / 600)
    assert player.gamma == player.step / 2
    assert GroupWeights(1, rounds=10).step == 0


def test_exp3_ix_estimates_the_losses_of_what_it_drew():
    player = GroupWeights(3, rule="exp3-ix", step=0.2, gamma=0.05, random_state=1)
    logs = np.zeros(3)
    for t in range(30):
        q = np.exp(logs) / np.exp(logs).sum()
        assert_allclose(player.weights, q, rtol=1e-10)
        i = player.draw()
        loss = 0.2 + 0.3 * i
        player.update(loss)
        logs[i] -= 0.2 * (1 - loss) / (q[i] + 0.05)
    assert player.clipped == 0
    player.draw()
    player.update([7.0])
    assert player.clipped == 1


def test_draws_follow_the_weights():
    """χ² with 3 degrees of freedom exceeds 24.3 with probability 2e-5."""
    player = GroupWeights(4, step=1.0)
    player.update([0.0, 0.5, 1.0, 1.5])
    q = player.weights
    counts = np.bincount([player.draw() for _ in range(20_000)], minlength=4)
    assert ((counts - 20_000 * q) ** 2 / (20_000 * q)).sum() < 24.3
    # k groups: marginals k q_i, each draw with k different groups.
    player = GroupWeights(5, step=0.3, k=2)
    player.update([0.0, 0.5, 1.0, 1.5, 3.0])
    counts = np.zeros(5)
    for _ in range(20_000):
        drawn = player.draw()
        assert len(set(drawn.tolist())) == 2
        counts[drawn] += 1
    p = 2 * player.weights
    assert np.all(np.abs(counts - 20_000 * p) <= 5 * np.sqrt(20_000 * p * (1 - p)) + 1e-6)


def test_it_finds_the_worst_group_by_bandit_feedback():
    player = GroupWeights(["a", "b", "c"], rule="exp3-ix", rounds=5000, random_state=0)
    rng = np.random.default_rng(0)
    for _ in range(5000):
        i = player.draw()
        player.update([float(rng.random() < (0.2, 0.3, 0.8)[i])])
    assert player.weights[2] > 0.9 and player.average[2] > 0.6


def test_names_numbers_and_absent_groups():
    player = GroupWeights(["a", "b", "c"], step=1.0)
    player.update({"b": 1.0})
    by_number = GroupWeights(3, step=1.0)
    by_number.update([1.0], groups=[1])
    by_nan = GroupWeights(3, step=1.0)
    by_nan.update([np.nan, 1.0, np.nan])
    assert np.array_equal(player.weights, by_number.weights)
    assert np.array_equal(player.weights, by_nan.weights)


@pytest.mark.parametrize("rule", ["hedge", "exp3-ix"])
def test_the_state_is_everything(rule):
    player = GroupWeights(["a", "b", "c"], rule=rule, step=0.1, k=2, random_state=9)

    def play(player, rounds):
        seen = []
        for t in range(rounds):
            drawn = player.draw()
            losses = (np.arange(len(drawn)) + t % 3) / 5
            player.update(losses, groups=None if rule == "exp3-ix" else drawn)
            seen.append((drawn.tolist(), player.weights.tolist(), player.average.tolist()))
        return seen

    play(player, 20)
    state = json.loads(json.dumps(player.state_dict()))
    fresh = GroupWeights(["a", "b", "c"], rule=rule, step=0.7, k=2)
    fresh.load_state_dict(state)
    others = [fresh, pickle.loads(pickle.dumps(player)), copy.deepcopy(player)]
    expected = play(player, 20)
    for other in others:
        assert play(other, 20) == expected
        assert other.updates == 40


def test_a_state_between_draw_and_update():
    player = GroupWeights(4, rule="exp3-ix", step=0.1)
    player.draw()
    other = pickle.loads(pickle.dumps(player))
    player.update([0.3])
    other.update([0.3])
    assert np.array_equal(player.weights, other.weights)


REFUSED = [
    (lambda: GroupWeights(0, step=1), "groups=0"),
    (lambda: GroupWeights([], step=1), "groups is empty"),
    (lambda: GroupWeights(["a", "a"], step=1), "occurs twice"),
    (lambda: GroupWeights(3), "give either step or rounds"),
    (lambda: GroupWeights(3, step=1, rounds=2), "give either step or rounds"),
    (lambda: GroupWeights(3, step=-1), "step=-1"),
    (lambda: GroupWeights(3, step=1, k=4), "k=4"),
    (lambda: GroupWeights(3, step=1, rule="tsallis"), "rule='tsallis'"),
    (lambda: GroupWeights(3, step=1, gamma=1), "gamma=1 is for rule='exp3-ix'"),
    (lambda: GroupWeights(3, step=1, k=1.5, rule="exp3-ix"), "whole number"),
    (lambda: GroupWeights(3, step=1, k=1.5).draw(), "cannot be drawn"),
    (lambda: GroupWeights(3, step=1).update([1, 2]), "2 losses for 3 groups"),
    (lambda: GroupWeights(3, step=1).update([1, 2, np.inf]), "the loss of group '2' is inf"),
    (lambda: GroupWeights(3, step=1).update({"x": 1}), "'x' is no group"),
    (lambda: GroupWeights(3, step=1).update([1], groups=[3]), "group 3: expected a number from 0"),
    (lambda: GroupWeights(3, step=1, rule="exp3-ix").update([1]), "call draw"),
    (lambda: GroupWeights(3, step=1).load_state_dict(GroupWeights(2, step=1).state_dict()), "others"),
]


@pytest.mark.parametrize("make, message", REFUSED, ids=[m for _, m in REFUSED])
def test_bad_input_is_refused_by_name(make, message):
    with pytest.raises(ValueError) as caught:
        make()
    assert message in str(caught.value)

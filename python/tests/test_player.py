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


def test_names_and_numbers():
    player = GroupWeights(["a", "b", "c"], step=1.0)
    player.update({"b": 1.0, "a": 0.3, "c": 0.0})
    by_number = GroupWeights(3, step=1.0)
    by_number.update([1.0, 0.0, 0.3], groups=[1, 2, 0])
    in_order = GroupWeights(3, step=1.0)
    in_order.update([0.3, 1.0, 0.0])
    assert np.array_equal(player.weights, by_number.weights)
    assert np.array_equal(player.weights, in_order.weights)


def test_a_loss_stands_until_the_next_one():
    rng = np.random.default_rng(4)
    player, full = (GroupWeights(4, step=0.2) for _ in range(2))
    last = rng.random(4)
    player.update(last)
    full.update(last)
    for _ in range(30):
        there = np.flatnonzero(rng.random(4) < 0.4)
        last[there] = rng.random(len(there))
        player.update(last[there], groups=there)
        full.update(last)
        assert np.array_equal(player.weights, full.weights)
    assert np.array_equal(player.average, full.average)


@pytest.mark.parametrize("k", [1, 1.7, 3])
def test_a_group_never_heard_of_keeps_its_share(k):
    """The others are hedge among themselves on the rest, each at most 1/k."""
    rng = np.random.default_rng(5)
    player = GroupWeights(6, step=1.0, k=k)
    player.update([], groups=[])
    assert np.array_equal(player.weights, np.full(6, 1 / 6))
    expected = np.full(4, 1 / 6)
    for _ in range(12):
        losses = 2 * rng.random(4)
        player.update(losses, groups=[0, 2, 3, 5])
        gains, low, high = expected * np.exp(losses), 0.0, 1e9
        for _ in range(200):
            c = (low + high) / 2
            low, high = (c, high) if np.minimum(c * gains, 1 / k).sum() < 4 / 6 else (low, c)
        expected = np.minimum(c * gains, 1 / k)
        assert_allclose(player.weights[[0, 2, 3, 5]], expected, atol=1e-9)
        assert_allclose(player.weights[[1, 4]], 1 / 6, atol=1e-12)
    player.update([5.0, 0.0], groups=[1, 4])
    assert player.weights[1] > 1 / 6 > player.weights[4]


def test_importance_has_the_gains_of_full_information_on_average():
    """ln q_1 - ln q_0 moves by step · (loss_1 - loss_0) a round, up to its standard error."""
    rng = np.random.default_rng(6)
    p = np.array([0.9, 0.05])
    player = GroupWeights(["many", "few"], step=1e-3, absent="importance", presence=p)
    for _ in range(20_000):
        there = np.flatnonzero(rng.random(2) < p)
        player.update(np.array([0.4, 0.5])[there], groups=there)
    moved = np.diff(np.log(player.weights))[0]
    error = 1e-3 * np.sqrt(20_000 * ((1 - p) / p * np.array([0.4, 0.5]) ** 2).sum())
    assert abs(moved - 1e-3 * 20_000 * 0.1) < 4 * error
    by_name = GroupWeights(["many", "few"], step=1, absent="importance", presence={"few": 1, "many": 0.5})
    one = GroupWeights(["many", "few"], step=1, absent="importance", presence=0.5)
    by_name.update({"many": 1.0})
    one.update({"many": 1.0})
    assert by_name.weights[0] == one.weights[0] == pytest.approx(1 / (1 + np.exp(-2)))


def met(seed, rounds=4000, share=0.05, **arguments):
    """Descent on R_0 = w², R_1 = (w - 1)² + 1/2 against the player, with the second in 1 of 20 batches.

    Both are equal at w = 3/4, and q_1 = 3/4 makes the slope of their mean 0: the saddle point.
    """
    rng = np.random.default_rng(seed)
    player = GroupWeights(["many", "few"], step=0.02, **arguments)
    w, models = 0.0, []
    for _ in range(rounds):
        there = np.array([True, rng.random() < share])
        models.append(w)
        losses = np.array([w * w, (w - 1) ** 2 + 0.5]) + 0.1 * rng.normal(size=2)
        q = player.weights
        player.update(losses[there], groups=np.flatnonzero(there))
        slopes = np.array([2 * w, 2 * (w - 1) / share])
        w -= 0.02 * (q * slopes)[there].sum()
    return np.mean(models), player.average[1]


@pytest.mark.parametrize(
    "arguments", [{}, dict(absent="importance", presence=[1, 0.05])], ids=["carry", "importance"]
)
def test_a_group_in_1_of_20_batches_ends_at_the_saddle_point(arguments):
    """Within four standard errors of 10 runs, and 0.01 for the first rounds: with all losses heard
    the averages are 0.743 and 0.747. A loss of 0 where a group is absent gives 0.235 and 0.235."""
    full = np.array([met(seed, share=1.0) for seed in range(2)])
    assert np.all(np.abs(full - 0.75) < 0.01)
    found = np.array([met(seed, **arguments) for seed in range(10)])
    error = found.std(axis=0, ddof=1) / math.sqrt(10)
    assert np.all(error < 0.015)
    assert np.all(np.abs(found.mean(axis=0) - 0.75) < 0.01 + 4 * error)
    zero = met(0, absent="importance", presence=1)
    assert zero[1] < 0.3


def test_the_worse_group_wins_though_it_is_rare():
    rng = np.random.default_rng(7)
    player = GroupWeights(["many", "few"], step=0.02)
    for _ in range(4000):
        losses = {"many": 0.3 + 0.05 * rng.normal()}
        if rng.random() < 0.05:
            losses["few"] = 0.6 + 0.05 * rng.normal()
        player.update(losses)
    assert player.weights[1] > 0.999


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


@pytest.mark.parametrize(
    "arguments", [{}, dict(absent="importance", presence=[1, 0.5, 0.2])], ids=["carry", "importance"]
)
def test_the_state_knows_what_was_heard(arguments):
    player = GroupWeights(["a", "b", "c"], step=0.3, **arguments)
    player.update({"a": 0.2, "c": 0.9})
    fresh = GroupWeights(["a", "b", "c"], step=0.3)
    fresh.load_state_dict(json.loads(json.dumps(player.state_dict())))
    for other in (fresh, pickle.loads(pickle.dumps(player)), copy.deepcopy(player)):
        other.update({"b": 0.1})
        other.update({"a": 0.4})
        again = copy.deepcopy(player)
        again.update({"b": 0.1})
        again.update({"a": 0.4})
        assert np.array_equal(again.weights, other.weights)


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
    (lambda: GroupWeights(3, step=1).update([1, np.nan, 2]), "the loss of group '1' is nan"),
    (lambda: GroupWeights(["a", "b"], step=1).update({"b": np.nan}), "the loss of group 'b' is nan"),
    (lambda: GroupWeights(["a", "b"], step=1).update({"b": None}), "leave out what is absent"),
    (lambda: GroupWeights(3, step=1).update([1, 2], groups=[1, 1]), "two losses of group '1'"),
    (lambda: GroupWeights(3, step=1).update([1], groups=[-1]), "group -1: expected a number from 0"),
    (lambda: GroupWeights(3, step=1).update([1], groups=["1"]), "losses by name are a mapping"),
    (lambda: GroupWeights(["a", "b"], step=1, absent="error").update({"b": 1}), "no loss of group 'a'"),
    (lambda: GroupWeights(3, step=1, absent="zero"), "absent='zero': expected one of carry"),
    (lambda: GroupWeights(3, step=1, absent="importance"), "go with absent='importance'"),
    (lambda: GroupWeights(3, step=1, presence=0.5), "go with absent='importance'"),
    (lambda: GroupWeights(3, step=1, absent="importance", presence=[1, 1]), "2 numbers, expected 3"),
    (lambda: GroupWeights(3, step=1, absent="importance", presence={"0": 1}), "see '1'"),
    (lambda: GroupWeights(3, step=1, absent="importance", presence=0), "presence of '0'=0"),
    (lambda: GroupWeights(3, step=1, absent="importance", presence=1.5), "presence of '0'=1.5"),
    (lambda: GroupWeights(3, step=1, rule="exp3-ix", absent="error"), "is for rule='hedge'"),
    (lambda: GroupWeights(3, step=1).update({"x": 1}), "'x' is no group"),
    (lambda: GroupWeights(3, step=1).update([1], groups=[3]), "group 3: expected a number from 0"),
    (lambda: GroupWeights(3, step=1, rule="exp3-ix").update([1]), "call draw"),
    (lambda: GroupWeights(3, step=1).load_state_dict(GroupWeights(2, step=1).state_dict()), "others"),
]


def test_losses_beyond_a_range_that_the_step_rests_on_are_refused():
    for player in (GroupWeights(["a", "b"], rounds=9), GroupWeights(["a", "b"], step=1, loss_range=1)):
        player.update([np.float32(1) + np.float32(2e-7), 0.0])  # rounding
        for player in (player, copy.deepcopy(player)):
            before = player.weights
            for bad in (1.5, -0.1):
                with pytest.raises(ValueError, match=f"group 'b' is {bad}: .* from 0 to loss_range=1; give"):
                    player.update([0.5, bad])
            assert np.array_equal(player.weights, before) and player.updates == 1
    free = GroupWeights(["a", "b"], step=1)
    free.update([-3.0, 5.0])
    old = {name: of for name, of in free.state_dict().items() if name != "has_range"}
    held = GroupWeights(["a", "b"], rounds=9)
    held.load_state_dict(old)
    for player in (free, copy.deepcopy(free), held):
        player.update([9.0, 0.0])


@pytest.mark.parametrize("make, message", REFUSED, ids=[m for _, m in REFUSED])
def test_bad_input_is_refused_by_name(make, message):
    with pytest.raises(ValueError) as caught:
        make()
    assert message in str(caught.value)

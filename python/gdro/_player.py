"""The q-player alone, for any training loop."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _gdro
from ._settings import number

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._types import Vector

RULES = ("hedge", "exp3-ix")


class GroupWeights:
    """Weights on groups that grow with the groups' losses: the adversary of group DRO.

    Use it in a training loop of your own, whatever the model: weigh the losses of the groups by
    ``weights``, or draw groups by ``draw()``, then tell it what the losses were by ``update``.
    ``average`` is the answer of the player over all rounds.

    Parameters
    ----------
    groups : int or sequence of str
        How many, or their names.
    rule : {"hedge", "exp3-ix"}, default="hedge"
        ``"hedge"`` hears the loss of every group in every round, and multiplies q_i by
        exp(step · loss_i). ``"exp3-ix"`` hears the losses of the groups that it has drawn alone,
        and uses the loss estimate (1 - loss_i)/(k q_i + gamma) of implicit exploration.
    k : float, default=1
        No weight exceeds 1/k: the mean of the k largest losses in the place of the largest.
        ``draw`` draws k groups (dependent rounding), for which k must be whole.
    rounds : int, default=None
        Number of rounds that are planned: sets ``step`` to that of the theorem.
    step : float, default=None
        The step on losses divided by ``loss_range``. By ``rounds`` when left out: sqrt(8 ln m/T)
        for hedge, sqrt(k ln m/(m T)) for exp3-ix.
    gamma : float, default=None
        Of exp3-ix: its implicit exploration, half of the step by default.
    loss_range : float, default=1
        What losses lie below. Larger ones count as this much for exp3-ix, see ``clipped``.
    random_state : int, default=0
        Seed of ``draw``.

    Examples
    --------
    >>> from gdro import GroupWeights
    >>> player = GroupWeights(["web", "books"], step=1.0)
    >>> player.update({"web": 0.0, "books": 1.0})
    >>> player.weights.round(3).tolist()
    [0.269, 0.731]
    """

    names: list[str]
    rule: str
    k: float
    step: float
    gamma: float | None
    loss_range: float
    updates: int
    clipped: int

    def __init__(
        self,
        groups: int | Sequence[str],
        *,
        rule: Literal["hedge", "exp3-ix"] = "hedge",
        k: float = 1,
        rounds: int | None = None,
        step: float | None = None,
        gamma: float | None = None,
        loss_range: float = 1.0,
        random_state: int = 0,
    ) -> None:
        if isinstance(groups, (int, np.integer)):
            number("groups", groups, low=1, whole=True)
            self.names = [str(i) for i in range(groups)]
        else:
            self.names = [str(name) for name in groups]
            if not self.names:
                raise ValueError("groups is empty: expected at least one")
            if len(set(self.names)) < len(self.names):
                raise ValueError("groups: a name occurs twice")
        self._index = {name: i for i, name in enumerate(self.names)}
        m = len(self.names)
        if rule not in RULES:
            raise ValueError(f"rule={rule!r}: expected one of {', '.join(RULES)}")
        self.rule = rule
        self.k = number("k", k, low=1, high=m)
        self.loss_range = number("loss_range", loss_range, low=0, strictly=True)
        if (step is None) == (rounds is None):
            raise ValueError("give either step or rounds, the number of rounds that sets it")
        if step is not None:
            self.step = number("step", step, low=0, strictly=True)
        else:
            rounds = number("rounds", rounds, low=1, whole=True)
            # With one point to choose from there is nothing to learn.
            entropy = math.log(m) if self.k < m else 0.0
            if rule == "hedge":
                self.step = math.sqrt(8 * entropy / rounds)
            else:
                self.step = math.sqrt(self.k * entropy / (m * rounds))
        if rule == "hedge":
            if gamma is not None:
                raise ValueError(f"gamma={gamma!r} is for rule='exp3-ix'")
            self.gamma = None
        else:
            if self.k != int(self.k):
                raise ValueError(f"k={k!r}: exp3-ix draws k groups, expected a whole number")
            self.gamma = self.step / 2 if gamma is None else number("gamma", gamma, low=0)
        seed = number("random_state", random_state, low=0, whole=True)
        self._player = _gdro.Player(m, self.k, seed)
        self._drawn = None
        self.updates = 0
        self.clipped = 0

    def __len__(self) -> int:
        return len(self.names)

    @property
    def weights(self) -> Vector:
        """The present weights q, an array of m numbers that sum to 1."""
        return self._player.weights()

    @property
    def average(self) -> Vector:
        """The average of the weights before each update; the present ones before the first."""
        return self._player.average()

    def draw(self) -> Any:
        """Draws a group with probability q_i, or an array of k groups with probability k q_i each.

        Returns numbers of groups. exp3-ix wants the losses of these at the next ``update``.
        """
        if self.k != int(self.k):
            raise ValueError(f"k={self.k:g} groups cannot be drawn: expected a whole number")
        drawn = self._player.draw(int(self.k))
        self._drawn = drawn
        return drawn[0] if self.k == 1 else np.array(drawn)

    def update(
        self,
        losses: float | ArrayLike | Mapping[str, float],
        groups: ArrayLike | None = None,
    ) -> None:
        """One step of the player.

        Parameters
        ----------
        losses : array, mapping or float
            hedge: a loss for every group, or those of ``groups``; a group that is absent (or NaN)
            keeps its weight relative to a loss of 0. exp3-ix: the losses of the groups of the last
            ``draw()``, in their order. A mapping goes by name.
        groups : array of int, default=None
            The groups that the losses are of, unless they are a mapping.
        """
        if self.rule == "exp3-ix" and self._drawn is None:
            raise ValueError("exp3-ix hears of groups that it has drawn: call draw() first")
        numbers, values = self._losses(losses, groups)
        if self.rule == "hedge":
            gains = values / self.loss_range
        else:
            if sorted(numbers) != sorted(self._drawn):
                names = [self.names[i] for i in self._drawn]
                raise ValueError(f"expected the losses of the groups drawn last, {names}")
            scaled = values / self.loss_range
            self.clipped += int(np.count_nonzero((scaled < 0) | (scaled > 1)))
            q = self.weights[numbers]
            gains = -(1 - np.clip(scaled, 0, 1)) / (self.k * q + self.gamma)
        self._player.step(self.step, np.asarray(numbers, dtype=np.int64), gains)
        self._drawn = None
        self.updates += 1

    def _losses(self, losses, groups):
        if hasattr(losses, "keys"):
            if groups is not None:
                raise ValueError("losses are given by name: leave out groups")
            unknown = [k for k in losses.keys() if str(k) not in self._index]
            if unknown:
                raise ValueError(f"{unknown[0]!r} is no group: expected one of {self.names[:8]}")
            numbers = [self._index[str(k)] for k in losses.keys()]
            values = np.array([float(losses[k]) for k in losses.keys()])
        else:
            if hasattr(losses, "detach"):  # a tensor
                losses = losses.detach().cpu().numpy()
            values = np.atleast_1d(np.asarray(losses, dtype=np.float64))
            if values.ndim != 1:
                raise ValueError(f"losses have {values.ndim} dimensions, expected one per group")
            if groups is None and self.rule == "exp3-ix" and self._drawn is not None:
                groups = self._drawn
            numbers = range(len(self)) if groups is None else np.atleast_1d(groups).tolist()
            numbers = list(numbers)
            if len(values) != len(numbers):
                raise ValueError(f"{len(values)} losses for {len(numbers)} groups")
        if np.isinf(values).any():
            at = int(np.flatnonzero(np.isinf(values))[0])
            name = self.names[numbers[at]]
            raise ValueError(f"the loss of group {name!r} is {values[at]}: expected a finite number")
        if self.rule == "exp3-ix" and np.isnan(values).any():
            raise ValueError("a loss is NaN: exp3-ix needs the loss of every group that it drew")
        present = ~np.isnan(values)
        return [n for n, p in zip(numbers, present) if p], values[present]

    def state_dict(self) -> dict[str, Any]:
        """Everything that the player is, as plain values: for checkpoints, bit for bit."""
        return {
            "names": list(self.names),
            "rule": self.rule,
            "k": self.k,
            "step": self.step,
            "gamma": self.gamma,
            "loss_range": self.loss_range,
            "drawn": None if self._drawn is None else list(self._drawn),
            "updates": self.updates,
            "clipped": self.clipped,
            "player": self._player.save(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes over what ``state_dict`` gave; the groups must be the same."""
        missing = [n for n in self.state_dict() if n not in state]
        if missing:
            raise ValueError(f"state: no entry {missing[0]!r}: expected what state_dict() gave")
        if list(state["names"]) != self.names:
            raise ValueError("state: its groups are others than those of this player")
        if state["k"] != self.k or state["rule"] != self.rule:
            raise ValueError(
                f"state: rule {state['rule']!r} and k = {state['k']:g}, "
                f"this player has {self.rule!r} and {self.k:g}"
            )
        self._player.restore(state["player"])
        self.step, self.gamma = state["step"], state["gamma"]
        self.loss_range = state["loss_range"]
        self._drawn = None if state["drawn"] is None else list(state["drawn"])
        self.updates, self.clipped = state["updates"], state["clipped"]

    def __getstate__(self):
        return self.state_dict()

    def __setstate__(self, state):
        self.__init__(
            state["names"],
            rule=state["rule"],
            k=state["k"],
            step=state["step"] or 1.0,
            loss_range=state["loss_range"],
        )
        self.load_state_dict(state)

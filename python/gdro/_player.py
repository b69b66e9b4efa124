"""The q-player alone, for any training loop."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from . import _gdro
from ._settings import by_name, number, seed_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._types import RandomState, Vector

RULES = ("hedge", "exp3-ix")
ABSENT = ("carry", "importance", "error")


class GroupWeights:
    """Weights on groups that grow with the groups' losses: the adversary of group DRO.

    Use it in a training loop of your own, whatever the model: weigh the losses of the groups by
    ``weights``, or draw groups by ``draw()``, then tell it what the losses were by ``update``.
    ``average`` is the answer of the player over all rounds.

    Where a group is in a share P of the minibatches only, its loss counts q_i/P in those for the model
    to see Σ q_i R_i on average.

    Parameters
    ----------
    groups : int or sequence of str
        How many, or their names.
    rule : {"hedge", "exp3-ix"}, default="hedge"
        ``"hedge"`` hears the loss of every group, and multiplies q_i by exp(step · loss_i); for groups
        whose loss is not known in a round see ``absent``. ``"exp3-ix"`` hears the losses of the groups that it has drawn alone,
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
    loss_range : float, default=None
        Losses lie in [0, ``loss_range``]; 1 when left out. Others are an error for hedge, except with a
        ``step`` of your own and no range, where a loss may be any number. exp3-ix takes them for the
        nearer end, see ``clipped``.
    absent : {"carry", "importance", "error"}, default="carry"
        What hedge makes of a group that an update says nothing of, such as one without rows in a
        minibatch. Its loss is unknown, which is not a loss of 0. ``"carry"``: its last loss stands;
        before its first it keeps its share of the weights. ``"importance"``: losses are divided by
        ``presence``, and absent groups gain nothing: the gains are those of full information on
        average, with more noise, for which step · loss/(presence · ``loss_range``) should stay
        below 1. ``"error"`` refuses the update.
    presence : float, array or mapping, default=None
        Of ``absent="importance"``: the probability that a group is there in an update, for all
        groups or for each. In a minibatch of B rows a group of share s is there with probability
        1 - (1 - s)^B.
    random_state : int, Generator, RandomState or None, default=0
        Seed of ``draw``.

    Attributes
    ----------
    names : list of str
        Names of the groups.
    updates : int
        Updates so far.
    clipped : int
        Losses that lay outside of [0, ``loss_range``], of exp3-ix.

    Raises
    ------
    ValueError
        For arguments that are out of range or that do not go together.

    Examples
    --------
    >>> from gdro import GroupWeights
    >>> player = GroupWeights(["web", "books"], step=1.0)
    >>> player.update({"web": 0.0, "books": 1.0})
    >>> player.weights.round(3).tolist()
    [0.269, 0.731]

    A batch without books: their loss of 1 stands.

    >>> player.update({"web": 1.0})
    >>> player.weights.round(3).tolist()
    [0.269, 0.731]
    """

    names: list[str]
    rule: str
    k: float
    step: float
    gamma: float | None
    loss_range: float
    absent: str
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
        loss_range: float | None = None,
        absent: Literal["carry", "importance", "error"] = "carry",
        presence: float | ArrayLike | Mapping[str, float] | None = None,
        random_state: RandomState | None = 0,
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
        self._has_range = loss_range is not None or step is None
        loss_range = 1.0 if loss_range is None else loss_range
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
        if absent not in ABSENT:
            raise ValueError(f"absent={absent!r}: expected one of {', '.join(ABSENT)}")
        if rule != "hedge" and absent != "carry":
            raise ValueError(
                f"absent={absent!r} is for rule='hedge': exp3-ix hears of the groups that it has drawn"
            )
        if (presence is None) == (absent == "importance"):
            raise ValueError(
                f"absent={absent!r} and presence={presence!r}: the probabilities that groups are there "
                "go with absent='importance'"
            )
        self.absent = absent
        self._presence = None if presence is None else self._probabilities(presence)
        #: The last loss of each group, NaN before its first.
        self._last = np.full(m, np.nan)
        self._every = np.arange(m)
        seed = number("random_state", seed_of(random_state), low=0, whole=True)
        self._player = _gdro.Player(m, self.k, seed)
        self._drawn = None
        self.updates = 0
        self.clipped = 0

    def __len__(self) -> int:
        return len(self.names)

    @property
    def weights(self) -> Vector:
        """The present weights q, of shape (m,); they sum to 1."""
        return self._player.weights()

    @property
    def average(self) -> Vector:
        """The average of the weights before each update, of shape (m,); the present ones before the first."""
        return self._player.average()

    def draw(self) -> Any:
        """Draws a group with probability q_i, or k groups with probability k q_i each.

        exp3-ix wants the losses of these at the next ``update``.

        Returns
        -------
        int, or ndarray of int of shape (k,) where k is above 1
            Numbers of groups, from 0 on.

        Raises
        ------
        ValueError
            Where k is no whole number.
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
            hedge: a loss for every group, or those of ``groups``; the others are absent, see
            ``absent``. exp3-ix: the losses of the groups of the last ``draw()``, in their order. A
            mapping goes by name. A loss that is NaN or infinite is an error.
        groups : array of int, default=None
            The groups that the losses are of, unless they are a mapping.

        Raises
        ------
        ValueError
            For a loss that is no finite number or beyond ``loss_range``, a group that is none or that
            occurs twice, and what ``absent`` and the rule do not allow.
        """
        if self.rule == "exp3-ix" and self._drawn is None:
            raise ValueError("exp3-ix hears of groups that it has drawn: call draw() first")
        numbers, values = self._losses(losses, groups)
        if self.rule == "hedge":
            self._hold(numbers, values)
            self._player.step(*self._hedge(numbers, values))
        else:
            if sorted(numbers.tolist()) != sorted(self._drawn):
                names = [self.names[i] for i in self._drawn]
                raise ValueError(f"expected the losses of the groups drawn last, {names}")
            scaled = values / self.loss_range
            self.clipped += int(np.count_nonzero((scaled < 0) | (scaled > 1)))
            q = self.weights[numbers]
            gains = -(1 - np.clip(scaled, 0, 1)) / (self.k * q + self.gamma)
            self._player.step(self.step, numbers, gains)
        self._drawn = None
        self.updates += 1

    def _hold(self, numbers, values):
        """Refuses losses beyond the range that the step rests on, up to rounding in single precision."""
        shares = values / self.loss_range
        outside = np.flatnonzero((shares < -1e-6) | (shares > 1 + 1e-6))
        if self._has_range and len(outside):
            at = outside[0]
            raise ValueError(
                f"the loss of group {self.names[numbers[at]]!r} is {values[at]:g}: expected a number from 0 "
                f"to loss_range={self.loss_range:g}; give the range of the losses, or a step without one"
            )

    def _hedge(self, numbers, values):
        """The step of hedge, its groups and their gains, of the losses that were heard."""
        if self.absent == "importance":
            return self.step, numbers, values / (self._presence[numbers] * self.loss_range)
        if self.absent == "error" and len(numbers) < len(self):
            name = self.names[np.setdiff1d(self._every, numbers)[0]]
            raise ValueError(
                f"no loss of group {name!r}: expected one of every group; absent='carry' lets its last "
                "one stand"
            )
        self._last[numbers] = values
        gains = self._last / self.loss_range
        silent = np.isnan(gains)
        if not silent.any():
            return self.step, self._every, gains
        known = np.flatnonzero(~silent)
        if not len(known):
            return self.step, known, gains[known]
        return 1.0, known, self._moves(known, gains[known])

    def _moves(self, known, gains):
        """The change of ln q of the groups that have been heard of, while the others keep their share.

        Hedge among those alone, on their part of the weights, each of them at most 1/k.
        """
        q = self.weights[known]
        part = q.sum()
        logs = np.log(np.maximum(q, _TINY)) + self.step * gains
        among = _gdro.Player(len(known), min(max(1.0, self.k * part), len(known)), 0)
        among.step(1.0, np.arange(len(known)), logs - logs.max())
        return np.log(np.maximum(part * among.weights(), _TINY)) - np.log(np.maximum(q, _TINY))

    def _losses(self, losses, groups):
        """The numbers of the groups that were heard of, each once, and their losses."""
        if hasattr(losses, "keys"):
            if groups is not None:
                raise ValueError("losses are given by name: leave out groups")
            named = {str(key): losses[key] for key in losses.keys()}
            unknown = next((name for name in named if name not in self._index), None)
            if unknown is not None:
                raise ValueError(f"{unknown!r} is no group: expected one of {self.names[:8]}")
            numbers = np.fromiter(map(self._index.__getitem__, named), np.int64, len(named))
            values = np.array([math.nan if v is None else float(v) for v in named.values()])
        else:
            values = _array(losses).astype(np.float64, copy=False)
            if values.ndim == 0:
                values = values.reshape(1)
            if values.ndim != 1:
                raise ValueError(f"losses have {values.ndim} dimensions, expected one per group")
            if groups is None and self.rule == "exp3-ix":
                groups = self._drawn
            numbers = self._every if groups is None else self._numbers(groups)
            if len(values) != len(numbers):
                raise ValueError(f"{len(values)} losses for {len(numbers)} groups")
        if not np.isfinite(values).all():
            at = int(np.flatnonzero(~np.isfinite(values))[0])
            out = "; leave out what is absent, by groups= or a mapping" if self.rule == "hedge" else ""
            raise ValueError(
                f"the loss of group {self.names[numbers[at]]!r} is {values[at]}: expected a finite "
                f"number{out}"
            )
        return numbers, values

    def _numbers(self, groups):
        """Numbers of different groups."""
        numbers = _array(groups)
        if numbers.size and numbers.dtype.kind not in "iu":
            raise ValueError(
                f"groups={groups!r:.80}: expected numbers of groups; losses by name are a mapping"
            )
        numbers = numbers.astype(np.int64, copy=False).reshape(-1)
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < len(self):
            outside = next(n for n in numbers.tolist() if not 0 <= n < len(self))
            raise ValueError(f"group {outside}: expected a number from 0 to {len(self) - 1}")
        counts = np.bincount(numbers, minlength=len(self))
        if counts.max() > 1:
            name = self.names[counts.argmax()]
            raise ValueError(f"two losses of group {name!r}: expected one, such as their mean")
        return numbers

    def _probabilities(self, presence):
        """The probability of each group to be there."""
        if isinstance(presence, (int, float)):
            presence = [presence] * len(self)
        found = by_name("presence", presence, self.names)
        for name in (*self.names, *found):
            if name not in found or name not in self._index:
                raise ValueError(f"presence: expected a number for each group, see {name!r}")
            number(f"presence of {name!r}", found[name], low=0, strictly=True, high=1)
        return np.array([found[name] for name in self.names])

    def state_dict(self) -> dict[str, Any]:
        """Everything that the player is: for checkpoints, bit for bit.

        Returns
        -------
        dict
            Plain values, which any serialiser takes.
        """
        return {
            "names": list(self.names),
            "rule": self.rule,
            "k": self.k,
            "step": self.step,
            "gamma": self.gamma,
            "loss_range": self.loss_range,
            "has_range": self._has_range,
            "absent": self.absent,
            "presence": None if self._presence is None else self._presence.tolist(),
            "last": [None if v != v else v for v in self._last.tolist()],
            "drawn": None if self._drawn is None else list(self._drawn),
            "updates": self.updates,
            "clipped": self.clipped,
            "player": self._player.save(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Takes over what ``state_dict`` gave.

        Parameters
        ----------
        state : dict
            What a player with the same groups, rule and k gave. All else is that of the state: step, range
            and seed, too.

        Raises
        ------
        ValueError
            For anything else.
        """
        # Earlier versions wrote no "has_range", and held no losses to their range.
        missing = [n for n in self.state_dict() if n not in state and n != "has_range"]
        if missing:
            raise ValueError(f"state: no entry {missing[0]!r}: expected what state_dict() gave")
        if list(state["names"]) != self.names:
            raise ValueError(
                f"state: its groups are others, {list(state['names'])!r:.80}, and those of this player "
                f"{self.names!r:.80}"
            )
        if state["k"] != self.k or state["rule"] != self.rule:
            raise ValueError(
                f"state: it was saved with rule={state['rule']!r} and k={state['k']:g}, and this player has "
                f"rule={self.rule!r} and k={self.k:g}"
            )
        self._player.restore(state["player"])
        self.step, self.gamma = state["step"], state["gamma"]
        self.loss_range = state["loss_range"]
        self._has_range = state.get("has_range", False)
        self.absent, presence = state["absent"], state["presence"]
        self._presence = None if presence is None else np.array(presence, dtype=np.float64)
        self._last = np.array(state["last"], dtype=np.float64)  # None is NaN
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
        )
        self.load_state_dict(state)


#: What weights count as at least where their logarithms are taken.
_TINY = 1e-300


def _array(values):
    """Tensors as arrays, wherever they are; the rest as an array that NumPy makes of it."""
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    return np.asarray(values)

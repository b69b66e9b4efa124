"""
The compiled half of `gdro`; its names may change at any time.
"""

from _typeshed import Incomplete, SupportsGetItem
from typing import Any, Final, SupportsFloat, SupportsIndex, final

__all__ = ["__version__", "Encoder", "Loop", "Player", "fit", "intervals", "loss_cap", "losses", "to_onnx"]

__version__: Final[str]
"""
Version of the package.
"""

@final
class Encoder:
    """
    How the columns of a table become features, as it stands in a `model.json`.
    """
    def __new__(cls, /, text: str) -> Encoder:
        """
        The encoding of a JSON text.
        """
    def columns(self, /) -> list[tuple[str, bool]]:
        """
        (name, whether it holds texts) of each column.
        """
    def encode(self, /, columns: SupportsGetItem[int, tuple[str, Incomplete | SupportsGetItem[int, str]]]) -> dict:
        """
        The features of columns, in compressed rows: starts, columns and values; and for each
        column how many texts training never saw.
        """
    def feature_names(self, /) -> list[str]:
        """
        Names of the features.
        """
    def has_constant(self, /) -> bool:
        """
        Whether the last feature is the constant 1.
        """

@final
class Loop:
    """
    A solver on a thread of its own, which it never leaves.
    """
    def advance(self, /, rounds: SupportsIndex) -> int:
        """
        Plays up to so many more rounds; returns how many were played.
        """
    def certify(self, /) -> tuple[tuple[float, float, float, float, str], list[float]]:
        """
        The certificate of the averaged players, and the group risks of the averaged model.
        """
    def look(self, /) -> dict:
        """
        Rounds, samples and what the players hold.
        """
    @staticmethod
    def on_rows(x: Incomplete | tuple[Incomplete, Incomplete, Incomplete, SupportsIndex], y: Incomplete, weights: Incomplete | None, families: SupportsGetItem[int, tuple[Incomplete, SupportsIndex]], settings: str, rounds: str, own: tuple[Any, SupportsIndex, SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex] | None) -> Loop:
        """
        A solver on rows in memory.
        """
    @staticmethod
    def on_source(draw: Any, groups: SupportsIndex, features: SupportsIndex, bounds: tuple[SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex], settings: str, rounds: str, own: tuple[Any, SupportsIndex, SupportsFloat | SupportsIndex, SupportsFloat | SupportsIndex] | None) -> Loop:
        """
        A solver on a function `draw(group)` that gives features and target. `bounds` are those of
        ‖x‖₂ and |y|.
        """
    def restore(self, /, text: str) -> None:
        """
        Takes over what `save` gave.
        """
    def save(self, /) -> str:
        """
        Everything needed to go on, bit for bit, as text.
        """
    @property
    def shape(self, /) -> tuple[int, int]:
        """
        Number of groups and of scores.
        """

@final
class Player:
    """
    Weights on the capped simplex with their average, and a random stream for draws.
    """
    def __new__(cls, /, groups: SupportsIndex, k: SupportsFloat | SupportsIndex, seed: SupportsIndex) -> Player:
        """
        Uniform weights on `groups` groups, each at most 1/k.
        """
    def average(self, /) -> Incomplete:
        """
        The average of the weights over the updates; the weights themselves before the first.
        """
    def draw(self, /, count: SupportsIndex) -> list[int]:
        """
        Draws `count` different groups, group i with probability count·q_i (dependent rounding).
        """
    def restore(self, /, text: str) -> None:
        """
        Takes over what `save` gave.
        """
    def save(self, /) -> str:
        """
        Weights, average and random stream as text.
        """
    def step(self, /, eta: SupportsFloat | SupportsIndex, groups: Incomplete, gains: Incomplete) -> None:
        """
        Adds the weights to the average, then takes a step: q_i grows by exp(eta · gain).
        """
    def weights(self, /) -> Incomplete:
        """
        The weights q.
        """

def fit(x: Incomplete | tuple[Incomplete, Incomplete, Incomplete, SupportsIndex], y: Incomplete, weights: Incomplete | None, families: SupportsGetItem[int, tuple[Incomplete, SupportsIndex]], settings: str, threads: SupportsIndex | None = None, listener: Any | None = None) -> dict:
    """
    Trains a model. `families` are the groups of the rows; `settings` a JSON object, see
    `setting.rs`. Lines about the progress go to `listener`.
    """

def intervals(losses: Incomplete, correct: Incomplete | None, binary: tuple[Incomplete, Incomplete] | None, families: SupportsGetItem[int, tuple[Incomplete, SupportsIndex]], delta: SupportsFloat | SupportsIndex, cap: SupportsFloat | SupportsIndex, seed: SupportsIndex) -> dict:
    """
    Intervals on held-out rows, simultaneous over the groups, see [`gdro::interval::evaluate`].
    `binary` has a score per row and whether the row is of the positive class.
    """

def loss_cap(losses: Incomplete) -> float:
    """
    The cap M for losses of training rows, see [`gdro::interval::loss_cap`].
    """

def losses(loss: str, scores: Incomplete, targets: Incomplete) -> Incomplete:
    """
    The loss of every row: scores of shape (n, c) and targets as the loss takes them.
    """

def to_onnx(encoding: str | None, features: SupportsIndex, weights: Incomplete, intercepts: Incomplete, kind: str, labels: SupportsGetItem[int, str], probabilities: bool, integers: bool) -> bytes:
    """
    A linear model as ONNX. `encoding` is the JSON text of an encoding, or the number of features.
    `kind` is `binary`, `multiclass` or `regression`.
    """

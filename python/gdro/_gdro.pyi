"""The compiled half of `gdro`; its names may change at any time. Made by stubs.py."""

from collections.abc import Sequence
from typing import Any, Final, final

import numpy as np
from numpy.typing import NDArray

from ._types import Arguments, Binary, Clusters, Draw, Family, Flags, Listener, Matrix, OwnLoss, Proof, Rows, Start, Vector

__all__ = ["__version__", "Encoder", "Incremental", "Loop", "Player", "check", "example", "fit", "group_remarks", "intervals", "losses", "options", "program", "read_model", "select", "takes_k", "takes_portions", "targets_of", "to_onnx", "verdict", "write_model"]

__version__: Final[str]
"""
Version of the package.
"""

@final
class Encoder:
    """
    How the columns of a table become features, as it stands in a `model.json`.
    """
    def __new__(cls, /, text: str, na: Sequence[str]) -> Encoder:
        """
        The encoding of a JSON text, and the texts that mean a missing cell.
        """
    def columns(self, /) -> list[tuple[str, bool]]:
        """
        (name, whether it holds texts) of each column.
        """
    def encode(self, /, columns: Sequence[tuple[str, Vector | Sequence[str]]]) -> dict[str, Any]:
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
class Incremental:
    """
    A run in rounds between two portions of its rows.
    """
    def __getnewargs__(self, /) -> tuple[str]:
        """
        The run as text, for copies.
        """
    def __new__(cls, /, text: str) -> Incremental:
        """
        What `__getnewargs__` gave.
        """
    @staticmethod
    def learn(before: Incremental | None, rows: Rows, names: Sequence[str], arguments: Arguments, classes: int, fresh: int, start: Start | None = None, threads: int | None = None, listener: Listener | None = None) -> tuple[Incremental, dict[str, Any]]:
        """
        Plays on a portion of rows, of which so many are new, and goes on with the run before it, or else
        starts from a model if one is given. The others are as for `fit`. Gives the run as it then stands,
        and the model.
        """

@final
class Loop:
    """
    A solver on a thread of its own, which it never leaves.
    """
    def advance(self, /, rounds: int) -> int:
        """
        Plays up to so many more rounds; returns how many were played.
        """
    def certify(self, /, dual: bool) -> Proof:
        """
        The certificate of the averaged players; with `dual` the lower bound is that of the averaged weights
        themselves.
        """
    def group_risks(self, /) -> list[float]:
        """
        The group risks of the averaged model.
        """
    def look(self, /) -> dict[str, Any]:
        """
        Rounds, samples and what the players hold.
        """
    @staticmethod
    def on_rows(rows: Rows, names: Sequence[str], arguments: Arguments, classes: int, own: OwnLoss | None) -> Loop:
        """
        A solver on rows in memory, whose groups have these names; `classes` as for an estimator.
        """
    @staticmethod
    def on_source(draw: Draw, names: Sequence[str], features: int, bounds: tuple[float, float], arguments: Arguments, classes: int, own: OwnLoss | None) -> Loop:
        """
        A solver on a function `draw(group)` that gives features and target of groups of these
        names. `bounds` are those of ‖x‖₂ and |y|.
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
    def __new__(cls, /, groups: int, k: float, seed: int) -> Player:
        """
        Uniform weights on `groups` groups, each at most 1/k.
        """
    def average(self, /) -> Vector:
        """
        The average of the weights over the updates; the weights themselves before the first.
        """
    def draw(self, /, count: int) -> list[int]:
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
    def step(self, /, eta: float, groups: NDArray[np.int64], gains: Vector) -> None:
        """
        Adds the weights to the average, then takes a step: q_i grows by exp(eta · gain).
        """
    def weights(self, /) -> Vector:
        """
        The weights q.
        """

def check(arguments: Arguments, is_choice: bool = False) -> None:
    """
    Refuses arguments as `fit` does, or as `select` does where there is a choice.
    """

def example(name: str) -> tuple[str, str, str]:
    """
    A table that ships, as CSV, with the column of its target and those of its groups.
    """

def fit(rows: Rows, names: Sequence[str], arguments: Arguments, classes: int, clusters: NDArray[np.uint32] | None = None, threads: int | None = None, listener: Listener | None = None, checkpoint: tuple[str, float | None] | None = None, start: Start | None = None) -> dict[str, Any]:
    """
    Trains a model on rows whose groups have these names; `classes` is their number for a loss that
    takes classes, and 0 for others; `clusters` has the cluster of each row. Lines about the progress
    go to `listener`. A checkpoint is kept in a file, with so many seconds between them, and gone on
    from where it is there. Training starts from a model, and from where the player of q stood on the same
    groups, where they are given.
    """

def group_remarks(columns: Sequence[str], names: Sequence[str], rows: Sequence[int]) -> list[str]:
    """
    Remarks on a family of groups that are too many to be meant, with the number of rows of each.
    """

def intervals(losses: Vector, correct: Flags | None, binary: Binary | None, weights: Vector | None, clusters: Clusters | None, families: Sequence[Family], delta: float, cap: float, weight_cap: float | None, cluster_cap: float | None, seed: int) -> dict[str, Any]:
    """
    Intervals on held-out rows, simultaneous over the groups, see [`gdro::interval::evaluate`].
    `binary` has a score per row and whether the row is of the positive class; `clusters` the cluster of
    each row, and for each group whether its rows are the independent draws all the same.
    """

def losses(loss: str, scores: Matrix, targets: Vector) -> Vector:
    """
    The loss of every row: scores of shape (n, c) and targets as the loss takes them.
    """

def options() -> list[tuple[str, str, str]]:
    """
    Every option: its name in Python, its name on the command line, and its heading in the help.
    """

def program(arguments: Sequence[str]) -> int:
    """
    Runs the program with its arguments, of which the first is its name, and gives its exit code.
    """

def read_model(path: str) -> str:
    """
    The text of a `model.json`, or of the one in a folder, of which the parts fit together.
    """

def select(rows: Rows, names: Sequence[str], arguments: Arguments, classes: int, clusters: NDArray[np.uint32] | None = None, threads: int | None = None, listener: Listener | None = None, checkpoint: tuple[str, float | None] | None = None) -> tuple[dict[str, Any], str]:
    """
    Chooses a model of a family and trains it on all rows: what `fit` gives of it, and the choice as
    JSON. The arguments are those of `fit`, and how to choose.
    """

def takes_k(solver: str) -> bool:
    """
    Whether an algorithm minimises the mean of the k largest risks.
    """

def takes_portions(solver: str) -> bool:
    """
    Whether an algorithm learns from rows that come in portions.
    """

def targets_of(loss: str) -> str:
    """
    What a loss takes as targets: `labels`, `classes` or `numbers`.
    """

def to_onnx(encoding: str | None, features: int, weights: Vector, intercepts: Vector, kind: str, labels: Sequence[str], probabilities: bool, integers: bool) -> bytes:
    """
    A linear model as ONNX. `encoding` is the JSON text of an encoding, or the number of features.
    `kind` is `binary`, `multiclass` or `regression`.
    """

def verdict(losses: tuple[Vector, Vector], weights: Vector | None, clusters: Clusters | None, families: Sequence[Family], names: Sequence[str], training: Sequence[tuple[int, float, float]], is_same: bool, delta: float, cap: float, weight_cap: float | None, cluster_cap: float | None, seed: int) -> tuple[str, list[str]]:
    """
    Whether a model does better than ERM on held-out rows: a verdict as JSON, and its three lines.
    `training` has for each group its number of training rows and the risks of both models there, and
    `is_same` says that the model is ERM itself.
    """

def write_model(path: str, model: str) -> None:
    """
    Writes a `model.json`. `model` is the JSON text of [`OfRows`].
    """

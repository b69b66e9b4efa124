"""Names for the types of arguments, which type checkers alone read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Vector: TypeAlias = NDArray[np.float64]
Matrix: TypeAlias = NDArray[np.float64]
Flags: TypeAlias = NDArray[np.bool_]
Labels: TypeAlias = NDArray[Any]


class Table(Protocol):
    """What pandas, polars, Arrow and SciPy sparse have in common."""

    @property
    def shape(self) -> tuple[int, int]: ...


class Column(Protocol):
    """What columns of pandas, polars and Arrow have in common."""

    def __len__(self) -> int: ...


class Classifier(Protocol):
    """What the functions of ``gdro.metrics`` and ``gdro.plot`` need of an estimator."""

    def predict(self, X: Any, /) -> Any: ...


#: Features: NumPy, SciPy sparse, pandas, polars or Arrow.
MatrixLike: TypeAlias = ArrayLike | Table
#: A number or label per row.
ColumnLike: TypeAlias = ArrayLike | Column
#: Groups of rows: labels, columns of labels, or families of either.
GroupsLike: TypeAlias = (
    ArrayLike
    | Column
    | Table
    | Mapping[str, ArrayLike | Column]
    | Sequence[ArrayLike | Column | Table | Mapping[str, ArrayLike | Column]]
)
#: A file for checkpoints, and perhaps the seconds between them.
Checkpoint: TypeAlias = str | os.PathLike[str] | tuple[str | os.PathLike[str], float]
#: A number per group, by name or in the order of the names.
PerGroup: TypeAlias = Mapping[str, float] | Sequence[float] | NDArray[Any]
Budget: TypeAlias = Literal["all"] | PerGroup
#: Objectives by name, and one with a number: ("tilted", 0.1) is "tilted:0.1", which no type can spell.
Objective: TypeAlias = (
    Literal["max", "top-k", "regret", "average", "balanced"] | tuple[Literal["tilted"], float]
)
#: Losses by name, and those with a number: ("huber", 0.5) is "huber:0.5", which no type can spell.
Loss: TypeAlias = (
    Literal[
        "logistic", "hinge", "smoothed-hinge", "softmax", "squared", "absolute", "huber"
    ]
    | tuple[Literal["smoothed-hinge", "huber", "quantile"], float]
)
#: What plays rounds.
Algorithm: TypeAlias = Literal[
    "smd-m",
    "smd-m-single",
    "smd-1",
    "online-1",
    "smd-r",
    "smd-r-weighted",
    "smpa-m",
    "hybrid",
    "atkro-m",
    "atkro-k",
    "atkro-1",
    "smd-reuse",
    "smd-clip",
    "exp3p",
    "tinf",
    "afl",
    "mero",
    "flexible",
    "eliminate",
    "adaptive",
]
SolverName: TypeAlias = Literal["auto", "exact"] | Algorithm
Average: TypeAlias = Literal["uniform", "weighted", "suffix", "last"]
Subsets: TypeAlias = Literal["dep-round", "systematic"]

#: What the weights of rows mean.
WeightKind: TypeAlias = Literal["importance", "frequency"]
#: Tables that ship.
ExampleName: TypeAlias = Literal["adult", "german_credit", "island"]
#: How much rows of a class count.
ClassWeight: TypeAlias = Mapping[Any, float] | Literal["balanced"]
#: Sets of coefficients: ("l1", 5) is "l1:5", ("box", -1, 1) is "box:-1,1", which no type can spell.
Domain: TypeAlias = (
    Literal["free", "simplex"]
    | tuple[Literal["ball", "l1", "box", "simplex"], float]
    | tuple[Literal["box", "p-ball"], float, float]
)
#: What decides between models on validation rows; ("top-k", 3) is "top-k:3".
Criterion: TypeAlias = Literal["risk", "accuracy"] | tuple[Literal["top-k"], float]
#: Columns of a report that have intervals.
ReportColumn: TypeAlias = Literal[
    "clipped_risk", "accuracy", "true_positive_rate", "false_positive_rate", "auc"
]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState

#: What the compiled half takes and gives.
Family: TypeAlias = tuple[NDArray[np.uint32], int]
Sparse: TypeAlias = tuple[NDArray[np.uint64], NDArray[np.uint32], Vector, int]
Rows: TypeAlias = tuple[
    Matrix | NDArray[np.float32] | Sparse, Vector, Vector | None, Sequence[Family]
]
Binary: TypeAlias = tuple[Vector, Flags]
#: The cluster of each row, and which groups take rows as independent all the same.
Clusters: TypeAlias = tuple[NDArray[np.uint32], Sequence[bool]]
Proof: TypeAlias = tuple[float, float, float, float, str, bool]
OwnLoss: TypeAlias = tuple[Callable[[Vector, float], tuple[float, Vector]], int, float, float]
Draw: TypeAlias = Callable[[int], tuple[Vector, float]]
Listener: TypeAlias = Callable[[str], object]
#: Arguments as they were given, by name.
Arguments: TypeAlias = dict[str, Any]
#: Where training starts: a model, and the player of q of an earlier run on the same groups.
Start: TypeAlias = tuple[Vector, Vector | None]

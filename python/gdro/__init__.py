"""Group distributionally robust optimisation: one linear model that does well on every group.

``GroupDROClassifier`` and ``GroupDRORegressor`` are scikit-learn estimators whose ``fit`` takes
``sensitive_features``, the group of every row. They minimise the largest group risk, or another
``objective`` of the group risks, to the optimum, and say in ``certificate_`` how far they are from
it. ``GroupDROClassifierCV`` and ``GroupDRORegressorCV`` choose objective and penalty on rows that they
were not trained on, and stay with ordinary training unless another model is better beyond doubt.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

from ._gdro import __version__

if TYPE_CHECKING:
    from . import metrics, plot
    from ._certificate import Certificate
    from ._chosen import GroupDROClassifierCV, GroupDRORegressorCV
    from ._estimators import GroupDROClassifier, GroupDRORegressor
    from ._example import Example, example
    from ._model import TableEncoder, load, save, to_onnx
    from ._player import GroupWeights
    from ._solver import Solver

__all__ = [
    "Certificate",
    "Example",
    "GroupDROClassifier",
    "GroupDROClassifierCV",
    "GroupDRORegressor",
    "GroupDRORegressorCV",
    "GroupWeights",
    "Solver",
    "TableEncoder",
    "__version__",
    "example",
    "load",
    "metrics",
    "plot",
    "save",
    "to_onnx",
]

# All that costs time to import, or needs packages that are optional: the program needs none of it.
_LAZY = {
    "Certificate": ("._certificate", "Certificate"),
    "Example": ("._example", "Example"),
    "GroupDROClassifier": ("._estimators", "GroupDROClassifier"),
    "GroupDROClassifierCV": ("._chosen", "GroupDROClassifierCV"),
    "GroupDRORegressor": ("._estimators", "GroupDRORegressor"),
    "GroupDRORegressorCV": ("._chosen", "GroupDRORegressorCV"),
    "GroupWeights": ("._player", "GroupWeights"),
    "metrics": (".metrics", None),
    "plot": (".plot", None),
    "Solver": ("._solver", "Solver"),
    "TableEncoder": ("._model", "TableEncoder"),
    "example": ("._example", "example"),
    "load": ("._model", "load"),
    "save": ("._model", "save"),
    "to_onnx": ("._model", "to_onnx"),
}


def __getattr__(name: str) -> object:
    if name in _LAZY:
        place, attribute = _LAZY[name]
        module = _import_module(place, __name__)
        value = getattr(module, attribute) if attribute else module
        globals()[name] = value
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_LAZY))

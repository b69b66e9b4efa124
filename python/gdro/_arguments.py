"""Arguments of constructors: how they are documented, and what was meant where a name is none."""

from __future__ import annotations

from difflib import get_close_matches
from inspect import signature
from typing import Any

#: What other libraries call arguments, and what is meant here.
_ELSEWHERE = {
    "C": "the ridge is l2: C of LogisticRegression is l2 = 1/(C n), of n rows",
    "alpha": "the ridge is l2: alpha of Ridge is l2 = 2 alpha/n, of n rows",
    "penalty": "the ridge is l2; domain='l1:5' bounds the sum of absolute coefficients",
    "multi_class": "loss='softmax' is for any number of classes",
    "sensitive_features": "groups are an argument of fit",
    "groups": "groups are the argument sensitive_features of fit",
    "sample_weight": "weights are an argument of fit",
    "seed": "the seed is random_state",
}


class Named:
    """A base of classes whose constructors say what was meant by an argument that they do not have."""

    def __new__(cls, *args: Any, **arguments: Any) -> Any:
        # Copies are made without arguments.
        if args or arguments:
            _check(cls, args, arguments)
        return super().__new__(cls)


def _check(cls, args, arguments):
    """Refuses arguments that the constructor does not take."""
    takes = signature(cls.__init__)
    try:
        takes.bind(None, *args, **arguments)
    except TypeError:
        pass
    else:
        return
    own = [name for name in takes.parameters if name != "self"]
    wrong = next((name for name in arguments if name not in own), None)
    if wrong is None and args:
        raise TypeError(
            f"{cls.__name__} takes its arguments by name, such as {own[0]}={args[0]!r:.40}"
        )
    if wrong is not None:
        near = get_close_matches(wrong, own, 1)
        hint = _ELSEWHERE.get(wrong) or (f"did you mean {near[0]}?" if near else None)
        hint = hint or f"expected one of {', '.join(own)}"
        raise TypeError(f"{cls.__name__} has no argument {wrong!r}: {hint}")


def document(estimator: type, text: str, **parts: str) -> None:
    """Appends to the documentation of a class a text with ``@NAME@`` in the place of its parts."""
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    estimator.__doc__ = (estimator.__doc__ or "") + text

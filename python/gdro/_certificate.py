"""Proofs of optimality."""

from dataclasses import asdict, dataclass

from . import _html


@dataclass(frozen=True)
class Certificate:
    """Two numbers between which the optimum on the training rows lies.

    Attributes
    ----------
    upper : float
        The objective of the model: what its group risks come to, with the penalty.
    lower : float
        What no model within the same bounds can go below, by convex duality.
    gap : float
        ``upper - lower``: the model is at most this far from the optimum.
    relative_gap : float
        ``gap / max(|upper|, scale / 1000)``, where ``scale`` is the largest risk of a constant
        model (in the middle of the targets for numbers, where the intercept is free).
    method : str
        How the lower bound was found.
    any_intercept : bool
        Whether ``lower`` is about models with any intercept; always without one. It is not where a
        model was saved by an earlier version: then it is about intercepts within ±100, for numbers
        within ±2 max|y| where that is more.

    Examples
    --------
    >>> from gdro import GroupDRORegressor
    >>> model = GroupDRORegressor().fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 4.0])
    >>> proof = model.certificate_
    >>> proof.lower <= proof.upper <= proof.lower + 1e-9
    True
    """

    upper: float
    lower: float
    gap: float
    relative_gap: float
    method: str
    any_intercept: bool = False

    def _repr_html_(self) -> str:
        lines = [[name.replace("_", " "), f"{value:.10g}" if type(value) is float else str(value)]
                 for name, value in asdict(self).items()]
        return _html.table(["certificate", "on training rows"], lines)

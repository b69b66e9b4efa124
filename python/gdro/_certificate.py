"""Proofs of optimality."""

from dataclasses import dataclass


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
        ``gap / max(|upper|, 1e-3)``.
    method : str
        How the lower bound was found.
    """

    upper: float
    lower: float
    gap: float
    relative_gap: float
    method: str

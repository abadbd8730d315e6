"""The plan of a cascade: the order of the terms, the thresholds, and what they did on calibration samples."""

from dataclasses import dataclass

import numpy as np

from rebelboost.base.arrays import Floats, Ints
from rebelboost.cascade.thresholds import exact_interval

LEFT_OUT, GIVEN = "held-out training samples", "calibration samples"
LABELLED, BY_HAND = "labelled calibration samples", "thresholds given by hand"
"""Origins of the thresholds of a cascade."""


@dataclass(frozen=True, eq=False)
class CascadePlan:
    """Checks after parts of the terms. A model file stores it."""

    agreement: float
    """Share of decisions that must be those of the full model, or right, if calibrated with labels."""
    kind: str
    """Values that are compared; see `rebelboost.cascade.checks`."""
    stage_of_term: Ints
    """(T,) stage at which each term is added; samples may leave after each stage but the last."""
    low: Floats
    """(B,) samples with a lower value leave; −inf: none."""
    high: Floats
    """(B,) samples with a higher value leave; inf: none."""
    risk_temperatures: Floats
    """(B,) temperatures of the posterior by which expected costs are compared."""
    temperatures: Floats
    """(B,) temperatures of the probabilities of samples that leave."""
    left: Ints
    """(B + 1,) number of calibration samples that leave at each check; the last: at none."""
    n_wrong: int
    """Number of calibration samples that leave with another decision than the full model's, or wrongly."""
    n_wrong_held_out: int
    """The same if the thresholds are chosen from other samples: 5-fold cross-validation."""
    source: str
    """Origin of the calibration samples."""
    by_sample: bool = False
    """Whether they had costs of their own."""

    @property
    def n_calibrated(self) -> int:
        """Number of calibration samples."""
        return int(self.left.sum())

    @property
    def disagreement(self) -> tuple[float, float, float]:
        """Share of new samples that leave with another decision, and its 95 % interval."""
        n = self.n_calibrated
        if n == 0:
            return (0.0, 0.0, 1.0)
        return (self.n_wrong_held_out / n, *exact_interval(self.n_wrong_held_out, n))

    @property
    def decided(self) -> Floats:
        """(B + 1,) share of the calibration samples decided up to each check; the last is 1."""
        shares: Floats = np.cumsum(self.left) / max(1, self.n_calibrated)
        return shares

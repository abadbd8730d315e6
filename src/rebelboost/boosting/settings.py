"""How to train: what does not depend on the data."""

from dataclasses import dataclass, field
from typing import Any

from rebelboost.base.arrays import Planes
from rebelboost.boosting.loop import Plan
from rebelboost.boosting.sampling import Sampling
from rebelboost.losses.exponential import Risk
from rebelboost.losses.smooth import SmoothRisk

LOSSES = ("exponential", "logistic", "squared")


@dataclass(frozen=True)
class Settings:
    """What does not depend on the data."""

    learner: Any
    rounds: int
    shrinkage: float
    tol: float | None = None
    """None: the learner's own."""
    subcosts: str = "thesis"
    sampling: Sampling = field(default_factory=Sampling)
    patience: int | None = None
    part: int = 0
    """Number of the fit, where several are averaged."""
    seed: int = 0
    n_threads: int = 1
    loss: str = "exponential"

    def risk(self, subcosts: Planes, total_weight: float) -> Risk | SmoothRisk:
        """The loss of a training set."""
        if self.loss == "exponential":
            return Risk(subcosts, total_weight, self.n_threads)
        from rebelboost.losses.classes import FAMILY  # which most programs do without

        loss = FAMILY[self.loss](subcosts)
        return SmoothRisk(loss, total_weight, loss.floor() / total_weight, self.n_threads)

    @property
    def plan(self) -> Plan:
        """The loop's part."""
        return Plan(self.rounds, self.shrinkage, self.sampling, self.seed, self.part)

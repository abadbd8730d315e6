"""Settings of the boosting loop."""

from collections.abc import Sequence
from typing import NamedTuple

from rebelboost.base.draws import Draws
from rebelboost.boosting.sampling import Sampling


class Plan(NamedTuple):
    """Settings of the loop."""

    rounds: int
    shrinkage: float = 1.0
    sampling: Sampling = Sampling()
    seed: int = 0
    part: int = 0
    stages: Sequence[int] = ()
    """Numbers of terms, rising, at which callbacks look at the state of the samples."""

    def draws(self) -> Draws:
        """Random numbers of this fit, by round. They do not depend on the round where training started."""
        return Draws(self.seed, self.part)

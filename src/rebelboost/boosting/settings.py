"""Settings of a fit: the one type from an estimator's parameters to the boosting loop."""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from rebelboost.base.draws import Draws
from rebelboost.boosting.objectives import ClassObjective, Objective
from rebelboost.boosting.sampling import Sampling
from rebelboost.learners.base import WeakLearner


@dataclass(frozen=True)
class Settings:
    """Training settings: everything that does not depend on the data."""

    learner: WeakLearner
    rounds: int
    shrinkage: float = 1.0
    tol: float | Literal["papers"] | None = None
    """Fraction of the initial loss at which training stops; None: the learner's default; "papers": 2/(K·N)."""
    objective: Objective = field(default_factory=ClassObjective)
    sampling: Sampling = field(default_factory=Sampling)
    patience: int | None = None
    """Rounds to wait for a lower validation loss; None: no early stopping."""
    part: int = 0
    """Number of the fit, if several are averaged."""
    seed: int = 0
    n_threads: int = 1
    stages: tuple[int, ...] = ()
    """Numbers of terms, rising, at which callbacks look at the state of the samples."""

    def draws(self) -> Draws:
        """Random numbers of this fit, by round. They do not depend on the round where training started."""
        return Draws(self.seed, self.part)


class Recipe(NamedTuple):
    """A learner, and its settings where the user has chosen none."""

    learner: WeakLearner
    rounds: int
    """Maximum number of rounds. In a race, the number is chosen on held-out samples."""
    shrinkage: float
    subsample: float = 1.0
    feature_subsample: float = 1.0

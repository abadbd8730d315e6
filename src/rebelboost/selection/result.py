"""What a cross-fit found: the averaged ensemble, the candidates' results, and held-out scores.

Model files store it. Reading one to predict imports nothing that trains.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Ints, Scores
from rebelboost.boosting.rounds import History
from rebelboost.model.ensemble import Ensemble


class Standing(NamedTuple):
    """Results of a candidate on held-out samples."""

    name: str
    """Name of the candidate."""
    rounds: int
    """Number of rounds."""
    share: float
    """Weight in the average; 0 if the candidate is not part of it."""
    log_loss: float
    """Mean log-loss; see `HeldOutScorer.best_factor`."""
    cost: float
    """Mean cost of the decisions, by expected cost; the root mean squared error in a regression."""
    n_parts: int
    """Number of folds it was fitted on; fewer than the others if it was dropped."""
    shrinkage: float
    """Its shrinkage."""


class Staged(NamedTuple):
    """Scores of held-out samples after each of S stages of the terms."""

    stage_of_term: Ints
    """(T,) the stage at which each term of the ensemble is added."""
    scores: NDArray[np.float32]
    """(S, M, K) the last stage has all terms."""
    rows: Ints
    """(M,) rows of the samples in the user's table."""
    costs: NDArray[np.float32] | None = None
    """(M, K, K) costs that decisions on them follow, where they differ from sample to sample."""


@dataclass(frozen=True)
class CrossFit:
    """The averaged ensemble, and its results on held-out samples."""

    ensemble: Ensemble
    """Terms of the average."""
    temperature: float
    """Factor of its scores with the lowest log-loss on held-out samples."""
    history: History
    """Rounds of all fits, including those whose terms were dropped."""
    standings: tuple[Standing, ...]
    """Results of all candidates."""
    runs: tuple[int, ...]
    """Index of the candidate of each fit in the history."""
    log_loss: float
    """Mean log-loss on held-out samples; see `HeldOutScorer.best_factor`."""
    cost: float
    """Mean cost of the decisions on held-out samples, by expected cost; in a regression the root mean
    squared error."""
    left_out: Scores
    """(M, K) scores of held-out samples, averaged over the candidates with their weights."""
    rows: Ints
    """(M,) rows of those samples in the user's table."""
    staged: Staged | None = field(default=None, repr=False)
    """Scores of held-out samples after parts of the terms; None in a regression."""
    merged_parts: tuple[Ensemble, ...] = field(default=(), repr=False)
    """For each part, the terms of fits without it that the average has merged into one; not stored in files."""
    part_rows: tuple[Ints, ...] = field(default=(), repr=False)
    """For each part, its rows in the user's table; not stored in files."""

    def __repr__(self) -> str:
        members = ", ".join(
            f"{each.share:.0%} with {each.rounds} rounds" for each in self.standings if each.share
        )
        return (
            f"CrossFit({members}, temperature {self.temperature:g}, "
            f"held-out log-loss {self.log_loss:.4g}, held-out cost {self.cost:.4g})"
        )

"""Interface of a weak learner.

A learner holds options. Its `prepare` returns an object that searches the training samples and owns
everything that the search keeps between rounds. In each round, `propose` of that object returns a
term for the current weights.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import (
    NO_WORK,
    Bins,
    BySample,
    Bytes,
    Focus,
    Indices,
    Ints,
    Layer,
    Outputs,
    Work,
)
from rebelboost.base.cached import cached_property
from rebelboost.base.hashing import Keys, hash_rows
from rebelboost.base.kernel_arrays import Boosted, RoundLog
from rebelboost.costs.judge import Judge
from rebelboost.data.samples import Samples
from rebelboost.model.terms import Queries, Terms
from rebelboost.rows.base import MemoryRows, Rows, facts_of, given_samples
from rebelboost.rows.slopes import Slopes
from rebelboost.rows.trees import Draw
from rebelboost.rows.weights import Weights, Where

AnyWeights = Weights | Slopes

__all__ = [
    "Ahead",
    "Candidate",
    "Focus",
    "Prepared",
    "Traits",
    "WeakLearner",
    "solved_response",
    "traits_of",
]


class Candidate(NamedTuple):
    """A term with the best outputs for the weights of the round."""

    term: Terms
    """`Terms` with a single term."""
    where: Where
    """(N,) the region of the term that contains each training sample; or the tree, as splits on bins."""
    plus: Outputs
    """(L, K): Σ w⁺ of each region."""
    minus: Outputs
    """(L, K): Σ w⁻ of each region."""
    work: Work = NO_WORK
    """Work done by the search."""
    rho: float | None = None
    """ρ = ‖P‖₁/ΣS [THESIS, Eq. 4.12], if it is known already."""
    nodes: Layer | None = None
    """Splits on bins, in level order, if the term is a tree that was grown on bins."""


class Ahead(NamedTuple):
    """Several rounds to be done at once, and the samples that their terms are added to."""

    samples: Indices
    """Samples that are searched."""
    allowed: Bytes
    """(R, d) features that are searched in each round; or (1, d), in all rounds."""
    keys: NDArray[np.uint64]
    """(R,) random keys of the rounds."""
    shrinkage: float
    least_total: float
    """The rounds may end when the training samples' weights sum to this or less."""
    training: Boosted
    held: Boosted
    """Held-out samples; there may be none."""
    queries: Queries
    """The held-out samples."""
    bins: Bins | None
    """The same in the bins of the training set, if the learner has any."""
    log: RoundLog
    """Receives what is noted of the rounds."""


@dataclass
class Prepared(ABC):
    """Samples prepared for the search, with the state that the search keeps between rounds."""

    rows: Rows
    """The rows that are trained on, in the order of `Candidate.where`."""
    draw: Draw | None = field(default=None, init=False, kw_only=True)
    """The samples that a round searches, where blocks draw them; None: all."""

    @property
    def samples(self) -> Samples:
        """The samples, if they are in memory."""
        return given_samples(self.rows)

    @abstractmethod
    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Find a term with a low loss."""

    @property
    def goes_ahead(self) -> bool:
        """Whether `go_ahead` does several rounds at once."""
        return False

    def go_ahead(self, ahead: Ahead) -> list[Terms]:
        """Propose terms in several rounds and add them to the samples, as the loop would do one by one.

        Returns the terms of the rounds that were done, in order, those of one kind in a row together. It may
        end early, and does before a term that adds nothing.
        """
        raise NotImplementedError

    @property
    def n_samples(self) -> int:
        """Number of samples, N."""
        return len(self.samples)

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return len(facts_of(self.rows).categorical)

    @cached_property
    def keys(self) -> Keys:
        """(N,) hashes used to draw samples independently of their order. Equal samples have equal keys."""
        return hash_rows(self.samples.X, 0)

    def binned(self, queries: Queries) -> Bins | None:
        """Other samples in the bins of these, if the learner has any."""
        del queries
        return None

    @property
    def level_means(self) -> dict[Hashable, BySample]:
        """Key of `LevelMeans` → (N,) the values that the samples are trained with."""
        return {}

    def covered(self, term: Terms, where: Where) -> Terms:
        """Record the training weight in each region of a term, if explanations need it."""
        assert not isinstance(where, Layer)
        return term.covered(where, self.samples.weight)

    @property
    def tolerance(self) -> float:
        """Default of `tol`: training stops at this fraction of the initial loss."""
        return 0.0

    @property
    def unavoidable_cost(self) -> float:
        """Mean cost that no scores can avoid, because merged samples have different classes."""
        return 0.0


class WeakLearner(Protocol):
    """Options of a learner. It holds no fitted state."""

    @property
    def rounds(self) -> int:
        """Number of rounds used for n_rounds="auto"."""

    @property
    def shrinkage(self) -> float:
        """Shrinkage used for shrinkage="auto"."""

    @property
    def categorical(self) -> Any:
        """Categorical features: "from_dtype", or a list of names, a list of indices or a mask."""

    def prepare(self, rows: Rows, n_threads: int = 1) -> Prepared:
        """Prepare rows for the search."""


class Traits(NamedTuple):
    """What a fit has to know of a learner beforehand. A learner may say so in an attribute `traits`."""

    searches_blocks: bool = False
    """Whether it can search rows that are in several blocks."""
    predicts_numbers: bool = False
    """Whether it may be the learner of a regression."""
    compares_rows: bool = False
    """Whether terms compare samples with training rows, by all features and with the exponential loss."""
    has_scales: bool = False
    """Whether an option `scale` is to be chosen on held-out samples."""
    is_solved_at_once: bool = False
    """Whether it has no rounds and no costs, and settings that held-out samples choose."""


def traits_of(learner: Any) -> Traits:
    """The traits of a learner; those of most learners, if it does not say."""
    found: Traits = getattr(learner, "traits", Traits())
    return found


def solved_response(
    where: Where,
    signs: NDArray[np.int8],
    weights: AnyWeights,
    term_of: Callable[[Outputs], Terms],
) -> tuple[Candidate, float]:
    """Solve the output of a ±1 response. Return the candidate and the loss after it.

    `signs` are the responses of the regions. `term_of` creates the term from its (L, K) outputs.
    """
    plus, minus = weights.sums(where, len(signs))
    output = weights.signed_output(where, signs, plus, minus)
    outputs: Outputs = signs[:, np.newaxis] * output
    loss = weights.loss_after(where, plus, minus, outputs)
    return Candidate(term_of(outputs), where, plus, minus), loss


def merged_rows(rows: Rows, merged: Samples, place: Ints, n_threads: int = 1) -> MemoryRows:
    """Samples of which some were merged; decisions are judged on those before, by their `place`."""
    found = MemoryRows.of(merged, n_threads)
    assert found.alone is not None
    found.alone.scored(held=False).judge = Judge.of(given_samples(rows), place)
    return found

"""What is required of a weak learner.

A learner holds options. `prepare` turns samples into an object that can search them, which owns all that
the search keeps from round to round; its `propose` answers the weights of a round with a term.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import NO_WORK, ByFeature, Indices, Ints, Outputs, Regions, Work
from rebelboost.base.hashing import Keys, hash_rows
from rebelboost.losses.smooth import AnyWeights
from rebelboost.model.terms import Terms


class Focus(NamedTuple):
    """The part of the training set on which a term is sought; its outputs are solved on all of it."""

    samples: Indices
    allowed: ByFeature
    """(d,): 1 for features that may be tested."""


class Candidate(NamedTuple):
    """A term with its best outputs for the weights of the round."""

    term: Terms
    """One term."""
    regions: Regions
    """(N,): the region of the term that each training sample falls into."""
    plus: Outputs
    """(L, K): Σ w⁺ of each region."""
    minus: Outputs
    """(L, K): Σ w⁻."""
    work: Work = NO_WORK
    """Of the search for it."""


@dataclass
class Prepared(ABC):
    """Samples that are ready to be searched, and the memory of the search."""

    samples: Any
    """`Samples` or `NumberSamples`, as training sees them: the order of `Candidate.regions`."""

    @abstractmethod
    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Find a term with a low loss."""

    @property
    def n_samples(self) -> int:
        """N."""
        return len(self.samples)

    @property
    def n_features(self) -> int:
        """The number of features, d."""
        return int(self.samples.X.shape[1])

    @cached_property
    def keys(self) -> Keys:
        """(N,) by which samples are drawn, whatever their order; equal for equal values."""
        return hash_rows(self.samples.X, 0)

    @property
    def tolerance(self) -> float:
        """Training stops at this share of the first loss, unless the user says otherwise."""
        return 0.0

    @property
    def place(self) -> Ints | None:
        """(given samples,) where each is among `samples`, if some were merged; else None."""
        return None

    @property
    def unavoidable_cost(self) -> float:
        """Mean cost that no scores can avoid, since merged samples have different classes."""
        return 0.0


class WeakLearner(Protocol):
    """Options of a learner; it holds no fitted state."""

    @property
    def rounds(self) -> int:
        """The number of rounds that n_rounds="auto" stands for."""

    @property
    def shrinkage(self) -> float:
        """The shrinkage that "auto" stands for."""

    @property
    def categorical(self) -> Any:
        """Which features are categories: "from_dtype", or a list of names, of indices, or a mask."""

    def prepare(self, samples: Any, n_threads: int = 1) -> Prepared:
        """Get samples ready to be searched."""


def solved_response(
    regions: Regions,
    signs: NDArray[np.int8],
    weights: AnyWeights,
    term_of: Callable[[Outputs], Terms],
) -> tuple[Candidate, float]:
    """Solve the output of a ±1 response: a candidate, and the loss with it.

    `signs` are the responses of the regions; `term_of` makes the term, given its (L, K) outputs.
    """
    plus, minus = weights.sums(regions, len(signs))
    output = weights.signed_output(regions, signs, plus, minus)
    outputs: Outputs = signs[:, np.newaxis] * output
    loss = weights.loss_after(regions, plus, minus, outputs)
    return Candidate(term_of(outputs), regions, plus, minus), loss

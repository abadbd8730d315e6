"""Search for a similarity in each round of boosting."""

from collections import deque
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import COMPARISONS, ByClass, Distances, Ints, Outputs, Regions
from rebelboost.base.hashing import Keys
from rebelboost.data.point_set import PlacedSamples, PointSet
from rebelboost.learners.base import Candidate, Focus, Prepared
from rebelboost.learners.similarity_pairs import Pair, draw_pairs, search_pair
from rebelboost.losses.exponential import Weights, signed_output
from rebelboost.losses.levels import CONSTANT, LEVELS, affine_output, level_loss, level_output
from rebelboost.losses.smooth import AnyWeights
from rebelboost.model.comparisons import Comparisons, Example

if TYPE_CHECKING:
    from rebelboost.learners.similarity import Similarity

Sums = tuple[Outputs, Outputs]
"""(levels, K) Σ w⁺ and Σ w⁻ of each level."""


class Solved(NamedTuple):
    """A candidate, and the sum of the weights after it."""

    candidate: Candidate
    loss: float


@dataclass
class PreparedSimilarity(Prepared):
    """Proposes similarities to the training samples.

    Pairs that were found together are queued, one per round; each is solved for the weights of its own
    round. The loss is never higher than with the best hard isolating learner, which responds with 1 at
    one training sample and with −1 at all others [LOCAL, Sec. 5], or with the best constant.
    """

    options: "Similarity"
    placed: PlacedSamples
    _waiting: deque[Pair] = field(default_factory=deque, repr=False)

    @property
    def points(self) -> PointSet:
        """The samples as points."""
        return self.placed.points

    @property
    def place(self) -> Ints:
        """(samples passed to `prepare`,) the point of each."""
        return self.placed.place

    @property
    def unavoidable_cost(self) -> float:
        """Mean cost due to samples of different classes at the same point."""
        return self.placed.unavoidable_cost

    @cached_property
    def keys(self) -> Keys:
        """(N,) keys used to draw samples. The order of points does not depend on that of samples."""
        return np.arange(self.n_samples, dtype=np.uint64)

    @property
    def tolerance(self) -> float:
        """(2/(K·N))², for K classes and N points.

        At 2/(K·N), which is a loss of 1/N for uniform costs, every training sample is decided correctly, and
        the papers stop [LOCAL, Sec. 7.1]. Twice as many rounds lower the test error by 5 % on average.
        """
        return float((2 / (self.samples.n_classes * max(1, self.n_samples))) ** 2)

    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Find a similarity and solve its output.

        If a constant or the hard isolating learner has a lower loss, return that instead.
        """
        assert isinstance(weights, Weights)  # of the exponential loss
        found = self._find(weights, focus, rng)
        best = found[0] if found else self._constant(weights.sums(self._nowhere(), 1))
        plus, minus = best.candidate.plus.sum(axis=0), best.candidate.minus.sum(axis=0)
        if found and best.loss > least_constant_loss(plus, minus):
            best = min(best, self._constant((plus[np.newaxis], minus[np.newaxis])), key=_loss)
        if best.loss > least_isolated_loss(weights, plus - minus):
            i, loss = best_isolated(weights, plus - minus)
            if best.loss > loss:
                best = min(best, self._isolating(i, weights), key=_loss)
        return best.candidate

    def _find(self, weights: Weights, focus: Focus, rng: np.random.Generator) -> list[Solved]:
        if self.options.modes == "one":
            anchor = _anchor(weights)
            row = self._row(anchor)
            taus = _radii(row, anchor)
            return [min((self._one_point(anchor, row, tau, weights) for tau in taus), key=_loss)]
        pair = self._next_pair(weights, focus, rng)
        return [] if pair is None else [self._of_pair(pair, weights)]

    def _next_pair(self, weights: Weights, focus: Focus, rng: np.random.Generator) -> Pair | None:
        options, points = self.options, self.points
        if options.search == "best":
            return search_pair(options, points, weights, _anchor(weights), focus.samples)
        if not self._waiting:
            self._waiting.extend(draw_pairs(options, points, weights, focus.samples, rng))
        return self._waiting.popleft() if self._waiting else None

    def _of_pair(self, pair: Pair, weights: Weights) -> Solved:
        kind = "two_points" if self.options.response == "real" else "nearer"
        regions = np.empty(self.n_samples, dtype=np.uint16)
        kernels.active.compare(
            pair.from_anchor,
            pair.from_rival,
            COMPARISONS[kind],
            pair.apart,
            regions,
            self.points.n_threads,
        )
        sums = weights.sums(regions, len(LEVELS))
        outputs = _outputs(kind, sums, offset=self.options.offset)
        examples = self._examples(pair.anchor, pair.rival)
        term = Comparisons.one(kind, self.points.space, examples, pair.apart, outputs)
        return _solved(term, regions, sums)

    def _row(self, i: int) -> Distances:
        """(N,) squared distances from a sample to all samples."""
        (row,) = self.points.distances(np.array([i], dtype=np.int32))
        return row[: self.n_samples]

    def _isolating(self, i: int, weights: Weights) -> Solved:
        """The hard isolating learner."""
        row = self._row(i)
        return self._one_point(i, row, _radii(row, i)[0], weights, hard=True)

    def _one_point(
        self, i: int, row: Distances, tau: float, weights: Weights, *, hard: bool = False
    ) -> Solved:
        """One-point response (τ − r)/(τ + r), or its sign, for the distances of a sample."""
        kind = "inside" if hard or self.options.response == "sign" else "one_point"
        regions = np.empty(self.n_samples, dtype=np.uint16)
        kernels.active.compare(row, row, COMPARISONS[kind], tau, regions, self.points.n_threads)
        sums = weights.sums(regions, len(LEVELS))
        outputs = _outputs(kind, sums, offset=self.options.offset and not hard)
        term = Comparisons.one(kind, self.points.space, self._examples(i), tau, outputs)
        return _solved(term, regions, sums)

    def _constant(self, sums: Sums) -> Solved:
        """The constant response 1, given the total weights, (1, K) each."""
        plus, minus = (np.zeros((len(LEVELS), total.shape[1])) for total in sums)
        plus[CONSTANT], minus[CONSTANT] = sums
        output = signed_output((plus - minus)[CONSTANT], (plus + minus)[CONSTANT])
        regions = np.full(self.n_samples, CONSTANT, dtype=np.uint16)
        return _solved(Comparisons.constant(_without_offset(output)), regions, (plus, minus))

    def _examples(self, *samples: int) -> list[Example]:
        chosen = list(samples)
        kept = self.points.space.keep(self.points.placed[chosen])
        return list(map(Example, self.points.rows[chosen].tolist(), kept))

    def _nowhere(self) -> Regions:
        return np.zeros(self.n_samples, dtype=np.uint16)


def _outputs(kind: str, sums: Sums, *, offset: bool) -> Outputs:
    """(2, K) the best a and b of f·a + b, from the sums of each level."""
    plus, minus = sums
    if offset:
        return affine_output(plus, minus)
    if kind in {"two_points", "one_point"}:
        return level_output(plus, minus)
    P = (LEVELS[:, np.newaxis] * (plus - minus)).sum(axis=0)
    return _without_offset(signed_output(P, (plus + minus).sum(axis=0)))


def _solved(term: Comparisons, regions: Regions, sums: Sums) -> Solved:
    loss = level_loss(*sums, term.by_region)
    return Solved(Candidate(term, regions, *sums), loss)


def _without_offset(output: ByClass) -> Outputs:
    return np.stack([output, np.zeros_like(output)])


def least_constant_loss(plus: ByClass, minus: ByClass) -> float:
    """Lower bound of the loss with any constant: Σ_k 2√(w⁺w⁻) by class, minus a rounding margin."""
    return 2 * (1 - 1e-9) * float(np.sqrt(plus * minus).sum())


def _loss(solved: Solved) -> float:
    return solved.loss


def _radii(row: Distances, i: int) -> list[float]:
    """Values of τ: ¼ of the distance of the nearest other sample, then those of the 1st, 2nd, 4th, … nearest.

    The first one isolates the sample. The papers leave τ open.
    """
    others = np.sort(row[np.arange(len(row)) != i])
    others = others[others > 0]
    if len(others) == 0:
        return [1.0]
    ranks = 2 ** np.arange(int(np.log2(len(others))) + 1) - 1
    return [float(others[0]) / 4, *others[ranks].astype(np.float64).tolist()]


# ---- the hard isolating learner: +1 at one sample, −1 at all others


def _anchor(weights: Weights) -> int:
    plus, minus = weights.sums(np.zeros(weights.planes.shape[1], dtype=np.uint16), 1)
    i, _ = best_isolated(weights, (plus - minus)[0])
    return i


def best_isolated(weights: Weights, signed_totals: ByClass) -> tuple[int, float]:
    """Find the sample whose isolating learner has the lowest loss. Return it and that loss.

    P_i = 2G_i − ΣG, for all i at once.
    """
    P = 2 * weights.signed - signed_totals
    left = np.sqrt(np.maximum(weights.totals**2 - P**2, 0.0)).sum(axis=1)
    i = int(np.argmin(left))
    return i, float(left[i])


def least_isolated_loss(weights: Weights, signed_totals: ByClass) -> float:
    """Lower bound of the loss that `best_isolated` finds: the loss in one pass, minus a rounding margin.

    In most rounds it shows that the isolating learner is not needed.
    """
    least = kernels.active.least_isolated(
        weights.planes, weights.totals, signed_totals, weights.n_threads
    )
    return (1 - 1e-9) * least

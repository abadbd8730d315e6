"""The search for similarities, round by round."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import COMPARISONS, ByClass, Outputs, Regions
from rebelboost.data.point_set import PointSet
from rebelboost.learners.base import Candidate, Focus
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.similarity_pairs import Pair, draw_pairs, search_pair
from rebelboost.losses.exponential import Weights, signed_output
from rebelboost.losses.levels import CONSTANT, LEVELS, affine_output, level_loss, level_output
from rebelboost.model.comparisons import Comparison, Example


class Solved(NamedTuple):
    """A candidate, and the sum of weights that it leaves."""

    candidate: Candidate
    loss: float


@dataclass
class SimilaritySearch:
    """Proposes similarities to the samples of one training set.

    Pairs that were found together wait for their rounds; each is solved with the weights of its own.
    The loss never falls by less than with the best hard isolating learner, which responds with 1 at
    one training sample and with −1 at all others [LOCAL, Sec. 5], or with a constant.
    """

    options: Similarity
    _waiting: deque[Pair] = field(default_factory=deque, repr=False)

    def propose(
        self, data: PointSet, weights: Weights, focus: Focus, rng: np.random.Generator
    ) -> Candidate:
        """Find a similarity, solve its output; take a constant or the isolating learner if better."""
        found = self._find(data, weights, focus, rng)
        best = found[0] if found else _constant(data, weights.sums(_nowhere(data), 1))
        plus, minus = best.candidate.plus.sum(axis=0), best.candidate.minus.sum(axis=0)
        if found and best.loss > least_constant_loss(plus, minus):
            best = min(best, _constant(data, (plus[np.newaxis], minus[np.newaxis])), key=_loss)
        if best.loss > least_isolated_loss(weights, plus - minus):
            i, loss = best_isolated(weights, plus - minus)
            if best.loss > loss:
                best = min(best, self._isolating(i, data, weights, hard=True), key=_loss)
        return best.candidate

    def _find(
        self, data: PointSet, weights: Weights, focus: Focus, rng: np.random.Generator
    ) -> list[Solved]:
        if self.options.modes == "one":
            i = _anchor(weights)
            return [self._isolating(i, data, weights)]
        pair = self._next_pair(data, weights, focus, rng)
        return [] if pair is None else [self._of_pair(pair, data, weights)]

    def _next_pair(
        self, data: PointSet, weights: Weights, focus: Focus, rng: np.random.Generator
    ) -> Pair | None:
        if self.options.search == "best":
            return search_pair(self.options, data, weights, _anchor(weights), focus.samples)
        if not self._waiting:
            self._waiting.extend(draw_pairs(self.options, data, weights, focus.samples, rng))
        return self._waiting.popleft() if self._waiting else None

    def _of_pair(self, pair: Pair, data: PointSet, weights: Weights) -> Solved:
        kind = "two_points" if self.options.response == "real" else "nearer"
        hypothesis = Comparison(
            kind, data.space, _example(data, pair.anchor), _example(data, pair.rival), pair.apart
        )
        regions = np.empty(data.n_samples, dtype=np.uint16)
        kernels.active.compare(
            pair.from_anchor,
            pair.from_rival,
            COMPARISONS[kind],
            pair.apart,
            regions,
            data.n_threads,
        )
        return _solve(hypothesis, regions, weights, offset=self.options.offset)

    def _isolating(self, i: int, data: PointSet, weights: Weights, *, hard: bool = False) -> Solved:
        """One point, with τ at a quarter of the squared distance to the nearest other sample."""
        (row,) = data.distances(np.array([i], dtype=np.int32))
        others = row[np.arange(data.n_samples) != i]
        tau = float(others.min()) / 4 if len(others) and others.min() > 0 else 1.0
        kind = "inside" if hard or self.options.response == "sign" else "one_point"
        regions = np.empty(data.n_samples, dtype=np.uint16)
        kernels.active.compare(row, row, COMPARISONS[kind], tau, regions, data.n_threads)
        hypothesis = Comparison(kind, data.space, _example(data, i), None, tau)
        return _solve(hypothesis, regions, weights, offset=self.options.offset and not hard)


def _example(data: PointSet, sample: int) -> Example:
    (point,) = data.space.keep(data.placed[[sample]])
    return Example(int(data.rows[sample]), point)


def _solve(hypothesis: Comparison, regions: Regions, weights: Weights, *, offset: bool) -> Solved:
    plus, minus = weights.sums(regions, len(LEVELS))
    if offset:
        outputs = affine_output(plus, minus)
    elif hypothesis.kind in {"two_points", "one_point"}:
        outputs = level_output(plus, minus)
    else:
        P = (LEVELS[:, np.newaxis] * (plus - minus)).sum(axis=0)
        outputs = _without_offset(signed_output(P, (plus + minus).sum(axis=0)))
    return _solved(hypothesis, regions, (plus, minus), outputs)


def _solved(
    hypothesis: Comparison, regions: Regions, sums: tuple[Outputs, Outputs], outputs: Outputs
) -> Solved:
    loss = level_loss(*sums, hypothesis.by_region(outputs))
    return Solved(Candidate(hypothesis, regions, *sums, outputs), loss)


def _without_offset(output: ByClass) -> Outputs:
    return np.stack([output, np.zeros_like(output)])


def _constant(data: PointSet, sums: tuple[Outputs, Outputs]) -> Solved:
    """The response 1, given the sums of all weights, (1, K) each."""
    plus, minus = (np.zeros((len(LEVELS), total.shape[1])) for total in sums)
    plus[CONSTANT], minus[CONSTANT] = sums
    output = signed_output((plus - minus)[CONSTANT], (plus + minus)[CONSTANT])
    regions = np.full(data.n_samples, CONSTANT, dtype=np.uint16)
    return _solved(Comparison("constant"), regions, (plus, minus), _without_offset(output))


def least_constant_loss(plus: ByClass, minus: ByClass) -> float:
    """No constant leaves less than Σ_k 2√(w⁺w⁻), here less what rounding could add; w by class."""
    return 2 * (1 - 1e-9) * float(np.sqrt(plus * minus).sum())


def _nowhere(data: PointSet) -> Regions:
    return np.zeros(data.n_samples, dtype=np.uint16)


def _loss(solved: Solved) -> float:
    return solved.loss


# ---- the hard isolating learner: 1 at one sample, −1 at all others


def _anchor(weights: Weights) -> int:
    plus, minus = weights.sums(np.zeros(weights.planes.shape[1], dtype=np.uint16), 1)
    i, _ = best_isolated(weights, (plus - minus)[0])
    return i


def best_isolated(weights: Weights, signed_totals: ByClass) -> tuple[int, float]:
    """Find the sample whose isolating learner leaves the least loss, and that loss.

    P_i = 2G_i − ΣG, for all i at once.
    """
    P = 2 * weights.signed() - signed_totals
    left = np.sqrt(np.maximum(weights.totals**2 - P**2, 0.0)).sum(axis=1)
    i = int(np.argmin(left))
    return i, float(left[i])


def least_isolated_loss(weights: Weights, signed_totals: ByClass) -> float:
    """That loss again, in one pass, less what rounding could add: it settles most rounds."""
    least = kernels.active.least_isolated(
        weights.planes, weights.totals, signed_totals, weights.n_threads
    )
    return (1 - 1e-9) * least

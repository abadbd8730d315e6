"""Similarities on spread rows: anchors and rivals are chosen here, and broadcast to the parts."""

from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import (
    COMPARISONS,
    Focus,
    Indices,
    Ints,
    Outputs,
    PairList,
    Planes,
    Points,
    Projection,
    Regions,
)
from rebelboost.base.draws import key_from
from rebelboost.base.fixed_point import coarse_scale, fine_scales, in_order
from rebelboost.base.hashing import drawn_by
from rebelboost.base.levels import LEVELS
from rebelboost.base.pair_arrays import AFFINE, SIGN, SLOPE, LevelSums
from rebelboost.distributed.growing import SpreadLearned
from rebelboost.distributed.point_index import PointIndex
from rebelboost.distributed.points import (
    BestIsolated,
    FetchedPoints,
    FetchPoints,
    GramOfSides,
    Isolated,
    Nearest,
    Response,
    SumLevels,
)
from rebelboost.distributed.seam import SpreadRows
from rebelboost.distributed.tree_steps import OfWeights, PairsOf
from rebelboost.distributed.weights import NOWHERE, SpreadWeights
from rebelboost.kernels.reference.pair_search import draw_anchors, draw_judges
from rebelboost.learners.base import Candidate
from rebelboost.learners.binarize import inverse_roots, leading_eigenvector
from rebelboost.learners.similarity import Similarity
from rebelboost.learners.similarity_pairs import Gauge, rivals_nearby
from rebelboost.losses.smooth import AnyWeights
from rebelboost.model.comparisons import CONSTANT, Comparisons
from rebelboost.model.terms import Terms

INSIDE = COMPARISONS["inside"]
NO_POINTS = np.empty((0, 0), dtype=np.float32)


class FetchedSamples(NamedTuple):
    """Points that were fetched from the parts, in the order of the index."""

    at: Indices
    """(m,) their positions in the index."""
    placed: Points
    planes: Planes

    def take(self, samples: Indices) -> "FetchedSamples":
        """Some of the points, by their positions in the index."""
        own = np.searchsorted(self.at, samples)
        return FetchedSamples(samples, self.placed[own], self.planes[:, own])


class SubsetWeights(NamedTuple):
    """Weights of some samples, for `Gauge`."""

    planes: Planes
    totals: Outputs
    n_threads: int


class AnchoredPair(NamedTuple):
    """An anchor and a rival, by their positions in the index."""

    samples: tuple[int, int]
    compared: Response


class SolvedResponse(NamedTuple):
    """A term, the sums and outputs of its levels, and the loss after it."""

    samples: tuple[int, ...]
    compared: Response
    sums: LevelSums
    loss: float


@dataclass
class SpreadSimilarity(SpreadLearned):
    """Proposes similarities to the training samples, as kernels.propose_pair does on samples that are here."""

    options: Similarity
    index: PointIndex
    spread: SpreadRows
    n_threads: int
    _waiting: deque[AnchoredPair] = field(default_factory=deque, repr=False)

    @property
    def n_samples(self) -> int:
        """Number of points, N."""
        return len(self.index.keys)

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return len(self.index.space.fill)

    @property
    def n_classes(self) -> int:
        """Number of classes, K."""
        n_classes: int = self.samples.n_classes
        return n_classes

    @property
    def tolerance(self) -> float:
        """(2/(K·N))², for K classes and N points."""
        return float((2 / (self.n_classes * max(1, self.n_samples))) ** 2)

    @property
    def unavoidable_cost(self) -> float:
        """Mean cost due to samples of different classes at the same point."""
        return self.index.unavoidable

    def covered(self, term: Terms, regions: Regions) -> Terms:
        """The term itself."""
        del regions
        return term

    @property
    def _kind(self) -> int:
        return COMPARISONS["two_points" if self.options.response == "real" else "nearer"]

    @property
    def _rule(self) -> int:
        if self.options.offset:
            return AFFINE
        return SLOPE if self.options.response == "real" else SIGN

    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Take the next pair, and solve its output, unless a constant or an isolating response is better."""
        del focus
        assert isinstance(weights, SpreadWeights)
        key = key_from(rng)
        if not self._waiting:
            self._waiting.extend(self._find_pairs(weights, key))
        scales = fine_scales(weights.totals)
        constant = Response(CONSTANT, NO_POINTS, 1.0)
        asked = pair = self._waiting.popleft() if self._waiting else None
        first = constant if pair is None else pair.compared
        (sums,) = self.spread.ask(SumLevels(first, scales))
        everywhere = np.zeros_like(sums)
        everywhere[-1] = sums.sum(axis=0)
        best = self._solved((), constant, everywhere, weights, SIGN)
        if pair is not None:
            own = self._solved(pair.samples, pair.compared, sums, weights, self._rule)
            best = best if best.loss < own.loss else own
        best, anew = self._or_isolating(best, weights, scales)
        weights.route(best.compared, anew=anew or (asked is not None and best.samples == ()))
        return self._candidate(best)

    def _or_isolating(
        self, best: SolvedResponse, weights: SpreadWeights, scales: Outputs
    ) -> tuple[SolvedResponse, bool]:
        """The best so far, or the hard isolating response; and whether parts were asked about another."""
        signed = best.sums.plus.sum(axis=0) - best.sums.minus.sum(axis=0)
        found: list[Isolated] = self.spread.ask(BestIsolated(weights.totals, signed))
        if not found:
            return best, False
        alone = min(found, key=lambda each: (each.loss, each.key))
        if not best.loss > alone.loss:
            return best, False
        (nearest,) = self.spread.ask(Nearest(alone.placed))
        tau = -float(nearest[0]) / 4
        compared = Response(INSIDE, alone.placed, tau if np.isfinite(tau) else 1.0)
        (sums,) = self.spread.ask(SumLevels(compared, scales))
        at = int(np.searchsorted(self.index.keys, np.uint64(alone.key)))
        isolating = self._solved((at,), compared, sums, weights, SIGN)
        return (isolating, False) if isolating.loss < best.loss else (best, True)

    def _solved(
        self,
        samples: tuple[int, ...],
        compared: Response,
        sums: Ints,
        weights: SpreadWeights,
        rule: int,
    ) -> SolvedResponse:
        """Solve the outputs, as kernels.solve_levels does on samples: here one stands for each level."""
        scales, shape = fine_scales(weights.totals), (len(LEVELS), self.n_classes)
        signed, mass = sums[:, 0], sums[:, 1]
        planes = np.stack([(mass + signed) / (2 * scales), (signed - mass) / (2 * scales)])
        out = LevelSums(np.empty(shape), np.empty(shape), np.empty((2, shape[1])))
        levels = np.arange(len(LEVELS), dtype=np.uint16)
        loss = kernels.active.solve_levels(planes, weights.totals, levels, rule, out, 1)
        return SolvedResponse(samples, compared, out, loss)

    def _candidate(self, best: SolvedResponse) -> Candidate:
        plus, minus, outputs = best.sums
        if best.samples:
            rows = self.index.rows[list(best.samples)].astype(np.int32)
            kept = best.compared.points
            term = Comparisons.one(
                best.compared.kind, self.index.space, rows, kept, best.compared.apart, outputs
            )
        else:
            term = Comparisons.constant(outputs)
        P = np.add.accumulate(LEVELS[:, np.newaxis] * (plus - minus))[-1]
        S = np.add.accumulate(plus + minus)[-1]
        above, below = (float(np.add.accumulate(each)[-1]) for each in (np.abs(P), S))
        return Candidate(term, NOWHERE, plus, minus, edge=above / below if below > 0 else 0.0)

    # ---- anchors and rivals

    def _find_pairs(self, weights: SpreadWeights, key: int) -> list[AnchoredPair]:
        """Pairs of anchors and rivals, as kernels.find_pairs finds them."""
        options = self.options
        packed = self._sides(weights)
        sides, mass = packed >> 32, packed & 0xFFFFFFFF
        samples = np.arange(self.n_samples, dtype=np.int32)
        if self.draw is not None:
            chosen = drawn_by(self.index.keys, self.draw.share, self.draw.number)
            samples = samples[chosen] if chosen.any() else samples
        drawn = np.empty(options.n_anchors(self.n_samples) + 1, dtype=np.uint64)
        kernels.active.random_numbers(key, 0, drawn)
        anchors = draw_anchors(samples, sides, drawn[:-1])
        judges, shares = draw_judges(samples, mass, int(drawn[-1]), options.subset)
        if len(anchors) == 0 or len(judges) == 0:
            return []
        known = self._fetched(np.unique(np.concatenate([anchors, judges])))
        judging, from_placed = known.take(judges), known.take(anchors).placed
        space = self.index.space
        laid, none = space.lay_out(judging.placed), np.empty(0, dtype=np.int32)

        def distances(points: Points) -> Points:
            found = space.distances(laid, points, none, self.n_threads)
            return np.ascontiguousarray(found[:, : len(judges)])

        from_anchors = distances(from_placed)
        which, rivals = rivals_nearby(from_anchors, sides[anchors], sides[judges], options.rivals)
        if len(rivals) == 0:
            return []
        from_rivals = distances(judging.placed[rivals])
        apart = from_anchors[which, rivals].astype(np.float64)
        listed = PairList(which.astype(np.int32), np.arange(len(rivals), dtype=np.int32), apart)
        all_judges = np.arange(len(judges), dtype=np.int32)
        subset = SubsetWeights(judging.planes, weights.totals, self.n_threads)
        gains = Gauge(options, subset, all_judges, shares).gains(from_anchors, from_rivals, listed)
        # The first of equals is the nearest.
        order = np.lexsort((-gains, which))
        best = order[np.flatnonzero(np.append(True, np.diff(which[order]) > 0))]
        return [
            AnchoredPair(
                (int(anchors[which[b]]), int(judges[rivals[b]])),
                Response(
                    self._kind,
                    np.stack([from_placed[which[b]], judging.placed[rivals[b]]]),
                    float(apart[b]),
                ),
            )
            for b in best.tolist()
        ]

    def _sides(self, weights: SpreadWeights) -> Ints:
        """(N,) the binarized weights of all points (kernels.binarize)."""
        totals = weights.totals
        unit = inverse_roots(totals)
        exponent = 25 - (np.frexp(totals)[1] + 1) // 2
        (products,) = self.spread.ask(GramOfSides(unit, exponent))
        gram = np.ldexp(products.astype(np.float64), -(exponent[:, np.newaxis] + exponent))
        direction = leading_eigenvector(gram) * unit
        squares = unit * unit
        scales = (in_order(totals * np.abs(direction)), in_order(totals * squares))
        projection = Projection(direction, squares, *map(coarse_scale, scales))
        answers = self.spread.ask(PairsOf(OfWeights(projection)))
        found = np.concatenate([pairs for _, pairs in sorted(answers, key=lambda own: own[0])])
        packed = np.zeros(self.n_samples, dtype=np.int64)
        # A point counts in one part; in others its weights are 0.
        np.add.at(packed, self.index.places, found)
        return packed

    def _fetched(self, samples: Indices) -> FetchedSamples:
        """Points and weights of some samples, in increasing order."""
        keys = self.index.keys[samples]
        found: list[FetchedPoints] = self.spread.ask(FetchPoints(keys))
        order = np.argsort(np.concatenate([own.keys for own in found]), kind="stable")
        placed = np.concatenate([own.placed for own in found])[order]
        planes = np.concatenate([own.planes for own in found], axis=1)[:, order]
        return FetchedSamples(samples, placed, planes)

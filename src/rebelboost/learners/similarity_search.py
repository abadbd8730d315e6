"""The search for localized similarities: anchors, rivals, and several rounds in one kernel call."""

from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rebelboost import kernels
from rebelboost.base.arrays import COMPARISONS, Blocks, Distances, Floats, Regions
from rebelboost.base.cached import cached_property
from rebelboost.base.draws import key_from
from rebelboost.base.hashing import Keys
from rebelboost.base.kernel_arrays import (
    AFFINE,
    CONSTANT,
    LEVELS,
    SIGN,
    SLOPE,
    HeldPoints,
    LevelSums,
    PairOptions,
    PairPlan,
    PairQueue,
    PairTable,
    PairTerm,
)
from rebelboost.data.point_set import PlacedSamples, PointSet
from rebelboost.data.spaces import ABREAST, Embedding
from rebelboost.learners.base import Ahead, AnyWeights, Candidate, Focus, Prepared
from rebelboost.learners.similarity_pairs import Pair, draw_pairs, search_pair
from rebelboost.model.comparisons import KINDS, NONE, Comparisons
from rebelboost.model.terms import Terms
from rebelboost.rows.weights import Weights

if TYPE_CHECKING:
    from rebelboost.learners.similarity import Similarity


def papers_tolerance(n_classes: int, n_samples: int) -> float:
    """2/(K·N): the fraction of the initial loss at which the papers stop [LOCAL, Sec. 7.1].

    With uniform costs the loss is then 1/N, and every training sample is decided correctly.
    """
    return 2 / (n_classes * max(1, n_samples))


Named = tuple[int, int, int, float, float | None]
"""Kind, anchor, rival, squared distance and, if known, edge of a term; see `Proposed`."""


class Solved(NamedTuple):
    """A candidate, and the sum of the weights after it."""

    candidate: Candidate
    loss: float


@dataclass
class SimilarityPoints(Prepared):
    """The training samples as points, whatever the search."""

    placed: PlacedSamples

    @property
    def points(self) -> PointSet:
        """The samples as points."""
        return self.placed.points

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
        """The square of what the papers stop at, which is 2/(K·N) [LOCAL, Sec. 7.1].

        Twice as many rounds lower the test error by 5 % on average.
        """
        return papers_tolerance(self.samples.n_classes, self.n_samples) ** 2


@dataclass
class PreparedSimilarity(SimilarityPoints):
    """Proposes similarities to the training samples.

    Pairs that were found together are queued, one per round; each is solved for the weights of its own
    round. The loss is never higher than with the best hard isolating learner, which responds with 1 at
    one training sample and with −1 at all others [LOCAL, Sec. 5], or with the best constant.
    """

    options: "Similarity"
    _waiting: deque[Pair] = field(default_factory=deque, repr=False)

    @property
    def goes_ahead(self) -> bool:
        """Only pairs that are drawn, in a space that kernels know."""
        options, points = self.options, self.points
        drawn = options.search == "drawn" and options.modes == "both"
        return drawn and isinstance(points.space, Embedding) and points.pair_space is not None

    def go_ahead(self, ahead: Ahead) -> list[Terms]:
        """Draw and solve a pair in each of several rounds."""
        return boost_pairs(self.points, self._pair_options, self._queue, self._empty(), ahead)

    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Find a similarity and solve its output.

        If a constant or the hard isolating learner has a lower loss, return that instead.
        """
        assert isinstance(weights, Weights)  # of the exponential loss
        options, space = self.options, self.points.pair_space
        if options.search == "drawn" and options.modes == "both" and space is not None:
            out = self._empty()
            found = kernels.active.propose_pair(
                weights.planes,
                weights.totals,
                space,
                focus.samples,
                self._pair_options,
                key_from(rng),
                self._queue,
                out,
                self.points.n_threads,
            )
            return self._candidate(found, out)
        return self._search(weights, focus, rng)

    def _search(self, weights: Weights, focus: Focus, rng: np.random.Generator) -> Candidate:
        found = self._find(weights, focus, rng)
        best = self._constant(weights) if found is None else found
        if found is not None:
            best = min(best, self._constant(weights), key=_loss)
        signed_totals = (best.candidate.plus - best.candidate.minus).sum(axis=0)
        i, loss = kernels.active.best_isolated(
            weights.planes, weights.totals, signed_totals, weights.n_threads
        )
        if best.loss > loss:
            best = min(best, self._isolating(i, weights), key=_loss)
        return best.candidate

    # ---- pairs, in one kernel

    @cached_property
    def _pair_options(self) -> PairOptions:
        options = self.options
        return PairOptions(
            COMPARISONS[self._kind],
            self._rule(self._kind),
            options.n_anchors(self.n_samples),
            options.rivals,
            options.subset,
        )

    @cached_property
    def _queue(self) -> PairQueue:
        n_anchors = self._pair_options.n_anchors
        return PairQueue(
            np.zeros(2, dtype=np.int32),
            np.zeros((n_anchors, 2), dtype=np.int32),
            np.empty((2 * n_anchors, self.n_samples), dtype=np.float32),
        )

    @property
    def _kind(self) -> str:
        return "two_points" if self.options.response == "real" else "nearer"

    def _rule(self, kind: str) -> int:
        if self.options.offset:
            return AFFINE
        return SLOPE if kind in {"two_points", "one_point"} else SIGN

    def _empty(self) -> PairTerm:
        shape = (len(LEVELS), self.samples.n_classes)
        regions = np.empty(self.n_samples, dtype=np.uint16)
        return PairTerm(regions, np.empty(shape), np.empty(shape), np.empty((2, shape[1])))

    def _candidate(self, found: Named, out: PairTerm) -> Candidate:
        kind, anchor, rival, apart, edge = found
        if anchor == NONE:
            term = Comparisons.constant(out.outputs)
        else:
            chosen = [anchor] if rival == NONE else [anchor, rival]
            points = self.points
            kept = points.space.keep(points.placed[chosen])
            rows = points.rows[chosen]
            term = Comparisons.one(kind, points.space, rows, kept, apart, out.outputs)
        return Candidate(term, out.regions, out.plus, out.minus, rho=edge)

    # ---- other searches

    def _find(self, weights: Weights, focus: Focus, rng: np.random.Generator) -> Solved | None:
        if self.options.modes != "both":
            anchor = _anchor(weights)
            row = self._row(anchor)
            kind = "inside" if self.options.response == "sign" else "one_point"
            taus = radii(row, anchor)
            if self.options.modes == "isolating":
                taus = taus[:1]
            return min(
                (self._one_point(kind, anchor, row, tau, weights) for tau in taus), key=_loss
            )
        pair = self._next_pair(weights, focus, rng)
        if pair is None:
            return None
        regions = np.empty(self.n_samples, dtype=np.uint16)
        kernels.active.compare(
            pair.from_anchor,
            pair.from_rival,
            COMPARISONS[self._kind],
            pair.apart,
            regions,
            self.points.n_threads,
        )
        named = (COMPARISONS[self._kind], pair.anchor, pair.rival, pair.apart, None)
        return self._solved(named, self._rule(self._kind), regions, weights)

    def _next_pair(self, weights: Weights, focus: Focus, rng: np.random.Generator) -> Pair | None:
        options, points = self.options, self.points
        if options.search == "best":
            return search_pair(options, points, weights, _anchor(weights), focus.samples)
        if not self._waiting:
            self._waiting.extend(draw_pairs(options, points, weights, focus.samples, rng))
        return self._waiting.popleft() if self._waiting else None

    def _row(self, i: int) -> Distances:
        """(N,) squared distances from a sample to all samples."""
        (row,) = self.points.distances(np.array([i], dtype=np.int32))
        return row[: self.n_samples]

    def _isolating(self, i: int, weights: Weights) -> Solved:
        """The hard isolating learner."""
        row = self._row(i)
        tau = radii(row, i)[0]
        return self._one_point("inside", i, row, tau, weights, rule=SIGN)

    def _one_point(
        self,
        kind: str,
        i: int,
        row: Distances,
        tau: float,
        weights: Weights,
        *,
        rule: int | None = None,
    ) -> Solved:
        """One-point response (τ − r)/(τ + r), or its sign, for the distances of a sample."""
        regions = np.empty(self.n_samples, dtype=np.uint16)
        kernels.active.compare(row, row, COMPARISONS[kind], tau, regions, self.points.n_threads)
        named = (COMPARISONS[kind], i, NONE, tau, None)
        return self._solved(named, self._rule(kind) if rule is None else rule, regions, weights)

    def _constant(self, weights: Weights) -> Solved:
        """The constant response 1."""
        regions = np.full(self.n_samples, CONSTANT, dtype=np.uint16)
        return self._solved(
            (KINDS.index("constant"), NONE, NONE, 1.0, None), SIGN, regions, weights
        )

    def _solved(self, named: Named, rule: int, regions: Regions, weights: Weights) -> Solved:
        """Solve the outputs of a response; `named` says what it compares with."""
        out = self._empty()._replace(regions=regions)
        sums = LevelSums(out.plus, out.minus, out.outputs)
        loss = kernels.active.solve_levels(
            weights.planes, weights.totals, regions, rule, sums, weights.n_threads
        )
        return Solved(self._candidate(named, out), loss)


def _loss(solved: Solved) -> float:
    return solved.loss


def radii(row: Distances | Floats, i: int) -> list[float]:
    """Values of τ: ¼ of the distance of the nearest other sample, then those of the 1st, 2nd, 4th, … nearest.

    The first one isolates the sample. The papers leave τ open.
    """
    others = np.sort(row[np.arange(len(row)) != i])
    others = others[others > 0]
    if len(others) == 0:
        return [1.0]
    ranks = 2 ** np.arange(int(np.log2(len(others))) + 1) - 1
    return [float(others[0]) / 4, *others[ranks].astype(np.float64).tolist()]


def _anchor(weights: Weights) -> int:
    """The sample whose isolating learner has the lowest loss: 1 at the sample, −1 at all others."""
    plus, minus = weights.sums(np.zeros(weights.planes.shape[1], dtype=np.uint16), 1)
    i, _ = kernels.active.best_isolated(
        weights.planes, weights.totals, (plus - minus)[0], weights.n_threads
    )
    return i


# ---- several rounds in one call


def boost_pairs(
    points: PointSet, options: PairOptions, queue: PairQueue, memory: PairTerm, ahead: Ahead
) -> list[Terms]:
    """The terms of several rounds (kernels.boost_pairs)."""
    assert points.pair_space is not None
    table = PairTable.empty(len(ahead.keys), len(ahead.training.totals))
    n_done = kernels.active.boost_pairs(
        points.pair_space,
        HeldPoints(points.placed, _held_blocks(points, ahead)),
        PairPlan(ahead.samples, options, ahead.keys, ahead.shrinkage, ahead.least_total),
        ahead.training,
        ahead.held,
        queue,
        memory,
        table,
        ahead.log,
        points.n_threads,
    )
    is_constant = table.anchors[:n_done] == NONE
    ends = [0, *(np.flatnonzero(np.diff(is_constant)) + 1).tolist(), n_done]
    return [_terms(points, table, slice(*run)) for run in pairwise(ends) if n_done]


def _held_blocks(points: PointSet, ahead: Ahead) -> Blocks:
    if len(ahead.queries) > 0:
        blocks: Blocks = ahead.queries.laid(points.space)
        return blocks
    return np.empty((0, points.placed.shape[1], ABREAST), dtype=np.float32)


def _terms(points: PointSet, table: PairTable, run: slice) -> Terms:
    """The terms of rounds in a row that are all constants, or none of them is."""
    outputs = table.outputs[run]
    if table.anchors[run][0] == NONE:
        return Comparisons.constants(outputs)
    among_all = Comparisons(
        points.space,
        points.rows,
        points.placed,
        table.kinds[run],
        table.anchors[run],
        table.rivals[run],
        table.apart[run],
        outputs,
    )
    return among_all.take(np.arange(len(outputs)))  # with the points that they compare with only

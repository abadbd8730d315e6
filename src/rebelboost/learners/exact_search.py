"""The search for a similarity as [LOCAL, Sec. 5.2] gives it, steps 0 to 6, in double precision.

Nothing is rounded, drawn or capped: every candidate responds exactly, is solved on all samples, and is
ranked by the loss that it achieves. For ±1 responses that is Eq. 5; for responses in between, for which
Eq. 5 is no loss, it is the minimum of Eq. 3. The texts leave three points open:

- Losses, distances and eigenvalues that differ by rounding only are equal, and the first one counts.
- The leading eigenvalue may be multiple: see `leading_vector`.
- τ of an isolating learner is ¼ of the squared distance to the nearest other point.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost import kernels
from rebelboost.base.arrays import ByClass, BySample, Floats, Outputs
from rebelboost.base.cached import cached_property
from rebelboost.base.fixed_point import exact_sum, in_order
from rebelboost.base.kernel_arrays import CONSTANT
from rebelboost.data.point_set import MOST_KNOWN
from rebelboost.learners.base import AnyWeights, Candidate, Focus
from rebelboost.learners.similarity_search import SimilarityPoints, radii
from rebelboost.model.comparisons import KINDS, NONE, Comparisons
from rebelboost.model.exact_responses import SAME_DISTANCE, exact_response
from rebelboost.rows.weights import Weights

if TYPE_CHECKING:
    from rebelboost.learners.similarity import Similarity

EQUAL = 1e-10
"""Losses and eigenvalues closer than this share of them are equal."""
NO_SIDE = 1e-12
"""A sample whose |v| is below this share of the largest is on no side."""
AT_ONCE = 64
"""Number of candidates whose responses are in memory at a time."""
AHEAD = 16
"""Number of rivals whose distances are computed together."""


class Candidates(NamedTuple):
    """Responses, and what they compare with."""

    kind: str
    anchor: int
    rival: int
    apart: float
    f: BySample


@dataclass
class PreparedExactSimilarity(SimilarityPoints):
    """Proposes the similarity that [LOCAL, Sec. 5.2] selects."""

    options: "Similarity"

    def propose(self, weights: AnyWeights, focus: Focus, rng: np.random.Generator) -> Candidate:
        """Do steps 0 to 6."""
        del focus, rng
        assert isinstance(weights, Weights)  # of the exponential loss
        best, least = None, np.inf
        candidates = self._candidates(weights)
        while some := list(islice(candidates, AT_ONCE)):
            f = np.stack([each.f for each in some])
            outputs, losses = np.empty((len(f), len(weights.totals))), np.empty(len(f))
            kernels.active.solve_responses(f, weights.planes, outputs, losses, weights.n_threads)
            for each, output, loss in zip(some, outputs, losses.tolist(), strict=True):
                if loss < least * (1 - EQUAL):
                    best, least = (each, output), loss
        if best is None:  # no weight is left
            return self._term(self._constant(), np.zeros(len(weights.totals)), weights)
        return self._term(*best, weights)

    def _candidates(self, weights: Weights) -> Iterator[Candidates]:
        """What the paper compares, in its order."""
        signed, totals = weights.signed, weights.totals
        yield self._constant()  # step 0
        anchor = best_isolated(signed, totals)  # step 2
        row = self._row(anchor)
        kind = "one_point" if self.options.response == "real" else "inside"
        for tau in radii(row, anchor)[: None if self.options.modes == "one" else 1]:
            yield Candidates(kind, anchor, NONE, tau, exact_response(kind, row, row, tau))  # 3
        if self.options.modes == "both":
            yield from self._pairs(anchor, row, sides(signed, totals))

    def _pairs(self, anchor: int, row: Floats, sides: Floats) -> Iterator[Candidates]:
        """Steps 4 to 6: the nearest rival, and each time without those that are similar to it."""
        kind = "two_points" if self.options.response == "real" else "nearer"
        playing = sides * sides[anchor] < 0
        rows: dict[int, Floats] = {}
        while playing.any():
            rival = nearest(row, playing)
            if rival not in rows:
                rows = self._rows(rival, row, playing)
            other, apart = rows[rival], float(row[rival])
            exact = exact_response("two_points", row, other, apart)
            f = exact if kind == "two_points" else exact_response(kind, row, other, apart)
            yield Candidates(kind, anchor, rival, apart, f)
            playing &= exact > exact[rival] / 2
            playing[rival] = False

    def _constant(self) -> Candidates:
        return Candidates("constant", NONE, NONE, 1.0, np.ones(self.n_samples))

    def _row(self, i: int) -> Floats:
        """(N,) squared distances from a sample to all samples."""
        if self._known is not None:
            return self._known[i]
        (row,) = self.points.distances(np.array([i], dtype=np.int32))
        return row

    def _rows(self, rival: int, row: Floats, playing: NDArray[np.bool_]) -> dict[int, Floats]:
        """The same of a rival, and of those that are likely to be next: their sums are faster together."""
        if self._known is not None:
            return {rival: self._known[rival]}
        among = np.flatnonzero(playing)
        if len(among) > AHEAD:
            among = among[np.argpartition(row[among], AHEAD)[:AHEAD]]
        several = np.append(rival, among[among != rival]).astype(np.int32)
        return dict(zip(several.tolist(), self.points.distances(several), strict=True))

    @cached_property
    def _known(self) -> Floats | None:
        """(N, N) all distances, if there are few."""
        n_samples = self.n_samples
        if n_samples > MOST_KNOWN:
            return None
        return self.points.distances(np.arange(n_samples, dtype=np.int32))

    def _term(self, of: Candidates, output: ByClass, weights: Weights) -> Candidate:
        outputs: Outputs = np.stack([output, np.zeros_like(output)])
        P = exact_sum(of.f[:, np.newaxis] * weights.signed)
        S = weights.totals
        sums = (S + P)[np.newaxis] / 2, (S - P)[np.newaxis] / 2
        rho = in_order(np.abs(P)) / in_order(S) if S.any() else 0.0
        everywhere = np.full(self.n_samples, CONSTANT, dtype=np.uint16)
        if of.kind == "constant":
            return Candidate(Comparisons.constant(outputs), everywhere, *sums, rho=rho)
        chosen = [of.anchor] if of.rival == NONE else [of.anchor, of.rival]
        kept = self.points.space.keep(self.points.placed[chosen])
        rows, code = self.points.rows[chosen], KINDS.index(of.kind)
        term = Comparisons.one(code, self.points.space, rows, kept, of.apart, outputs)
        return Candidate(term, everywhere, *sums, rho=rho)


def best_isolated(signed: Floats, totals: ByClass) -> int:
    """The sample whose hard isolating learner, 1 there and −1 elsewhere, has the lowest loss by Eq. 5."""
    P = 2 * signed - exact_sum(signed)
    left = np.sqrt(np.maximum((totals - P) * (totals + P), 0.0))
    losses = np.add.accumulate(left, axis=1)[:, -1]
    return int(np.argmax(losses <= losses.min() * (1 + EQUAL)))


def sides(signed: Floats, totals: ByClass) -> NDArray[np.float64]:
    """(N,) the binarized classes, sign(v̂₁): 0 for samples on no side [LOCAL, Sec. 4]."""
    U = np.divide(signed, np.sqrt(totals), out=np.zeros_like(signed), where=totals > 0)
    gram = np.stack([exact_sum(column[:, np.newaxis] * U) for column in U.T])
    q = leading_vector((gram + gram.T) / 2)
    v = np.add.accumulate(U * q, axis=1)[:, -1]
    size = np.abs(v)
    return np.where(size > NO_SIDE * size.max(), np.sign(v), 0.0)


def leading_vector(gram: Floats) -> ByClass:
    """A vector in the eigenspace of the largest eigenvalue: the projection of an axis.

    It is the axis nearest to the space, the first of several.
    """
    values, vectors = np.linalg.eigh(gram)
    space = vectors[:, values >= values[-1] * (1 - EQUAL)]
    nearness = (space**2).sum(axis=1)
    axis = int(np.argmax(nearness >= nearness.max() * (1 - EQUAL)))
    found: ByClass = (space * space[axis]).sum(axis=1)
    return found


def nearest(row: Floats, playing: NDArray[np.bool_]) -> int:
    """The nearest sample that is in play, the first of equally distant ones."""
    among = np.where(playing, row, np.inf)
    return int(np.argmax(among <= among.min() * (1 + SAME_DISTANCE)))

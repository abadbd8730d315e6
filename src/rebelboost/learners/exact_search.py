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
from rebelboost.base.arrays import ByClass, BySample, Floats, Indices, Outputs
from rebelboost.base.cached import cached_property
from rebelboost.base.fixed_point import exact_sum, in_order
from rebelboost.base.kernel_arrays import CONSTANT
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
AT_ONCE = 256
"""Number of candidates whose responses are in memory at a time."""
AHEAD = 16
"""Number of rivals whose distances are computed together."""
MOST_KEPT = 1 << 28
"""Bytes of distances that are kept over the rounds."""


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
        output = np.zeros(len(weights.totals))
        candidates = self._candidates(weights)
        while some := list(islice(candidates, AT_ONCE)):
            f = np.stack([each.f for each in some])
            first, least = kernels.active.best_response(
                f, weights.planes, least, EQUAL, output, weights.n_threads
            )
            best = best if first < 0 else some[first]
        if best is None:  # no weight is left
            return self._term(self._constant(), np.zeros(len(weights.totals)), weights)
        return self._term(best, output, weights)

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
        while playing.any():
            rival = nearest(row, playing)
            other, apart = self._row_ahead(rival, row, playing), float(row[rival])
            exact = exact_response("two_points", row, other, apart)
            f = exact if kind == "two_points" else exact_response(kind, row, other, apart)
            yield Candidates(kind, anchor, rival, apart, f)
            playing &= exact > exact[rival] / 2
            playing[rival] = False

    def _constant(self) -> Candidates:
        return Candidates("constant", NONE, NONE, 1.0, np.ones(self.n_samples))

    def _row(self, i: int) -> Floats:
        """(N,) squared distances from a sample to all samples."""
        return self._rows_of(np.array([i], dtype=np.int32))[i]

    def _row_ahead(self, rival: int, row: Floats, playing: NDArray[np.bool_]) -> Floats:
        """The same of a rival, and of those that are likely to be next: their sums are faster together."""
        if rival in self._kept:
            return self._kept[rival]
        among = np.flatnonzero(playing)
        if len(among) > AHEAD:
            among = among[np.argpartition(row[among], AHEAD)[:AHEAD]]
        several = [rival, *(i for i in among.tolist() if i != rival and i not in self._kept)]
        return self._rows_of(np.array(several, dtype=np.int32))[rival]

    def _rows_of(self, samples: Indices) -> dict[int, Floats]:
        """Distances from several samples, computed once while there is room for them."""
        kept = self._kept
        new = np.array([i for i in samples.tolist() if i not in kept], dtype=np.int32)
        if len(new):
            while kept and (len(kept) + len(new)) * self.n_samples * 8 > MOST_KEPT:
                kept.pop(next(iter(kept)))  # the oldest
            kept.update(zip(new.tolist(), self.points.distances(new), strict=True))
        return kept

    @cached_property
    def _kept(self) -> dict[int, Floats]:
        """Sample → its distances to all samples."""
        return {}

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

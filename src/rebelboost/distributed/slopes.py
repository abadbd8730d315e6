"""Slopes of a loss whose samples are spread: the arithmetic of a local fit, on answers."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rebelboost.base.arrays import (
    ByClass,
    Floats,
    Ints,
    Labels,
    Layer,
    Outputs,
    Pairs,
    Regions,
    Scores,
)
from rebelboost.base.fixed_point import coarse_scale, fine_scales
from rebelboost.costs.judge import Judge, Rates
from rebelboost.distributed.quantities import (
    Derivatives,
    Everything,
    Losses,
    NumberLoss,
    OfQuantity,
    PartLoss,
    Preferred,
    Projected,
    Pulls,
    Quantity,
    SubcostSizes,
)
from rebelboost.distributed.seam import SpreadRows
from rebelboost.distributed.slope_steps import (
    AdvanceSlopes,
    LargestOf,
    LeafSumsOf,
    LogisticSums,
    StartSlopes,
    SumsOf,
)
from rebelboost.distributed.steps import Weighting
from rebelboost.losses.classes import Logistic, line_factors
from rebelboost.losses.smooth import ConvexLoss, Slopes, SmoothLoss

if TYPE_CHECKING:
    from rebelboost.model.terms import Terms


class Whereabouts(NamedTuple):
    """Where the samples of a loss are, and what is known of them all."""

    spread: SpreadRows
    loss: PartLoss
    n_rows: int
    total_weight: float
    weight_unit: float
    """Unit of the counted weights."""
    weighting: Weighting | None = None
    """How decisions are judged; None in a regression."""
    held: bool = False


class SpreadSlopes(Slopes):
    """Slopes of samples that are elsewhere. `loss` has no samples; it knows how outputs are found."""

    def __init__(self, loss: ConvexLoss, of: Whereabouts) -> None:
        self.of = of
        self.n_outputs = loss.shape[1]
        self.tree: Layer | None = None
        """The tree of the round, as splits on bins, once it is grown."""
        self.term: Terms | None = None
        """The term of the round."""
        self.pairing: OfQuantity | None = None
        """The pairs that the round's tree is grown on."""
        self.cover: Ints = np.zeros(1, dtype=np.int64)
        """(L,) counted weight of the samples in each leaf of the tree."""
        self.judged: tuple[Ints, Ints] = np.zeros((1, 1), np.int64), np.zeros(1, np.int64)
        """Confusion and costs of the current decisions, in units."""
        self._most: ByClass | None = None
        self._pulls: ByClass | None = None
        self._leaves: Ints | None = None
        super().__init__(loss, np.empty((0, self.n_outputs)), 1)

    @property
    def n_rows(self) -> int:
        """Number of samples, N."""
        return self.of.n_rows

    def _renew(self, scores: Scores) -> None:
        (largest,) = self.of.spread.ask(LargestOf(self._everything, self.of.held))
        self._sum_up(scores, largest)

    @property
    def _everything(self) -> Everything:
        loss = self.of.loss
        return Everything(loss.baseline if isinstance(loss, NumberLoss) else None)

    def _sum_up(self, scores: Scores, largest: ByClass) -> Rates | None:
        """Sum up all that is known of samples; in a regression, return what scores are judged by."""
        self.scores = scores
        self.tree = self._leaves = self._pulls = None
        n, sizes = self.n_outputs, self._sums(self._everything, largest)
        self._largest = largest[: 2 * n]
        self.signed_size, self.totals = sizes[:n], sizes[n : 2 * n]
        total = math.fsum(sizes[2 * n : 3 * n])
        self.log_total = math.log(total) if total > 0 else -math.inf
        if len(sizes) == 3 * n:
            return None
        squared, absolute = sizes[3 * n :].tolist()
        return math.sqrt(squared / self.of.total_weight), absolute / self.of.total_weight

    def _sums(self, quantity: Quantity, largest: ByClass) -> ByClass:
        """(m,) sums of absolute numbers, given the largest."""
        scales = fine_scales(largest * self.of.n_rows)
        (sums,) = self.of.spread.ask(SumsOf(quantity, scales, self.of.held))
        found: ByClass = sums[0, 1] / scales
        return found

    def _sizes(self, quantity: Quantity) -> ByClass:
        (largest,) = self.of.spread.ask(LargestOf(quantity, self.of.held))
        return self._sums(quantity, largest)

    # ---- growing a tree

    def project(self, direction: ByClass, squares: ByClass) -> tuple[Pairs, float]:
        """Keep the pairs for the parts to make; return none, and the sum of the masses."""
        quantity = Projected(direction, squares)
        if self.n_outputs == 1 and direction[0] == squares[0] == 1:  # as in every regression
            return self._paired(quantity, np.append(self.signed_size, self.totals))
        return self._paired(quantity, self._sizes(quantity))

    def preferences(self, output: ByClass) -> Pairs:
        """Keep the pairs for the parts to make, and return none."""
        quantity = Preferred(output)
        return self._paired(quantity, self._sizes(quantity))[0]

    def _paired(self, quantity: Quantity, sizes: ByClass) -> tuple[Pairs, float]:
        signed, mass = sizes.tolist()
        self.pairing = OfQuantity(quantity, coarse_scale(signed), coarse_scale(mass))
        return np.empty(0, dtype=np.int64), float(mass * self.pairing.mass_scale)

    def route(self, tree: Layer) -> None:
        """Take this tree for that of the round."""
        self.tree, self._leaves = tree, None

    # ---- sums over leaves

    def sums(self, regions: Regions, n_regions: int) -> tuple[Outputs, Outputs]:
        """Sums of the positive and of the negative slopes of each leaf, (L, K) each."""
        del regions
        n = self.n_outputs
        signed, size = (self._leaf_sums(n_regions)[:, i, :n] / self._scales[:n] for i in (0, 1))
        return (size + signed) / 2, (size - signed) / 2

    def region_derivatives(self, regions: Regions, outputs: Outputs) -> tuple[Outputs, Outputs]:
        """Sums of slopes and of curvatures of each leaf, (L, K) each, after adding the outputs."""
        del regions
        if np.any(outputs) and isinstance(self.loss, Logistic):
            return self._along_line(outputs)
        if np.any(outputs):
            quantity = Derivatives(outputs)
            (largest,) = self.of.spread.ask(LargestOf(quantity))
            scales = fine_scales(largest * self.of.n_rows)
            sums, _ = self.of.spread.ask(LeafSumsOf(quantity, scales, len(outputs)))
        else:
            sums, scales = self._leaf_sums(len(outputs)), self._scales
        found: Floats = sums[:, 0] / scales
        return found[:, : self.n_outputs], found[:, self.n_outputs :]

    @property
    def _scales(self) -> ByClass:
        return fine_scales(self._largest * self.of.n_rows)

    def _leaf_sums(self, n_leaves: int) -> Ints:
        """(L, 2, 2K) sums of slopes and curvatures; the parts learn the tree."""
        if self._leaves is None:
            assert self.tree is not None
            command = LeafSumsOf(Derivatives(), self._scales, n_leaves, self.tree)
            self._leaves, self.cover = self.of.spread.ask(command)
        assert self._leaves is not None
        return self._leaves

    def _along_line(self, outputs: Outputs) -> tuple[Outputs, Outputs]:
        spread, n_rows = self.of.spread, self.of.n_rows
        if self._most is None:
            (self._most,) = spread.ask(LargestOf(SubcostSizes()))
        if self._pulls is None:
            (self._pulls,) = spread.ask(LargestOf(Pulls()))
        assert self._most is not None
        assert self._pulls is not None
        up, down, scales = line_factors(outputs, self._most * n_rows, self._pulls * n_rows)
        (sums,) = spread.ask(LogisticSums(up, down, scales))
        units = scales * math.log(2)
        return sums[:, 0] / units, sums[:, 1] / units

    def loss_after(
        self, regions: Regions, plus: Outputs, minus: Outputs, outputs: Outputs
    ) -> float:
        """The loss after a term, for comparisons within a round."""
        del regions, plus, minus
        return math.fsum(self._sizes(Losses(outputs)))

    # ---- a term

    def advance(
        self,
        scores: Scores,
        regions: Regions,
        outputs: Outputs,
        decided: Labels,
        judge: Judge | None = None,
    ) -> Rates | None:
        """Let the parts add a term, and differentiate there."""
        del regions, decided, judge
        term = self.term if self.of.held else None
        everything = self._everything
        command = AdvanceSlopes(outputs, everything, self.of.weighting, self.tree, term)
        *judged, largest = self.of.spread.ask(command)
        self.judged = judged[0], judged[1]
        return self._sum_up(scores, largest)


@dataclass(frozen=True, kw_only=True)
class SpreadSmoothLoss(SmoothLoss):
    """A convex loss of samples that are elsewhere; `loss` has no samples."""

    of: Whereabouts

    @property
    def spread(self) -> SpreadRows:
        """Where the samples are."""
        return self.of.spread

    @property
    def weighting(self) -> Weighting | None:
        """How decisions are judged."""
        return self.of.weighting

    @property
    def start(self) -> StartSlopes:
        """What sets the scores to 0."""
        return StartSlopes(self.of.loss, self.of.weight_unit, self.n_classes, self.of.held)

    def weights(self, scores: Scores) -> SpreadSlopes:
        """Slopes at the scores that the parts hold."""
        del scores
        return SpreadSlopes(self.loss, self.of)

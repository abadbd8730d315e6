"""How held-out scores are judged: by the log-loss of the posterior for classes, by squared error for numbers.

The race and the blend know no labels, costs or targets. They ask these objects for the factor of the scores
with the lowest loss, for that loss, and for what users read: a cost, or a root mean squared error.
"""

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple, Protocol, Self

import numpy as np

from rebelboost.base.arrays import ByClass, BySample, Ints, Scores
from rebelboost.base.cached import cached_property
from rebelboost.base.fixed_point import exact_totals
from rebelboost.boosting.objectives import RegressionObjective
from rebelboost.costs.judge import decision_cost
from rebelboost.costs.matrix import class_costs, uniform
from rebelboost.costs.offsets import correcting_offset
from rebelboost.costs.posterior import (
    ROUGHLY,
    Decoder,
    Search,
    cooler,
    fit_temperature,
    mean_log_loss,
)
from rebelboost.data.folds import Mask
from rebelboost.data.samples import Samples
from rebelboost.kernels.elementary import log_of

PERHAPS_SEPARATE = 0.05
"""Only below this log-loss can samples be decided without a mistake."""
PRECISE, ROUGH = 0.01, 0.2
"""Precisions of the logarithm of a temperature. The loss is flat near its minimum."""

SLOPE_ERROR = 0.2
"""How far the slope of targets over predictions is expected to be from 1, before samples are looked at."""


class Found(NamedTuple):
    """The best factor of held-out scores, and their loss with it."""

    factor: float
    """Temperature of a posterior; in a regression what stretches or shrinks predictions."""
    log_loss: float
    """Mean log-loss."""


class Calibrated(NamedTuple):
    """How held-out scores become probabilities: factor · (scores + offset)."""

    factor: float
    offset: ByClass
    """(K,) the same for all samples."""
    log_loss: float
    """Mean log-loss."""


class HeldOutScorer(Protocol):
    """Judges scores of samples whose labels or targets are known."""

    fewest_to_vote: ClassVar[float]
    """Number of samples from which candidates are weighed by votes (`rebelboost.selection.average.vote`)."""

    @property
    def samples(self) -> Samples:
        """(N,) the samples, as fits are trained on them."""

    @property
    def n_outputs(self) -> int:
        """Number of scores of a sample."""

    @property
    def n_effective(self) -> float:
        """Number of samples whose mean is as precise as that of these, with their weights."""

    def take(self, rows: Ints) -> Self:
        """The same on some of the samples."""

    def best_factor(
        self, scores: Scores, *, rough: bool = False, near: float = Search().near
    ) -> Found:
        """Find the factor of the scores with the lowest log-loss, beginning `near` one."""

    def calibrated(self, scores: Scores) -> "Calibrated":
        """Find the best factor, and what is to be added to all scores before."""

    def log_loss(self, scores: Scores) -> float:
        """Log-loss of the scores as they are."""

    def evidence(self, log_loss: float) -> float:
        """How much the samples tell about scores with this log-loss: about the number of difficult ones."""

    def cost(self, scores: Scores, factor: float) -> float:
        """What users read of the scores: the mean cost of decisions, or the root mean squared error."""


@dataclass(frozen=True)
class ClassScorer:
    """Judges scores of classes by their posterior at the best temperature, and by its decisions."""

    samples: Samples
    deciding: Samples
    """The same samples with the costs that decisions are judged by."""
    loss: str = "exponential"
    """Loss that the scores were trained with."""
    subcosts: str = "thesis"
    """Scheme that turned costs into weights."""
    whole: Samples | None = None
    """All samples, of which these are some; None: these are all."""

    fewest_to_vote: ClassVar[float] = 350

    @property
    def n_outputs(self) -> int:
        """Number of classes."""
        return self.samples.n_classes

    @cached_property
    def n_effective(self) -> float:
        """Effective number of samples."""
        return n_effective(self.samples)

    def take(self, rows: Ints) -> Self:
        """The same on some of the samples."""
        whole = self.samples if self.whole is None else self.whole
        samples, deciding = self.samples.take(rows), self.deciding.take(rows)
        return replace(self, samples=samples, deciding=deciding, whole=whole)

    def best_factor(
        self, scores: Scores, *, rough: bool = False, near: float = Search().near
    ) -> Found:
        """Find the temperature with the lowest log-loss of the posterior."""
        samples = self.samples
        found = Found(
            *fit_temperature(
                scores,
                samples.labels,
                class_costs(samples),
                samples.weight,
                self.loss,
                self.subcosts,
                search=Search(ROUGH if rough else PRECISE, near),
            )
        )
        least = 1 / len(samples)
        if found.log_loss >= min(PERHAPS_SEPARATE, least):
            return found
        # Where no sample is decided wrongly, the log-loss falls as far as the factor may grow. N samples
        # without a mistake do not show that mistakes are rarer than about one in N [Laplace's rule].
        factor = cooler(self.decoder(found.factor), scores, samples.labels, samples.weight, least)
        return Found(factor, least)

    def calibrated(self, scores: Scores) -> Calibrated:
        """Find the temperature, and the offset by which mean probabilities agree with class frequencies."""
        factor = self.best_factor(scores).factor
        # In time, frequencies change, and those of the samples that came last are what is to be expected.
        whole = self.whole if self.samples.times is None else None
        shares = class_shares(self.samples if whole is None else whole)
        offset = correcting_offset(self.decoder(factor), scores, self.samples.weight, shares)
        return Calibrated(factor, offset, self.log_loss(factor * (scores + offset)))

    def frequencies(self, kept: Mask) -> ByClass:
        """(K,) scores whose posterior is the class frequencies of some samples."""
        return self.decoder(1.0).scores_of(class_shares(self.samples.rows(kept)))

    def log_loss(self, scores: Scores) -> float:
        """Mean log-loss of the posterior."""
        samples = self.samples
        decoder = Decoder(class_costs(samples), 1.0, ROUGHLY, self.loss, self.subcosts)
        return mean_log_loss(decoder, scores, samples.labels, samples.weight)

    def evidence(self, log_loss: float) -> float:
        """Sum of the samples' log-losses: those that are decided safely tell nothing."""
        return self.n_effective * log_loss

    def cost(self, scores: Scores, factor: float) -> float:
        """Mean cost of the decisions, by expected cost."""
        return decision_cost(scores, self.decoder(factor), self.deciding)

    def decoder(self, temperature: float) -> Decoder:
        """Turns scores into probabilities."""
        return Decoder(
            class_costs(self.samples), temperature, loss=self.loss, subcosts=self.subcosts
        )


@dataclass(frozen=True)
class RegressionScorer:
    """Judges predictions of numbers by their squared error, or by the loss that they were trained with.

    Its log-loss is that of residuals with the scale that fits them best, up to a constant: the logarithm
    of the root mean squared error for normal residuals, of the mean absolute error for Laplace's.
    Differences of it mean as much as those of a posterior's log-loss, in whatever unit the target is.
    """

    samples: Samples
    objective: RegressionObjective = field(default_factory=RegressionObjective)

    n_outputs = 1
    fewest_to_vote: ClassVar[float] = math.inf

    @property
    def target(self) -> BySample:
        """(N,) targets, minus the baseline."""
        assert self.samples.target is not None
        return self.samples.target

    def take(self, rows: Ints) -> Self:
        """The same on some of the samples."""
        return replace(self, samples=self.samples.take(rows))

    @property
    def measure(self) -> str:
        """Name of what `cost` returns."""
        return self.objective.kind.measure

    def best_factor(
        self, scores: Scores, *, rough: bool = False, near: float = Search().near
    ) -> Found:
        """Find the slope of the targets over the predictions, and the logarithm of the residuals' scale.

        Boosting that was stopped early predicts too close to the mean: targets lie further out, and the
        slope exceeds 1. Losses other than the squared keep the predictions as they are.
        """
        del rough, near
        factor = self._slope(scores[:, 0]) if self.objective.kind.of_means else 1.0
        return Found(factor, self.log_loss(factor * scores))

    def calibrated(self, scores: Scores) -> Calibrated:
        """Find the slope; nothing is to be added."""
        factor, log_loss = self.best_factor(scores)
        return Calibrated(factor, np.zeros(1), log_loss)

    def log_loss(self, scores: Scores) -> float:
        """Logarithm of the residuals' scale."""
        distance = np.abs(scores[:, 0] - self.target)
        kind = self.objective.kind
        distance = kind.distances(distance, self.objective.delta)
        scale = _power_mean(distance, self.samples.weight, kind.power)
        return log_of(max(scale, np.finfo(np.float64).tiny))

    def evidence(self, log_loss: float) -> float:
        """Number of samples: every residual tells something."""
        del log_loss
        return self.n_effective

    @cached_property
    def n_effective(self) -> float:
        """Effective number of samples."""
        return n_effective(self.samples)

    def _slope(self, scores: BySample) -> float:
        """Σ w·s·y / Σ w·s², drawn towards 1 as if 1 ± `SLOPE_ERROR` were known beforehand; 0 at least."""
        target, weight = self.target, self.samples.weight
        weight = np.ones(len(target)) if weight is None else weight
        unit = float(max(np.abs(target).max(), np.abs(scores).max())) or 1.0
        s, y = scores / unit, target / unit
        residual = min(math.fsum(weight * (s - y) ** 2), math.fsum(weight * y**2))
        prior = residual / self.n_effective / SLOPE_ERROR**2  # of one sample
        size = math.fsum(weight * s**2) + prior
        return max(math.fsum(weight * s * y) + prior, 0.0) / size if size > 0 else 1.0

    def cost(self, scores: Scores, factor: float) -> float:
        """Root mean squared error; for other losses than the squared the mean absolute error."""
        distance = np.abs(factor * scores[:, 0] - self.target)
        power = 2 if self.objective.kind.of_means else 1
        return _power_mean(distance, self.samples.weight, power)


def class_shares(samples: Samples) -> ByClass:
    """(K,) weighted frequencies of the classes."""
    totals = exact_totals(samples.weight, samples.labels, samples.n_classes)
    return totals / totals.sum()


def n_effective(samples: Samples) -> float:
    """(Σw)²/Σw²: a heavy sample is still one [Kish 1965]."""
    if samples.weight is None:
        return float(len(samples.labels))
    return math.fsum(samples.weight) ** 2 / math.fsum(samples.weight**2)


def _power_mean(sizes: BySample, weight: BySample | None, power: int) -> float:
    """(Σ w·sizes^p / Σ w)^(1/p), p = 1 or 2."""
    # Relative to the largest, so that powers do not overflow; exact sums, which have no order.
    unit = float(sizes.max(initial=0.0)) or 1.0
    powers = (sizes / unit) ** power
    n = float(len(powers)) if weight is None else math.fsum(weight)
    mean = math.fsum(powers if weight is None else weight * powers) / n
    return unit * (math.sqrt(mean) if power == 2 else mean)


def neutral(samples: Samples) -> Samples:
    """The same samples with uniform costs."""
    return replace(samples, costs=uniform(samples.costs.shape[1]), by_sample=False)

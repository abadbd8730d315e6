"""How held-out scores are judged: by the log-loss of the posterior for classes, by squared error for numbers.

The race and the blend know no labels, costs or targets. They ask these objects for the factor of the scores
with the lowest loss, for that loss, and for what users read: a cost, or a root mean squared error.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol, Self

import numpy as np

from rebelboost.base.arrays import BySample, Ints, Scores
from rebelboost.boosting.fit import one_linear_algebra_thread
from rebelboost.costs.judge import decision_cost
from rebelboost.costs.matrix import class_costs, uniform
from rebelboost.costs.posterior import ROUGHLY, Decoder, fit_temperature, mean_log_loss
from rebelboost.data.folds import Divisible, divided
from rebelboost.data.samples import NumberSamples, Samples

PRECISE, ROUGH = 0.01, 0.2
"""Precisions of the logarithm of a temperature. The loss is flat near its minimum."""


class Found(NamedTuple):
    """The best factor of held-out scores, and their loss with it."""

    factor: float
    """Temperature of a posterior; 1 in a regression."""
    log_loss: float
    """Mean log-loss."""


class Judging(Protocol):
    """Judges scores of samples whose labels or targets are known."""

    @property
    def samples(self) -> Divisible:
        """(N,) the samples, as fits are trained on them."""

    @property
    def n_outputs(self) -> int:
        """Number of scores of a sample."""

    def left_out(self, shares: Sequence[BySample]) -> Self:
        """The same on what parts leave out, part by part: (N,) shares of the samples' weight for each."""

    def take(self, rows: Ints) -> Self:
        """The same on some of the samples."""

    def best_factor(self, scores: Scores, *, rough: bool = False) -> Found:
        """Find the factor of the scores with the lowest log-loss."""

    def log_loss(self, scores: Scores) -> float:
        """Log-loss of the scores as they are."""

    def cost(self, scores: Scores, factor: float) -> float:
        """What users read of the scores: the mean cost of decisions, or the root mean squared error."""


@dataclass(frozen=True)
class ClassJudging:
    """Judges scores of classes by their posterior at the best temperature, and by its decisions."""

    samples: Samples
    deciding: Samples
    """The same samples with the costs that decisions are judged by."""
    loss: str = "exponential"
    """Loss that the scores were trained with."""

    @property
    def n_outputs(self) -> int:
        """Number of classes."""
        return self.samples.n_classes

    def left_out(self, shares: Sequence[BySample]) -> Self:
        """The same on what parts leave out."""
        samples, deciding = (
            Samples.joined([divided(of, out) for out in shares])
            for of in (self.samples, self.deciding)
        )
        return replace(self, samples=samples, deciding=deciding)

    def take(self, rows: Ints) -> Self:
        """The same on some of the samples."""
        return replace(self, samples=self.samples.take(rows), deciding=self.deciding.take(rows))

    def best_factor(self, scores: Scores, *, rough: bool = False) -> Found:
        """Find the temperature with the lowest log-loss of the posterior."""
        samples = self.samples
        with one_linear_algebra_thread():
            return Found(
                *fit_temperature(
                    scores,
                    samples.labels,
                    class_costs(samples),
                    samples.weight,
                    self.loss,
                    precision=ROUGH if rough else PRECISE,
                )
            )

    def log_loss(self, scores: Scores) -> float:
        """Mean log-loss of the posterior."""
        samples = self.samples
        with one_linear_algebra_thread():
            return mean_log_loss(
                Decoder(class_costs(samples), 1.0, ROUGHLY, self.loss),
                scores,
                samples.labels,
                samples.weight,
            )

    def cost(self, scores: Scores, factor: float) -> float:
        """Mean cost of the decisions, by expected cost."""
        with one_linear_algebra_thread():
            return decision_cost(scores, self.decoder(factor), self.deciding)

    def decoder(self, temperature: float) -> Decoder:
        """Turns scores into probabilities."""
        return Decoder(class_costs(self.samples), temperature, loss=self.loss)


@dataclass(frozen=True)
class NumberJudging:
    """Judges predictions of numbers by their squared error.

    Its log-loss is that of normally distributed residuals with the variance that fits them best, up to a
    constant: half the logarithm of the mean squared error. Differences of it mean as much as those of a
    posterior's log-loss, in whatever unit the target is.
    """

    samples: NumberSamples

    n_outputs = 1

    def left_out(self, shares: Sequence[BySample]) -> Self:
        """The same on what parts leave out."""
        parts = [divided(self.samples, out) for out in shares]
        return replace(self, samples=NumberSamples.joined(parts))

    def take(self, rows: Ints) -> Self:
        """The same on some of the samples."""
        return replace(self, samples=self.samples.take(rows))

    def best_factor(self, scores: Scores, *, rough: bool = False) -> Found:
        """Half the logarithm of the mean squared error. Predictions keep their size."""
        del rough
        return Found(1.0, math.log(max(self.cost(scores, 1.0), np.finfo(np.float64).tiny)))

    def log_loss(self, scores: Scores) -> float:
        """Half the logarithm of the mean squared error."""
        return self.best_factor(scores).log_loss

    def cost(self, scores: Scores, factor: float) -> float:
        """Root mean squared error."""
        distance, weight = factor * scores[:, 0] - self.samples.target, self.samples.weight
        # Relative to the largest, so that squares do not overflow; exact sums, which have no order.
        unit = float(np.abs(distance).max(initial=0.0)) or 1.0
        squares = (distance / unit) ** 2
        if weight is None:
            return unit * math.sqrt(math.fsum(squares) / len(squares))
        return unit * math.sqrt(math.fsum(weight * squares) / math.fsum(weight))


def neutral(samples: Samples) -> Samples:
    """The same samples with uniform costs."""
    return replace(samples, costs=uniform(samples.costs.shape[1]), by_sample=False)

"""Offsets of scores, by which the mean probability of each class agrees with its frequency.

A temperature alone draws probabilities towards 1/K, whatever the frequencies of the classes are. An offset for
each class, added to all scores, corrects the means [Alexandari et al. 2020]. It is drawn towards none as if it
were known beforehand to be small, so that few held-out samples move it little.
"""

import math
from dataclasses import replace

import numpy as np

from rebelboost.base.arrays import ByClass, BySample, Scores
from rebelboost.base.fixed_point import exact_sum
from rebelboost.costs.posterior import ROUGHLY, Decoder

VARIANCE = 1.0
"""Variance of the log-odds by which an offset is expected to change them, before samples are looked at.

On 26 data sets for choosing, three splits each, log-loss was 0.4081 with it, 0.4115 without offsets; 0.1 and 10
gave 0.4090 and 0.4080. Finding the temperature again with the offset gained nothing.
"""
MOST_STEPS = 60
"""Maximum number of steps to an offset."""
CLOSE = 1e-3
"""Number of samples by which sums may be wrong when the steps end."""
LONGEST = 1.0
"""Longest step, in the logarithm of the odds."""


def correcting_offset(
    decoder: Decoder, scores: Scores, weight: BySample | None, frequencies: ByClass
) -> ByClass:
    """(K,) what to add to the scores of held-out samples: N·f_k − Σ P_k = u_k/σ² for all classes.

    f are the frequencies of the classes, P the probabilities with the offset, u the change of the log-odds, and
    σ² its `VARIANCE`. Without the right side, the mean probabilities would be the frequencies. It bounds the
    offset where probabilities are near 0 and 1, so that only large offsets change them.
    """
    rough = replace(decoder, precision=ROUGHLY)
    n_samples, n_classes = scores.shape
    weight = np.ones(n_samples) if weight is None else weight
    units = (weight * (math.fsum(weight) / math.fsum(weight**2)))[:, np.newaxis]
    observed = frequencies * math.fsum(units[:, 0])
    per_unit = decoder.kind.slope * decoder.temperature
    change: ByClass = np.zeros(n_classes)
    best, least, step_size = change, math.inf, 1.0
    direction = change
    for _ in range(MOST_STEPS):
        posterior = rough.posterior(scores + change / per_unit)
        missing = observed - exact_sum(units * posterior) - change / VARIANCE
        size = float(np.abs(missing).max())
        if size < least:
            best, least = change, size
            spread = exact_sum(units * posterior * (1 - posterior))
            direction = missing / (spread + 1 / VARIANCE)
            step_size = min(1.0, 2 * step_size)
        else:
            step_size /= 4  # too far
        if least < CLOSE:
            break
        step = step_size * direction
        longest = float(np.abs(step).max())
        change = best + step * min(1.0, LONGEST / longest)
    return np.round(best / per_unit, 6)  # few digits, which hide differences between machines

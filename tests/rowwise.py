"""Weights and slopes of samples in memory at given scores, for tests of losses and learners."""

import numpy as np

from rebelboost.data.samples import Samples
from rebelboost.rows.base import MemoryRows
from rebelboost.rows.slopes import ConvexRowsLoss, Slopes, StartSlopes, differentiate
from rebelboost.rows.weights import Start, Weighting, Weights


class AnyLoss:
    """A loss of samples in memory, as it is."""

    baseline = None

    def __init__(self, loss):
        self.loss, self.n_outputs = loss, loss.shape[1]

    def of(self, rows):
        return self.loss


def weights_of(costs, labels, scores, subcosts="thesis"):
    """Weights of the exponential loss at scores; `costs` are (N, K) rows."""
    n_samples, n_classes = costs.shape
    samples = Samples(np.zeros((n_samples, 1)), labels, costs, by_sample=True)
    rows = MemoryRows.of(samples)
    uniform = 1 - np.eye(n_classes)
    weighting = Weighting(None, 0, subcosts, n_classes, uniform, 1.0, 1.0, pays=True)
    rows.ask(Start(weighting))
    rows.alone.train.scores[:] = scores
    return Weights(rows, weighting, n_samples)


def slopes_of(loss, scores):
    """Slopes of a convex loss at scores."""
    n_samples, n_outputs = loss.shape
    labels = np.zeros(n_samples, dtype=np.int32)
    samples = Samples(np.zeros((n_samples, 1)), labels, np.zeros((n_outputs, n_outputs)))
    rows, given = MemoryRows.of(samples), AnyLoss(loss)
    rows.ask(StartSlopes(given, 1.0))
    rows.alone.train.scores[:] = scores
    differentiate(rows.alone.train)
    return Slopes(rows, ConvexRowsLoss(given, n_samples, float(n_samples)))

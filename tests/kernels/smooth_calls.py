"""Calls of the kernels of smooth similarities on fresh outputs, like those of `calls`; and their arguments."""

import numpy as np

from kernels.calls import rubbish
from rebelboost.base.kernel_arrays import DescentOptions


def padded(n):
    return -(-n // 8) * 8


def choose_examples(module, among, tau, least):
    """How many were chosen, which, and the factor."""
    size = padded(len(among))
    chosen, factor = rubbish(len(among), np.int32), rubbish((size, size), np.float64)
    return module.choose_examples(among, tau, least, chosen, factor), chosen, factor


def place_features(module, distances, tau, chosen, factor):
    centre = rubbish(len(factor), np.float64)
    features = rubbish((distances.shape[1], len(factor)), np.float32)
    module.place_features(distances, tau, chosen, factor, centre, features)
    return centre, features


def feature_scores(module, features, points, solved):
    scores = rubbish((len(points), len(solved)), np.float64)
    module.feature_scores(features, points, solved, scores)
    return scores


def weighted_gram(module, features, weight):
    gram = rubbish((features.shape[1],) * 2, np.float64)
    module.weighted_gram(features, weight, gram)
    return gram


def feature_sums(module, features, values):
    sums = rubbish((values.shape[1], features.shape[1]), np.float64)
    module.feature_sums(features, values, sums)
    return sums


def ridge_factor(module, gram, ridge, size=None):
    factor = rubbish((size or len(gram),) * 2, np.float64)
    module.ridge_factor(gram, ridge, factor)
    return factor


def solve_lower(module, factor, values):
    values = values.copy()
    module.solve_lower(factor, values)
    return values


def solve_upper(module, factor, values):
    values = values.copy()
    module.solve_upper(factor, values)
    return values


def solve_logistic(module, features, mass, factor, options, start):
    solved = start.copy()
    module.solve_logistic(features, mass, factor, options, solved)
    return solved


# ---- arguments


def random_squares(rng, n_points, n_examples):
    """(E, N) squared distances of the first points to all of them; a few points almost coincide."""
    points = rng.normal(size=(n_points, 3)) * 10.0 ** rng.integers(-2, 3)
    points[: n_points // 4] = points[-1] + 1e-3 * points[: n_points // 4]
    squares = ((points[:n_examples, np.newaxis] - points) ** 2).sum(axis=2)
    return squares.astype(np.float32)


def random_features(rng, n_points, n_features):
    """Features that fade, with columns of 0 at the end."""
    features = np.zeros((n_points, padded(n_features)), dtype=np.float32)
    fading = 0.8 ** np.arange(n_features)
    features[:, :n_features] = rng.normal(size=(n_points, n_features)) * fading
    return features


def random_mass(rng, n_labels, n_points):
    """(2, K, N) shares of a class and of the others; some points have none."""
    own = np.eye(n_labels)[rng.integers(n_labels, size=n_points)].T
    shares = rng.uniform(0.1, 1, n_points) * (rng.random(n_points) < 0.8)
    shares /= max(shares.sum(), 1e-9)
    return np.ascontiguousarray([own * shares, (1 - own) * shares])


def options_of(n_features, ridge=0.01, precision=1e-5, most_steps=40):
    return DescentOptions(ridge, precision, most_steps, n_features)

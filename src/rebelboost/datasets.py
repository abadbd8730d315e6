"""Example data: the papers' synthetic data (planar mixtures, random costs, spirals) and breast tumours."""

from typing import NamedTuple

import numpy as np

from rebelboost.base.arrays import Floats, Ints

CLASSES = (3, 6)
"""Minimum and maximum number of classes of a planar set."""
CLUSTERS = (2, 4)
"""Minimum and maximum number of Gaussian clusters per class."""
SPREAD = (0.1, 0.3)
"""Minimum and maximum standard deviation along an axis of a cluster; centres are in [−1, 1]²."""


class PlanarSet(NamedTuple):
    """Training and test points in the plane, with classes 0 … K−1."""

    X_train: Floats
    """(n_train, 2)"""
    y_train: Ints
    X_test: Floats
    y_test: Ints


def planar_mixture(seed: int, n_train: int = 1000, n_test: int = 500) -> PlanarSet:
    """Draw points in the plane; each class is a mixture of Gaussian clusters.

    The paper shows its data (Fig. 9) but gives no parameters [REBEL, Sec. 5 and S.10]. Here, 3 to 6
    equally likely classes have 2 to 4 clusters each, with random centres in a square, random widths
    and random directions. Clusters overlap, so no classifier is perfect.

    Parameters
    ----------
    seed : int
        Random seed. Test samples do not depend on `n_train`.
    n_train, n_test : int
        Number of training and test samples. The training samples include each class, if
        there are enough of them.

    Examples
    --------
    >>> X_train, y_train, X_test, y_test = planar_mixture(0)
    >>> X_train.shape, X_test.shape
    ((1000, 2), (500, 2))
    """
    design, training, testing = np.random.default_rng(seed).spawn(3)
    n_classes = int(design.integers(CLASSES[0], CLASSES[1], endpoint=True))
    clusters = design.integers(CLUSTERS[0], CLUSTERS[1], endpoint=True, size=n_classes)
    of_class = np.repeat(np.arange(n_classes), clusters)
    centres = design.uniform(-1, 1, size=(len(of_class), 2))
    axes = _ellipses(design, len(of_class))
    first = np.arange(min(n_train, n_classes))

    def draw(rng: np.random.Generator, n_samples: int, first: Ints) -> tuple[Floats, Ints]:
        drawn = rng.integers(n_classes, size=n_samples - len(first))
        y = rng.permutation(np.concatenate([first, drawn]))
        cluster = _cluster_of_each(rng, y, clusters)
        noise = rng.normal(size=(n_samples, 2, 1))
        return centres[cluster] + (axes[cluster] @ noise)[:, :, 0], y

    return PlanarSet(*draw(training, n_train, first), *draw(testing, n_test, first[:0]))


def spirals(
    seed: int = 0, n_train: int = 333, n_test: int = 167, *, wrong: float = 0.0
) -> PlanarSet:
    """Draw three interleaved spirals, one per class, as in [LOCAL, Sec. 6].

    The paper gives the number of points (500, two thirds of them for training) but not the shape of
    the spirals. Here, each winds one and a half times around the origin, with some noise.

    Parameters
    ----------
    seed : int
        Random seed.
    n_train, n_test : int
        Number of training and test samples.
    wrong : float
        Share of training samples that get the label of another class.

    Examples
    --------
    >>> X_train, y_train, X_test, y_test = spirals()
    >>> X_train.shape, X_test.shape
    ((333, 2), (167, 2))
    """
    rng = np.random.default_rng(seed)
    y: Ints = rng.integers(3, size=n_train + n_test)
    along = np.sqrt(rng.uniform(0.02, 1, size=len(y)))
    angle = 3 * np.pi * along + 2 * np.pi / 3 * y
    X = along[:, np.newaxis] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    X = X + rng.normal(scale=0.015, size=X.shape)
    train, test = y[:n_train].copy(), y[n_train:]
    mistaken = rng.permutation(n_train)[: round(wrong * n_train)]
    train[mistaken] = (train[mistaken] + rng.integers(1, 3, size=len(mistaken))) % 3
    return PlanarSet(X[:n_train], train, X[n_train:], test)


def _ellipses(rng: np.random.Generator, n_clusters: int) -> Floats:
    """Draw (clusters, 2, 2) matrices that scale and rotate isotropic noise."""
    widths = rng.uniform(*SPREAD, size=(n_clusters, 1, 2))
    angle = rng.uniform(0, np.pi, size=n_clusters)
    rows = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    rotations: Floats = np.moveaxis(np.array(rows), -1, 0)
    return rotations * widths


def _cluster_of_each(rng: np.random.Generator, y: Ints, clusters: Ints) -> Ints:
    """Draw a cluster for each sample, uniformly among the clusters of its class."""
    begin = np.cumsum(clusters) - clusters
    chosen: Ints = begin[y] + rng.integers(clusters[y])
    return chosen


def random_costs(n_classes: int, seed: int) -> Floats:
    """Draw a (K, K) cost matrix for which random guessing has a mean cost of 1.

    As in [REBEL, Fig. 3]. The diagonal is 0; the other entries are absolute values of normal
    variables. Guessing predicts each of K equally likely classes with probability 1 / K, so the
    mean of all K² entries is 1.

    Parameters
    ----------
    n_classes : int
        Number of classes K, at least 2.
    seed : int
        Random seed.

    Examples
    --------
    >>> float(random_costs(3, seed=0).mean().round(12))
    1.0
    """
    if n_classes < 2:
        raise ValueError(f"n_classes is {n_classes}: give two classes or more")
    costs = np.abs(np.random.default_rng(seed).normal(size=(n_classes, n_classes)))
    np.fill_diagonal(costs, 0)
    normalised: Floats = costs / costs.mean()
    return normalised


def tumours() -> tuple[dict[str, Floats], list[str]]:
    """Return 30 measurements of 569 breast tumours by name, and the diagnoses.

    A diagnosis is "benign" or "malignant". These are the Wisconsin data that come with scikit-learn.

    Examples
    --------
    >>> measured, diagnoses = tumours()
    >>> len(measured), diagnoses.count("malignant")
    (30, 212)
    """
    from sklearn.datasets import load_breast_cancer

    found = load_breast_cancer()
    measured = dict(zip(found.feature_names.tolist(), found.data.T, strict=True))
    return measured, found.target_names[found.target].tolist()

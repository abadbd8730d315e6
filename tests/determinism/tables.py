"""Tables for the twelve models: the same numbers on every machine, whatever NumPy's generators do."""

import numpy as np

N = 240


def noise(shape, seed):
    """Integers from 0 to 999, by multiplying and shifting."""
    keys = np.arange(np.prod(shape), dtype=np.uint64) + np.uint64(seed * 1_000_003)
    for factor in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        keys *= np.uint64(factor)
        keys ^= keys >> np.uint64(31)
    return (keys % np.uint64(1000)).astype(np.int64).reshape(shape)


def numbers(n=N, n_features=5, n_classes=3, seed=1):
    """Overlapping classes; all values are multiples of 1/64."""
    y = noise(n, seed) % n_classes
    y[:n_classes] = np.arange(n_classes)
    centres = noise((n_classes, n_features), seed + 1) % 64
    return (centres[y] + noise((n, n_features), seed + 2) % 96) / 64.0, y


def mixed(n=N, seed=5):
    """Numbers with missing values, and a column of category codes."""
    X, y = numbers(n, seed=seed)
    X[:, 2] = (y + noise(n, seed + 3) % 4) % 5
    X[noise(X.shape, seed + 4) < 80] = np.nan
    return X, y


def amounts(n=N, seed=9):
    """Numbers to predict."""
    X, y = numbers(n, seed=seed)
    return X, X[:, 0] * X[:, 1] - 2 * X[:, 2] + y + noise(n, seed + 3) / 1000.0


def images(seed=13):
    """Small pictures with a bright cross, and larger ones without."""
    crops = noise((60, 12, 12), seed) // 8
    crops[:, 4:8, :] += 100
    crops[:, :, 4:8] += 30 + noise((60, 1, 1), seed + 1) // 20
    streets = noise((4, 60, 80), seed + 2) // 8
    streets[:, 10:14, 20:60] += 100
    streets[:, 30:50, 50:54] += 80
    return crops.astype(np.uint8), list(streets.astype(np.uint8))

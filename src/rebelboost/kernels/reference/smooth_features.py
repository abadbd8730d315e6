"""Features of smooth similarities, from distances to examples: a pivoted Cholesky factor of their kernel."""

import numpy as np

from rebelboost.base.arrays import Distances, Floats, Indices
from rebelboost.base.kernel_arrays import Features
from rebelboost.kernels.reference.ridge import in_eight_lanes


def choose_examples(
    among: Distances, tau: float, least: float, chosen: Indices, factor: Floats
) -> int:
    """Factor the kernel K = 2τ/(τ + r) among the examples; return how many were chosen.

    The next example is the one whose kernel the chosen ones explain least, until that is `least` or less for
    all of them. `factor` is upper triangular with UᵀU = K of the chosen ones, padded by the identity.
    """
    left = _kernel(tau, among)
    unexplained = np.diag(left).copy()
    rows: list[Floats] = []
    factor[:] = np.eye(len(factor))
    chosen[:] = 0
    for j in range(len(among)):
        best = int(np.argmax(unexplained))
        if not unexplained[best] > least:
            break
        root = np.sqrt(unexplained[best])
        row = left[best] / root
        left -= np.multiply.outer(row, row)
        unexplained -= row * row
        row[best] = root
        unexplained[best] = -np.inf
        chosen[j] = best
        rows.append(row)
    for j, row in enumerate(rows):
        factor[j, j : len(rows)] = row[chosen[j : len(rows)]]
    return len(rows)


def place_features(
    distances: Distances,
    tau: float,
    chosen: Indices,
    factor: Floats,
    centre: Floats,
    features: Features,
) -> None:
    """Fill `features` with k(x)·U⁻¹ − centre of each point, where k are the kernels to the chosen examples.

    `centre` is their mean over the points. Columns after the chosen ones are 0.
    """
    columns, n_points = len(factor), len(features)
    kernels = np.zeros((columns, n_points))
    kernels[: len(chosen)] = _kernel(tau, distances[chosen])
    mean = np.zeros((columns, 1))
    mean[: len(chosen), 0] = in_eight_lanes(kernels[: len(chosen)]) / n_points
    _eliminate(factor, mean)
    _eliminate(factor, kernels)
    centre[:] = mean[:, 0]
    features[:] = (kernels - mean).T.astype(np.float32)


def feature_scores(features: Features, points: Indices, solved: Floats, scores: Floats) -> None:
    """Fill (M, K) scores of some points: the constant of each class, plus ⟨features, coefficients⟩."""
    here = features[points].astype(np.float64)
    for k, (constant, *_) in enumerate(solved):
        scores[:, k] = in_eight_lanes(here * solved[k, 1:]) + constant


def _kernel(tau: float, distances: Distances) -> Floats:
    return 2 * tau / (tau + distances.astype(np.float64))


def _eliminate(factor: Floats, columns: Floats) -> None:
    """Solve Uᵀx = columns in place, one unknown after the other."""
    for j in range(len(factor)):
        columns[j] /= factor[j, j]
        columns[j + 1 :] -= factor[j, j + 1 :, np.newaxis] * columns[j]

"""Trees grown by the classic criteria, on binarised labels [QUICK, Sec. 2].

The classes become two: those on either side of the leading direction of the weights [LOCAL, Sec. 4].
"""

import math
from typing import Literal, get_args

import numpy as np

from rebelboost.dataset import TrainingSet, root_node
from rebelboost.learners.base import Candidate, Focus
from rebelboost.learners.one_output import solve
from rebelboost.learners.pruning import Schedule
from rebelboost.risk import FINE_BITS, Weights
from rebelboost.shapes import CRITERIA, NO_WORK, ByClass, Floats, Ints, Layer, SearchOptions

Criterion = Literal["risk", "error", "gini", "entropy", "gain_ratio", "variance"]
GROWING = get_args(Criterion)

# For labels ±1 the Gini index is the variance. A gain below one unit of the fixed point is rounding.
OPTIONS = {
    "error": SearchOptions(CRITERIA["error"], 1),
    "gini": SearchOptions(CRITERIA["variance"], 1, 1.0),
    "variance": SearchOptions(CRITERIA["variance"], 1, 1.0),
    "entropy": SearchOptions(CRITERIA["entropy"], 1, 1.0),
    "gain_ratio": SearchOptions(CRITERIA["gain_ratio"], 1, 1e-9),
}


def tree_by_criterion(
    criterion: str,
    depth: int,
    data: TrainingSet,
    weights: Weights,
    focus: Focus,
    schedule: Schedule,
) -> Candidate:
    """Grow by labels sign(v) with weights |v|; leaves respond with the sign of their sum."""
    direction = leading_direction(weights)
    projected, _ = weights.project(direction, np.ones(len(direction)))
    signed = projected >> 32
    values: Ints = signed * 2**32 + np.abs(signed)
    nodes, work = root_node(focus.samples), NO_WORK
    layers: list[Layer] = []
    signs = np.ones(1, dtype=np.int8)
    for place in range(depth):
        nodes, heavy = schedule.subsets(data, np.abs(signed), nodes, place)
        splits, more = data.search_layer(values, nodes, OPTIONS[criterion], focus.allowed)
        schedule.note(data, nodes, more, place)
        if place == 0:
            work = work._replace(heavy=heavy)
        work = work.plus(more)
        if np.all(splits.features < 0):
            break
        layers.append(Layer(splits.features, splits.right))
        signs = np.where(splits.sides.ravel() >> 32 > 0, 1, -1).astype(np.int8)
        nodes = data.split(layers[-1], nodes)
    return solve(tuple(layers), signs, nodes, data, weights, work).candidate(data)


def leading_direction(weights: Weights) -> ByClass:
    """q₁/√S, so that v = G·q₁/√S is the leading eigenvector of UUᵀ, U = G/√S [LOCAL, Sec. 4].

    UᵀU is summed in fixed point, so that the order of samples changes no bit.
    """
    roots = np.sqrt(weights.totals)
    G = weights.planes.sum(axis=0)
    U = np.divide(G, roots, out=np.zeros_like(G), where=roots > 0)
    # Σ_n |U_nk U_nl| ≤ √(Σ U_k²)·√(Σ U_l²), and Σ_n G_nk²/S_k ≤ S_k.
    _, exponent = math.frexp(float(weights.totals.max(initial=0.0)))
    _, vectors = np.linalg.eigh(_products(U, math.ldexp(1.0, FINE_BITS - exponent)))
    leading = vectors[:, -1]
    leading = leading * np.sign(leading[np.argmax(np.abs(leading))])
    return np.divide(leading, roots, out=np.zeros_like(roots), where=roots > 0)


def _products(U: Floats, scale: float) -> Floats:
    """UᵀU, on the scale given."""
    n_classes = U.shape[1]
    products = np.empty((n_classes, n_classes))
    for k in range(n_classes):
        row = np.rint(U[:, k : k + 1] * U[:, k:] * scale).astype(np.int64).sum(axis=0)
        products[k, k:] = products[k:, k] = row
    return products

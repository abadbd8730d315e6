"""Trees grown by the classic criteria, on binarised labels [QUICK, Sec. 2].

The classes become two: those on either side of the leading direction of the weights [LOCAL, Sec. 4].
"""

from typing import Literal, get_args

import numpy as np

from rebelboost.base.arrays import CRITERIA, NO_WORK, ByClass, Ints, Layer, SearchOptions
from rebelboost.data.training_set import TrainingSet, root_node
from rebelboost.learners.base import Candidate, Focus
from rebelboost.learners.binarize import leading
from rebelboost.learners.growing import solve
from rebelboost.learners.pruning import Schedule
from rebelboost.losses.smooth import AnyWeights, Slopes

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
    weights: AnyWeights,
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


def leading_direction(weights: AnyWeights) -> ByClass:
    """q₁/√S, so that v = G·q₁/√S is the leading eigenvector of UUᵀ, U = G/√S [LOCAL, Sec. 4]."""
    signed = weights.signed if isinstance(weights, Slopes) else weights.signed()
    roots = np.sqrt(weights.totals)
    unit = np.divide(1.0, roots, out=np.zeros_like(roots), where=roots > 0)
    return leading(signed * unit) * unit

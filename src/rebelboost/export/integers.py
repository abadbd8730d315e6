"""A model as one file of C that computes with integers only, for machines without floating point.

Scores of averaged models are integers times a power of two, so nothing is lost. A decision is the
highest score; with two classes and costs, it is a threshold of their difference.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bytes, Floats, Ints
from rebelboost.base.fixed_point import spacing
from rebelboost.base.names import printed
from rebelboost.costs.matrix import is_uniform
from rebelboost.exceptions import ExportError
from rebelboost.export.evaluator import Deciding, Evaluator
from rebelboost.export.literals import array, enum, strings
from rebelboost.export.sources import source
from rebelboost.export.terms import ConstantTable, Sum, TreeTable, tree_units
from rebelboost.model.fitted import FittedClassifier, FittedTerms

NUMBER, MISSING_RIGHT, SET = 0, 1, 2
"""Kinds of splits."""
FIRST_SET, MISSING = 256, 65535
MARK = "MODEL_READS_DOUBLES"
"""Name that only files in integers contain."""
CLEARLY, EQUALLY = 1e-9, 1e-13
"""Relative differences of expected costs that no rounding bridges, and that count as none in decisions."""


def as_integers(evaluator: Evaluator, model: FittedTerms) -> str:
    """The text of the file."""
    deciding = evaluator.deciding
    if deciding is None or not isinstance(model, FittedClassifier):
        raise ExportError("regressions are not exported in integers: export without bins")
    each, n_features = evaluator.sums[0], len(evaluator.names)
    if not all(isinstance(table, TreeTable | ConstantTable) for table in each.tables):
        raise ExportError(
            "the model compares distances, which need floating point: train with learner='tree' or 'stump'"
        )
    if not each.is_exact:
        raise ExportError(
            "the outputs of a single fit are not multiples of a power of two: train with cross_fit=5"
        )
    trees = _joined(each)
    shifts, integers = _integers(trees)
    largest = sum(np.abs(own).max(axis=0) for own in _by_tree(trees))
    numbers = trees.kinds != SET
    cuts = [np.unique(trees.thresholds[numbers & (trees.features == f)]) for f in range(n_features)]
    parts = [
        source("integers.c"),
        enum(
            {
                "MODEL_N_FEATURES": n_features,
                "MODEL_N_CLASSES": each.n_outputs,
                "MODEL_EXPONENT": int(np.log2(trees.unit)),
                "N_TREES": len(trees.sizes),
            }
        ),
        strings("model_features", evaluator.names),
        strings("model_classes", map(printed, deciding.classes)),
        array("sizes", trees.sizes.astype(np.uint16)),
        array("nodes", _nodes(trees, cuts)),
        array("sets", trees.sets),
        array("shifts", shifts.astype(np.uint8)),
        array("outputs", integers),
        source("integer_trees.c"),
        _decisions(deciding, model, trees.unit, float(np.max(largest))),
        source("integer_decide.c"),
        "#ifdef MODEL_READS_DOUBLES\n",
        array(
            "is_category",
            np.isin(np.arange(n_features), list(model.encoder.levels)).astype(np.uint8),
        ),
        array("starts", np.cumsum([0, *map(len, cuts)]).astype(np.int32)),
        array("thresholds", np.concatenate([np.empty(0), *cuts])),
        "#endif\n",
        source("integer_bins.c"),
    ]
    return "\n".join(parts)


class _Trees(NamedTuple):
    """All trees and constants of a model."""

    sizes: Ints
    outputs: Floats
    """(leaves, K)"""
    unit: float
    skips: Ints
    """(splits,) and what follows too."""
    features: Ints
    kinds: Ints
    thresholds: Floats
    """NaN of sets."""
    set_of: Ints
    sets: Bytes
    """(sets, 32)"""


def _joined(each: Sum) -> _Trees:
    """Constants are trees without splits."""
    constants = [table.outputs for table in each.tables if isinstance(table, ConstantTable)]
    found = [table for table in each.tables if isinstance(table, TreeTable)]
    if any(len(table.mean_features) for table in found):
        raise ExportError(
            "the trees split categories of many levels by means, which need floating point: group the levels"
        )
    sizes: list[Any] = [np.zeros(len(values), dtype=np.int64) for values in constants]
    outputs = [*constants]
    splits: list[tuple[Any, ...]] = []
    sets = [np.zeros((0, 32), dtype=np.uint8)]
    for table in found:
        nodes, n_numbers = table.nodes.reshape(-1, 3).astype(np.int64), len(table.starts) - 1
        column, test = nodes[:, 0], nodes[:, 1]
        is_set = column >= n_numbers
        place = table.starts[np.where(is_set, 0, column)] + np.where(is_set, 0, test)
        padded = np.append(table.thresholds, np.nan)
        n_sets = sum(map(len, sets))
        splits.append(
            (
                nodes[:, 2],
                table.features[column],
                np.where(
                    is_set, SET, np.where(table.missing[column] > test, MISSING_RIGHT, NUMBER)
                ),
                np.where(is_set, np.nan, padded[place]),
                np.where(is_set, test - FIRST_SET + n_sets, 0),
            )
        )
        sets.append(table.sets.reshape(-1, 32))
        sizes.append(table.sizes)
        units = np.repeat(table.units, table.sizes + 1)[:, np.newaxis] if len(table.units) else 1.0
        outputs.append(units * table.outputs)
    joined = np.concatenate([np.empty((0, each.n_outputs)), *outputs])
    unit = spacing(joined)
    columns = [np.concatenate([np.empty(0), *parts]) for parts in zip(*splits, strict=True)]
    skips, features, kinds, thresholds, set_of = columns or [np.empty(0)] * 5
    return _Trees(
        np.concatenate([np.empty(0, dtype=np.int64), *sizes]).astype(np.int64),
        joined,
        unit if np.isfinite(unit) else 1.0,
        skips.astype(np.int64),
        features.astype(np.int64),
        kinds.astype(np.int64),
        thresholds,
        set_of.astype(np.int64),
        np.concatenate(sets),
    )


def _by_tree(trees: _Trees) -> list[Floats]:
    return np.split(trees.outputs, np.cumsum(trees.sizes + 1)[:-1])


def _integers(trees: _Trees) -> tuple[Ints, Any]:
    """(T,) shifts of the trees, and (leaves, K) integers to be shifted: of 16 bits, or of 64 if need be."""
    units = tree_units(trees.outputs, trees.sizes)
    if len(units) == 0:
        return np.zeros(len(trees.sizes), dtype=np.int64), (trees.outputs / trees.unit).astype(
            np.int64
        )
    units = np.where(units < trees.unit, trees.unit, units)  # a tree of zeros
    integers = trees.outputs / np.repeat(units, trees.sizes + 1)[:, np.newaxis]
    return np.log2(units / trees.unit).astype(np.int64), integers.astype(np.int16)


def _nodes(trees: _Trees, cuts: Sequence[Floats]) -> NDArray[np.uint16]:
    tests = trees.set_of.copy()
    for f, own in enumerate(cuts):
        rows = (trees.features == f) & (trees.kinds != SET)
        tests[rows] = np.searchsorted(own, trees.thresholds[rows])
    most = max(map(len, cuts), default=0)
    if most >= MISSING or max(tests.max(initial=0), trees.features.max(initial=0)) >= MISSING:
        raise ExportError("a feature has more than 65,000 thresholds: train fewer trees")
    columns = [trees.features, tests, trees.skips, trees.kinds]
    return np.column_stack(columns).astype(np.uint16)


# ---- decisions


def _decisions(deciding: Deciding, model: FittedClassifier, unit: float, largest: float) -> str:
    """`model_scores` and `model_decide`."""
    n_classes = len(deciding.classes)
    if deciding.reject_cost is not None:
        raise ExportError(
            "abstaining depends on probabilities, which need floating point: fit without reject_cost"
        )
    if deciding.sources:
        raise ExportError(
            "costs that differ from sample to sample need floating point: give costs by class"
        )
    decoder = deciding.decoder
    plain = decoder.rest is None and decoder.shift is None and is_uniform(deciding.costs)
    if not deciding.by_cost or plain:
        return source("integer_scores.c") + source("highest.c").replace("double", "int64_t")
    if n_classes != 2:
        raise ExportError(
            f"decisions between {n_classes} classes with unequal costs or other priors depend on "
            "probabilities, which need floating point: fit with decision='argmax'"
        )
    threshold = _threshold(model, unit, largest)
    return source("integer_scores.c") + source("integer_threshold.c").replace(
        "THRESHOLD", str(threshold)
    )


def _threshold(model: FittedClassifier, unit: float, largest: float) -> int:
    """The least difference of the scores, in units, at which the second class is decided."""
    most = int(2 * largest / unit) + 1
    low, high = -most, most + 1  # the answer is in (low, high]
    while high - low > 1:
        middle = (low + high) // 2
        if model.decide(np.array([[0.0, middle * unit]]))[0] == 1:
            high = middle
        else:
            low = middle
    risks = model.expected_cost(np.array([[0.0, at * unit] for at in (low, high)]))
    apart = np.abs(risks[:, 1] - risks[:, 0]) / risks.max(axis=1)
    if not np.all((apart > CLEARLY) | (apart < EQUALLY)) and -most < low < most:
        raise ExportError(
            "two decisions can have expected costs so equal that rounding decides, which integers cannot "
            "repeat: train with training='neutral'"
        )
    return high

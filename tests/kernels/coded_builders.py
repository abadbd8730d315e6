"""Random terms in the forms that are made for prediction."""

import numpy as np

from kernels.builders import random_trees
from rebelboost.base.kernel_arrays import CodedColumns, CodedTrees, StepArrays


def random_coded(rng, counts, depths, width, n_labels, n_sets=3):
    """Columns with so many thresholds (a column of categories where negative), and trees on them."""
    steps = random_steps(rng, counts, width, n_labels)
    columns = CodedColumns(
        steps.features,
        steps.starts,
        steps.thresholds,
        rng.choice([0, 255], len(counts)).astype(np.uint8),
        steps.categorical,
    )
    trees = random_trees(rng, depths, width, n_labels, categories=False)
    n_nodes, sets = len(trees.features), rng.integers(0, 256, (n_sets, 32)).astype(np.uint8)
    tests = np.where(rng.random(n_nodes) < 0.5, rng.integers(0, 5, n_nodes), 255)
    of_set = rng.random(n_nodes) < 0.4 if n_sets else np.zeros(n_nodes, dtype=bool)
    tests[of_set] = 256 + rng.integers(0, max(n_sets, 1), n_nodes)[of_set]
    nodes = np.stack([rng.integers(0, len(counts), n_nodes), tests], axis=1).astype(np.uint16)
    offsets = trees.node_offsets, trees.leaf_offsets
    return columns, CodedTrees(trees.depths, *offsets, nodes, sets, trees.outputs)


def random_steps(rng, counts, width, n_labels):
    """A function with so many thresholds for each count; one of a category where the count is negative."""
    counts = np.asarray(counts, dtype=np.int64)
    n_rows = np.where(counts < 0, 257, counts + 2)
    n_thresholds = np.maximum(counts, 0)
    levels = [np.sort(rng.integers(-2, 6, n) / 2) for n in n_thresholds]
    return StepArrays(
        rng.integers(0, width, len(counts)).astype(np.int32),
        np.append(0, np.cumsum(n_thresholds)),
        np.concatenate([np.empty(0), *levels]),
        np.cumsum(n_rows) - n_rows,
        (counts < 0).astype(np.uint8),
        rng.standard_normal((int(n_rows.sum()), n_labels)),
    )

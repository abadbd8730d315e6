"""Several rounds of boosting with leaf trees in one call."""
# ruff: noqa: PLR0913, PLR0917  (arrays cross borders, objects do not)

import numpy as np

from rebelboost.base.arrays import Bins, Focus, GrownTree, Layer, LeafTreeOptions, TreeData
from rebelboost.base.kernel_arrays import Boosted, RoundLog, TreeMemory, TreePlan, TreeTable
from rebelboost.kernels.reference.leaf_tree import propose_tree
from rebelboost.kernels.reference.nodes import route
from rebelboost.kernels.reference.rounds import add_term, sum_exceeds


def boost_trees(
    bins: Bins,
    data: TreeData,
    held_bins: Bins,
    plan: TreePlan,
    training: Boosted,
    held: Boosted,
    memory: TreeMemory,
    trees: TreeTable,
    log: RoundLog,
    n_threads: int,
) -> int:
    """In each round propose a tree, and add it to the training samples and to the held-out ones, if any.

    Ends early before a tree that adds nothing, when `trees.right` may be too short for the next tree, or
    when the weights have fallen to `plan.least_total`. Returns the number of rounds.
    """
    tree, exponent = memory.tree, 0
    node = leaf = n_tables = 0
    for t, key in enumerate(plan.keys.tolist()):
        if n_tables + len(tree.features) > len(trees.right):
            return t
        focus = Focus(plan.samples, plan.allowed[min(t, len(plan.allowed) - 1)])
        n_layers, log.edges[t] = propose_tree(
            bins,
            data,
            focus,
            training.weights,
            training.totals,
            LeafTreeOptions(key, plan.least_mass, plan.smoothing),
            tree,
            memory.leaves,
            memory.scratch,
            n_threads,
        )
        n_nodes, n_leaves = 2**n_layers - 1, 2**n_layers
        outputs = memory.leaves.outputs[:n_leaves]
        outputs *= plan.shrinkage
        if not outputs.any():
            return t
        trees.depths[t] = n_layers
        trees.cover[leaf : leaf + n_leaves] = tree.cover[:n_leaves]
        trees.outputs[leaf : leaf + n_leaves] = outputs
        n_tables += _write_nodes(tree, n_nodes, trees, node, n_tables)
        node, leaf = node + n_nodes, leaf + n_leaves
        exponent += add_term(training, tree.regions, outputs, log, t, 0)
        if len(held.scores) > 0:
            regions = np.zeros(len(held.scores), dtype=np.uint16)
            if n_nodes > 0:
                nodes = Layer(tree.features[:n_nodes], tree.right[:n_nodes])
                route(held_bins, nodes, regions, n_threads)
            add_term(held, regions, outputs, log, t, 1)
        if not sum_exceeds(training, exponent, plan.least_total):
            return t + 1
    return len(plan.keys)


def _write_nodes(tree: GrownTree, n_nodes: int, trees: TreeTable, first: int, n_tables: int) -> int:
    """Write the nodes of a tree from the `first` node of a table on; return how many are categorical."""
    own = slice(first, first + n_nodes)
    trees.features[own] = tree.features[:n_nodes]
    trees.thresholds[own] = tree.thresholds[:n_nodes]
    trees.missing_right[own] = tree.missing_right[:n_nodes]
    categorical = np.flatnonzero(tree.category[:n_nodes] >= 0)
    rows = n_tables + np.arange(len(categorical))
    trees.category[own] = -1
    trees.category[first + categorical] = rows
    trees.right[rows] = tree.right[categorical]
    return len(categorical)

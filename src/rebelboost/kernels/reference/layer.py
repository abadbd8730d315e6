"""The best split of every node of a layer, by the sums of all features."""
# ruff: noqa: ARG001, PLR0913, PLR0917  (n_threads; arrays cross borders, objects do not)

from rebelboost.base.arrays import (
    Bins,
    ByFeature,
    Ints,
    Nodes,
    Pairs,
    SearchOptions,
    Splits,
)
from rebelboost.kernels.reference.nodes import samples_of
from rebelboost.kernels.reference.splits import write_best
from rebelboost.kernels.reference.sums import pair_sums_of


def search_layer(
    bins: Bins,
    allowed: ByFeature,
    values: Pairs,
    nodes: Nodes,
    parent_sums: Ints,
    sums: Ints,
    options: SearchOptions,
    splits: Splits,
    n_threads: int,
) -> None:
    """Find the best split of every node of a layer; ties go to the lowest (feature, bin).

    `sums` (m, B) receives each node's sums. The compiled kernel gets those of the larger of two
    siblings from `parent_sums` (m/2, B), unless it has no rows, and leaves out features that are not
    allowed; here every node is summed.
    """
    for node in range(len(nodes.cuts)):
        samples = samples_of(nodes, node)
        sums[node] = pair_sums_of(bins, values, samples)
        total = int(values[samples].sum()), len(samples)
        write_best(bins, allowed, sums[node], total, options, splits, node)

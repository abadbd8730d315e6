"""A search of a layer in two halves, for samples that are spread over several places."""
# ruff: noqa: ARG001, PLR0913, PLR0917  (n_threads; arrays cross borders, objects do not)

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Bins, ByFeature, Ints, Nodes, Pairs, SearchOptions, Splits
from rebelboost.kernels.reference.nodes import samples_of
from rebelboost.kernels.reference.splits import write_best
from rebelboost.kernels.reference.sums import pair_sums_of


def node_sums(
    bins: Bins,
    values: Pairs,
    nodes: Nodes,
    chosen: NDArray[np.int32],
    sums: Ints,
    n_threads: int,
) -> None:
    """Sums of pairs over all bins: `sums` (chosen, B) receives a row for each chosen node."""
    for row, node in enumerate(chosen):
        sums[row] = pair_sums_of(bins, values, samples_of(nodes, int(node)))


def choose_splits(
    bins: Bins,
    allowed: ByFeature,
    sums: Ints,
    totals: Pairs,
    counts: Ints,
    options: SearchOptions,
    splits: Splits,
    n_threads: int,
) -> None:
    """Find the best split of each node, given its sums (m, B), their total and its number of samples.

    Together with `node_sums`, this finds the splits of `search_layer`. Of `bins`, only the offsets and
    categories are read.
    """
    for node, (total, count) in enumerate(zip(totals.tolist(), counts.tolist(), strict=True)):
        write_best(bins, allowed, sums[node], (total, count), options, splits, node)

// The best split of every node of a layer, by the sums of all features.
#pragma once

#include "nodes.hpp"
#include "splits.hpp"

namespace rebel {

// Ties go to the lowest (feature, bin). `sums`, (nodes, bins), receives the sums of nodes that are
// large enough to need them. If `parent_sums` has rows, nodes 2i and 2i + 1 are the children of
// row i: the smaller child is summed, and the other is the parent minus the smaller.
// See prune_layer for a search that keeps no sums.
void search_layer(const Bins& bins, Allowed allowed, Pairs values, const Nodes& nodes,
                  Matrix<const int64_t> parent_sums, Matrix<int64_t> sums,
                  const SearchOptions& options, const Splits& splits, int n_threads);

} // namespace rebel

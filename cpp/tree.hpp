// A whole tree in one call: search a layer, split its samples, and repeat.
#pragma once

#include "layer.hpp"

namespace rebel {

// The 2^depth − 1 nodes of `depth` complete layers, in level order.
struct GrownNodes {
    Vector<int32_t> features;
    Matrix<uint8_t> right;
};

// `values` are the same in all layers, so that a node's sums minus those of its smaller child are
// those of its larger child. Reorders `samples`. `scratch` holds the sums of two layers, at least
// 3/4 · 2^depth rows. Returns the number of layers that have a split.
int grow_tree(const Bins& bins, Allowed allowed, Pairs values, Vector<int32_t> samples,
              const SearchOptions& options, const GrownNodes& nodes, Matrix<int64_t> scratch,
              int n_threads);

} // namespace rebel

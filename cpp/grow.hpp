// A whole tree in one call: search a layer, split the samples, and again.
#pragma once

#include <cstdint>

#include "partition.hpp"
#include "stump_search.hpp"

namespace rebel {

// The nodes of `depth` complete layers in level order, 2^depth − 1 of them.
struct GrownNodes {
    Vector<std::int32_t> features;
    Matrix<std::uint8_t> right;
};

// Grows on values that stay the same from layer to layer, so that a node's sums less its smaller
// child's are its larger child's. `samples` are reordered; `scratch` holds the sums of two layers,
// 3/4 · 2^depth rows or more. Returns how many layers have a split.
int grow_tree(const Bins& bins, Vector<const std::uint8_t> allowed,
              Vector<const std::int64_t> values, Vector<std::int32_t> samples,
              const SearchOptions& options, const GrownNodes& nodes, Matrix<std::int64_t> scratch,
              int n_threads);

} // namespace rebel

// Samples → nodes of a tree.
#pragma once

#include <cstdint>

#include "bins.hpp"

namespace rebel {

// One layer of a tree: node i asks feature features[i] (none if negative: everything goes left),
// and the bins b with right(i, b) ≠ 0 go right.
struct Layer {
    Vector<const std::int32_t> features;
    Matrix<const std::uint8_t> right;
};

// Splits the samples of each node, which are samples[starts[i] … starts[i + 1]), keeping their
// order. The children of node i are 2i and 2i + 1.
void split_samples(const Bins& bins, const Layer& layer, Vector<std::int32_t> samples,
                   Vector<const std::int32_t> starts, Vector<std::int32_t> child_starts,
                   int n_threads);

// The leaf that each sample of `bins` reaches in a tree of complete layers, nodes in level order.
void route(const Bins& bins, const Layer& nodes, Vector<std::uint16_t> regions, int n_threads);

} // namespace rebel

// The best split of a node whose samples come in subsets.
#pragma once

#include "scan.hpp"

namespace rebel {

// For all nodes of a layer. Keeps no sums.
Work prune_layer(const Bins& bins, Vector<const std::uint8_t> allowed,
                 Vector<const std::int64_t> values, const NodeSamples& nodes,
                 const SearchOptions& options, const Splits& splits, int n_threads);

} // namespace rebel

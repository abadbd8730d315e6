// Samples in the order in which a pruning search visits them.
#pragma once

#include <cstdint>

#include "views.hpp"

namespace rebel {

// Cuts each node's samples[starts[i] … starts[i + 1]) into subsets, the heaviest first: those with
// the largest keys up to a quarter of a power of two, since exact order is not needed and buckets
// are cheaper than sorting. Within a subset they keep their order, in which memory is read soonest.
// cuts(i, 0), cuts(i, 1), … receive where the node begins, where its first samples hold shares[0],
// shares[1], … of its keys' sum, and where it ends.
//
// A key weighs its absolute value. Where a node has keys of both signs, the lighter sign is raised
// so that it weighs as much as the other.
void heaviest_first(Vector<const std::int64_t> keys, Vector<std::int32_t> samples,
                    Vector<const std::int32_t> starts, Vector<const double> shares,
                    Matrix<std::int32_t> cuts, int n_threads);

} // namespace rebel

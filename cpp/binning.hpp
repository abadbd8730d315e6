// Values → bins.
#pragma once

#include "bins.hpp"

namespace rebel {

// The bin of a value is the number of its feature's edges below it, so that x ≤ edge goes left.
// The edges of feature f are edges[edge_offsets[f] … edge_offsets[f + 1]). NaN goes to missing[f].
template <class Value>
void bin_values(Matrix<const Value> X, Vector<const double> edges,
                Vector<const int32_t> edge_offsets, Vector<const uint8_t> missing,
                Cube<uint8_t> blocks, int n_threads);

} // namespace rebel

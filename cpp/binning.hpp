// Values → bins.
#pragma once

#include <cstdint>

#include "views.hpp"

namespace rebel {

// The bin of a value is the number of its feature's edges below it: x ≤ edge goes left.
// edges of feature f: edges[edge_offsets[f] … edge_offsets[f + 1]). NaN takes bin missing[f].
template <class Value>
void bin_values(Matrix<const Value> X, Vector<const double> edges,
                Vector<const std::int32_t> edge_offsets, Vector<const std::uint8_t> missing,
                Cube<std::uint8_t> blocks, int n_threads);

} // namespace rebel

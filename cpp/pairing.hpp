// What the search for similarities asks of the weights and distances of all samples.
#pragma once

#include <cstdint>

#include "views.hpp"

namespace rebel {

// nearest[i] = the samples whose value has the other sign than that of anchor i, not at its place,
// from the nearest on, the first of those as far away first; −1 where there are no more.
void nearest_rivals(Matrix<const float> distances, Vector<const std::int64_t> anchor_values,
                    Vector<const std::int64_t> values, Matrix<std::int32_t> nearest);

// The least loss that a response of 1 at one sample and −1 at all others can leave:
// min_n Σ_k √(S_k² − P_nk²), P_n = 2·G_n − ΣG. Classes are added up as in `project`.
double least_isolated(Cube<const double> weights, Vector<const double> totals,
                      Vector<const double> signed_totals, int n_threads);

} // namespace rebel

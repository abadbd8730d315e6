// The stump for all classes together: K-vector sums.
#pragma once

#include "pruning.hpp"

namespace rebel {

struct Stump {
    int32_t feature = -1; // −1: the constant response is at least as good
    int64_t criterion = 0;
    Work work;
};

// The stump with the lowest Σ_k √(S_k² − P_k²) [THESIS, Eq. 4.10], each root rounded to an integer.
// `values`, (samples, classes padded to a multiple of 8), are the fixed-point G; `totals` are S.
Stump search_root(const Bins& bins, Allowed allowed, Matrix<const int32_t> values,
                  Vector<const int64_t> totals, const Nodes& nodes, Vector<uint8_t> right,
                  int n_threads);

} // namespace rebel

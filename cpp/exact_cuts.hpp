// Stumps at exact thresholds [ADA, Alg. 3.1].
#pragma once

#include <algorithm>
#include <cmath>
#include <tuple>

#include "bins.hpp"

namespace rebel {

// rint √((S − P)(S + P)): no product overflows, and sums of these integers do not depend on order.
inline int64_t class_loss(int64_t mass, int64_t p) {
    const int64_t product = std::max<int64_t>(0, mass - p) * (mass + p);
    return static_cast<int64_t>(
        std::nearbyint(std::sqrt(static_cast<double>(std::max<int64_t>(0, product)))));
}

// The sums of all samples, by class, and what their loss is: Σ_k rint √(S_k² − P_k²) or, if it is
// of second order, −Σ_k P_k²/S_k.
struct RootTotals {
    Vector<const int64_t> mass;  // S
    Vector<const int64_t> total; // P of a response of +1
    bool second_order;
};

// The threshold of one feature with the least loss, if that is below `least`; the first one of
// several. `order` are the samples with a value, by increasing value, and thresholds are after the
// places `cuts`; `values`, (samples, classes), are fixed-point signed weights. If samples are
// missing, thresholds are tried with them on the left, then on the right, where all samples with a
// value may be on the left. Returns the place (−1: none), whether missing samples are on the right,
// and the loss.
std::tuple<int64_t, bool, double> exact_cut(Vector<const int32_t> order, Vector<const int64_t> cuts,
                                            Matrix<const int32_t> values, const RootTotals& totals,
                                            double least);

} // namespace rebel

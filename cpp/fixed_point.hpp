// Scales of fixed-point sums, as in base/fixed_point.py: powers of two.
#pragma once

#include <cmath>

namespace rebel {

inline double scale_to(double total, int bits) {
    int exponent = 0;
    std::frexp(total, &exponent);
    return total > 0 ? std::ldexp(1.0, bits - exponent) : 1.0;
}

// Scales a total to at most 2³⁰.
inline double coarse_scale(double total) {
    return scale_to(total, 30);
}

// Scales a total to at most 2⁵⁰.
inline double fine_scale(double total) {
    return scale_to(total, 50);
}

} // namespace rebel

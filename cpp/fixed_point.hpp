// Scales of fixed-point sums, as in base/fixed_point.py: powers of two.
#pragma once

#include <algorithm>
#include <cmath>

namespace rebel {

// The largest power of two: weights of 0 times infinity would be NaN.
inline constexpr int most_exponent = 1023;

inline double scale_to(double total, int bits) {
    int exponent = 0;
    std::frexp(total, &exponent);
    return total > 0 ? std::ldexp(1.0, std::min(bits - exponent, most_exponent)) : 1.0;
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

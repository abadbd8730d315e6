// The inner loops of squared distances and of responses, for the kernels that compare samples.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "multiversion.hpp"
#include "similarity.hpp"

namespace rebel {

inline constexpr size_t points_at_once = 4;

// An explicit vector type, because GCC would otherwise keep the sums in memory, at half the speed.
typedef float Lanes __attribute__((vector_size(32)));

// Writes `n_points` rows of 16 sums. The features of the points are adjacent. Features are added in
// order whatever the vector width; several points at once keep the adders busy.
template <size_t n_points>
REBEL_INLINE inline void add_squares(const float* __restrict block, const float* __restrict points,
                                     size_t n_features, float (*__restrict sums)[abreast]) {
    Lanes sum[n_points][abreast / 8] = {};
    for (size_t f = 0; f < n_features; ++f)
        for (size_t half = 0; half < abreast / 8; ++half) {
            Lanes x;
            std::memcpy(&x, block + f * abreast + 8 * half, sizeof x);
            for (size_t p = 0; p < n_points; ++p) {
                const Lanes apart = x - points[f * n_points + p];
                sum[p][half] += apart * apart;
            }
        }
    std::memcpy(sums, sum, sizeof sum);
}

// Points in groups of `points_at_once`, feature by feature; the remaining ones one by one.
inline std::vector<float> packed(Matrix<const float> points) {
    std::vector<float> out(points.n_rows * points.n_cols);
    const size_t n_grouped = points.n_rows - points.n_rows % points_at_once;
    for (size_t i = 0; i < points.n_rows; ++i) {
        const size_t group = i < n_grouped ? i - i % points_at_once : i;
        const size_t width = i < n_grouped ? points_at_once : 1;
        for (size_t f = 0; f < points.n_cols; ++f)
            out[group * points.n_cols + f * width + (i - group)] = points(i, f);
    }
    return out;
}

// keep(i, sums) for each packed point i in [first, last), with the squared distances of 16 samples.
// The range begins and ends at groups, or at single points after the last group.
template <class Keep>
REBEL_INLINE inline void for_distances(const float* block, const float* points, size_t n_features,
                                       size_t n_grouped, size_t first, size_t last, Keep keep) {
    float sums[points_at_once][abreast];
    for (size_t i = first; i < last;) {
        const size_t n_points = i < n_grouped ? points_at_once : 1;
        if (n_points == points_at_once)
            add_squares<points_at_once>(block, points + i * n_features, n_features, sums);
        else
            add_squares<1>(block, points + i * n_features, n_features, sums);
        for (size_t p = 0; p < n_points; ++p, ++i)
            keep(i, sums[p]);
    }
}

// 4(4/3)^¾, so that the largest response is 1.
inline constexpr double peak = 4.963225915211198;

// Samples with these squared distances from an anchor and a rival.
struct Comparison {
    const float* anchor;
    const float* rival;
    int kind;
    double apart;
};

// out[i] = convert(response) [LOCAL, Sec. 5]; r_i and r_j are the squared distances. There is a
// loop for each kind, so that it vectorizes.
template <class Out, class Convert>
REBEL_INLINE inline void respond_to(Comparison of, size_t n, Out* __restrict out, Convert convert) {
    const double apart = of.apart;
    const auto each = [=](auto response) REBEL_INLINE {
        for (size_t i = 0; i < n; ++i)
            out[i] = convert(
                response(static_cast<double>(of.anchor[i]), static_cast<double>(of.rival[i])));
    };
    switch (of.kind) {
    case two_points:
        return each([quarter = apart * 0.25](double r_i, double r_j) REBEL_INLINE {
            const double from_middle = std::max((r_i + r_j) * 0.5 - quarter, 0.0);
            return (peak * quarter) * ((r_j - r_i) * 0.25) /
                   (4.0 * quarter * quarter + from_middle * from_middle);
        });
    case nearer:
        return each([](double r_i, double r_j) REBEL_INLINE { return r_j > r_i ? 1.0 : -1.0; });
    case one_point:
        return each([=](double r_i, double) REBEL_INLINE { return (apart - r_i) / (apart + r_i); });
    default:
        return each([=](double r_i, double) REBEL_INLINE { return r_i < apart ? 1.0 : -1.0; });
    }
}

// The level below |f|, from the bits of a float: its exponent and 4 bits of its mantissa.
inline uint16_t level_of(double f) {
    static_assert(level_steps == 16, "4 bits of the mantissa");
    constexpr int32_t lowest = (127 - level_octaves) * level_steps;
    const auto bits = std::bit_cast<int32_t>(static_cast<float>(std::fabs(f))) >> 19;
    const int size = std::clamp(bits - lowest + 1, 0, zero_level);
    return static_cast<uint16_t>(f < 0 ? zero_level - size : zero_level + size);
}

} // namespace rebel

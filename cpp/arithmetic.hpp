// Floating-point operations that give the same bits here and in NumPy.
#pragma once

#include <array>
#include <bit>
#include <cmath>

#include "multiversion.hpp"
#include "views.hpp"

namespace rebel {

// rint(x) for |x| < 2⁵¹: adding 1.5 · 2⁵² leaves the integer in the low bits. Unlike a cast, this
// is one instruction on every machine, and it vectorizes.
inline constexpr double round_magic = 0x1.8p52;
inline int64_t rounded(double x) {
    return std::bit_cast<int64_t>(x + round_magic) - std::bit_cast<int64_t>(round_magic);
}

// A sum over classes or samples is accumulated in four lanes, the k-th number in lane k mod 4. The
// order of additions is then fixed, whatever the vector width.
inline constexpr size_t lanes = 4;
inline double together(const double* lane) {
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}
template <class Body> // body(i, lane) for each i below n
REBEL_INLINE inline void in_lanes(size_t n, Body body) {
    size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (size_t lane = 0; lane < lanes; ++lane)
            body(i + lane, lane);
    for (size_t lane = 0; i + lane < n; ++lane)
        body(i + lane, lane);
}

inline constexpr size_t table_size = 256;
inline constexpr double two_over_ln2 = 2.8853900817779268;

constexpr double log_middle(size_t i) {
    return 1 + (static_cast<double>(i) + 0.5) / table_size;
}

// log₂ of the middles of [1 + i/256, 1 + (i + 1)/256): 2 artanh((c − 1)/(c + 1)) / ln 2.
constexpr std::array<double, table_size> make_log_table() {
    std::array<double, table_size> table{};
    for (size_t i = 0; i < table_size; ++i) {
        const double z = (log_middle(i) - 1) / (log_middle(i) + 1);
        double sum = 0;
        for (int k = 41; k > 0; k -= 2)
            sum = sum * (z * z) + 1.0 / k;
        table[i] = two_over_ln2 * (z * sum);
    }
    return table;
}
inline constexpr std::array<double, table_size> log_table = make_log_table();

// x · log₂ x for x ≥ 0; 0 at 0. Uses only + − × / and a table, because math libraries round
// logarithms differently.
inline double times_log2(double x) {
    if (!(x > 0))
        return 0;
    int exponent = 0;
    const double twice = 2 * std::frexp(x, &exponent); // in [1, 2)
    const auto i = static_cast<size_t>((twice - 1) * table_size);
    const double c = log_middle(i);
    const double z = (twice - c) / (twice + c);
    const double fine = two_over_ln2 * (z * (1 + (z * z) * (1.0 / 3 + (z * z) / 5)));
    return x * ((exponent - 1) + (log_table[i] + fine));
}

} // namespace rebel

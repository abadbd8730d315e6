// x · log₂ x by + − × / and a table alone, so that it has the same bits here and in NumPy:
// libraries round logarithms each in its own way.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace rebel {

namespace detail {

inline constexpr std::size_t table_size = 256;
inline constexpr double two_over_ln2 = 2.8853900817779268;

// log₂ of the middles of [1 + i/256, 1 + (i + 1)/256): 2 artanh((c − 1)/(c + 1)) / ln 2.
constexpr std::array<double, table_size> make_log_table() {
    std::array<double, table_size> table{};
    for (std::size_t i = 0; i < table_size; ++i) {
        const double c = 1 + (static_cast<double>(i) + 0.5) / table_size;
        const double z = (c - 1) / (c + 1);
        double sum = 0;
        for (int k = 41; k > 0; k -= 2)
            sum = sum * (z * z) + 1.0 / k;
        table[i] = two_over_ln2 * (z * sum);
    }
    return table;
}
inline constexpr std::array<double, table_size> log_table = make_log_table();

} // namespace detail

// For x ≥ 0; 0 at 0.
inline double times_log2(double x) {
    if (!(x > 0))
        return 0;
    int exponent = 0;
    const double twice = 2 * std::frexp(x, &exponent); // in [1, 2)
    const auto i = static_cast<std::size_t>((twice - 1) * detail::table_size);
    const double c = 1 + (static_cast<double>(i) + 0.5) / detail::table_size;
    const double z = (twice - c) / (twice + c);
    const double fine = detail::two_over_ln2 * (z * (1 + (z * z) * (1.0 / 3 + (z * z) / 5)));
    return x * ((exponent - 1) + (detail::log_table[i] + fine));
}

} // namespace rebel

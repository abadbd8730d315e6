// exp and log from + − × / and bit operations. Math libraries round these functions differently,
// from one machine type to the next; these give the same bits everywhere, and in NumPy (the
// reference). Their errors are below one unit in the last place.
#pragma once

#include <array>
#include <bit>
#include <limits>

#include "arithmetic.hpp"

namespace rebel {

// ln 2 in two parts. The first has 32 bits, so that its product with an exponent is exact.
inline constexpr double ln2_high = 0x1.62e42feep-1;
inline constexpr double ln2_low = 0x1.a39ef35793c76p-33;
inline constexpr double one_over_ln2 = 0x1.71547652b82fep0;

inline constexpr size_t exp_terms = 12;
constexpr std::array<double, exp_terms> make_inverse_factorials() {
    std::array<double, exp_terms> inverse{};
    double factorial = 1;
    for (size_t i = 0; i < exp_terms; ++i) {
        factorial *= static_cast<double>(i + 2);
        inverse[i] = 1 / factorial;
    }
    return inverse;
}
inline constexpr std::array<double, exp_terms> inverse_factorials =
    make_inverse_factorials(); // 1/2!, 1/3!, …

// The integer that adding `round_magic` has left in the low bits, in two's complement.
REBEL_INLINE inline uint64_t integer_bits(double shifted) {
    return std::bit_cast<uint64_t>(shifted) - std::bit_cast<uint64_t>(round_magic);
}

REBEL_INLINE inline double power_of_two(uint64_t exponent) {
    return std::bit_cast<double>((exponent + 1023) << 52);
}

// eˣ = 2ⁿ · eʳ with |r| ≤ ½ ln 2, and the Taylor series of eʳ. Two factors reach 2ⁿ beyond the
// range of one. NaN stays NaN.
REBEL_INLINE inline double exponential(double x) {
    const double least = x < -800 ? -800 : x;
    const double clipped = least > 800 ? 800 : least;
    const double shifted = clipped * one_over_ln2 + round_magic;
    const double n = shifted - round_magic;
    const double r = (clipped - n * ln2_high) - n * ln2_low;
    double series = inverse_factorials[exp_terms - 1];
    for (size_t i = exp_terms - 1; i-- > 0;)
        series = series * r + inverse_factorials[i];
    const double y = 1 + (r + (r * r) * series);
    const uint64_t exponent = integer_bits(shifted);
    const uint64_t half = integer_bits(n * 0.5 + round_magic);
    return y * power_of_two(half) * power_of_two(exponent - half);
}

// The same of four numbers at once, in place and to the bit. GCC does not vectorize a loop over
// `exponential`, because of its limits.
typedef double Doubles __attribute__((vector_size(32)));
typedef uint64_t Bits __attribute__((vector_size(32)));
REBEL_INLINE inline void exponentiate(Doubles& x) {
    constexpr Doubles low{-800, -800, -800, -800}, high{800, 800, 800, 800};
    const Doubles least = x < low ? low : x;
    const Doubles clipped = least > high ? high : least;
    const Doubles shifted = clipped * one_over_ln2 + round_magic;
    const Doubles n = shifted - round_magic;
    const Doubles r = (clipped - n * ln2_high) - n * ln2_low;
    Doubles series = r * inverse_factorials[exp_terms - 1] + inverse_factorials[exp_terms - 2];
    for (size_t i = exp_terms - 2; i-- > 0;)
        series = series * r + inverse_factorials[i];
    const Doubles y = 1 + (r + (r * r) * series);
    const auto magic = std::bit_cast<uint64_t>(round_magic);
    const Bits exponent = (Bits)shifted - magic;
    const Bits half = (Bits)(n * 0.5 + round_magic) - magic;
    x = y * (Doubles)((half + 1023) << 52) * (Doubles)((exponent - half + 1023) << 52);
}

// ln x = n · ln 2 + ln(1 + f) with √½ ≤ 1 + f < √2, and with s = f/(2 + f),
// ln(1 + f) = 2 artanh s = f − s·(f − R), R = s²·(2/3 + s²·(2/5 + …)).
inline constexpr int log_terms = 11;
REBEL_INLINE inline double logarithm(double x) {
    constexpr uint64_t root_half = 0x3FE6A09E667F3BCD; // √½
    constexpr uint64_t one = 0x3FF0000000000000;
    constexpr uint64_t mantissa = 0x000FFFFFFFFFFFFF;
    const bool is_small = x < 0x1p-1000; // also denormal numbers
    const uint64_t bits = std::bit_cast<uint64_t>(is_small ? x * 0x1p100 : x) + (one - root_half);
    const double n =
        static_cast<double>(static_cast<int64_t>(bits >> 52) - 1023) - (is_small ? 100 : 0);
    const double f = std::bit_cast<double>((bits & mantissa) + root_half) - 1;
    const double s = f / (2 + f);
    const double z = s * s;
    double series = 2.0 / (2 * log_terms + 1);
    for (int k = log_terms - 1; k > 0; --k)
        series = series * z + 2.0 / (2 * k + 1);
    const double y = n * ln2_high + (f - (s * (f - z * series) - n * ln2_low));
    if (x > 0 && x <= std::numeric_limits<double>::max())
        return y;
    if (x == 0)
        return -std::numeric_limits<double>::infinity();
    return x > 0 ? x : std::numeric_limits<double>::quiet_NaN();
}

// Arrays of them, for callers in Python.
void exponentials(Vector<const double> x, Vector<double> out);
void logarithms(Vector<const double> x, Vector<double> out);

} // namespace rebel

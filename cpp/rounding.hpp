// Floating point → fixed point.
#pragma once

#include <bit>
#include <cstdint>

namespace rebel {

// rint(x) for |x| < 2⁵¹: adding 1.5 · 2⁵² leaves the integer in the low bits. Unlike a cast it is
// one instruction on every machine, also in vectors.
inline constexpr double round_magic = 0x1.8p52;
inline std::int64_t rounded(double x) {
    return std::bit_cast<std::int64_t>(x + round_magic) - std::bit_cast<std::int64_t>(round_magic);
}

} // namespace rebel

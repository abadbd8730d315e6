// Random numbers by counter: the i-th number of a key is a hash of both, so that any of them can be
// computed alone, in any order and on any thread. The same numbers as in NumPy (the reference).
#pragma once

#include "views.hpp"

namespace rebel {

// SplitMix64 [Steele, Lea and Flood 2014].
inline constexpr uint64_t golden = 0x9E3779B97F4A7C15;
inline uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
}

inline uint64_t random_number(uint64_t key, uint64_t i) {
    return mix(key + (i + 1) * golden);
}

// Between 0 and 1.
inline double as_uniform(uint64_t number) {
    return static_cast<double>(number >> 11) * 0x1p-53;
}

// Below a bound of at most 2⁵³: a share of it, so that a bound that is a little different gives the
// same number or a neighbour.
inline uint64_t as_below(uint64_t number, uint64_t bound) {
    return static_cast<uint64_t>(as_uniform(number) * static_cast<double>(bound));
}

// Nearly normal, with mean 0 and variance 1: the sum of twelve uniform numbers, less 6. Integers of
// 32 bits are added, so that the sum is exact.
inline double random_normal(uint64_t key, uint64_t i) {
    uint64_t sum = 0;
    for (uint64_t j = 0; j < 6; ++j) {
        const uint64_t bits = random_number(key, 6 * i + j);
        sum += (bits >> 32) + (bits & 0xFFFFFFFF);
    }
    return static_cast<double>(sum) * 0x1p-32 - 6;
}

// Arrays of them, for callers in Python: out[i] is the number `first` + i of the key.
void random_numbers(uint64_t key, uint64_t first, Vector<uint64_t> out);
void random_normals(uint64_t key, uint64_t first, Vector<double> out);

} // namespace rebel

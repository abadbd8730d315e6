// Inner loops of linear algebra in a fixed order, for the kernels of smooth similarities.
//
// Explicit vector types, because GCC would otherwise keep sums in memory. Products and sums are
// separate operations, so that all vector widths, and NumPy, give the same bits.
#pragma once

#include <cstring>

#include "elementary.hpp"

namespace rebel {

typedef float Floats __attribute__((vector_size(32)));

inline constexpr size_t eight = 8; // lanes of a sum; sizes are padded to multiples of it
inline constexpr size_t tile_rows = 4;

template <class Numbers, class T>
REBEL_INLINE inline Numbers loaded(const T* from) {
    Numbers numbers;
    std::memcpy(&numbers, from, sizeof numbers);
    return numbers;
}
template <class Numbers, class T>
REBEL_INLINE inline void store(const Numbers& numbers, T* to) {
    std::memcpy(to, &numbers, sizeof numbers);
}

// The sum of eight lanes: halves, pairs, and the two that are left.
template <class T>
REBEL_INLINE inline T eight_together(const T* lane) {
    T half[4];
    for (size_t i = 0; i < 4; ++i)
        half[i] = lane[i] + lane[i + 4];
    return (half[0] + half[2]) + (half[1] + half[3]);
}

// Σ_i a[i]·b[i], for n divisible by 8.
REBEL_INLINE inline double dot(const double* a, const double* b, size_t n) {
    Doubles low{}, high{};
    for (size_t i = 0; i < n; i += eight) {
        low += loaded<Doubles>(a + i) * loaded<Doubles>(b + i);
        high += loaded<Doubles>(a + i + 4) * loaded<Doubles>(b + i + 4);
    }
    double sums[eight];
    store(low, sums);
    store(high, sums + 4);
    return eight_together(sums);
}

// sums[i] = Σ_j rows[i][j]·x[j] for eight rows, with n divisible by 8.
REBEL_INLINE inline void dots_of_rows(const float* const* rows, const float* x, size_t n,
                                      float* sums) {
    Floats sum[eight] = {};
    for (size_t j = 0; j < n; j += eight) {
        const auto at = loaded<Floats>(x + j);
        for (size_t i = 0; i < eight; ++i)
            sum[i] += loaded<Floats>(rows[i] + j) * at;
    }
    for (size_t i = 0; i < eight; ++i) {
        float parts[eight];
        store(sum[i], parts);
        sums[i] = eight_together(parts);
    }
}

// sums[j] += Σ_i factors[i]·rows[i][j] for eight rows, one after the other.
REBEL_INLINE inline void add_rows(const float* const* rows, const float* factors, size_t n,
                                  float* sums) {
    for (size_t j = 0; j < n; j += eight) {
        auto sum = loaded<Floats>(sums + j);
        for (size_t i = 0; i < eight; ++i)
            sum += factors[i] * loaded<Floats>(rows[i] + j);
        store(sum, sums + j);
    }
}

// tile[i][j] −= Σ_k a[k·a_step + i]·b[k·b_step + j], in the order of k, for 4 × 8 numbers.
REBEL_INLINE inline void subtract_products(const double* a, size_t a_step, const double* b,
                                           size_t b_step, size_t n, double (*tile)[eight]) {
    Doubles low[tile_rows], high[tile_rows];
    for (size_t i = 0; i < tile_rows; ++i) {
        low[i] = loaded<Doubles>(tile[i]);
        high[i] = loaded<Doubles>(tile[i] + 4);
    }
    for (size_t k = 0; k < n; ++k) {
        const auto left = loaded<Doubles>(b + k * b_step);
        const auto right = loaded<Doubles>(b + k * b_step + 4);
        for (size_t i = 0; i < tile_rows; ++i) {
            const double factor = a[k * a_step + i];
            low[i] -= factor * left;
            high[i] -= factor * right;
        }
    }
    for (size_t i = 0; i < tile_rows; ++i) {
        store(low[i], tile[i]);
        store(high[i], tile[i] + 4);
    }
}

} // namespace rebel

// Sums of fixed-point weights over the bins of a block of features.
//
// Integers: exact and associative, so that no order, subset, partition or thread can change a bit.
#pragma once

#include <cstdint>

#include "bins.hpp"

namespace rebel {

// Adds values[n] of the given samples to the sums of one block; `sums` begins at the block's
// offset. A value packs two numbers, signed · 2³² + mass with mass ≥ 0: one addition adds both.
void add_pairs(const Bins& bins, std::size_t block, Vector<const std::int64_t> values,
               Vector<const std::int32_t> samples, std::int64_t* sums);

// K-vector sums of one feature: sums(bin, k) += values(n, k). Columns are padded to a multiple
// of 8.
void add_vectors(const Bins& bins, std::size_t feature, Matrix<const std::int32_t> values,
                 Vector<const std::int32_t> samples, Matrix<std::int32_t> sums);

// The same for all allowed features, each at its offset; the sums of others are left alone.
void class_sums(const Bins& bins, Vector<const std::uint8_t> allowed,
                Matrix<const std::int32_t> values, Vector<const std::int32_t> samples,
                Matrix<std::int32_t> sums, int n_threads);

} // namespace rebel

#include "class_sums.hpp"

#include <algorithm>

#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

constexpr std::size_t prefetch_distance = 12;

// `base[j]` is where the sums of the block's j-th feature begin.
template <bool full>
inline void add_pairs_to(const std::uint8_t* rows, std::size_t width, const std::int64_t* values,
                         Vector<const std::int32_t> samples, const std::size_t* base,
                         std::int64_t* sums) {
    for (std::size_t i = 0; i < samples.size; ++i) {
        if (i + prefetch_distance < samples.size) {
            const auto ahead = static_cast<std::size_t>(samples.data[i + prefetch_distance]);
            __builtin_prefetch(rows + ahead * block_width);
            __builtin_prefetch(values + ahead);
        }
        const auto n = static_cast<std::size_t>(samples.data[i]);
        const std::uint8_t* row = rows + n * block_width;
        const std::int64_t value = values[n];
        if constexpr (full) {
#pragma GCC unroll 16
            for (std::size_t j = 0; j < block_width; ++j)
                sums[base[j] + row[j]] += value;
        } else {
            for (std::size_t j = 0; j < width; ++j)
                sums[base[j] + row[j]] += value;
        }
    }
}

} // namespace

REBEL_CLONES void add_pairs(const Bins& bins, std::size_t block, Vector<const std::int64_t> values,
                            Vector<const std::int32_t> samples, std::int64_t* sums) {
    const std::size_t first = bins.first_feature(block);
    const std::size_t width = bins.last_feature(block) - first;
    std::size_t base[block_width] = {};
    for (std::size_t j = 0; j < width; ++j)
        base[j] = bins.offset(first + j) - bins.offset(first);
    const std::uint8_t* rows = bins.column(first);
    if (width == block_width)
        add_pairs_to<true>(rows, width, values.data, samples, base, sums);
    else
        add_pairs_to<false>(rows, width, values.data, samples, base, sums);
}

REBEL_CLONES void add_vectors(const Bins& bins, std::size_t feature,
                              Matrix<const std::int32_t> values, Vector<const std::int32_t> samples,
                              Matrix<std::int32_t> sums) {
    constexpr std::size_t lanes = 8;
    const std::uint8_t* column = bins.column(feature);
    const std::size_t n_lanes = values.n_cols;
    for (const std::int32_t sample : samples) {
        const auto n = static_cast<std::size_t>(sample);
        const std::int32_t* value = values.data + n * values.stride;
        std::int32_t* sum = sums.data + column[n * block_width] * sums.stride;
        for (std::size_t k = 0; k < n_lanes; k += lanes)
            for (std::size_t j = 0; j < lanes; ++j)
                sum[k + j] += value[k + j];
    }
}

void class_sums(const Bins& bins, Vector<const std::uint8_t> allowed,
                Matrix<const std::int32_t> values, Vector<const std::int32_t> samples,
                Matrix<std::int32_t> sums, int n_threads) {
    const std::size_t grain = std::max<std::size_t>(1, 20000 / (samples.size + 1));
    parallel_for(bins.n_features(), grain, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t f = begin; f < end; ++f)
            if (allowed[f] != 0)
                add_vectors(
                    bins, f, values, samples,
                    {sums.data + bins.offset(f) * sums.stride, bins.n_bins(f), sums.n_cols});
    });
}

} // namespace rebel

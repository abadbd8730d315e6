#include "sums.hpp"

#include <cstring>
#include <utility>

#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

// `base[j]` is where the sums of the block's j-th feature begin.
REBEL_INLINE inline void add_pairs_to(const uint8_t* rows, size_t width, const int64_t* values,
                                      Samples samples, const size_t* base, int64_t* sums) {
    constexpr size_t prefetch_distance = 12;
    for (size_t i = 0; i < samples.size; ++i) {
        if (i + prefetch_distance < samples.size) {
            const auto ahead = static_cast<size_t>(samples.data[i + prefetch_distance]);
            __builtin_prefetch(rows + ahead * block_width);
            __builtin_prefetch(values + ahead);
        }
        const auto n = static_cast<size_t>(samples.data[i]);
        const uint8_t* row = rows + n * block_width;
        const int64_t value = values[n];
#pragma GCC unroll 16
        for (size_t j = 0; j < width; ++j)
            sums[base[j] + row[j]] += value;
    }
}

// Adds to n features at a time from place c on, then to the remaining ones n / 2 at a time, and so
// on. `place[c]` is that of a feature in its block; its sums begin at base[c].
template <size_t n>
REBEL_INLINE inline void add_pairs_by(const uint8_t* rows, const int64_t* values, Samples samples,
                                      const uint8_t* place, const size_t* base, size_t n_places,
                                      size_t c, int64_t* sums) {
    for (; c + n <= n_places; c += n) {
        constexpr size_t prefetch_distance = 12;
        const uint8_t* column[n];
        int64_t* sum[n];
        for (size_t j = 0; j < n; ++j) {
            column[j] = rows + place[c + j];
            sum[j] = sums + base[c + j];
        }
        for (size_t i = 0; i < samples.size; ++i) {
            if (i + prefetch_distance < samples.size)
                __builtin_prefetch(rows + static_cast<size_t>(samples.data[i + prefetch_distance]) *
                                              block_width);
            const auto sample = static_cast<size_t>(samples.data[i]);
            const int64_t value = values[sample];
#pragma GCC unroll 16
            for (size_t j = 0; j < n; ++j)
                sum[j][column[j][sample * block_width]] += value;
        }
    }
    if constexpr (n > 1)
        add_pairs_by<n / 2>(rows, values, samples, place, base, n_places, c, sums);
}

// `next` are the rows of the block that is summed after this one; the first are prefetched.
REBEL_CLONES void add_block(const uint8_t* rows, const uint8_t* next, Samples samples,
                            const int32_t* values, int32_t* sums) {
    constexpr size_t prefetch_distance = 32;
    for (size_t i = 0; i < samples.size; ++i) {
        const bool within = i + prefetch_distance < samples.size;
        const size_t ahead =
            within ? i + prefetch_distance : std::min(i + prefetch_distance - samples.size, i);
        __builtin_prefetch((within ? rows : next) +
                           static_cast<size_t>(samples[ahead]) * block_width);
        const uint8_t* row = rows + static_cast<size_t>(samples[i]) * block_width;
        const int32_t value = values[i];
#pragma GCC unroll 16
        for (size_t j = 0; j < block_width; ++j)
            sums[row[j] * block_width + j] += value;
    }
}

// Adds n columns at a time from column c on, then the remaining ones n / 2 at a time, and so on.
// Their number is a constant, because a loop over few columns costs more than its body.
template <size_t n>
inline void add_columns_by(const Bins& bins, const Columns& columns, size_t c, Samples samples,
                           const int32_t* values, int32_t* sums) {
    constexpr size_t prefetch_distance = 8;
    for (; c + n <= columns.n; c += n) {
        const uint8_t* column[n];
        int32_t* sum[n];
        for (size_t j = 0; j < n; ++j) {
            column[j] = bins.column(columns.features[c + j]);
            sum[j] = sums + columns.places[c + j];
        }
        for (size_t i = 0; i < samples.size; ++i) {
            if (i + prefetch_distance < samples.size) {
                const size_t ahead =
                    static_cast<size_t>(samples[i + prefetch_distance]) * block_width;
#pragma GCC unroll 16
                for (size_t j = 0; j < n; ++j)
                    __builtin_prefetch(column[j] + ahead);
            }
            const size_t place = static_cast<size_t>(samples[i]) * block_width;
            const int32_t value = values[i];
#pragma GCC unroll 16
            for (size_t j = 0; j < n; ++j)
                sum[j][column[j][place] * block_width] += value;
        }
    }
    if constexpr (n > 1)
        add_columns_by<n / 2>(bins, columns, c, samples, values, sums);
}

REBEL_CLONES void add_columns(const Bins& bins, const Columns& columns, Samples samples,
                              const int32_t* values, int32_t* sums) {
    add_columns_by<8>(bins, columns, 0, samples, values, sums);
}

// The sum of the rows of a screen, and the lowest and highest of its prefixes, by column.
struct Prefixes {
    int32_t sum[block_width];
    int32_t low[block_width];
    int32_t high[block_width];
};

REBEL_CLONES void read_prefixes(const int32_t* rows, size_t n_rows, Prefixes& prefixes) {
    using Lanes [[gnu::vector_size(32)]] = int32_t;
    for (size_t j = 0; j < block_width; j += 8) {
        Lanes sum{}, low{}, high{};
        for (size_t b = 0; b < n_rows; ++b) {
            Lanes row;
            std::memcpy(&row, rows + b * block_width + j, sizeof row);
            sum += row;
            low = sum < low ? sum : low;
            high = sum > high ? sum : high;
        }
        std::memcpy(prefixes.sum + j, &sum, sizeof sum);
        std::memcpy(prefixes.low + j, &low, sizeof low);
        std::memcpy(prefixes.high + j, &high, sizeof high);
    }
}

// For thresholds. `low` and `high` are the extremes of the left sums without the missing values.
int64_t reach_of(int64_t low, int64_t high, int64_t present, int64_t missing) {
    const int64_t total = present + missing;
    low += std::min<int64_t>(missing, 0);
    high += std::max<int64_t>(missing, 0);
    return std::max({std::abs(total), 2 * high - total, total - 2 * low});
}

} // namespace

REBEL_CLONES void add_pairs(const Bins& bins, size_t block, Pairs values, Samples samples,
                            int64_t* sums) {
    const size_t first = bins.first_feature(block);
    const size_t width = bins.last_feature(block) - first;
    size_t base[block_width] = {};
    for (size_t j = 0; j < width; ++j)
        base[j] = bins.offset(first + j) - bins.offset(first);
    const uint8_t* rows = bins.column(first);
    if (width == block_width) // a constant, so that the loop unrolls
        add_pairs_to(rows, block_width, values.data, samples, base, sums);
    else
        add_pairs_to(rows, width, values.data, samples, base, sums);
}

REBEL_CLONES void add_pairs(const Bins& bins, size_t block, Allowed allowed, Pairs values,
                            Samples samples, int64_t* sums) {
    constexpr size_t few = block_width * 3 / 4;
    const size_t first = bins.first_feature(block);
    const size_t width = bins.last_feature(block) - first;
    size_t base[block_width] = {};
    uint8_t place[block_width] = {};
    size_t n_places = 0;
    for (size_t j = 0; j < width; ++j)
        if (allowed[first + j] != 0) {
            base[n_places] = bins.offset(first + j) - bins.offset(first);
            place[n_places++] = static_cast<uint8_t>(j);
        }
    if (n_places <= few && n_places < width)
        add_pairs_by<8>(bins.column(first), values.data, samples, place, base, n_places, 0, sums);
    else
        add_pairs(bins, block, values, samples, sums);
}

REBEL_CLONES void add_vectors(const Bins& bins, size_t feature, Matrix<const int32_t> values,
                              Samples samples, Matrix<int32_t> sums) {
    constexpr size_t padding = 8;
    const uint8_t* column = bins.column(feature);
    const size_t n_cols = values.n_cols;
    for (const int32_t sample : samples) {
        const auto n = static_cast<size_t>(sample);
        const int32_t* value = values.data + n * n_cols;
        int32_t* sum = sums.data + column[n * block_width] * n_cols;
        for (size_t k = 0; k < n_cols; k += padding)
            for (size_t j = 0; j < padding; ++j)
                sum[k + j] += value[k + j];
    }
}

void class_sums(const Bins& bins, Allowed allowed, Matrix<const int32_t> values, Samples samples,
                Matrix<int32_t> sums, int n_threads) {
    bins.check(allowed, values.n_rows);
    require(values.n_cols % 8 == 0 && sums.is(bins.n_bins(), values.n_cols),
            "bins, values and sums do not match");
    const size_t grain = grain_for(1, samples.size);
    parallel_each(bins.n_features(), grain, n_threads, [&](size_t f) {
        if (allowed[f] != 0)
            add_vectors(bins, f, values, samples, sums.rows(bins.offset(f), bins.offset(f + 1)));
    });
}

REBEL_CLONES int64_t reach_of(const Bins& bins, size_t feature, Samples samples,
                              const int32_t* values) {
    constexpr size_t prefetch_distance = 16;
    const uint8_t* column = bins.column(feature);
    // Two tables in turn: many samples have the same bin, whose sum would have to be written before
    // it is read again.
    std::array<std::array<int32_t, most_bins>, 2> halves{};
    for (size_t i = 0; i < samples.size; ++i) {
        if (i + prefetch_distance < samples.size)
            __builtin_prefetch(column + static_cast<size_t>(samples.data[i + prefetch_distance]) *
                                            block_width);
        halves[i % 2][column[static_cast<size_t>(samples.data[i]) * block_width]] += values[i];
    }
    std::array<int32_t, most_bins>& sums = halves[0];
    for (size_t b = 0; b < most_bins; ++b)
        sums[b] += halves[1][b];
    const size_t last = bins.n_bins(feature) - 1;
    int32_t sum = 0, low = 0, high = 0;
    for (size_t b = 0; b < last; ++b) {
        sum += sums[b];
        low = std::min(low, sum);
        high = std::max(high, sum);
    }
    return reach_of(low, high, sum, sums[last]);
}

void Screen::clear(const Bins& bins, const Columns& columns) {
    n_rows_ = 0;
    for (size_t c = 0; c < columns.n; ++c)
        n_rows_ = std::max(n_rows_, bins.n_bins(columns.features[c]));
    if (columns.fill_block())
        n_rows_ = most_bins; // the other features may have more bins
    std::fill_n(sums_.data(), n_rows_ * block_width, 0);
}

void Screen::add(const Bins& bins, const Columns& columns, Samples samples, const int32_t* values) {
    if (!columns.fill_block()) {
        add_columns(bins, columns, samples, values, sums_.data());
        return;
    }
    const size_t first = columns.features[0] / block_width * block_width;
    const size_t next = first + block_width;
    const uint8_t* rows = bins.column(first);
    add_block(rows, next < bins.n_features() ? bins.column(next) : rows, samples, values,
              sums_.data());
}

void Screen::take(size_t place, const Screen& from, size_t place_there) {
    for (size_t b = 0; b < std::min(n_rows_, from.n_rows_); ++b)
        sums_[b * block_width + place] = from.sum(b, place_there);
}

void Screen::read(const Bins& bins, const Columns& columns, int64_t* reach) {
    int32_t missing[block_width] = {};
    const auto swap_missing = [&] { // out of the rows while prefixes are read, and back
        for (size_t c = 0; c < columns.n; ++c) {
            const size_t last = bins.n_bins(columns.features[c]) - 1;
            std::swap(missing[c], sums_[last * block_width + columns.places[c]]);
        }
    };
    swap_missing();
    Prefixes of;
    read_prefixes(sums_.data(), n_rows_, of);
    swap_missing();
    for (size_t c = 0; c < columns.n; ++c) {
        const size_t f = columns.features[c], j = columns.places[c], last = bins.n_bins(f) - 1;
        reach[c] = 0;
        if (!bins.is_categorical(f))
            reach[c] = reach_of(of.low[j], of.high[j], of.sum[j], sum(last, j));
        else
            for (size_t b = 0; b <= last; ++b)
                reach[c] += std::abs(int64_t{sum(b, j)});
    }
}

} // namespace rebel

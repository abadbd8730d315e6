// Sums of fixed-point weights over the bins of features.
//
// They are integers, hence exact: no order, subset, partition or thread changes a bit.
#pragma once

#include <array>

#include "bins.hpp"

namespace rebel {

// A pair packs two numbers, signed · 2³² + mass with mass ≥ 0: one addition adds both.
using Pairs = Vector<const int64_t>; // (samples,)

inline int64_t signed_of(int64_t pair) {
    return pair >> 32;
}
inline int64_t mass_of(int64_t pair) {
    return pair & 0xffffffff;
}
inline int64_t pair_of(int64_t signed_sum, int64_t mass) {
    return signed_sum * (int64_t{1} << 32) + mass;
}
inline int64_t total_of(Pairs values, Samples samples) {
    int64_t total = 0;
    for (const int32_t n : samples)
        total += values[n];
    return total;
}

// Adds the pairs of the samples to the sums of one block; `sums` begins at the block's offset.
void add_pairs(const Bins& bins, size_t block, Pairs values, Samples samples, int64_t* sums);

// The same for the allowed features of the block only, if that is faster. The sums of the others
// are then not touched.
void add_pairs(const Bins& bins, size_t block, Allowed allowed, Pairs values, Samples samples,
               int64_t* sums);

// K-vector sums of one feature: sums(bin, k) += values(n, k). The columns are a multiple of 8.
void add_vectors(const Bins& bins, size_t feature, Matrix<const int32_t> values, Samples samples,
                 Matrix<int32_t> sums);

// The same for all allowed features, each at its offset. The sums of others are not touched.
void class_sums(const Bins& bins, Allowed allowed, Matrix<const int32_t> values, Samples samples,
                Matrix<int32_t> sums, int n_threads);

// Up to 16 features that are summed side by side, each in one column of a screen.
struct Columns {
    size_t screen = 0;
    std::array<uint32_t, block_width> features{};
    std::array<uint8_t, block_width> places{};
    size_t n = 0;

    void push(size_t feature, size_t place) {
        features[n] = static_cast<uint32_t>(feature);
        places[n++] = static_cast<uint8_t>(place);
    }
    // Whether they are most features of a block at their places there. Then all of the block are
    // summed: a loop of fixed length is faster, and nobody reads the other sums.
    bool fill_block() const {
        constexpr size_t most = block_width * 5 / 8;
        if (n < most || features[0] / block_width != features[n - 1] / block_width)
            return false;
        for (size_t c = 0; c < n; ++c)
            if (places[c] != features[c] % block_width)
                return false;
        return true;
    }
};

// The largest |right − left| over the splits of a feature that is no category, including those with
// an empty side, given one number for each sample.
int64_t reach_of(const Bins& bins, size_t feature, Samples samples, const int32_t* values);

// Sums of one number over the bins of up to 16 features. Row b holds bin b of all features, so that
// they are scanned side by side.
class Screen {
  public:
    void clear(const Bins& bins, const Columns& columns);
    // Adds one number for each sample.
    void add(const Bins& bins, const Columns& columns, Samples samples, const int32_t* values);
    void take(size_t place, const Screen& from, size_t place_there);

    // reach[c] of each column: the largest |right − left| over the feature's splits, including
    // those with an empty side; for categories, over all ways to divide them.
    void read(const Bins& bins, const Columns& columns, int64_t* reach);

    int32_t sum(size_t bin, size_t place) const { return sums_[bin * block_width + place]; }

  private:
    size_t n_rows_;
    alignas(64) std::array<int32_t, most_bins * block_width> sums_;
};

} // namespace rebel

// The binned training set.
//
// blocks: (ceil(features / 16), samples, 16). The 16 bins of a sample within a block are adjacent,
// so that visiting a scattered subset of samples costs one cache line per sample, not one per bin.
// In an array over all bins, feature f occupies [offsets[f], offsets[f + 1]).
// The last bin of each feature holds missing values and, for categorical features, unknown ones.
#pragma once

#include <algorithm>

#include "views.hpp"

namespace rebel {

using Samples = Vector<const int32_t>; // (n,) indices of samples
using Allowed = Vector<const uint8_t>; // (features,) 1 where a search may use the feature

inline constexpr size_t block_width = 16;
inline constexpr size_t most_bins = 256;

inline size_t blocks_for(size_t n_features) {
    return (n_features + block_width - 1) / block_width;
}

struct Bins {
    Cube<const uint8_t> blocks;
    Vector<const int32_t> offsets;
    Vector<const uint8_t> categorical; // 1 where a feature's bins have no order

    size_t n_samples() const { return blocks.n_rows; }
    size_t n_features() const { return categorical.size; }
    size_t n_blocks() const { return blocks.n_planes; }
    size_t n_bins() const { return offset(n_features()); }
    bool is_categorical(size_t feature) const { return categorical[feature] != 0; }

    size_t offset(size_t feature) const { return static_cast<size_t>(offsets[feature]); }
    size_t n_bins(size_t feature) const { return offset(feature + 1) - offset(feature); }

    size_t first_feature(size_t block) const { return block * block_width; }
    size_t last_feature(size_t block) const {
        return std::min((block + 1) * block_width, n_features());
    }

    // The bins of one feature are `block_width` apart. There may be no samples.
    const uint8_t* column(std::integral auto feature) const {
        const auto f = static_cast<size_t>(feature);
        assert(f < n_features());
        return blocks.data + f / block_width * n_samples() * block_width + f % block_width;
    }

    void check() const {
        require(blocks.n_cols == block_width, "blocks must hold 16 features each");
        require(offsets.size == n_features() + 1, "offsets must be features + 1");
        require(n_blocks() == blocks_for(n_features()), "blocks and features do not match");
    }
    void check(Allowed allowed, size_t n_values) const {
        check();
        require(allowed.size == n_features() && n_values == n_samples(),
                "bins, allowed and values do not match");
    }
};

// Values → bins: the bin of a value is the number of its feature's edges below it, so that x ≤ edge
// goes left. The edges of feature f are edges[edge_offsets[f] … edge_offsets[f + 1]). NaN goes to
// missing[f].
template <class Value>
void bin_values(Matrix<const Value> X, Vector<const double> edges,
                Vector<const int32_t> edge_offsets, Vector<const uint8_t> missing,
                Cube<uint8_t> blocks, int n_threads);

// The samples by ascending bin of each feature, as bin · 2²⁴ + sample: (features, samples), or no
// rows, if samples are not sorted.
void sort_bins(const Bins& bins, Matrix<uint32_t> order, int n_threads);

inline void check_order(const Bins& bins, Matrix<const uint32_t> order) {
    require(order.n_rows == 0 || order.is(bins.n_features(), bins.n_samples()),
            "bins and order do not match");
}

inline size_t bin_of(const uint8_t* column, int32_t sample) {
    return column[static_cast<size_t>(sample) * block_width];
}

} // namespace rebel

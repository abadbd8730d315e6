// The binned training set, as every kernel sees it.
//
// blocks: (ceil(features / 16), samples, 16). The 16 bins of a sample within a block lie side by
// side, so that a scattered subset of samples costs one cache line a sample and not one a bin.
// A feature's sums lie at [offsets[f], offsets[f + 1]) of an array over all bins.
// The last bin of every feature is for missing values, and of a categorical one for unknown ones
// too.
#pragma once

#include <algorithm>
#include <cstdint>

#include "views.hpp"

namespace rebel {

inline constexpr std::size_t block_width = 16;
inline constexpr std::size_t most_bins = 256;

struct Bins {
    Cube<const std::uint8_t> blocks;
    Vector<const std::int32_t> offsets;
    Vector<const std::uint8_t> categorical; // 1 where a feature's bins have no order

    std::size_t n_samples() const { return blocks.n_rows; }
    std::size_t n_features() const { return categorical.size; }
    std::size_t n_blocks() const { return blocks.n_planes; }
    bool is_categorical(std::size_t feature) const { return categorical[feature] != 0; }

    std::size_t offset(std::size_t feature) const {
        return static_cast<std::size_t>(offsets[feature]);
    }
    std::size_t n_bins(std::size_t feature) const { return offset(feature + 1) - offset(feature); }

    std::size_t first_feature(std::size_t block) const { return block * block_width; }
    std::size_t last_feature(std::size_t block) const {
        return std::min((block + 1) * block_width, n_features());
    }
    std::size_t block_offset(std::size_t block) const { return offset(first_feature(block)); }
    std::size_t block_bins(std::size_t block) const {
        return offset(last_feature(block)) - block_offset(block);
    }

    // The bins of one feature are `block_width` apart.
    const std::uint8_t* column(std::size_t feature) const {
        return &blocks(feature / block_width, 0, feature % block_width);
    }
};

} // namespace rebel

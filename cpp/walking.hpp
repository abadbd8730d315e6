// How samples descend a tree, for the kernels that score them.
#pragma once

#include <array>
#include <cmath>

#include "multiversion.hpp"
#include "prediction.hpp"

namespace rebel {

inline constexpr size_t tile_rows = 32; // samples that share a tree's nodes in the cache
using Leaves = std::array<uint32_t, tile_rows>;

inline bool category_goes_right(const Trees& trees, size_t node, double code) {
    // Codes are integers below 256; NaN stands for categories not seen in training.
    const bool known = code >= 0 && code < static_cast<double>(trees.right.n_cols);
    return known ? trees.right(trees.category[node], static_cast<size_t>(code)) != 0
                 : trees.missing_right[node] != 0;
}

// Samples of a tile, one after the other: rows of a matrix, or rows at given addresses.
template <class Value>
struct AdjacentRows {
    const Value* at;
    size_t stride;
    const Value* row() const { return at; }
    void next() { at += stride; }
};
template <class Value>
struct ScatteredRows {
    const Value* const* at;
    const Value* row() const { return *at; }
    void next() { ++at; }
};

// All samples of the tile descend one layer before any descends the next, so that loads overlap.
template <bool categories, bool missing, class Rows>
inline Leaves descend(const Trees& trees, size_t tree, Rows first, size_t n_rows) {
    Leaves leaf{};
    const int depth = trees.depths[tree];
    auto base = static_cast<size_t>(trees.node_offsets[tree]);
    for (int layer = 0; layer < depth; ++layer) {
        const int32_t* features = trees.features.data + base;
        const double* thresholds = trees.thresholds.data + base;
        Rows rows = first;
        for (size_t i = 0; i < n_rows; ++i, rows.next()) {
            const uint32_t node = leaf[i];
            const auto x = static_cast<double>(rows.row()[features[node]]);
            bool right = x > thresholds[node];
            if constexpr (missing)
                right |= std::isnan(x) & (trees.missing_right.data[base + node] != 0);
            if constexpr (categories)
                if (trees.category.data[base + node] >= 0)
                    right = category_goes_right(trees, base + node, x);
            leaf[i] = 2 * node + right;
        }
        base += size_t{1} << layer;
    }
    return leaf;
}

} // namespace rebel

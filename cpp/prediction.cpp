#include "prediction.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

constexpr size_t tile_rows = 32; // samples that share a tree's nodes in the cache
using Leaves = std::array<uint32_t, tile_rows>;

REBEL_CLONES void add_outputs(Matrix<double> scores, const uint32_t* leaf, const double* outputs) {
    const size_t n_classes = scores.n_cols;
    for (size_t i = 0; i < scores.n_rows; ++i) {
        double* score = scores.data + i * n_classes;
        const double* output = outputs + leaf[i] * n_classes;
        for (size_t k = 0; k < n_classes; ++k)
            score[k] += output[k];
    }
}

bool category_goes_right(const Trees& trees, size_t node, double code) {
    // Codes are integers below 256; NaN stands for categories not seen in training.
    const bool known = code >= 0 && code < static_cast<double>(trees.right.n_cols);
    return known ? trees.right(trees.category[node], static_cast<size_t>(code)) != 0
                 : trees.missing_right[node] != 0;
}

// All samples of the tile descend one layer before any descends the next, so that loads overlap.
template <bool categories, bool missing, class Value>
inline Leaves descend(const Trees& trees, size_t tree, const Matrix<const Value>& tile,
                      size_t n_rows) {
    Leaves leaf{};
    const int depth = trees.depths[tree];
    auto base = static_cast<size_t>(trees.node_offsets[tree]);
    const size_t stride = tile.n_cols;
    for (int layer = 0; layer < depth; ++layer) {
        const int32_t* features = trees.features.data + base;
        const double* thresholds = trees.thresholds.data + base;
        const Value* row = tile.data;
        for (size_t i = 0; i < n_rows; ++i, row += stride) {
            const uint32_t node = leaf[i];
            const auto x = static_cast<double>(row[features[node]]);
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

// Calls use(tree, leaves, begin, end) for each tree and each tile of samples.
template <class Value, class Use>
void walk(Matrix<const Value> X, const Trees& trees, size_t first, size_t last, int n_threads,
          Use use) {
    const bool any_category = trees.right.n_rows > 0;
    parallel_for(X.n_rows, tile_rows, n_threads, [&](size_t begin, size_t end) {
        const Matrix<const Value> tile = X.rows(begin, end);
        const bool any_missing =
            !any_category &&
            std::any_of(tile.data, X.data + end * X.n_cols, [](Value x) { return std::isnan(x); });
        const auto leaves_of = [&](size_t tree) {
            if (any_category)
                return descend<true, true>(trees, tree, tile, tile.n_rows);
            if (any_missing)
                return descend<false, true>(trees, tree, tile, tile.n_rows);
            if (tile.n_rows < tile_rows)
                return descend<false, false>(trees, tree, tile, tile.n_rows);
            return descend<false, false>(trees, tree, tile, tile_rows); // a constant: loops unroll
        };
        for (size_t tree = first; tree < last; ++tree)
            use(tree, leaves_of(tree), begin, end);
    });
}

} // namespace

template <class Value>
void predict(Matrix<const Value> X, const Trees& trees, size_t first, size_t last,
             Matrix<double> scores, int n_threads) {
    trees.check();
    require(scores.is(X.n_rows, trees.outputs.n_cols) && first <= last && last <= trees.depths.size,
            "X, trees and scores do not match");
    walk(X, trees, first, last, n_threads,
         [&](size_t tree, const Leaves& leaf, size_t begin, size_t end) {
             add_outputs(scores.rows(begin, end), leaf.data(),
                         trees.outputs.data + trees.leaf_offsets[tree] * scores.n_cols);
         });
}

template <class Value>
void apply(Matrix<const Value> X, const Trees& trees, size_t tree, Vector<uint16_t> regions,
           int n_threads) {
    trees.check();
    require(regions.size == X.n_rows && tree < trees.depths.size,
            "X, trees and regions do not match");
    walk(X, trees, tree, tree + 1, n_threads,
         [&](size_t, const Leaves& leaf, size_t begin, size_t end) {
             std::copy_n(leaf.begin(), end - begin, regions.begin() + begin);
         });
}

template void predict(Matrix<const float>, const Trees&, size_t, size_t, Matrix<double>, int);
template void predict(Matrix<const double>, const Trees&, size_t, size_t, Matrix<double>, int);
template void apply(Matrix<const float>, const Trees&, size_t, Vector<uint16_t>, int);
template void apply(Matrix<const double>, const Trees&, size_t, Vector<uint16_t>, int);

} // namespace rebel

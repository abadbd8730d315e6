#include "prediction.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

constexpr size_t tile_rows = 32; // samples that share a tree's nodes in the cache

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

template <class Value>
class Walk {
  public:
    using Leaves = std::array<uint32_t, tile_rows>;

    Walk(const Trees& trees, Matrix<const Value> X)
        : trees_(trees), X_(X), any_category_(trees.right.n_rows > 0) {}

    bool any_missing(size_t begin, size_t end) const {
        const Value* from = X_.data + begin * X_.n_cols;
        return std::any_of(from, X_.data + end * X_.n_cols, [](Value x) { return std::isnan(x); });
    }

    Leaves leaves(size_t tree, size_t begin, size_t end, bool any_missing) const {
        if (any_category_)
            return descend<true, true>(tree, begin, end - begin);
        if (any_missing)
            return descend<false, true>(tree, begin, end - begin);
        if (end - begin < tile_rows)
            return descend<false, false>(tree, begin, end - begin);
        return descend<false, false>(tree, begin,
                                     tile_rows); // a constant, so that loops unroll
    }

  private:
    // All samples of the tile descend one layer before any descends the next, so that loads
    // overlap.
    template <bool categories, bool missing>
    inline Leaves descend(size_t tree, size_t begin, size_t n_rows) const {
        Leaves leaf{};
        const int depth = trees_.depths[tree];
        auto base = static_cast<size_t>(trees_.node_offsets[tree]);
        const size_t stride = X_.n_cols;
        for (int layer = 0; layer < depth; ++layer) {
            const int32_t* features = trees_.features.data + base;
            const double* thresholds = trees_.thresholds.data + base;
            const Value* row = X_.data + begin * stride;
            for (size_t i = 0; i < n_rows; ++i, row += stride) {
                const uint32_t node = leaf[i];
                const auto x = static_cast<double>(row[features[node]]);
                bool right = x > thresholds[node];
                if constexpr (missing)
                    right |= std::isnan(x) & (trees_.missing_right.data[base + node] != 0);
                if constexpr (categories)
                    if (trees_.category.data[base + node] >= 0)
                        right = category_goes_right(trees_, base + node, x);
                leaf[i] = 2 * node + right;
            }
            base += size_t{1} << layer;
        }
        return leaf;
    }

    const Trees& trees_;
    Matrix<const Value> X_;
    bool any_category_;
};

} // namespace

template <class Value>
void predict(Matrix<const Value> X, const Trees& trees, size_t first, size_t last,
             Matrix<double> scores, int n_threads) {
    trees.check();
    require(scores.is(X.n_rows, trees.outputs.n_cols) && first <= last && last <= trees.depths.size,
            "X, trees and scores do not match");
    const Walk<Value> walk(trees, X);
    parallel_for(X.n_rows, tile_rows, n_threads, [&](size_t begin, size_t end) {
        const bool any_missing = walk.any_missing(begin, end);
        const Matrix<double> tile = scores.rows(begin, end);
        for (size_t tree = first; tree < last; ++tree) {
            const auto leaf = walk.leaves(tree, begin, end, any_missing);
            const auto row = static_cast<size_t>(trees.leaf_offsets[tree]);
            add_outputs(tile, leaf.data(), trees.outputs.data + row * scores.n_cols);
        }
    });
}

template <class Value>
void apply(Matrix<const Value> X, const Trees& trees, size_t tree, Vector<uint16_t> regions,
           int n_threads) {
    trees.check();
    require(regions.size == X.n_rows && tree < trees.depths.size,
            "X, trees and regions do not match");
    const Walk<Value> walk(trees, X);
    parallel_for(X.n_rows, tile_rows, n_threads, [&](size_t begin, size_t end) {
        const auto leaf = walk.leaves(tree, begin, end, walk.any_missing(begin, end));
        std::copy_n(leaf.begin(), end - begin, regions.begin() + begin);
    });
}

template void predict(Matrix<const float>, const Trees&, size_t, size_t, Matrix<double>, int);
template void predict(Matrix<const double>, const Trees&, size_t, size_t, Matrix<double>, int);
template void apply(Matrix<const float>, const Trees&, size_t, Vector<uint16_t>, int);
template void apply(Matrix<const double>, const Trees&, size_t, Vector<uint16_t>, int);

} // namespace rebel

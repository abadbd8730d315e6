#include "predict.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

constexpr std::size_t tile_rows = 32; // a tree's nodes stay in the cache for so many samples

REBEL_CLONES void add_outputs(Matrix<double> scores, const std::uint32_t* leaf,
                              const double* outputs) {
    const std::size_t n_classes = scores.n_cols;
    for (std::size_t i = 0; i < scores.n_rows; ++i) {
        double* score = scores.data + i * n_classes;
        const double* output = outputs + leaf[i] * n_classes;
        for (std::size_t k = 0; k < n_classes; ++k)
            score[k] += output[k];
    }
}

bool category_goes_right(const Trees& trees, std::size_t node, double code) {
    const auto row = static_cast<std::size_t>(trees.category[node]);
    // Codes are integers below 256 by construction, NaN for what training never saw.
    const bool known = code >= 0 && code < static_cast<double>(trees.right.n_cols);
    return known ? trees.right(row, static_cast<std::size_t>(code)) != 0
                 : trees.missing_right[node] != 0;
}

// What the descent of a tile of samples has to look out for.
struct Care {
    bool categories;
    bool missing;
};

template <class Value>
class Walk {
  public:
    using Leaves = std::array<std::uint32_t, tile_rows>;

    Walk(const Trees& trees, Matrix<const Value> X)
        : trees_(trees), X_(X), any_category_(trees.right.n_rows > 0) {}

    bool any_missing(std::size_t begin, std::size_t end) const {
        const Value* from = X_.data + begin * X_.stride;
        return std::any_of(from, X_.data + end * X_.stride, [](Value x) { return std::isnan(x); });
    }

    Leaves leaves(std::size_t tree, std::size_t begin, std::size_t end, bool any_missing) const {
        if (any_category_)
            return descend<Care{true, true}>(tree, begin, end - begin);
        if (any_missing)
            return descend<Care{false, true}>(tree, begin, end - begin);
        if (end - begin < tile_rows)
            return descend<Care{false, false}>(tree, begin, end - begin);
        return descend<Care{false, false}>(tree, begin, tile_rows); // a constant: unrolled
    }

  private:
    // All samples of the tile go down one layer before any goes down the next: their loads overlap.
    template <Care care>
    inline Leaves descend(std::size_t tree, std::size_t begin, std::size_t n_rows) const {
        Leaves leaf{};
        const int depth = trees_.depths[tree];
        auto base = static_cast<std::size_t>(trees_.node_offsets[tree]);
        const std::size_t stride = X_.stride;
        for (int layer = 0; layer < depth; ++layer) {
            const std::int32_t* features = trees_.features.data + base;
            const double* thresholds = trees_.thresholds.data + base;
            const Value* row = X_.data + begin * stride;
            for (std::size_t i = 0; i < n_rows; ++i, row += stride) {
                const std::uint32_t node = leaf[i];
                const auto x = static_cast<double>(row[features[node]]);
                bool right = x > thresholds[node];
                if constexpr (care.missing)
                    right |= std::isnan(x) & (trees_.missing_right.data[base + node] != 0);
                if constexpr (care.categories)
                    if (trees_.category.data[base + node] >= 0)
                        right = category_goes_right(trees_, base + node, x);
                leaf[i] = 2 * node + right;
            }
            base += std::size_t{1} << layer;
        }
        return leaf;
    }

    const Trees& trees_;
    Matrix<const Value> X_;
    bool any_category_;
};

} // namespace

template <class Value>
void predict(Matrix<const Value> X, const Trees& trees, std::size_t first, std::size_t last,
             Matrix<double> scores, int n_threads) {
    const Walk<Value> walk(trees, X);
    parallel_for(X.n_rows, tile_rows, n_threads, [&](std::size_t begin, std::size_t end) {
        const bool any_missing = walk.any_missing(begin, end);
        const Matrix<double> tile(scores.data + begin * scores.stride, end - begin, scores.n_cols);
        for (std::size_t tree = first; tree < last; ++tree) {
            const auto leaf = walk.leaves(tree, begin, end, any_missing);
            const auto row = static_cast<std::size_t>(trees.leaf_offsets[tree]);
            add_outputs(tile, leaf.data(), trees.outputs.data + row * scores.n_cols);
        }
    });
}

template <class Value>
void apply(Matrix<const Value> X, const Trees& trees, std::size_t tree,
           Vector<std::uint16_t> regions, int n_threads) {
    const Walk<Value> walk(trees, X);
    parallel_for(X.n_rows, tile_rows, n_threads, [&](std::size_t begin, std::size_t end) {
        const auto leaf = walk.leaves(tree, begin, end, walk.any_missing(begin, end));
        std::copy_n(leaf.begin(), end - begin, regions.begin() + begin);
    });
}

template void predict(Matrix<const float>, const Trees&, std::size_t, std::size_t, Matrix<double>,
                      int);
template void predict(Matrix<const double>, const Trees&, std::size_t, std::size_t, Matrix<double>,
                      int);
template void apply(Matrix<const float>, const Trees&, std::size_t, Vector<std::uint16_t>, int);
template void apply(Matrix<const double>, const Trees&, std::size_t, Vector<std::uint16_t>, int);

} // namespace rebel

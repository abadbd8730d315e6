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

template <class Value>
class Walk {
  public:
    Walk(const Trees& trees, Matrix<const Value> X, bool any_category)
        : trees_(trees), X_(X), any_category_(any_category) {}

    void add_tree(std::size_t tree, std::size_t begin, std::size_t end, Matrix<double> scores) const {
        const Leaves leaf = leaves(tree, begin, end);
        const auto row = static_cast<std::size_t>(trees_.leaf_offsets[tree]);
        const std::size_t n_classes = scores.n_cols;
        add_outputs({scores.data + begin * n_classes, end - begin, n_classes}, leaf.data(),
                    trees_.outputs.data + row * n_classes);
    }

    using Leaves = std::array<std::uint32_t, tile_rows>;
    Leaves leaves(std::size_t tree, std::size_t begin, std::size_t end) const {
        Leaves leaf{};
        const auto depth = static_cast<std::size_t>(trees_.depths[tree]);
        const auto first = static_cast<std::size_t>(trees_.node_offsets[tree]);
        if (any_category_)
            descend<true>(first, depth, begin, end, leaf.data());
        else
            descend<false>(first, depth, begin, end, leaf.data());
        return leaf;
    }

  private:
    // All samples of the tile go down one layer before any goes down the next: their loads overlap.
    template <bool categories>
    void descend(std::size_t first, std::size_t depth, std::size_t begin, std::size_t end,
                 std::uint32_t* leaf) const {
        for (std::size_t layer = 0; layer < depth; ++layer) {
            const std::size_t base = first + (std::size_t{1} << layer) - 1;
            for (std::size_t n = begin; n < end; ++n) {
                const std::size_t node = base + leaf[n - begin];
                leaf[n - begin] = 2 * leaf[n - begin] + goes_right<categories>(node, n);
            }
        }
    }

    template <bool categories>
    bool goes_right(std::size_t node, std::size_t n) const {
        const auto feature = static_cast<std::size_t>(trees_.features.data[node]);
        const auto x = static_cast<double>(X_.data[n * X_.stride + feature]);
        if constexpr (categories)
            if (trees_.category.data[node] >= 0)
                return category_goes_right(trees_, node, x);
        return (x > trees_.thresholds.data[node]) |
               (std::isnan(x) & (trees_.missing_right.data[node] != 0));
    }

    const Trees& trees_;
    Matrix<const Value> X_;
    bool any_category_;
};

} // namespace

template <class Value>
void predict(Matrix<const Value> X, const Trees& trees, std::size_t first, std::size_t last,
             Matrix<double> scores, int n_threads) {
    const Walk<Value> walk(trees, X, trees.right.n_rows > 0);
    parallel_for(X.n_rows, tile_rows, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t tree = first; tree < last; ++tree)
            walk.add_tree(tree, begin, end, scores);
    });
}

template <class Value>
void apply(Matrix<const Value> X, const Trees& trees, std::size_t tree,
           Vector<std::uint16_t> regions, int n_threads) {
    const Walk<Value> walk(trees, X, trees.right.n_rows > 0);
    parallel_for(X.n_rows, tile_rows, n_threads, [&](std::size_t begin, std::size_t end) {
        const auto leaf = walk.leaves(tree, begin, end);
        for (std::size_t n = begin; n < end; ++n)
            regions[n] = static_cast<std::uint16_t>(leaf[n - begin]);
    });
}

template void predict(Matrix<const float>, const Trees&, std::size_t, std::size_t, Matrix<double>,
                      int);
template void predict(Matrix<const double>, const Trees&, std::size_t, std::size_t, Matrix<double>,
                      int);
template void apply(Matrix<const float>, const Trees&, std::size_t, Vector<std::uint16_t>, int);
template void apply(Matrix<const double>, const Trees&, std::size_t, Vector<std::uint16_t>, int);

} // namespace rebel

#include "prediction.hpp"

#include <algorithm>
#include <cmath>

#include "multiversion.hpp"
#include "parallel.hpp"
#include "walking.hpp"

namespace rebel {
namespace {

REBEL_CLONES void add_outputs(Matrix<double> scores, const uint32_t* leaf, const double* outputs) {
    const size_t n_classes = scores.n_cols;
    for (size_t i = 0; i < scores.n_rows; ++i) {
        double* score = scores.data + i * n_classes;
        const double* output = outputs + leaf[i] * n_classes;
        for (size_t k = 0; k < n_classes; ++k)
            score[k] += output[k];
    }
}

constexpr size_t block_rows = 512; // samples that a tree stays in the cache for

// Calls use(tree, leaves, begin, end) for each tree and each tile of samples. A whole block of
// samples goes through a tree before the next tree is loaded.
template <class Value, class Use>
void walk(Matrix<const Value> X, const Trees& trees, size_t first, size_t last, int n_threads,
          Use use) {
    const bool any_category = trees.right.n_rows > 0;
    parallel_for(X.n_rows, block_rows, n_threads, [&](size_t begin, size_t end) {
        const bool any_missing =
            !any_category && std::any_of(X.data + begin * X.n_cols, X.data + end * X.n_cols,
                                         [](Value x) { return std::isnan(x); });
        const auto leaves_of = [&](size_t tree, size_t from, size_t n) {
            const AdjacentRows<Value> rows{X.data + from * X.n_cols, X.n_cols};
            if (any_category)
                return descend<true, true>(trees, tree, rows, n);
            if (any_missing)
                return descend<false, true>(trees, tree, rows, n);
            if (n < tile_rows)
                return descend<false, false>(trees, tree, rows, n);
            return descend<false, false>(trees, tree, rows, tile_rows); // a constant: loops unroll
        };
        for (size_t tree = first; tree < last; ++tree)
            for (size_t from = begin; from < end; from += tile_rows) {
                const size_t to = std::min(from + tile_rows, end);
                use(tree, leaves_of(tree, from, to - from), from, to);
            }
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
             add_outputs(scores.rows(begin, end), leaf.data(), trees.outputs_of(tree));
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

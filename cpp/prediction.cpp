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
        const AdjacentRows<Value> rows{tile.data, tile.n_cols};
        const auto leaves_of = [&](size_t tree) {
            if (any_category)
                return descend<true, true>(trees, tree, rows, tile.n_rows);
            if (any_missing)
                return descend<false, true>(trees, tree, rows, tile.n_rows);
            if (tile.n_rows < tile_rows)
                return descend<false, false>(trees, tree, rows, tile.n_rows);
            return descend<false, false>(trees, tree, rows, tile_rows); // a constant: loops unroll
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

#include "steps.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

constexpr size_t tile_rows = 32; // samples that go through the thresholds side by side
constexpr size_t grain = 512;

// Number of thresholds below each value. All values take the same steps, so that loads overlap.
REBEL_INLINE inline void count_below(const double* thresholds, size_t n, const double* values,
                                     uint32_t* counts) {
    std::fill_n(counts, tile_rows, 0);
    while (n > 0) {
        const auto half = static_cast<uint32_t>((n + 1) / 2);
        for (size_t i = 0; i < tile_rows; ++i)
            counts[i] += values[i] > thresholds[counts[i] + half - 1] ? half : 0;
        n -= half;
    }
}

REBEL_INLINE inline void rows_of_codes(const double* values, uint32_t* rows) {
    for (size_t i = 0; i < tile_rows; ++i) {
        const bool known = values[i] >= 0 && values[i] < static_cast<double>(most_bins);
        rows[i] = static_cast<uint32_t>(known ? values[i] : static_cast<double>(most_bins));
    }
}

template <class Value>
REBEL_INLINE inline void add_tile(Matrix<const Value> X, const Steps& steps,
                                  Matrix<double> scores) {
    const size_t n_classes = scores.n_cols;
    std::array<double, tile_rows> values{};
    std::array<uint32_t, tile_rows> rows{};
    for (size_t s = 0; s < steps.features.size; ++s) {
        const Value* x = X.data + steps.features.data[s];
        for (size_t i = 0; i < X.n_rows; ++i, x += X.n_cols)
            values[i] = static_cast<double>(*x);
        if (steps.categorical.data[s] != 0) {
            rows_of_codes(values.data(), rows.data());
        } else {
            const auto first = static_cast<size_t>(steps.starts.data[s]);
            const size_t n = static_cast<size_t>(steps.starts.data[s + 1]) - first;
            count_below(steps.thresholds.data + first, n, values.data(), rows.data());
            for (size_t i = 0; i < tile_rows; ++i)
                rows[i] = values[i] == values[i] ? rows[i] : static_cast<uint32_t>(n + 1);
        }
        const double* outputs =
            steps.outputs.data + static_cast<size_t>(steps.rows.data[s]) * n_classes;
        for (size_t i = 0; i < X.n_rows; ++i)
            for (size_t k = 0; k < n_classes; ++k)
                scores.data[i * n_classes + k] += outputs[rows[i] * n_classes + k];
    }
}

REBEL_CLONES void add_tile_of_floats(Matrix<const float> X, const Steps& steps,
                                     Matrix<double> scores) {
    add_tile(X, steps, scores);
}
REBEL_CLONES void add_tile_of_doubles(Matrix<const double> X, const Steps& steps,
                                      Matrix<double> scores) {
    add_tile(X, steps, scores);
}

} // namespace

void Steps::check(size_t n_features) const {
    require(starts.size == features.size + 1 && rows.size == features.size &&
                categorical.size == features.size && starts[0] == 0 &&
                starts[features.size] == static_cast<int64_t>(thresholds.size),
            "the arrays of the steps do not match");
    int64_t n_rows = 0;
    for (size_t s = 0; s < features.size; ++s) {
        require(features[s] >= 0 && static_cast<size_t>(features[s]) < n_features,
                "a step names a feature that is not there");
        const int64_t n = starts[s + 1] - starts[s];
        require(n >= 0 && rows[s] == n_rows, "the rows and thresholds of the steps do not match");
        n_rows += categorical[s] != 0 ? static_cast<int64_t>(most_bins) + 1 : n + 2;
    }
    require(n_rows == static_cast<int64_t>(outputs.n_rows),
            "the outputs and thresholds of the steps do not match");
}

template <class Value>
void add_steps(Matrix<const Value> X, const Steps& steps, Matrix<double> scores, int n_threads) {
    steps.check(X.n_cols);
    require(scores.is(X.n_rows, steps.outputs.n_cols), "X, steps and scores do not match");
    parallel_for(X.n_rows, grain, n_threads, [&](size_t begin, size_t end) {
        for (size_t n = begin; n < end; n += tile_rows) {
            const size_t last = std::min(n + tile_rows, end);
            if constexpr (std::is_same_v<Value, float>)
                add_tile_of_floats(X.rows(n, last), steps, scores.rows(n, last));
            else
                add_tile_of_doubles(X.rows(n, last), steps, scores.rows(n, last));
        }
    });
}

template void add_steps(Matrix<const float>, const Steps&, Matrix<double>, int);
template void add_steps(Matrix<const double>, const Steps&, Matrix<double>, int);

} // namespace rebel

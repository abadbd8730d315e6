#include "ridge.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tiles.hpp"

namespace rebel {
namespace {

constexpr size_t points_at_once = 64; // their features stay in the cache

// Adds the products of some points to the upper triangle of the gram matrix. Both factors are
// (points, R); the first is negative.
REBEL_CLONES void add_products(const double* __restrict negative, const double* __restrict plain,
                               size_t n_points, Matrix<double> gram) {
    const size_t n = gram.n_cols;
    double tile[tile_rows][eight];
    for (size_t i = 0; i < n; i += tile_rows)
        for (size_t j = i - i % eight; j < n; j += eight) {
            for (size_t row = 0; row < tile_rows; ++row)
                std::copy_n(gram.data + (i + row) * n + j, eight, tile[row]);
            subtract_products(negative + i, n, plain + j, n, n_points, tile);
            for (size_t row = 0; row < tile_rows; ++row)
                std::copy_n(tile[row], eight, gram.data + (i + row) * n + j);
        }
}

REBEL_CLONES void add_weighted(Features features, Matrix<const double> values,
                               Matrix<double> sums) {
    for (size_t point = 0; point < features.n_rows; ++point)
        for (size_t m = 0; m < values.n_cols; ++m) {
            const double value = values.data[point * values.n_cols + m];
            const float* __restrict row = features.data + point * features.n_cols;
            double* __restrict sum = sums.data + m * sums.n_cols;
            for (size_t j = 0; j < sums.n_cols; ++j)
                sum[j] += value * double{row[j]};
        }
}

// Four rows of U, given those above: first what these explain is taken away, then each row is
// divided by its pivot's root, and taken away from those below it.
REBEL_CLONES void factor_rows(Matrix<const double> gram, double ridge, size_t first,
                              Matrix<double> factor) {
    const size_t n = factor.n_cols;
    double tile[tile_rows][eight];
    for (size_t j = first - first % eight; j < n; j += eight) {
        for (size_t row = 0; row < tile_rows; ++row)
            for (size_t column = 0; column < eight; ++column)
                tile[row][column] = gram.data[(first + row) * gram.n_cols + j + column] +
                                    (first + row == j + column ? ridge : 0);
        subtract_products(factor.data + first, n, factor.data + j, n, first, tile);
        for (size_t row = 0; row < tile_rows; ++row)
            std::copy_n(tile[row], eight, factor.data + (first + row) * n + j);
    }
    for (size_t i = first; i < first + tile_rows; ++i) {
        double* __restrict row = factor.data + i * n;
        for (size_t k = first; k < i; ++k) {
            const double* __restrict above = factor.data + k * n;
            const double share = above[i];
            for (size_t j = i; j < n; ++j)
                row[j] -= share * above[j];
        }
        const double root = std::sqrt(std::max(row[i], ridge));
        std::fill_n(row, i, 0.0);
        for (size_t j = i + 1; j < n; ++j)
            row[j] /= root;
        row[i] = root;
    }
}

REBEL_CLONES void subtract_row(double share, const double* __restrict row, size_t n,
                               double* __restrict from) {
    for (size_t m = 0; m < n; ++m)
        from[m] -= share * row[m];
}

void require_factor(Matrix<const double> factor, Matrix<double> values) {
    require(factor.is(values.n_rows, values.n_rows), "factor and values do not match");
}

} // namespace

void weighted_gram(Features features, Vector<const double> weight, Matrix<double> gram) {
    const size_t n = features.n_cols;
    require(weight.size == features.n_rows && gram.is(n, n),
            "features, weight and gram do not match");
    require(n % eight == 0, "the number of features must be a multiple of 8");
    std::fill_n(gram.data, n * n, 0.0);
    std::vector<double> plain(points_at_once * n), negative(points_at_once * n);
    for (size_t first = 0; first < features.n_rows; first += points_at_once) {
        const size_t n_here = std::min(points_at_once, features.n_rows - first);
        for (size_t point = 0; point < n_here; ++point)
            for (size_t j = 0; j < n; ++j) {
                const double value = features.data[(first + point) * n + j];
                plain[point * n + j] = value;
                negative[point * n + j] = -(weight[first + point] * value);
            }
        add_products(negative.data(), plain.data(), n_here, gram);
    }
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < i; ++j)
            gram.data[i * n + j] = gram.data[j * n + i];
}

void feature_sums(Features features, Matrix<const double> values, Matrix<double> sums) {
    require(values.n_rows == features.n_rows && sums.is(values.n_cols, features.n_cols),
            "features, values and sums do not match");
    std::fill_n(sums.data, sums.n_rows * sums.n_cols, 0.0);
    add_weighted(features, values, sums);
}

void ridge_factor(Matrix<const double> gram, double ridge, Matrix<double> factor) {
    const size_t n = factor.n_cols;
    require(gram.n_rows == gram.n_cols && factor.n_rows == n && n <= gram.n_cols,
            "gram and factor do not match");
    require(n % eight == 0 && gram.n_cols % eight == 0,
            "the number of features must be a multiple of 8");
    require(ridge > 0, "ridge must be positive");
    for (size_t first = 0; first < n; first += tile_rows)
        factor_rows(gram, ridge, first, factor);
}

void solve_lower(Matrix<const double> factor, Matrix<double> values) {
    require_factor(factor, values);
    for (size_t k = 0; k < values.n_rows; ++k) {
        double* row = values.row(k).data;
        for (size_t m = 0; m < values.n_cols; ++m)
            row[m] /= factor(k, k);
        for (size_t i = k + 1; i < values.n_rows; ++i)
            subtract_row(factor(k, i), row, values.n_cols, values.row(i).data);
    }
}

void solve_upper(Matrix<const double> factor, Matrix<double> values) {
    require_factor(factor, values);
    for (size_t k = values.n_rows; k-- > 0;) {
        double* row = values.row(k).data;
        for (size_t m = 0; m < values.n_cols; ++m)
            row[m] /= factor(k, k);
        for (size_t i = 0; i < k; ++i)
            subtract_row(factor(i, k), row, values.n_cols, values.row(i).data);
    }
}

} // namespace rebel

#include "smooth_features.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tiles.hpp"

namespace rebel {
namespace {

constexpr size_t columns_at_once = 32;

REBEL_INLINE inline double kernel_of(double tau, float distance) {
    return 2 * tau / (tau + double{distance});
}

size_t padded(size_t n) {
    return (n + eight - 1) / eight * eight;
}

REBEL_CLONES void kernels_of(double tau, const float* __restrict distances, size_t n,
                             double* __restrict out) {
    for (size_t i = 0; i < n; ++i)
        out[i] = kernel_of(tau, distances[i]);
}

// row −= Σ_k shares[k]·above[k], in the order of k; then row /= root, and left −= row².
REBEL_CLONES void explain(const double* __restrict shares, const double* __restrict above,
                          size_t n_above, size_t n, double root, double* __restrict row,
                          double* __restrict left) {
    constexpr size_t n_vectors = columns_at_once / 4;
    for (size_t j = 0; j < n; j += columns_at_once) {
        Doubles sum[n_vectors];
        for (size_t v = 0; v < n_vectors; ++v)
            sum[v] = loaded<Doubles>(row + j + 4 * v);
        for (size_t k = 0; k < n_above; ++k)
            for (size_t v = 0; v < n_vectors; ++v)
                sum[v] -= shares[k] * loaded<Doubles>(above + k * n + j + 4 * v);
        for (size_t v = 0; v < n_vectors; ++v) {
            const Doubles value = sum[v] / root;
            store(value, row + j + 4 * v);
            store(loaded<Doubles>(left + j + 4 * v) - value * value, left + j + 4 * v);
        }
    }
}

// Solves Uᵀx = values for eight columns of (R, 8) values, four unknowns at a time.
REBEL_CLONES void eliminate(Matrix<const double> factor, double* __restrict values) {
    const size_t n = factor.n_cols;
    for (size_t first = 0; first < n; first += tile_rows) {
        auto* tile = reinterpret_cast<double (*)[eight]>(values + first * eight);
        subtract_products(factor.data + first, n, values, eight, first, tile);
        for (size_t i = 0; i < tile_rows; ++i) {
            const double* across = factor.data + (first + i) * n + first;
            for (size_t column = 0; column < eight; ++column)
                tile[i][column] /= across[i];
            for (size_t below = i + 1; below < tile_rows; ++below)
                for (size_t column = 0; column < eight; ++column)
                    tile[below][column] -= across[below] * tile[i][column];
        }
    }
}

// Sums of the kernels of all points, in eight lanes.
REBEL_CLONES double sum_of_kernels(double tau, const float* __restrict distances, size_t n) {
    double sums[eight] = {};
    size_t i = 0;
    for (; i + eight <= n; i += eight)
        for (size_t lane = 0; lane < eight; ++lane)
            sums[lane] += kernel_of(tau, distances[i + lane]);
    for (size_t lane = 0; i + lane < n; ++lane)
        sums[lane] += kernel_of(tau, distances[i + lane]);
    return eight_together(sums);
}

REBEL_CLONES double score_of(const float* __restrict features,
                             const double* __restrict coefficients, size_t n) {
    double sums[eight] = {};
    for (size_t j = 0; j < n; j += eight)
        for (size_t lane = 0; lane < eight; ++lane)
            sums[lane] += double{features[j + lane]} * coefficients[j + lane];
    return eight_together(sums);
}

void require_points(Vector<const int32_t> points, size_t n) {
    for (const int32_t point : points)
        require(static_cast<size_t>(point) < n, "names a point that is not there");
}

} // namespace

int32_t choose_examples(Matrix<const float> among, double tau, double least, Vector<int32_t> chosen,
                        Matrix<double> factor) {
    const size_t n = among.n_rows, size = padded(n);
    require(among.n_cols == n && chosen.size == n && factor.is(size, size),
            "among, chosen and factor do not match");
    require(tau > 0, "tau must be positive");
    const size_t width = (n + columns_at_once - 1) / columns_at_once * columns_at_once;
    // Rows of U for all examples, whether chosen or not. Columns that pad them are 0.
    std::vector<double> rows(n * width), left(width), shares(n);
    for (size_t i = 0; i < n; ++i)
        left[i] = kernel_of(tau, among(i, i));
    std::fill(chosen.begin(), chosen.end(), 0);
    size_t n_chosen = 0;
    for (; n_chosen < n; ++n_chosen) {
        const auto end = left.begin() + static_cast<std::ptrdiff_t>(n);
        const auto best = static_cast<size_t>(std::max_element(left.begin(), end) - left.begin());
        if (!(left[best] > least))
            break;
        for (size_t k = 0; k < n_chosen; ++k)
            shares[k] = rows[k * width + best];
        double* row = rows.data() + n_chosen * width;
        kernels_of(tau, among.row(best).data, n, row);
        const double root = std::sqrt(left[best]);
        explain(shares.data(), rows.data(), n_chosen, width, root, row, left.data());
        row[best] = root;
        left[best] = -std::numeric_limits<double>::infinity();
        chosen[n_chosen] = static_cast<int32_t>(best);
    }
    std::fill_n(factor.data, size * size, 0.0);
    for (size_t i = 0; i < size; ++i)
        factor(i, i) = 1;
    for (size_t i = 0; i < n_chosen; ++i)
        for (size_t j = i; j < n_chosen; ++j)
            factor(i, j) = rows[i * width + static_cast<size_t>(chosen[j])];
    return static_cast<int32_t>(n_chosen);
}

void place_features(Matrix<const float> distances, double tau, Vector<const int32_t> chosen,
                    Matrix<const double> factor, Vector<double> centre, Matrix<float> features) {
    const size_t n = features.n_cols, n_points = features.n_rows;
    require(distances.n_cols == n_points && n == padded(chosen.size) && factor.is(n, n) &&
                centre.size == n,
            "distances, chosen, factor, centre and features do not match");
    require(tau > 0, "tau must be positive");
    require_points(chosen, distances.n_rows);
    std::vector<double> values(n * eight, 0.0); // of eight points; the mean is one of them at first
    for (size_t i = 0; i < chosen.size; ++i)
        values[i * eight] = sum_of_kernels(tau, distances.row(chosen[i]).data, n_points) /
                            static_cast<double>(n_points);
    eliminate(factor, values.data());
    for (size_t i = 0; i < n; ++i)
        centre[i] = values[i * eight];
    for (size_t first = 0; first < n_points; first += eight) {
        const size_t n_here = std::min(eight, n_points - first);
        std::fill(values.begin(), values.end(), 0.0);
        for (size_t i = 0; i < chosen.size; ++i)
            kernels_of(tau, distances.row(chosen[i]).data + first, n_here, &values[i * eight]);
        eliminate(factor, values.data());
        for (size_t i = 0; i < n; ++i)
            for (size_t point = 0; point < n_here; ++point)
                features.data[(first + point) * n + i] =
                    static_cast<float>(values[i * eight + point] - centre[i]);
    }
}

void feature_scores(Features features, Vector<const int32_t> points, Matrix<const double> solved,
                    Matrix<double> scores) {
    const size_t n = features.n_cols;
    require(solved.n_cols == 1 + n && scores.is(points.size, solved.n_rows),
            "features, points, solved and scores do not match");
    require(n % eight == 0, "the number of features must be a multiple of 8");
    require_points(points, features.n_rows);
    for (size_t i = 0; i < points.size; ++i)
        for (size_t k = 0; k < solved.n_rows; ++k) {
            const double* row = solved.data + k * (1 + n);
            scores(i, k) = score_of(features.row(points[i]).data, row + 1, n) + row[0];
        }
}

} // namespace rebel

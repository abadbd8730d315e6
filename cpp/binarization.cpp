#include "binarization.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "arithmetic.hpp"
#include "fixed_point.hpp"
#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

constexpr int most_squarings = 20;
constexpr double unchanged = 0x1p-40;
constexpr double negligible = 0x1p-400;   // set to 0: denormal numbers are slow
constexpr size_t integers_at_once = 4096; // so that they stay in the cache

// C = B·B, each entry added up in the order of k.
REBEL_CLONES void square(const double* __restrict B, size_t n, double* __restrict C) {
    std::fill_n(C, n * n, 0.0);
    for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < n; ++k) {
            const double factor = B[i * n + k];
            for (size_t j = 0; j < n; ++j)
                C[i * n + j] += factor * B[k * n + j];
        }
    for (size_t i = 0; i < n * n; ++i)
        C[i] = std::fabs(C[i]) < negligible ? 0 : C[i];
}

double trace_of(const std::vector<double>& B, size_t n) {
    double trace = 0;
    for (size_t k = 0; k < n; ++k)
        trace += B[k * n + k];
    return trace;
}

// Integers U · 2^exponent of some rows, class by class: (K, rows).
REBEL_CLONES void integers_of(Planes weights, const double* __restrict unit,
                              const double* __restrict scale, size_t begin, size_t end,
                              double* __restrict out) {
    const size_t n_classes = weights.n_cols;
    const size_t n_rows = end - begin;
    for (size_t n = begin; n < end; ++n)
        for (size_t k = 0; k < n_classes; ++k) {
            double G = weights.data[n * n_classes + k];
            for (size_t plane = 1; plane < weights.n_planes; ++plane)
                G += weights.data[(plane * weights.n_rows + n) * n_classes + k];
            out[k * n_rows + (n - begin)] = (G * unit[k] * scale[k] + round_magic) - round_magic;
        }
}

// Products of integers whose sums a double holds exactly: the order does not matter.
REBEL_CLONES void add_gram(const double* __restrict integers, size_t n_classes, size_t n_rows,
                           double* __restrict gram) {
    for (size_t i = 0; i < n_classes; ++i)
        for (size_t j = 0; j <= i; ++j) {
            const double* __restrict a = integers + i * n_rows;
            const double* __restrict b = integers + j * n_rows;
            double sums[4 * lanes] = {};
            size_t n = 0;
            for (; n + 4 * lanes <= n_rows; n += 4 * lanes)
                for (size_t lane = 0; lane < 4 * lanes; ++lane)
                    sums[lane] += a[n + lane] * b[n + lane];
            for (size_t lane = 0; n + lane < n_rows; ++lane)
                sums[lane] += a[n + lane] * b[n + lane];
            double sum = 0;
            for (const double each : sums)
                sum += each;
            gram[i * n_classes + j] += sum;
        }
}

} // namespace

void leading_eigenvector(Matrix<const double> matrix, Vector<double> q) {
    const size_t n = q.size;
    require(matrix.is(n, n), "matrix and q do not match");
    std::vector<double> B(matrix.data, matrix.data + n * n), squared(n * n);
    double trace = trace_of(B, n);
    double before = 0;
    std::fill(q.begin(), q.end(), 0.0);
    if (!(trace > 0))
        return;
    for (int i = 0; i < most_squarings; ++i) {
        for (double& each : B)
            each /= trace;
        square(B.data(), n, squared.data());
        B.swap(squared);
        trace = trace_of(B, n);
        if (std::fabs(trace - before) <= unchanged * trace)
            break;
        before = trace;
    }
    size_t largest = 0;
    for (size_t k = 1; k < n; ++k)
        if (B[k * n + k] > B[largest * n + largest])
            largest = k;
    double sum = 0;
    for (size_t k = 0; k < n; ++k)
        sum += B[k * n + largest] * B[k * n + largest];
    const double length = std::sqrt(sum);
    for (size_t k = 0; k < n; ++k)
        q[k] = B[k * n + largest] / length;
}

void binarize(Planes weights, Vector<const double> totals, Vector<int64_t> values, int n_threads) {
    const size_t n_classes = weights.n_cols;
    require(totals.size == n_classes && values.size == weights.n_rows,
            "weights, totals and values do not match");
    std::vector<double> unit(n_classes), scale(n_classes), gram(n_classes * n_classes);
    for (size_t k = 0; k < n_classes; ++k) {
        int exponent = 0;
        std::frexp(totals[k], &exponent);
        unit[k] = totals[k] > 0 ? 1 / std::sqrt(totals[k]) : 0;
        // Σ G²/S ≤ S, since no |G| exceeds its sum: squares of the integers sum to less than 2⁵².
        scale[k] = std::ldexp(1.0, 25 - ((exponent + 1) >> 1));
    }
    const size_t rows_at_once = std::max<size_t>(32, integers_at_once / n_classes);
    Mutex merging;
    parallel_for(weights.n_rows, 8192, n_threads, [&](size_t begin, size_t end) {
        std::vector<double> partial(gram.size()), integers(n_classes * rows_at_once);
        for (size_t n = begin; n < end; n += rows_at_once) {
            const size_t last = std::min(n + rows_at_once, end);
            integers_of(weights, unit.data(), scale.data(), n, last, integers.data());
            add_gram(integers.data(), n_classes, last - n, partial.data());
        }
        const std::lock_guard lock(merging);
        for (size_t i = 0; i < gram.size(); ++i)
            gram[i] += partial[i];
    });
    for (size_t i = 0; i < n_classes; ++i)
        for (size_t j = 0; j <= i; ++j) {
            const double product = gram[i * n_classes + j] / scale[i] / scale[j];
            gram[i * n_classes + j] = gram[j * n_classes + i] = product;
        }
    std::vector<double> direction(n_classes), squares(n_classes);
    leading_eigenvector({gram.data(), n_classes, n_classes}, {direction.data(), n_classes});
    double signed_sum = 0, mass = 0;
    for (size_t k = 0; k < n_classes; ++k) {
        direction[k] *= unit[k];
        squares[k] = unit[k] * unit[k];
        signed_sum += totals[k] * std::fabs(direction[k]);
        mass += totals[k] * squares[k];
    }
    project(weights,
            {{direction.data(), n_classes},
             {squares.data(), n_classes},
             coarse_scale(signed_sum),
             coarse_scale(mass)},
            values, n_threads);
}

} // namespace rebel

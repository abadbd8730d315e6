#include "posterior.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "elementary.hpp"
#include "fixed_point.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

constexpr size_t grain = 1024;
constexpr size_t tile = 64; // samples whose ln λ are found side by side, so that loops vectorize
constexpr int most_steps = 100;
constexpr double least = 1e-300;

// 1/(1 + e^−(x − ln λ)).
REBEL_CLONES void logistic(const double* __restrict x, const double* __restrict log_lambda,
                           size_t n_rows, size_t n_classes, double* __restrict P) {
    for (size_t i = 0; i < n_rows; ++i)
        for (size_t k = 0; k < n_classes; ++k)
            P[i * n_classes + k] = x[i * n_classes + k] - log_lambda[i];
    for (size_t i = 0; i < n_rows * n_classes; ++i)
        P[i] = 1 / (1 + exponential(-P[i]));
}

// Where ln λ is looked for, and where the search is.
struct Search {
    double low, high, at;
};

Search begin(Vector<const double> x) {
    double top = x[0], second = x[1];
    if (second > top)
        std::swap(top, second);
    for (size_t k = 2; k < x.size; ++k) {
        second = std::max(second, std::min(x[k], top));
        top = std::max(top, x[k]);
    }
    // The mean of the two highest scores is the root for K = 2, and a lower bound in general.
    const double low = std::max(top + logarithm(least), (top + second) / 2);
    return {low, top + logarithm(static_cast<double>(x.size - 1)), low};
}

// One step of Newton's method, within the bounds. Returns whether it was small enough.
bool step(const double* P, size_t n_classes, double enough, Search& search) {
    double sum = 0, slope = 0;
    for (size_t k = 0; k < n_classes; ++k) {
        sum += P[k];
        slope += P[k] * (1 - P[k]);
    }
    const double excess = sum - 1;
    (excess > 0 ? search.low : search.high) = search.at;
    double following = search.at + excess / std::max(slope, least);
    if (!(following > search.low && following < search.high))
        following = (search.low + search.high) / 2;
    const double change = std::fabs(following - search.at);
    search.at = following;
    return change < enough * std::max(1.0, std::fabs(following));
}

// ln λ of up to `tile` samples.
void find_log_lambdas(Matrix<const double> doubled, double enough, double* log_lambda,
                      std::vector<double>& x, std::vector<double>& P) {
    const size_t n_classes = doubled.n_cols;
    if (n_classes == 2) { // σ(x) + σ(−x) = 1
        for (size_t i = 0; i < doubled.n_rows; ++i)
            log_lambda[i] = (doubled(i, 0) + doubled(i, 1)) / 2;
        return;
    }
    std::array<Search, tile> searches;
    std::array<size_t, tile> left;
    std::array<double, tile> at;
    size_t n_left = doubled.n_rows;
    for (size_t i = 0; i < n_left; ++i) {
        searches[i] = begin(doubled.row(i));
        left[i] = i;
    }
    for (int s = 0; s < most_steps && n_left > 0; ++s) {
        for (size_t j = 0; j < n_left; ++j) {
            std::copy_n(doubled.row(left[j]).data, n_classes, &x[j * n_classes]);
            at[j] = searches[left[j]].at;
        }
        logistic(x.data(), at.data(), n_left, n_classes, P.data());
        size_t n_more = 0;
        for (size_t j = 0; j < n_left; ++j)
            if (!step(&P[j * n_classes], n_classes, enough, searches[left[j]]))
                left[n_more++] = left[j];
        n_left = n_more;
    }
    for (size_t i = 0; i < doubled.n_rows; ++i)
        log_lambda[i] = searches[i].at;
}

// Calls body(first, rows, P) for tiles of samples, where P are their probabilities, which do not
// sum to 1 exactly. `factor` multiplies the scores.
template <class Body>
void by_tile(Matrix<const double> doubled, double factor, double enough, int n_threads,
             const Body& body) {
    const size_t n_classes = doubled.n_cols;
    require(n_classes > 1, "probabilities need two classes or more");
    parallel_for(doubled.n_rows, grain, n_threads, [&](size_t from, size_t to) {
        const size_t most =
            std::min(tile, to - from) * n_classes; // a lone sample should cost little
        std::vector<double> scaled(most), x(most), P(most);
        std::array<double, tile> log_lambda;
        for (size_t first = from; first < to; first += tile) {
            const size_t n_rows = std::min(tile, to - first);
            for (size_t i = 0; i < n_rows * n_classes; ++i)
                scaled[i] = factor * doubled.data[first * n_classes + i];
            const Matrix<const double> rows{scaled.data(), n_rows, n_classes};
            find_log_lambdas(rows, enough, log_lambda.data(), x, P);
            logistic(rows.data, log_lambda.data(), n_rows, n_classes, P.data());
            body(first, rows, Matrix<const double>{P.data(), n_rows, n_classes});
        }
    });
}

// The sum, rounded to a grid that is fine enough for any order of the numbers.
double exact_sum(const std::vector<double>& numbers) {
    double largest = 0;
    for (const double x : numbers)
        largest = std::max(largest, std::fabs(x));
    const double scale = fine_scale(largest * static_cast<double>(numbers.size()));
    int64_t sum = 0;
    for (const double x : numbers)
        sum += rounded(x * scale);
    return static_cast<double>(sum) / scale;
}

} // namespace

void uniform_posteriors(Matrix<const double> doubled, double enough, Matrix<double> out,
                        int n_threads) {
    require(out.is(doubled.n_rows, doubled.n_cols), "doubled and out do not match");
    by_tile(doubled, 1.0, enough, n_threads,
            [&](size_t first, Matrix<const double> rows, Matrix<const double> P) {
                for (size_t i = 0; i < rows.n_rows; ++i) {
                    double sum = 0;
                    for (const double p : P.row(i))
                        sum += p;
                    for (size_t k = 0; k < rows.n_cols; ++k)
                        out(first + i, k) = P(i, k) / sum;
                }
            });
}

std::pair<double, double> log_loss_and_slope(Matrix<const double> doubled, double factor,
                                             Vector<const int32_t> labels,
                                             Vector<const double> weight, double enough,
                                             int n_threads) {
    const size_t n = doubled.n_rows;
    require(labels.size == n && (weight.size == 0 || weight.size == n),
            "doubled, labels and weight do not match");
    for (const int32_t label : labels)
        require(static_cast<size_t>(label) < doubled.n_cols,
                "labels names a class that is not there");
    std::vector<double> losses(n), slopes(n);
    by_tile(doubled, factor, enough, n_threads,
            [&](size_t first, Matrix<const double> rows, Matrix<const double> P) {
                for (size_t i = 0; i < rows.n_rows; ++i) {
                    double sum = 0, spread_sum = 0, moved = 0;
                    for (size_t k = 0; k < rows.n_cols; ++k) {
                        const double spread = P(i, k) * (1 - P(i, k));
                        sum += P(i, k);
                        spread_sum += spread;
                        moved += spread * rows(i, k);
                    }
                    moved /= std::max(spread_sum, least);
                    const int32_t label = labels[first + i];
                    const double own = P(i, label);
                    losses[first + i] = -logarithm(std::max(own / sum, least));
                    slopes[first + i] = (own - 1) * (rows(i, label) - moved);
                }
            });
    double total = static_cast<double>(n);
    if (weight.size > 0) {
        for (size_t i = 0; i < n; ++i) {
            losses[i] *= weight[i];
            slopes[i] *= weight[i];
        }
        total = exact_sum({weight.begin(), weight.end()});
    }
    return {exact_sum(losses) / total, exact_sum(slopes) / total};
}

} // namespace rebel

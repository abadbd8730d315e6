#include "posterior.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "elementary.hpp"
#include "multiversion.hpp"

namespace rebel {
namespace {

constexpr size_t tile_rows = 16; // rows that take their steps side by side
constexpr int most_steps = 100;
constexpr double least_slope = 1e-300;

using Tile = std::array<double, tile_rows>;

struct Search {
    Tile low, high, at;
    std::array<uint8_t, tile_rows> done;
};

// The sum over the classes of σ(x − ln λ), less 1, and its slope.
REBEL_CLONES void excesses(const double* x, size_t n_classes, const Tile& at, Tile& excess,
                           Tile& slope) {
    excess.fill(0);
    slope.fill(0);
    for (size_t k = 0; k < n_classes; ++k)
        for (size_t i = 0; i < tile_rows; ++i) {
            const double p = 1 / (1 + exponential(-(x[k * tile_rows + i] - at[i])));
            excess[i] += p;
            slope[i] += p * (1 - p);
        }
    for (size_t i = 0; i < tile_rows; ++i)
        excess[i] -= 1;
}

// A step of Newton's method, or of bisection where it would leave the bracket.
void take_steps(const Tile& excess, const Tile& slope, double enough, Search& search) {
    for (size_t i = 0; i < tile_rows; ++i) {
        if (search.done[i] != 0)
            continue;
        double& at = search.at[i];
        (excess[i] > 0 ? search.low[i] : search.high[i]) = at;
        const double step = at + excess[i] / std::max(slope[i], least_slope);
        const bool inside = step > search.low[i] && step < search.high[i];
        const double following = inside ? step : (search.low[i] + search.high[i]) / 2;
        search.done[i] = std::abs(following - at) < enough * std::max(1.0, std::abs(following));
        at = following;
    }
}

// Between the root for the largest score alone, or for the largest two, and that for K equal
// scores.
Search bracket(const double* x, size_t n_classes) {
    Search search{};
    const double lowest = logarithm(1e-300),
                 highest = logarithm(static_cast<double>(std::max<size_t>(1, n_classes - 1)));
    for (size_t i = 0; i < tile_rows; ++i) {
        double top = x[i], second = -std::numeric_limits<double>::infinity();
        for (size_t k = 1; k < n_classes; ++k) {
            const double value = x[k * tile_rows + i];
            second = std::max(second, std::min(top, value));
            top = std::max(top, value);
        }
        search.low[i] = std::max(top + lowest, (top + second) / 2);
        search.high[i] = top + highest;
    }
    search.at = search.low;
    return search;
}

} // namespace

void log_lambdas(Matrix<const double> x, double enough, Vector<double> log_lambda) {
    require(x.n_rows == log_lambda.size, "x and log_lambda differ in length");
    require(x.n_cols > 1, "one class has no λ");
    std::vector<double> turned(x.n_cols * tile_rows);
    for (size_t first = 0; first < x.n_rows; first += tile_rows) {
        const size_t n = std::min(tile_rows, x.n_rows - first);
        for (size_t i = 0; i < tile_rows; ++i) // the last row again where rows are missing
            for (size_t k = 0; k < x.n_cols; ++k)
                turned[k * tile_rows + i] = x(first + std::min(i, n - 1), k);
        Search search = bracket(turned.data(), x.n_cols);
        Tile excess, slope;
        const auto all_done = [&] {
            return std::ranges::all_of(search.done, [](uint8_t done) { return done != 0; });
        };
        for (int step = 0; step < most_steps && !all_done(); ++step) {
            excesses(turned.data(), x.n_cols, search.at, excess, slope);
            take_steps(excess, slope, enough, search);
        }
        std::copy_n(search.at.begin(), n, log_lambda.data + first);
    }
}

} // namespace rebel

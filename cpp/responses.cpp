#include "responses.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "arithmetic.hpp"
#include "levels.hpp"
#include "parallel.hpp"
#include "tiles.hpp"

namespace rebel {
namespace {

constexpr int most_steps = 60;
constexpr double reach = 4;    // the longest step
constexpr double gain = 1e-20; // the step after which the loss falls by less is the last
constexpr double least = 1e-300;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr size_t at_once = 128; // exponentials
constexpr size_t points_together = 4;

// From several points, whose sums do not wait for one another.
template <size_t together_now>
REBEL_INLINE inline void distances_of_row(const double* __restrict x,
                                          const double* __restrict points, size_t n_features,
                                          double* __restrict out, size_t step) {
    Doubles sums[together_now] = {};
    const size_t n_whole = n_features - n_features % lanes;
    for (size_t f = 0; f < n_whole; f += lanes) {
        const auto at = loaded<Doubles>(x + f);
        for (size_t i = 0; i < together_now; ++i) {
            const Doubles apart = at - loaded<Doubles>(points + i * n_features + f);
            sums[i] += apart * apart;
        }
    }
    for (size_t i = 0; i < together_now; ++i) {
        double lane[lanes];
        store(sums[i], lane);
        for (size_t f = n_whole; f < n_features; ++f) {
            const double apart = x[f] - points[i * n_features + f];
            lane[f - n_whole] += apart * apart;
        }
        out[i * step] = together(lane);
    }
}

REBEL_CLONES void distances_of_rows(Matrix<const double> placed, Matrix<const double> points,
                                    Matrix<double> out, size_t begin, size_t end) {
    const size_t n_features = placed.n_cols;
    for (size_t n = begin; n < end; ++n) {
        const double* x = placed.data + n * n_features;
        size_t i = 0;
        for (; i + points_together <= points.n_rows; i += points_together)
            distances_of_row<points_together>(x, points.data + i * n_features, n_features,
                                              out.data + i * out.n_cols + n, out.n_cols);
        for (; i < points.n_rows; ++i)
            distances_of_row<1>(x, points.data + i * n_features, n_features,
                                out.data + i * out.n_cols + n, out.n_cols);
    }
}

// Σ w, Σ g·w and Σ g²·w of w = |weight|·e^{ga}, where g is f, or −f where the weight is negative.
struct Moments {
    double total;
    double slope;
    double curvature;
};

REBEL_CLONES Moments find_moments(const double* __restrict f, Matrix<const double> weights,
                                  double a) {
    double sums[3][lanes] = {};
    double g[at_once], growth[at_once];
    for (size_t plane = 0; plane < weights.n_rows; ++plane) {
        const double* __restrict weight = weights.data + plane * weights.n_cols;
        for (size_t first = 0; first < weights.n_cols; first += at_once) {
            const size_t n = std::min(at_once, weights.n_cols - first);
            for (size_t i = 0; i < n; ++i)
                g[i] = weight[first + i] < 0 ? -f[first + i] : f[first + i];
            std::fill(g + n, g + at_once, 0.0);
            for (size_t i = 0; i < n; i += lanes) {
                Doubles x = loaded<Doubles>(g + i) * a;
                exponentiate(x);
                store(x, growth + i);
            }
            in_lanes(n, [&](size_t i, size_t lane) REBEL_INLINE {
                const double w = std::fabs(weight[first + i]) * growth[i];
                const double weighted = g[i] * w;
                sums[0][lane] += w;
                sums[1][lane] += weighted;
                sums[2][lane] += g[i] * weighted;
            });
        }
    }
    return {together(sums[0]), together(sums[1]), together(sums[2])};
}

struct Solved {
    double output;
    double loss;
};

// ½ ln(s^T/s^F) for f = ±1: the sums of the weights that f is right about, and of the others.
REBEL_CLONES double closed_form(const double* __restrict f, Matrix<const double> weights,
                                double S) {
    double right[lanes] = {}, wrong[lanes] = {};
    for (size_t plane = 0; plane < weights.n_rows; ++plane) {
        const double* __restrict weight = weights.data + plane * weights.n_cols;
        in_lanes(weights.n_cols, [&](size_t i, size_t lane) REBEL_INLINE {
            const double size = std::fabs(weight[i]);
            const bool is_wrong = weight[i] < 0 ? f[i] < 0 : f[i] > 0;
            wrong[lane] += is_wrong ? size : 0;
            right[lane] += is_wrong ? 0 : size;
        });
    }
    const double smoothing = cap * S;
    return 0.5 * logarithm((2 * together(right) + smoothing) / (2 * together(wrong) + smoothing));
}

// Safeguarded Newton steps: one that leaves the bracket known to contain the root is replaced by
// bisection.
double best_output(const double* f, Matrix<const double> weights, double S) {
    double at = 0, low = -infinity, high = infinity;
    for (int i = 0; i < most_steps; ++i) {
        const Moments here = find_moments(f, weights, at);
        const double growth = exponential(at);
        const double value = here.slope / S + cap * ((growth - 1 / growth) * 0.5);
        const double curvature = here.curvature / S + cap * ((growth + 1 / growth) * 0.5);
        const double step = value / std::max(curvature, least);
        double following = at - std::min(std::max(step, -reach), reach);
        if (value * step < gain)
            return following;
        if (value < 0)
            low = at;
        if (value > 0)
            high = at;
        if ((following <= low || following >= high) && low > -infinity && high < infinity)
            following = low / 2 + high / 2;
        at = following;
    }
    return at;
}

Solved solve(const double* f, Matrix<const double> weights) {
    const Moments before = find_moments(f, weights, 0);
    if (!(before.total > 0))
        return {0, 0};
    const bool of_signs = before.curvature == before.total;
    const double output =
        of_signs ? closed_form(f, weights, before.total) : best_output(f, weights, before.total);
    return {output, find_moments(f, weights, output).total};
}

} // namespace

void exact_distances(Matrix<const double> placed, Matrix<const double> points, Matrix<double> out,
                     int n_threads) {
    require(points.n_cols == placed.n_cols && out.is(points.n_rows, placed.n_rows),
            "points and distances do not match");
    const size_t grain = grain_for(placed.n_rows, placed.n_rows * placed.n_cols * points.n_rows);
    parallel_for(placed.n_rows, grain, n_threads, [&](size_t begin, size_t end) {
        distances_of_rows(placed, points, out, begin, end);
    });
}

void solve_responses(Matrix<const double> responses, Cube<const double> weights,
                     Matrix<double> outputs, Vector<double> losses, int n_threads) {
    const size_t n_samples = weights.n_rows, n_classes = weights.n_cols;
    require(responses.n_cols == n_samples && outputs.is(responses.n_rows, n_classes) &&
                losses.size == responses.n_rows,
            "responses, weights and outputs do not match");
    std::vector<double> by_class(n_classes * weights.n_planes * n_samples); // (K, V, N)
    for (size_t plane = 0; plane < weights.n_planes; ++plane)
        for (size_t n = 0; n < n_samples; ++n)
            for (size_t k = 0; k < n_classes; ++k)
                by_class[(k * weights.n_planes + plane) * n_samples + n] = weights(plane, n, k);
    std::vector<double> left(responses.n_rows * n_classes);
    parallel_each(left.size(), 1, n_threads, [&](size_t item) {
        const size_t i = item / n_classes, k = item % n_classes;
        const double* own = by_class.data() + k * weights.n_planes * n_samples;
        const Solved found =
            solve(responses.data + i * n_samples, {own, weights.n_planes, n_samples});
        outputs(i, k) = found.output;
        left[item] = found.loss;
    });
    for (size_t i = 0; i < responses.n_rows; ++i) {
        losses[i] = 0;
        for (size_t k = 0; k < n_classes; ++k)
            losses[i] += left[i * n_classes + k];
    }
}

} // namespace rebel

#include "responses.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <numeric>
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

// ---- a bound on the loss, without solving

constexpr double rounding = 1e-9; // more than the rounding errors of a bound
constexpr double clearly = 1e-8;  // worse by this share is worse, whatever counts as equal
constexpr size_t n_sizes = 16;
constexpr size_t n_groups = 2 * n_sizes; // by |f| and sign
constexpr int bound_steps = 40;
constexpr double small_step = 1e-4;

// Half octaves of |f| from 1 down; the last group has all smaller ones. Odd groups are negative.
REBEL_CLONES void group_by_size(const double* __restrict f, std::vector<uint8_t>& groups) {
    constexpr int half_octave = 51; // bits below the highest one of the mantissa
    const auto one = static_cast<int64_t>(std::bit_cast<uint64_t>(1.0) >> half_octave);
    for (size_t n = 0; n < groups.size(); ++n) {
        const auto size =
            static_cast<int64_t>(std::bit_cast<uint64_t>(std::fabs(f[n])) >> half_octave);
        const int64_t below = std::clamp<int64_t>(one - size, 0, n_sizes - 1);
        groups[n] = static_cast<uint8_t>(2 * below + (f[n] < 0));
    }
}

// The least Σ m·e^{ua} over the groups, with their masses m and mean responses u; 0 if unknown.
double least_of_groups(const double* __restrict f, const std::vector<uint8_t>& groups,
                       Matrix<const double> weights) {
    double mass[lanes][n_groups] = {}, moment[lanes][n_groups] = {};
    for (size_t plane = 0; plane < weights.n_rows; ++plane) {
        const double* __restrict weight = weights.data + plane * weights.n_cols;
        in_lanes(weights.n_cols, [&](size_t n, size_t lane) REBEL_INLINE {
            const size_t group = groups[n] ^ static_cast<size_t>(weight[n] < 0);
            const double size = std::fabs(weight[n]);
            mass[lane][group] += size;
            moment[lane][group] += size * std::fabs(f[n]);
        });
    }
    double m[n_groups] = {}, u[n_groups] = {}; // without the empty groups
    size_t n_filled = 0;
    bool any[2] = {};
    for (size_t g = 0; g < n_groups; ++g) {
        const double own = (mass[0][g] + mass[1][g]) + (mass[2][g] + mass[3][g]);
        const double along = (moment[0][g] + moment[1][g]) + (moment[2][g] + moment[3][g]);
        if (!(own > 0))
            continue;
        m[n_filled] = own;
        u[n_filled++] = g % 2 != 0 ? -along / own : along / own;
        any[g % 2] = any[g % 2] || along > 0;
    }
    if (!any[0] || !any[1])
        return 0;
    double at = 0, low = -infinity, high = infinity;
    for (int i = 0; i < bound_steps; ++i) {
        double value = 0, slope = 0, curvature = 0;
        for (size_t g = 0; g < n_filled; g += lanes) {
            Doubles x = loaded<Doubles>(u + g) * at;
            exponentiate(x);
            x *= loaded<Doubles>(m + g);
            for (size_t j = 0; j < lanes; ++j) {
                value += x[j];
                slope += u[g + j] * x[j];
                curvature += u[g + j] * u[g + j] * x[j];
            }
        }
        const double step = slope / std::max(curvature, least);
        // Curvatures change by at most a factor e^{|Δa|}: the minimum is within two such steps, and
        // the function is above its tangent.
        if (std::fabs(step) < small_step)
            return value - 2 * std::fabs(slope * step);
        (slope < 0 ? low : high) = at;
        double following = at - std::clamp(step, -reach, reach);
        if (following <= low || following >= high)
            following = low / 2 + high / 2;
        at = following;
    }
    return 0;
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

std::pair<int64_t, double> best_response(Matrix<const double> responses, Cube<const double> weights,
                                         double least_loss, double equal, Vector<double> output,
                                         int n_threads) {
    const size_t n_samples = weights.n_rows, n_classes = weights.n_cols, n = responses.n_rows;
    require(responses.n_cols == n_samples && output.size == n_classes,
            "responses, weights and output do not match");
    require(equal >= 0 && equal <= 1e-9, "equal must be from 0 to 1e-9");
    std::vector<double> by_class(n_classes * weights.n_planes * n_samples); // (K, V, N)
    for (size_t plane = 0; plane < weights.n_planes; ++plane)
        for (size_t i = 0; i < n_samples; ++i)
            for (size_t k = 0; k < n_classes; ++k)
                by_class[(k * weights.n_planes + plane) * n_samples + i] = weights(plane, i, k);
    const auto of_class = [&](size_t k) {
        return Matrix<const double>{by_class.data() + k * weights.n_planes * n_samples,
                                    weights.n_planes, n_samples};
    };
    std::vector<double> bounds(n);
    parallel_each(n, 1, n_threads, [&](size_t i) {
        const double* f = responses.data + i * n_samples;
        std::vector<uint8_t> groups(n_samples);
        group_by_size(f, groups);
        for (size_t k = 0; k < n_classes; ++k)
            bounds[i] += least_of_groups(f, groups, of_class(k));
    });
    // The most promising ones are solved first, because their losses spare the others. One that is
    // not solved is worse than another by far more than `equal`, so that it is not missed.
    std::vector<size_t> order(n);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return bounds[a] < bounds[b]; });
    std::vector<double> outputs(n * n_classes), losses(n, infinity);
    Mutex mutex;
    double lowest = least_loss;
    parallel_each(n, 1, n_threads, [&](size_t place) {
        const size_t i = order[place];
        {
            const std::lock_guard lock(mutex);
            if (bounds[i] * (1 - rounding) > lowest * (1 + clearly))
                return;
        }
        double loss = 0;
        for (size_t k = 0; k < n_classes; ++k) {
            const Solved found = solve(responses.data + i * n_samples, of_class(k));
            outputs[i * n_classes + k] = found.output;
            loss += found.loss;
        }
        losses[i] = loss;
        const std::lock_guard lock(mutex);
        lowest = std::min(lowest, loss);
    });
    int64_t best = -1;
    for (size_t i = 0; i < n; ++i)
        if (losses[i] < least_loss * (1 - equal)) {
            best = static_cast<int64_t>(i);
            least_loss = losses[i];
        }
    if (best >= 0)
        std::copy_n(outputs.data() + static_cast<size_t>(best) * n_classes, n_classes,
                    output.begin());
    return {best, least_loss};
}

} // namespace rebel

#include "levels.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "arithmetic.hpp"
#include "elementary.hpp"
#include "fixed_point.hpp"
#include "multiversion.hpp"
#include "similarity.hpp"

namespace rebel {
namespace {

constexpr int most_steps = 60;
constexpr double reach = 4;   // the longest step
constexpr double gain = 1e-8; // the step after which the loss falls by less is the last
constexpr double least = 1e-300;
constexpr double infinity = std::numeric_limits<double>::infinity();

// The weights of one class at the sizes |f| that occur, at f and at −f, divided by their sum. Both
// share an exponential.
struct ClassWeights {
    std::vector<double> f, plus, plus_mirrored, minus, minus_mirrored;

    explicit ClassWeights(size_t n)
        : f(n), plus(n), plus_mirrored(n), minus(n), minus_mirrored(n) {}
};

// Σ w, Σ f·w and Σ f²·w of w⁺e^{fa}, then of w⁻e^{−fa}, in lanes.
struct Moments {
    double up[3];
    double down[3];
};

REBEL_CLONES void find_moments(const ClassWeights& of, double a, Moments& out) {
    const double* __restrict sizes = of.f.data();
    const double* __restrict plus = of.plus.data();
    const double* __restrict plus_mirrored = of.plus_mirrored.data();
    const double* __restrict minus = of.minus.data();
    const double* __restrict minus_mirrored = of.minus_mirrored.data();
    double up[3][lanes] = {}, down[3][lanes] = {};
    double growths[zero_level + 1]; // in a loop of its own, which vectorizes
    const size_t n = of.f.size();
    for (size_t i = 0; i < n; ++i)
        growths[i] = exponential(sizes[i] * a);
    in_lanes(n, [&](size_t i, size_t lane) REBEL_INLINE {
        const double f = sizes[i];
        const double growth = growths[i];
        const double decay = 1 / growth;
        const double w = plus[i] * growth, w_mirrored = plus_mirrored[i] * decay;
        const double v = minus[i] * decay, v_mirrored = minus_mirrored[i] * growth;
        up[0][lane] += w + w_mirrored;
        up[1][lane] += f * (w - w_mirrored);
        up[2][lane] += (f * f) * (w + w_mirrored);
        down[0][lane] += v + v_mirrored;
        down[1][lane] += f * (v - v_mirrored);
        down[2][lane] += (f * f) * (v + v_mirrored);
    });
    for (size_t i = 0; i < 3; ++i) {
        out.up[i] = together(up[i]);
        out.down[i] = together(down[i]);
    }
}

struct Slope {
    double value;
    double curvature;
};

// The derivatives of the loss in a; with the rule `affine`, of ln A + ln B, the best b being
// taken, which leaves 2√(A·B).
Slope slope_at(const ClassWeights& of, double a, int rule) {
    Moments m;
    find_moments(of, a, m);
    const double growth = exponential(a);
    const double sinh = (growth - 1 / growth) * 0.5, cosh = (growth + 1 / growth) * 0.5;
    if (rule == slope)
        return {(m.up[1] - m.down[1]) + cap * sinh, (m.up[2] + m.down[2]) + cap * cosh};
    const double A = std::max(m.up[0], least), B = std::max(m.down[0], least);
    const double up = m.up[1] / A, down = m.down[1] / B;
    const double variances = (m.up[2] / A - up * up) + (m.down[2] / B - down * down);
    return {(up - down) + cap * sinh, variances + cap * cosh};
}

// Safeguarded Newton steps: one that leaves the bracket known to contain the root is replaced by
// bisection.
double best_slope(const ClassWeights& of, int rule) {
    double at = 0, low = -infinity, high = infinity;
    for (int i = 0; i < most_steps; ++i) {
        const Slope here = slope_at(of, at, rule);
        const double step = here.value / std::max(here.curvature, least);
        double following = at - std::min(std::max(step, -reach), reach);
        if (here.value * step < gain)
            return following;
        if (here.value < 0)
            low = at;
        if (here.value > 0)
            high = at;
        if ((following <= low || following >= high) && low > -infinity && high < infinity)
            following = low / 2 + high / 2;
        at = following;
    }
    return at;
}

double half_log_ratio(double above, double below, double smoothing) {
    if (!(above + below > 0))
        return 0;
    return 0.5 * logarithm((above + smoothing) / (below + smoothing));
}

} // namespace

double solve_levels(Planes weights, Vector<const double> totals, Regions regions, int rule,
                    const LevelSums& out, int n_threads) {
    const Vector<const double> levels = response_levels();
    const size_t n_classes = weights.n_cols;
    require(totals.size == n_classes && out.plus.is(n_levels, n_classes) &&
                out.minus.is(n_levels, n_classes) && out.outputs.is(2, n_classes),
            "weights, levels and sums do not match");
    require(rule >= affine && rule <= sign, "rule must be 0, 1 or 2");
    for (const uint16_t region : regions)
        require(region < n_levels, "a region is beyond the levels");
    std::vector<double> scales(n_classes);
    for (size_t k = 0; k < n_classes; ++k)
        scales[k] = fine_scale(totals[k]);
    std::vector<int64_t> sums(n_levels * 2 * n_classes);
    region_sums(weights, regions, {scales.data(), n_classes}, {sums.data(), n_levels, 2, n_classes},
                n_threads);
    std::array<bool, n_levels> is_used{};
    for (size_t l = 0; l < n_levels; ++l) {
        const int64_t* mass = &sums[(2 * l + 1) * n_classes];
        is_used[l] = std::any_of(mass, mass + n_classes, [](int64_t each) { return each != 0; });
    }
    std::fill_n(out.plus.data, n_levels * n_classes, 0.0);
    std::fill_n(out.minus.data, n_levels * n_classes, 0.0);
    for (size_t l = 0; l < n_levels; ++l)
        for (size_t k = 0; k < n_classes && is_used[l]; ++k) {
            const int64_t signed_sum = sums[2 * l * n_classes + k];
            const int64_t mass = sums[(2 * l + 1) * n_classes + k];
            const double unit = 0.5 / scales[k]; // a power of two
            out.plus(l, k) = static_cast<double>(mass + signed_sum) * unit;
            out.minus(l, k) = static_cast<double>(mass - signed_sum) * unit;
        }
    std::vector<size_t> used; // sizes
    for (size_t size = 0; size <= zero_level; ++size)
        if (is_used[zero_level + size] || is_used[zero_level - size])
            used.push_back(size);
    ClassWeights of(used.size());
    double loss = 0;
    for (size_t k = 0; k < n_classes; ++k) {
        double mass[lanes] = {};
        for (size_t i = 0; i < used.size(); ++i) {
            const size_t l = zero_level + used[i], mirrored = zero_level - used[i];
            of.f[i] = levels[l];
            of.plus[i] = out.plus(l, k);
            of.minus[i] = out.minus(l, k);
            of.plus_mirrored[i] = used[i] > 0 ? out.plus(mirrored, k) : 0;
            of.minus_mirrored[i] = used[i] > 0 ? out.minus(mirrored, k) : 0;
            mass[i % lanes] +=
                (of.plus[i] + of.plus_mirrored[i]) + (of.minus[i] + of.minus_mirrored[i]);
        }
        const double total = together(mass);
        out.outputs(0, k) = out.outputs(1, k) = 0;
        if (!(total > 0))
            continue;
        const double unit = 1 / total;
        for (auto* each : {&of.plus, &of.plus_mirrored, &of.minus, &of.minus_mirrored})
            for (double& weight : *each)
                weight *= unit;
        Moments m;
        double a = 0, b = 0;
        if (rule == sign) {
            find_moments(of, 0, m);
            const double P = m.up[1] - m.down[1];
            a = half_log_ratio(1 - P, 1 + P, cap);
        } else {
            a = best_slope(of, rule);
        }
        find_moments(of, a, m);
        if (rule == affine)
            b = half_log_ratio(m.down[0], m.up[0], cap * (m.up[0] + m.down[0]));
        const double growth = exponential(b);
        loss += total * (m.up[0] * growth + m.down[0] / growth);
        out.outputs(0, k) = a;
        out.outputs(1, k) = b;
    }
    return loss;
}

} // namespace rebel

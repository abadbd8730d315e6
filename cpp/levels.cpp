#include "levels.hpp"

#include <algorithm>
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
constexpr double reach = 4;    // the longest step
constexpr double gain = 1e-12; // stop if the next step is predicted to lower the loss by less
constexpr double least = 1e-300;
constexpr double infinity = std::numeric_limits<double>::infinity();

// The weights of one class at the levels that occur, divided by their sum.
struct ClassWeights {
    const double* f;
    const double* plus;
    const double* minus;
    size_t n;
};

// Σ w, Σ f·w and Σ f²·w of w⁺e^{fa}, then of w⁻e^{−fa}, in lanes.
struct Moments {
    double up[3];
    double down[3];
};

REBEL_CLONES void find_moments(const ClassWeights& of, double a, Moments& out) {
    const double* __restrict f = of.f;
    const double* __restrict plus = of.plus;
    const double* __restrict minus = of.minus;
    double up[3][lanes] = {}, down[3][lanes] = {};
    in_lanes(of.n, [&](size_t i, size_t lane) REBEL_INLINE {
        const double growth = exponential(f[i] * a);
        const double w = plus[i] * growth;
        const double v = minus[i] / growth;
        const double wf = f[i] * w;
        const double vf = f[i] * v;
        up[0][lane] += w;
        up[1][lane] += wf;
        up[2][lane] += f[i] * wf;
        down[0][lane] += v;
        down[1][lane] += vf;
        down[2][lane] += f[i] * vf;
    });
    for (size_t i = 0; i < 3; ++i) {
        out.up[i] = together(up[i]);
        out.down[i] = together(down[i]);
    }
}

REBEL_CLONES double loss_of(const ClassWeights& of, double a, double b) {
    double sums[lanes] = {};
    in_lanes(of.n, [&](size_t i, size_t lane) REBEL_INLINE {
        const double growth = exponential(of.f[i] * a + b);
        sums[lane] += of.plus[i] * growth + of.minus[i] / growth;
    });
    return together(sums);
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
    std::vector<size_t> used;
    for (size_t l = 0; l < n_levels; ++l) {
        int64_t any = 0;
        for (size_t k = 0; k < n_classes; ++k) {
            const int64_t signed_sum = sums[2 * l * n_classes + k];
            const int64_t mass = sums[(2 * l + 1) * n_classes + k];
            any |= mass;
            out.plus(l, k) = static_cast<double>(mass + signed_sum) / (2 * scales[k]);
            out.minus(l, k) = static_cast<double>(mass - signed_sum) / (2 * scales[k]);
        }
        if (any != 0)
            used.push_back(l);
    }
    const size_t n_used = used.size();
    std::vector<double> f(n_used), plus(n_used), minus(n_used);
    for (size_t i = 0; i < n_used; ++i)
        f[i] = levels[used[i]];
    double loss = 0;
    for (size_t k = 0; k < n_classes; ++k) {
        double mass[lanes] = {}, signed_sum[lanes] = {};
        for (size_t i = 0; i < n_used; ++i) {
            plus[i] = out.plus(used[i], k);
            minus[i] = out.minus(used[i], k);
            mass[i % lanes] += plus[i] + minus[i];
            signed_sum[i % lanes] += f[i] * (plus[i] - minus[i]);
        }
        const double total = together(mass);
        const ClassWeights of{f.data(), plus.data(), minus.data(), n_used};
        double a = 0, b = 0;
        if (rule == sign) {
            const double P = together(signed_sum);
            a = half_log_ratio(total - P, total + P, cap * total);
        } else if (total > 0) {
            for (size_t i = 0; i < n_used; ++i) {
                plus[i] /= total;
                minus[i] /= total;
            }
            a = best_slope(of, rule);
            if (rule == affine) {
                Moments m;
                find_moments(of, a, m);
                b = half_log_ratio(m.down[0], m.up[0], cap * (m.up[0] + m.down[0]));
            }
        }
        const double unit = rule == sign || !(total > 0) ? 1 : total;
        loss += unit * loss_of(of, a, b);
        out.outputs(0, k) = a;
        out.outputs(1, k) = b;
    }
    return loss;
}

} // namespace rebel

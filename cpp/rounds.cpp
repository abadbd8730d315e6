#include "rounds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "fixed_point.hpp"

namespace rebel {
namespace {

constexpr size_t n_kinds = 2; // of samples: training and held out

} // namespace

void Boosted::check(size_t n_samples, size_t n_classes) const {
    require(weights.is(weights.n_planes, n_samples, n_classes) && scores.is(n_samples, n_classes) &&
                totals.size == n_classes && decided.size == n_samples,
            "weights, scores and totals do not match");
}

void RoundLog::check(size_t n_rounds, size_t n_classes) const {
    require(edges.size == n_rounds && shifts.is(n_rounds, n_kinds) &&
                totals.is(n_rounds, n_kinds, n_classes) && rates.is(n_rounds, n_kinds, 2),
            "the log and the rounds do not match");
}

void total_up(Planes weights, Vector<double> totals, int n_threads) {
    const size_t n_classes = totals.size;
    require(weights.n_cols == n_classes, "weights and totals do not match");
    std::fill(totals.begin(), totals.end(), 0.0);
    for (size_t i = 0; i < weights.n_planes * weights.n_rows; ++i)
        for (size_t k = 0; k < n_classes; ++k)
            totals[k] = std::max(totals[k], std::fabs(weights.data[i * n_classes + k]));
    for (double& total : totals)
        total *= static_cast<double>(weights.n_rows);
    const std::vector<uint16_t> everywhere(weights.n_rows, 0);
    std::vector<double> scales(n_classes);
    std::vector<int64_t> sums(2 * n_classes);
    for (int pass = 0; pass < 2; ++pass) {
        std::transform(totals.begin(), totals.end(), scales.begin(), fine_scale);
        std::fill(sums.begin(), sums.end(), 0);
        region_sums(weights, {everywhere.data(), everywhere.size()}, {scales.data(), n_classes},
                    {sums.data(), 1, 2, n_classes}, n_threads);
        for (size_t k = 0; k < n_classes; ++k) {
            const int64_t signed_sum = sums[k], mass = sums[n_classes + k];
            const double unit = 2 * scales[k];
            totals[k] = static_cast<double>(mass + signed_sum) / unit +
                        static_cast<double>(mass - signed_sum) / unit;
        }
    }
}

int add_term(const Boosted& to, Regions regions, Matrix<const double> outputs, const RoundLog& log,
             size_t round, size_t kind, int n_threads) {
    const Taken taken = take_step(to.weights, to.scores, regions, outputs, to.totals, to.decided,
                                  to.judged, n_threads);
    if (taken.loose)
        total_up(to.weights, to.totals, n_threads);
    log.shifts(round, kind) = taken.shift;
    std::copy(to.totals.begin(), to.totals.end(), &log.totals(round, kind, 0));
    log.rates(round, kind, 0) = taken.rates.error;
    log.rates(round, kind, 1) = taken.rates.cost;
    return taken.shift;
}

bool shrink(Matrix<double> outputs, double shrinkage) {
    bool any = false;
    for (size_t i = 0; i < outputs.n_rows * outputs.n_cols; ++i) {
        outputs.data[i] *= shrinkage;
        any = any || outputs.data[i] != 0;
    }
    return any;
}

bool sum_exceeds(const Boosted& training, int shifted, double least_total) {
    const double total = std::accumulate(training.totals.begin(), training.totals.end(), 0.0);
    return std::ldexp(total, shifted) > least_total;
}

} // namespace rebel

#include "scan.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "multiversion.hpp"

namespace rebel {
namespace {

// Left sides of the possible thresholds, unpacked so that their worth is computed in vectors.
struct LeftSides {
    std::array<std::int32_t, most_bins> signed_sums;
    std::array<std::int32_t, most_bins> masses;
    std::size_t n = 0;

    void push(std::int64_t pair) {
        signed_sums[n] = static_cast<std::int32_t>(signed_of(pair));
        masses[n] = static_cast<std::int32_t>(mass_of(pair));
        ++n;
    }
    std::int64_t pair(std::size_t i) const {
        return std::int64_t{signed_sums[i]} * (std::int64_t{1} << 32) + masses[i];
    }
};

using Values = std::array<double, most_bins>;

REBEL_CLONES void by_variance(const LeftSides& left, std::int64_t total,
                              const SearchOptions& options, Values& values) {
    const auto signed_total = static_cast<double>(signed_of(total));
    const auto mass_total = static_cast<double>(mass_of(total));
    const auto least = static_cast<double>(options.least_mass);
    const double smoothing = options.smoothing;
    for (std::size_t i = 0; i < left.n; ++i) {
        const auto p = static_cast<double>(left.signed_sums[i]);
        const auto m = static_cast<double>(left.masses[i]);
        const double q = signed_total - p;
        const double r = mass_total - m;
        const double value = p * p / (m + smoothing) + q * q / (r + smoothing);
        values[i] = (m >= least && r >= least) ? value : -1.0;
    }
}

REBEL_CLONES void by_error(const LeftSides& left, std::int64_t total, const SearchOptions& options,
                           Values& values) {
    const auto signed_total = static_cast<double>(signed_of(total));
    const auto mass_total = static_cast<double>(mass_of(total));
    const auto least = static_cast<double>(options.least_mass);
    for (std::size_t i = 0; i < left.n; ++i) {
        const auto p = static_cast<double>(left.signed_sums[i]);
        const auto m = static_cast<double>(left.masses[i]);
        const double value = std::fabs(p) + std::fabs(signed_total - p);
        values[i] = (m >= least && mass_total - m >= least) ? value : -1.0;
    }
}

void evaluate(const LeftSides& left, std::int64_t total, const SearchOptions& options,
              Values& values) {
    if (options.criterion == Criterion::variance)
        by_variance(left, total, options, values);
    else
        by_error(left, total, options, values);
}

// Categories by rising P/M, those without mass first, compared without division; ties by bin.
// The best two-sided split of them is then a threshold.
using Order = std::array<std::uint8_t, most_bins>;
void order_categories(const std::int64_t* sums, std::size_t n_bins, Order& order) {
    std::iota(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n_bins), std::uint8_t{0});
    std::stable_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n_bins),
                     [&](std::uint8_t a, std::uint8_t b) {
                         const std::int64_t mass_a = mass_of(sums[a]);
                         const std::int64_t mass_b = mass_of(sums[b]);
                         if (mass_a == 0 || mass_b == 0)
                             return mass_a < mass_b;
                         return signed_of(sums[a]) * mass_b < signed_of(sums[b]) * mass_a;
                     });
}

struct Scan {
    const SearchOptions& options;
    std::int64_t total;
    Values values;

    // Thresholds after each of n bins; `before` is the left side's sum before the first.
    template <class SumOf>
    void run(std::size_t n, std::int64_t before, SumOf sum_of) {
        left.n = 0;
        for (std::size_t i = 0; i < n; ++i) {
            before += sum_of(i);
            left.push(before);
        }
        evaluate(left, total, options, values);
    }

    // Takes those that beat the best so far; the first of equals stays.
    void improve(Candidate& best, bool missing_right) const {
        for (std::size_t i = 0; i < left.n; ++i)
            if (values[i] > best.value) {
                best.value = values[i];
                best.bin = static_cast<std::int32_t>(i);
                best.missing_right = missing_right;
                best.left = left.pair(i);
            }
    }

    LeftSides left;
};

} // namespace

double whole(std::int64_t total, const SearchOptions& options) {
    const auto p = static_cast<double>(signed_of(total));
    if (options.criterion == Criterion::error)
        return std::fabs(p);
    return p * p / (static_cast<double>(mass_of(total)) + options.smoothing);
}

Candidate scan_feature(const Bins& bins, std::size_t feature, const std::int64_t* sums,
                       std::int64_t total, const SearchOptions& options) {
    const std::size_t n_bins = bins.n_bins(feature);
    Candidate best;
    best.feature = static_cast<std::int32_t>(feature);
    Scan scan{options, total, {}, {}};
    if (bins.is_categorical(feature)) {
        Order order;
        order_categories(sums, n_bins, order);
        scan.run(n_bins - 1, 0, [&](std::size_t i) { return sums[order[i]]; });
        scan.improve(best, false);
        return best;
    }
    const std::size_t n_present = n_bins - 1;
    const std::int64_t missing = sums[n_present];
    scan.run(n_present - 1, missing, [&](std::size_t i) { return sums[i]; });
    scan.improve(best, false);
    if (missing != 0) {
        scan.run(n_present, 0, [&](std::size_t i) { return sums[i]; });
        scan.improve(best, true);
    }
    return best;
}

void mark_right(const Bins& bins, const Candidate& split, const std::int64_t* sums,
                std::int64_t total, Vector<std::uint8_t> right) {
    const auto feature = static_cast<std::size_t>(split.feature);
    const std::size_t n_bins = bins.n_bins(feature);
    const std::size_t n_left = static_cast<std::size_t>(split.bin) + 1;
    const bool mostly_right = mass_of(total - split.left) > mass_of(split.left);
    std::fill(right.begin(), right.end(), std::uint8_t{0});
    if (bins.is_categorical(feature)) {
        Order order;
        order_categories(sums, n_bins, order);
        for (std::size_t i = n_left; i < n_bins; ++i)
            right[order[i]] = 1;
        for (std::size_t b = 0; b < n_bins; ++b)
            if (mass_of(sums[b]) == 0)
                right[b] = mostly_right;
        return;
    }
    std::fill(right.begin() + n_left, right.begin() + n_bins - 1, std::uint8_t{1});
    right[n_bins - 1] = sums[n_bins - 1] != 0 ? split.missing_right : mostly_right;
}

} // namespace rebel

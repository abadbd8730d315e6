#include "scan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "multiversion.hpp"

namespace rebel {

void fill_from_sums(const std::int64_t* sums, std::size_t n_bins, FilledBins& filled) {
    filled.n = 0;
    std::size_t b = 0;
    for (; b + 4 <= n_bins; b += 4) {
        if ((sums[b] | sums[b + 1] | sums[b + 2] | sums[b + 3]) == 0)
            continue;
        for (std::size_t j = b; j < b + 4; ++j)
            if (sums[j] != 0)
                filled.push(j, sums[j]);
    }
    for (; b < n_bins; ++b)
        if (sums[b] != 0)
            filled.push(b, sums[b]);
}

void fill_from_samples(const std::uint8_t* column, Vector<const std::int64_t> values,
                       Vector<const std::int32_t> samples, FilledBins& filled) {
    std::array<std::int64_t, most_bins> sums; // set where a bit of `met` says so
    std::array<std::uint64_t, most_bins / 64> met{};
    for (const std::int32_t sample : samples) {
        const auto n = static_cast<std::size_t>(sample);
        const std::size_t bin = column[n * block_width];
        const std::uint64_t bit = std::uint64_t{1} << (bin % 64);
        std::uint64_t& word = met[bin / 64];
        sums[bin] = ((word & bit) != 0 ? sums[bin] : 0) + values.data[n];
        word |= bit;
    }
    filled.n = 0;
    for (std::size_t w = 0; w < met.size(); ++w)
        for (std::uint64_t word = met[w]; word != 0; word &= word - 1) {
            const std::size_t bin = 64 * w + static_cast<std::size_t>(std::countr_zero(word));
            if (sums[bin] != 0)
                filled.push(bin, sums[bin]);
        }
}

namespace {

// Left sides of the possible splits, unpacked so that their worth is computed in vectors.
struct LeftSides {
    std::array<std::int32_t, most_bins> signed_sums;
    std::array<std::int32_t, most_bins> masses;
    std::array<std::int32_t, most_bins> bins;
    std::size_t n = 0;

    void push(std::int64_t pair, std::int32_t bin) {
        bins[n] = bin;
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

class Scan {
  public:
    Scan(std::int64_t total, const SearchOptions& options) : total_(total), options_(options) {}

    void reset(std::int64_t before) {
        left_.n = 0;
        sum_ = before;
    }
    void add(std::int64_t sum, std::int32_t bin) {
        sum_ += sum;
        left_.push(sum_, bin);
    }

    // Takes the sides that beat the best so far; the first of equals stays.
    void improve(Candidate& best, bool missing_right) {
        if (options_.criterion == Criterion::variance)
            by_variance(left_, total_, options_, values_);
        else
            by_error(left_, total_, options_, values_);
        for (std::size_t i = 0; i < left_.n; ++i)
            if (values_[i] > best.value) {
                best.value = values_[i];
                best.bin = left_.bins[i];
                best.missing_right = missing_right;
                best.left = left_.pair(i);
            }
    }

  private:
    std::int64_t total_;
    const SearchOptions& options_;
    std::int64_t sum_ = 0;
    LeftSides left_;
    Values values_;
};

// Filled categories by rising P/M, compared without division; ties by bin. The best two-sided split
// of them is then a threshold.
using Order = std::array<std::uint8_t, most_bins>;
void order_categories(const FilledBins& filled, Order& order) {
    const auto end = order.begin() + static_cast<std::ptrdiff_t>(filled.n);
    std::iota(order.begin(), end, std::uint8_t{0});
    std::stable_sort(order.begin(), end, [&](std::uint8_t a, std::uint8_t b) {
        const std::int64_t mass_a = mass_of(filled.sums[a]);
        const std::int64_t mass_b = mass_of(filled.sums[b]);
        if (mass_a == 0 || mass_b == 0)
            return mass_a < mass_b;
        return signed_of(filled.sums[a]) * mass_b < signed_of(filled.sums[b]) * mass_a;
    });
}

} // namespace

double whole(std::int64_t total, const SearchOptions& options) {
    const auto p = static_cast<double>(signed_of(total));
    if (options.criterion == Criterion::error)
        return std::fabs(p);
    return p * p / (static_cast<double>(mass_of(total)) + options.smoothing);
}

Candidate scan_feature(const Bins& bins, std::size_t feature, const FilledBins& filled,
                       std::int64_t total, const SearchOptions& options) {
    Candidate best;
    best.feature = static_cast<std::int32_t>(feature);
    if (filled.n < 2)
        return best;
    Scan scan(total, options);
    scan.reset(0);
    if (bins.is_categorical(feature)) {
        Order order;
        order_categories(filled, order);
        for (std::size_t i = 0; i + 1 < filled.n; ++i)
            scan.add(filled.sums[order[i]], static_cast<std::int32_t>(i));
        scan.improve(best, false);
        return best;
    }
    const auto missing_bin = static_cast<std::int32_t>(bins.n_bins(feature) - 1);
    const bool any_missing = filled.bins[filled.n - 1] == missing_bin;
    const std::size_t n_present = filled.n - any_missing;
    scan.reset(any_missing ? filled.sums[n_present] : 0);
    for (std::size_t i = 0; i + 1 < n_present; ++i)
        scan.add(filled.sums[i], filled.bins[i]);
    scan.improve(best, false);
    if (any_missing) {
        scan.reset(0);
        for (std::size_t i = 0; i < n_present; ++i)
            scan.add(filled.sums[i], filled.bins[i]);
        scan.improve(best, true);
    }
    return best;
}

void mark_right(const Bins& bins, const Candidate& split, const FilledBins& filled,
                std::int64_t total, Vector<std::uint8_t> right) {
    const auto feature = static_cast<std::size_t>(split.feature);
    const std::size_t n_bins = bins.n_bins(feature);
    const std::size_t n_left = static_cast<std::size_t>(split.bin) + 1;
    const auto mostly_right =
        static_cast<std::uint8_t>(mass_of(total - split.left) > mass_of(split.left));
    std::fill(right.begin(), right.end(), std::uint8_t{0});
    if (bins.is_categorical(feature)) {
        std::fill_n(right.begin(), n_bins, mostly_right);
        Order order;
        order_categories(filled, order);
        for (std::size_t i = 0; i < filled.n; ++i)
            if (mass_of(filled.sums[order[i]]) != 0)
                right[static_cast<std::size_t>(filled.bins[order[i]])] = i >= n_left;
        return;
    }
    std::fill(right.begin() + n_left, right.begin() + n_bins - 1, std::uint8_t{1});
    const bool any_missing =
        filled.n > 0 && static_cast<std::size_t>(filled.bins[filled.n - 1]) == n_bins - 1;
    right[n_bins - 1] = any_missing ? split.missing_right : mostly_right;
}

} // namespace rebel

#include "scan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "logarithm.hpp"
#include "multiversion.hpp"

namespace rebel {

void take_from_sums(const std::int64_t* sums, std::size_t n_bins, BinSums& taken) {
    const std::size_t n_present = n_bins - 1;
    std::size_t first = 0;
    while (first < n_present && sums[first] == 0)
        ++first;
    taken.n = n_present - first;
    for (std::size_t i = 0; i < taken.n; ++i) {
        taken.bins[i] = static_cast<std::int32_t>(first + i);
        taken.sums[i] = sums[first + i];
    }
    if (sums[n_present] != 0)
        taken.push(n_present, sums[n_present]);
}

void take_from_samples(const std::uint8_t* column, Vector<const std::int64_t> values,
                       Vector<const std::int32_t> samples, BinSums& taken) {
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
    taken.n = 0;
    for (std::size_t w = 0; w < met.size(); ++w)
        for (std::uint64_t word = met[w]; word != 0; word &= word - 1) {
            const std::size_t bin = 64 * w + static_cast<std::size_t>(std::countr_zero(word));
            if (sums[bin] != 0)
                taken.push(bin, sums[bin]);
        }
}

namespace {

// Left sides of the possible splits, unpacked so that their worth is computed in vectors.
struct LeftSides {
    std::array<std::int32_t, most_bins> signed_sums;
    std::array<std::int32_t, most_bins> masses;
    std::size_t n = 0;

    void push(std::int64_t pair) {
        signed_sums[n] = static_cast<std::int32_t>(signed_of(pair));
        masses[n] = static_cast<std::int32_t>(mass_of(pair));
        ++n;
    }
    std::int64_t pair(std::size_t i) const { return pair_of(signed_sums[i], masses[i]); }
};

using Values = std::array<double, most_bins>;

// M · (p²/m + q²/r − P²/M) = (p·r − q·m)² / (m·r) for sides (p, m) and (q, r) of (P, M): one
// division, and the same bits when left and right are swapped.
REBEL_CLONES void by_variance(const LeftSides& left, std::int64_t total,
                              const SearchOptions& options, Values& values) {
    const auto signed_total = static_cast<double>(signed_of(total));
    const auto mass_total = static_cast<double>(mass_of(total));
    const auto least = static_cast<double>(options.least_mass);
    for (std::size_t i = 0; i < left.n; ++i) {
        const auto p = static_cast<double>(left.signed_sums[i]);
        const auto m = static_cast<double>(left.masses[i]);
        const double r = mass_total - m;
        const double apart = p * r - (signed_total - p) * m;
        const double value = apart * apart / (m * r);
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

// M·(1 − H) of a side: 0 where labels are even, M where they are all the same.
double information(double p, double m) {
    return m + ((times_log2(0.5 * std::max(0.0, m + p)) + times_log2(0.5 * std::max(0.0, m - p))) -
                times_log2(m));
}

void by_entropy(const LeftSides& left, std::int64_t total, const SearchOptions& options,
                Values& values) {
    const auto signed_total = static_cast<double>(signed_of(total));
    const auto mass_total = static_cast<double>(mass_of(total));
    const auto least = static_cast<double>(options.least_mass);
    const double whole = information(signed_total, mass_total);
    for (std::size_t i = 0; i < left.n; ++i) {
        const auto p = static_cast<double>(left.signed_sums[i]);
        const auto m = static_cast<double>(left.masses[i]);
        const double r = mass_total - m;
        double value = information(p, m) + information(signed_total - p, r);
        if (options.criterion == Criterion::gain_ratio) {
            const double parted = times_log2(mass_total) - (times_log2(m) + times_log2(r));
            value = parted > 0 ? (value - whole) / parted : 0;
        }
        values[i] = (m >= least && r >= least) ? std::max(0.0, value) : -1.0;
    }
}

class Scan {
  public:
    Scan(std::int64_t total, const SearchOptions& options) : total_(total), options_(options) {}

    void reset(std::int64_t before) {
        left_.n = 0;
        sum_ = before;
    }
    void add(std::int64_t sum) {
        sum_ += sum;
        left_.push(sum_);
    }

    // Takes the best side if it beats the best so far; the first of equals counts. Returns its
    // place.
    bool improve(Candidate& best, std::size_t& place) {
        if (options_.criterion == Criterion::variance)
            by_variance(left_, total_, options_, values_);
        else if (options_.criterion == Criterion::error)
            by_error(left_, total_, options_, values_);
        else
            by_entropy(left_, total_, options_, values_);
        bool better = false;
        for (std::size_t i = 0; i < left_.n; ++i)
            if (values_[i] > best.value) {
                best.value = values_[i];
                place = i;
                better = true;
            }
        if (better)
            best.left = left_.pair(place);
        return better;
    }

  private:
    std::int64_t total_;
    const SearchOptions& options_;
    std::int64_t sum_ = 0;
    LeftSides left_;
    Values values_;
};

// Categories that are not empty by rising P/M, compared without division; ties by bin. The best
// two-sided split of them is then a threshold. Returns how many there are.
using Order = std::array<std::uint8_t, most_bins>;
std::size_t order_categories(const BinSums& taken, Order& order) {
    auto end = order.begin();
    for (std::size_t i = 0; i < taken.n; ++i)
        if (taken.sums[i] != 0)
            *end++ = static_cast<std::uint8_t>(i);
    std::stable_sort(order.begin(), end, [&](std::uint8_t a, std::uint8_t b) {
        const std::int64_t mass_a = mass_of(taken.sums[a]);
        const std::int64_t mass_b = mass_of(taken.sums[b]);
        if (mass_a == 0 || mass_b == 0)
            return mass_a < mass_b;
        return signed_of(taken.sums[a]) * mass_b < signed_of(taken.sums[b]) * mass_a;
    });
    return static_cast<std::size_t>(end - order.begin());
}

} // namespace

double value_of_whole(std::int64_t total, const SearchOptions& options) {
    const auto p = static_cast<double>(signed_of(total));
    switch (options.criterion) {
    case Criterion::error:
        return std::fabs(p);
    case Criterion::entropy:
        return std::max(0.0, information(p, static_cast<double>(mass_of(total))));
    default:
        return 0;
    }
}

double gain_of(const Candidate& split, std::int64_t total, const SearchOptions& options) {
    switch (options.criterion) {
    case Criterion::variance:
        return split.value / static_cast<double>(mass_of(total));
    case Criterion::gain_ratio:
        return split.value;
    default:
        return split.value - value_of_whole(total, options);
    }
}

Candidate scan_feature(const Bins& bins, std::size_t feature, const BinSums& taken,
                       std::int64_t total, const SearchOptions& options) {
    Candidate best;
    best.feature = static_cast<std::int32_t>(feature);
    if (taken.n < 2)
        return best;
    Scan scan(total, options);
    std::size_t place = 0;
    scan.reset(0);
    if (bins.is_categorical(feature)) {
        Order order;
        const std::size_t n_categories = order_categories(taken, order);
        for (std::size_t i = 0; i + 1 < n_categories; ++i)
            scan.add(taken.sums[order[i]]);
        if (scan.improve(best, place))
            best.bin = static_cast<std::int32_t>(place);
        return best;
    }
    const auto missing_bin = static_cast<std::int32_t>(bins.n_bins(feature) - 1);
    const bool any_missing = taken.bins[taken.n - 1] == missing_bin;
    const std::size_t n_present = taken.n - any_missing;
    scan.reset(any_missing ? taken.sums[n_present] : 0);
    for (std::size_t i = 0; i + 1 < n_present; ++i)
        scan.add(taken.sums[i]);
    if (scan.improve(best, place))
        best.bin = taken.bins[place];
    if (any_missing) {
        scan.reset(0);
        for (std::size_t i = 0; i < n_present; ++i)
            scan.add(taken.sums[i]);
        if (scan.improve(best, place)) {
            best.bin = taken.bins[place];
            best.missing_right = true;
        }
    }
    return best;
}

void mark_right(const Bins& bins, const Candidate& split, const BinSums& taken, std::int64_t total,
                Vector<std::uint8_t> right) {
    const auto feature = static_cast<std::size_t>(split.feature);
    const std::size_t n_bins = bins.n_bins(feature);
    const std::size_t n_left = static_cast<std::size_t>(split.bin) + 1;
    const auto mostly_right =
        static_cast<std::uint8_t>(mass_of(total - split.left) > mass_of(split.left));
    std::fill(right.begin(), right.end(), std::uint8_t{0});
    if (bins.is_categorical(feature)) {
        std::fill_n(right.begin(), n_bins, mostly_right);
        Order order;
        const std::size_t n_categories = order_categories(taken, order);
        for (std::size_t i = 0; i < n_categories; ++i)
            if (mass_of(taken.sums[order[i]]) != 0)
                right[static_cast<std::size_t>(taken.bins[order[i]])] = i >= n_left;
        return;
    }
    std::fill(right.begin() + n_left, right.begin() + n_bins - 1, std::uint8_t{1});
    const bool any_missing =
        taken.n > 0 && static_cast<std::size_t>(taken.bins[taken.n - 1]) == n_bins - 1;
    right[n_bins - 1] = any_missing ? split.missing_right : mostly_right;
}

void write_split(const Bins& bins, const Candidate& best, const BinSums& taken, std::int64_t total,
                 const SearchOptions& options, const Splits& splits, std::size_t node) {
    const double gain = best.feature < 0 ? 0 : gain_of(best, total, options);
    const bool found = gain > options.least_gain;
    splits.features[node] = found ? best.feature : -1;
    splits.gains[node] = found ? gain : 0;
    splits.sides(node, 0) = found ? best.left : total;
    splits.sides(node, 1) = found ? total - best.left : 0;
    const Vector<std::uint8_t> right = splits.right.row(node);
    if (found)
        mark_right(bins, best, taken, total, right);
    else
        std::fill(right.begin(), right.end(), std::uint8_t{0});
}

} // namespace rebel

#include "splits.hpp"

#include <bit>
#include <cmath>

#include "arithmetic.hpp"
#include "multiversion.hpp"

namespace rebel {

void take_from_sums(const int64_t* sums, size_t n_bins, BinSums& taken) {
    const size_t n_present = n_bins - 1;
    size_t first = 0;
    while (first < n_present && sums[first] == 0)
        ++first;
    taken.n = n_present - first;
    for (size_t i = 0; i < taken.n; ++i) {
        taken.bins[i] = static_cast<int32_t>(first + i);
        taken.sums[i] = sums[first + i];
    }
    if (sums[n_present] != 0)
        taken.push(n_present, sums[n_present]);
}

void take_from_samples(const uint8_t* column, Pairs values, Samples samples, BinSums& taken) {
    std::array<int64_t, most_bins> sums; // valid where a bit of `met` is set
    std::array<uint64_t, most_bins / 64> met{};
    for (const int32_t n : samples) {
        const size_t bin = bin_of(column, n);
        const uint64_t bit = uint64_t{1} << (bin % 64);
        uint64_t& word = met[bin / 64];
        sums[bin] = ((word & bit) != 0 ? sums[bin] : 0) + values[n];
        word |= bit;
    }
    taken.n = 0;
    for (size_t w = 0; w < met.size(); ++w)
        for (uint64_t word = met[w]; word != 0; word &= word - 1) {
            const size_t bin = 64 * w + static_cast<size_t>(std::countr_zero(word));
            if (sums[bin] != 0)
                taken.push(bin, sums[bin]);
        }
}

namespace {

// The left sides of the possible splits of a node by sums of pairs, unpacked so that they are
// valued in vectors (see scan_thresholds). The first of equal splits counts.
struct PairSides {
    PairSides(const BinSums& bins, int64_t total, int64_t least, void (*by)(PairSides&))
        : taken(bins), value(by), P(static_cast<double>(signed_of(total))),
          M(static_cast<double>(mass_of(total))), least_mass(static_cast<double>(least)) {}

    void start(bool with_missing) {
        n = 0;
        sum = with_missing ? taken.sums[taken.n - 1] : 0;
    }
    void add(size_t i) {
        sum += taken.sums[i];
        signed_sums[n] = static_cast<int32_t>(signed_of(sum));
        masses[n++] = static_cast<int32_t>(mass_of(sum));
    }
    void finish(bool missing_right) {
        value(*this);
        double top = best.value;
        size_t place = n;
        for (size_t i = 0; i < n; ++i)
            if (values[i] > top) {
                top = values[i];
                place = i;
            }
        if (place < n)
            best = {top, best.feature, static_cast<int32_t>(place), missing_right,
                    pair_of(signed_sums[place], masses[place])};
    }

    const BinSums& taken;
    void (*value)(PairSides&); // by the criterion
    double P;                  // of the node
    double M;
    double least_mass;
    Candidate best; // its bin is a place among the taken ones
    int64_t sum = 0;
    size_t n = 0;
    std::array<int32_t, most_bins> signed_sums;
    std::array<int32_t, most_bins> masses;
    std::array<double, most_bins> values;
};

// worth(p, m, q, r) is the value of a split into (p, m) and (q, r). Splits with a side that is too
// light are ruled out in a loop of their own: within one loop, GCC would branch around the division
// instead of vectorizing it.
template <class Worth>
REBEL_INLINE inline void value_sides(PairSides& left, Worth worth) {
    const double P = left.P, M = left.M, least = left.least_mass; // writing values changes none
    for (size_t i = 0; i < left.n; ++i) {
        const auto p = static_cast<double>(left.signed_sums[i]);
        const auto m = static_cast<double>(left.masses[i]);
        left.values[i] = worth(p, m, P - p, M - m);
    }
    for (size_t i = 0; i < left.n; ++i) {
        const auto m = static_cast<double>(left.masses[i]);
        const double value = left.values[i];
        left.values[i] = m >= least && M - m >= least ? value : -1.0;
    }
}

// M · (p²/m + q²/r − P²/M) = (p·r − q·m)² / (m·r): one division, and the same bits when left and
// right are swapped.
REBEL_CLONES void by_variance(PairSides& left) {
    value_sides(left, [](double p, double m, double q, double r) REBEL_INLINE {
        const double apart = p * r - q * m;
        return apart * apart / (m * r);
    });
}

REBEL_CLONES void by_error(PairSides& left) {
    value_sides(left, [](double p, double, double q, double)
                          REBEL_INLINE { return std::fabs(p) + std::fabs(q); });
}

// M·(1 − H) of a side: 0 where labels are even, M where they are all the same.
double information(double p, double m) {
    return m + ((times_log2(0.5 * std::max(0.0, m + p)) + times_log2(0.5 * std::max(0.0, m - p))) -
                times_log2(m));
}

void by_entropy(PairSides& left) {
    value_sides(left, [](double p, double m, double q, double r) {
        return std::max(0.0, information(p, m) + information(q, r));
    });
}

void by_gain_ratio(PairSides& left) {
    const double whole = information(left.P, left.M);
    const double undivided = times_log2(left.M);
    value_sides(left, [&](double p, double m, double q, double r) {
        const double gained = information(p, m) + information(q, r) - whole;
        const double parted = undivided - (times_log2(m) + times_log2(r));
        return parted > 0 ? std::max(0.0, gained / parted) : 0.0;
    });
}

constexpr std::array value_by = {by_variance, by_error, by_entropy, by_gain_ratio};

// Non-empty categories by ascending P/M, compared without division; ties by bin. The best two-sided
// split of them is a threshold in this order. Returns their number.
using Order = std::array<uint8_t, most_bins>;
size_t order_categories(const BinSums& taken, Order& order) {
    auto end = order.begin();
    for (size_t i = 0; i < taken.n; ++i)
        if (taken.sums[i] != 0)
            *end++ = static_cast<uint8_t>(i);
    std::stable_sort(order.begin(), end, [&](uint8_t a, uint8_t b) {
        const int64_t mass_a = mass_of(taken.sums[a]);
        const int64_t mass_b = mass_of(taken.sums[b]);
        if (mass_a == 0 || mass_b == 0)
            return mass_a < mass_b;
        return signed_of(taken.sums[a]) * mass_b < signed_of(taken.sums[b]) * mass_a;
    });
    return static_cast<size_t>(end - order.begin());
}

// Marks the bins that go right. Categories and missing values without mass in the node go where
// most of its mass goes.
void mark_right(const Bins& bins, const Candidate& split, const BinSums& taken, int64_t total,
                Vector<uint8_t> right) {
    const auto feature = static_cast<size_t>(split.feature);
    const size_t n_bins = bins.n_bins(feature);
    const size_t n_left = static_cast<size_t>(split.bin) + 1;
    const bool mostly_right = mass_of(total - split.left) > mass_of(split.left);
    if (bins.is_categorical(feature)) {
        std::fill_n(right.begin(), n_bins, uint8_t{mostly_right});
        Order order;
        const size_t n_categories = order_categories(taken, order);
        for (size_t i = 0; i < n_categories; ++i)
            if (mass_of(taken.sums[order[i]]) != 0)
                right[taken.bins[order[i]]] = i >= n_left;
        return;
    }
    std::fill(right.begin() + n_left, right.begin() + n_bins - 1, uint8_t{1});
    right[n_bins - 1] = taken.any_missing(n_bins) ? split.missing_right : mostly_right;
}

} // namespace

double value_of_whole(int64_t total, const SearchOptions& options) {
    const auto p = static_cast<double>(signed_of(total));
    if (options.criterion == Criterion::error)
        return std::fabs(p);
    if (options.criterion == Criterion::entropy)
        return std::max(0.0, information(p, static_cast<double>(mass_of(total))));
    return 0;
}

Candidate scan_feature(const Bins& bins, size_t feature, const BinSums& taken, int64_t total,
                       const SearchOptions& options) {
    PairSides sides(taken, total, options.least_mass,
                    value_by[static_cast<size_t>(options.criterion)]);
    sides.best.feature = static_cast<int32_t>(feature);
    if (taken.n < 2)
        return sides.best;
    if (bins.is_categorical(feature)) {
        Order order;
        const size_t n_categories = order_categories(taken, order);
        sides.start(false);
        for (size_t i = 0; i + 1 < n_categories; ++i)
            sides.add(order[i]);
        sides.finish(false);
    } else {
        const bool any_missing = taken.any_missing(bins.n_bins(feature));
        scan_thresholds(taken.n - any_missing, any_missing, sides);
        sides.best.bin = taken.bins[static_cast<size_t>(sides.best.bin)];
    }
    return sides.best;
}

void write_split(const Bins& bins, const Candidate& best, const BinSums& taken, int64_t total,
                 const SearchOptions& options, const Splits& splits, size_t node) {
    double gain = best.feature < 0 ? 0 : best.value - value_of_whole(total, options);
    if (options.criterion == Criterion::variance && gain > 0) // see by_variance
        gain /= static_cast<double>(mass_of(total));
    const bool found = gain > options.least_gain;
    splits.features[node] = found ? best.feature : -1;
    splits.gains[node] = found ? gain : 0;
    splits.sides(node, 0) = found ? best.left : total;
    splits.sides(node, 1) = found ? total - best.left : 0;
    const Vector<uint8_t> right = splits.right.row(node);
    std::fill(right.begin(), right.end(), uint8_t{0});
    if (found)
        mark_right(bins, best, taken, total, right);
}

} // namespace rebel

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
    constexpr size_t many = most_bins / 2;
    taken.n = 0;
    if (samples.size > many) { // clearing and reading all sums costs less than marking those met
        std::array<int64_t, most_bins> sums{};
        for (const int32_t n : samples)
            sums[bin_of(column, n)] += values[n];
        for (size_t bin = 0; bin < most_bins; ++bin)
            if (sums[bin] != 0)
                taken.push(bin, sums[bin]);
        return;
    }
    std::array<int64_t, most_bins> sums; // valid where a bit of `met` is set
    std::array<uint64_t, most_bins / 64> met{};
    for (const int32_t n : samples) {
        const size_t bin = bin_of(column, n);
        const uint64_t bit = uint64_t{1} << (bin % 64);
        uint64_t& word = met[bin / 64];
        sums[bin] = ((word & bit) != 0 ? sums[bin] : 0) + values[n];
        word |= bit;
    }
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

// For the criteria other than variance.
PairSides sides_of(const BinSums& taken, int64_t total, const SearchOptions& options) {
    constexpr std::array value_by = {by_error, by_entropy, by_gain_ratio};
    return {taken, total, options.least_mass, value_by[static_cast<size_t>(options.criterion) - 1]};
}

// Tries the left sides start + sums[0], start + sums[0] + sums[1], …, n of them, four at a time.
// Returns the place of the last one that was better, or n.
REBEL_CLONES size_t improve_by_variance(const int64_t* sums, size_t n, int64_t start,
                                        ByVariance node, Candidate& best) {
    constexpr size_t width = 4;
    using Doubles [[gnu::vector_size(8 * width)]] = double;
    using Halves [[gnu::vector_size(4 * width)]] = int32_t;
    using Flags [[gnu::vector_size(8 * width)]] = int64_t;
    size_t place = n;
    int64_t sum = start;
    const auto try_one = [&](size_t i, int64_t left) {
        const double value = node.value(left);
        if (value > best.value) {
            best.value = value;
            best.left = left;
            node.exceed(value);
            place = i;
        }
    };
    node.exceed(best.value);
    size_t i = 0;
    for (; i + width <= n; i += width) {
        int64_t left[width];
        Halves signed_half, mass_half;
        for (size_t j = 0; j < width; ++j) {
            sum += sums[i + j];
            left[j] = sum;
            signed_half[j] = static_cast<int32_t>(signed_of(sum));
            mass_half[j] = static_cast<int32_t>(mass_of(sum));
        }
        const Doubles p = __builtin_convertvector(signed_half, Doubles);
        const Doubles m = __builtin_convertvector(mass_half, Doubles);
        const Doubles r = node.M - m;
        const Doubles apart = p * r - (node.P - p) * m;
        const Flags better = apart * apart > node.limit * (m * r);
        if ((better[0] | better[1] | better[2] | better[3]) != 0)
            for (size_t j = 0; j < width; ++j)
                try_one(i + j, left[j]);
    }
    for (; i < n; ++i) {
        sum += sums[i];
        try_one(i, sum);
    }
    return place;
}

// Thresholds after each of the present bins, with the sum of missing values on the left, then on
// the right. Returns the place of the best, or n_present.
size_t improve_by_variance(const int64_t* sums, size_t n_present, int64_t missing, int64_t total,
                           const SearchOptions& options, Candidate& best) {
    const ByVariance node(total, options);
    if (n_present == 0)
        return 0;
    // After the last bin, nothing would be right.
    size_t place = improve_by_variance(sums, n_present - 1, missing, node, best);
    if (place + 1 == n_present)
        place = n_present;
    else
        best.missing_right = false;
    if (missing == 0)
        return place;
    const size_t with_right = improve_by_variance(sums, n_present, 0, node, best);
    if (with_right == n_present)
        return place;
    best.missing_right = true;
    return with_right;
}

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

void improve(const Bins& bins, size_t feature, const BinSums& taken, int64_t total,
             const SearchOptions& options, Candidate& best) {
    if (taken.n < 2)
        return;
    const auto f = static_cast<int32_t>(feature);
    const bool by_variance = options.criterion == Criterion::variance;
    if (bins.is_categorical(feature)) {
        Order order;
        const size_t n_categories = order_categories(taken, order);
        if (by_variance) {
            std::array<int64_t, most_bins> sums;
            for (size_t i = 0; i < n_categories; ++i)
                sums[i] = taken.sums[order[i]];
            const size_t place =
                improve_by_variance(sums.data(), n_categories, 0, total, options, best);
            if (place < n_categories) {
                best.feature = f;
                best.bin = static_cast<int32_t>(place);
            }
            return;
        }
        PairSides sides = sides_of(taken, total, options);
        sides.start(false);
        for (size_t i = 0; i + 1 < n_categories; ++i)
            sides.add(order[i]);
        sides.finish(false);
        if (sides.best.value > best.value) {
            best = sides.best;
            best.feature = f;
        }
        return;
    }
    const bool any_missing = taken.any_missing(bins.n_bins(feature));
    const size_t n_present = taken.n - any_missing;
    if (by_variance) {
        const int64_t missing = any_missing ? taken.sums[n_present] : 0;
        const size_t place =
            improve_by_variance(taken.sums.data(), n_present, missing, total, options, best);
        if (place < n_present) {
            best.feature = f;
            best.bin = taken.bins[place];
        }
        return;
    }
    PairSides sides = sides_of(taken, total, options);
    scan_thresholds(n_present, any_missing, sides);
    if (sides.best.value > best.value) {
        best = sides.best;
        best.feature = f;
        best.bin = taken.bins[static_cast<size_t>(best.bin)];
    }
}

void improve(const Bins& bins, size_t feature, const int64_t* sums, int64_t total,
             const SearchOptions& options, Candidate& best) {
    if (options.criterion == Criterion::variance && !bins.is_categorical(feature)) {
        const int64_t* const missing = sums + bins.n_bins(feature) - 1;
        const int64_t* first = sums;
        while (first < missing && *first == 0)
            ++first;
        const auto n_present = static_cast<size_t>(missing - first);
        const size_t place = improve_by_variance(first, n_present, *missing, total, options, best);
        if (place < n_present) {
            best.feature = static_cast<int32_t>(feature);
            best.bin = static_cast<int32_t>(first - sums + static_cast<ptrdiff_t>(place));
        }
        return;
    }
    BinSums taken;
    take_from_sums(sums, bins.n_bins(feature), taken);
    improve(bins, feature, taken, total, options, best);
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

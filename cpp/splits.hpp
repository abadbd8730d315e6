// One feature's bins → its best split of a node.
#pragma once

#include "multiversion.hpp"
#include "sums.hpp"

namespace rebel {

// The value of a split, from each side's fixed-point (signed P, mass M).
enum class Criterion : uint8_t {
    variance = 0, // P_L²/M_L + P_R²/M_R: the second-order gain of an output for each leaf
    error = 1,    // |P_L| + |P_R|: the gain of a sign for each leaf [REBEL, Sec. 4]
    // For labels ±1, |P| ≤ M, with weights (M ± P)/2 and their entropy H in bits [QUICK, Sec. 2]:
    entropy = 2,    // M − M_L·H_L − M_R·H_R
    gain_ratio = 3, // the gain in that, divided by the entropy of the sides' masses
};

struct SearchOptions {
    Criterion criterion;
    int64_t least_mass; // of each side of a split
    double least_gain;  // a split must gain more; less is rounding error

    void check() const {
        require(criterion <= Criterion::gain_ratio, "criterion must be 0, 1, 2 or 3");
    }
};

// For each node: the feature (−1 if no split gains anything), the bins that go right, the pair sums
// of the left and right sides, and the gain over the undivided node.
struct Splits {
    Vector<int32_t> features;
    Matrix<uint8_t> right;
    Matrix<int64_t> sides;
    Vector<double> gains;

    void check(size_t n_nodes) const {
        require(features.size == n_nodes && right.is(n_nodes, most_bins) && sides.is(n_nodes, 2) &&
                    gains.size == n_nodes,
                "splits and nodes do not match");
    }
};

// What a search has done: the (sample, feature) pairs visited, each counted once, and the features
// dropped before their last sample. With several threads this may differ from run to run, because
// they share a bound.
struct Work {
    int64_t visited = 0;
    int64_t dropped = 0;
};

// Ascending bins of a feature and their sums: either all bins or only the non-empty ones. A
// threshold after an empty bin has the value of the one before it, and loses the tie.
struct BinSums {
    std::array<int32_t, most_bins> bins;
    std::array<int64_t, most_bins> sums;
    size_t n = 0;

    void push(size_t bin, int64_t sum) {
        bins[n] = static_cast<int32_t>(bin);
        sums[n] = sum;
        ++n;
    }
    bool any_missing(size_t n_bins) const {
        return n > 0 && static_cast<size_t>(bins[n - 1]) == n_bins - 1;
    }
};

// All bins from the first non-empty one; the last, for missing values, only if it is not empty.
void take_from_sums(const int64_t* sums, size_t n_bins, BinSums& taken);

// The non-empty bins, without sums over all bins: for nodes with few samples.
void take_from_samples(const uint8_t* column, Pairs values, Samples samples, BinSums& taken);

// Tries the thresholds of a feature in order: first with missing values on the left, then, if there
// are any, on the right. A `Sides` combines a type of sum with a criterion and keeps the best
// split:
//   start(with_missing)    makes the left side empty, or gives it the missing values;
//   add(i)                 moves the i-th bin to the left side: a possible split;
//   finish(missing_right)  ends a pass.
template <class Sides>
void scan_thresholds(size_t n_present, bool any_missing, Sides& sides) {
    sides.start(any_missing);
    for (size_t i = 0; i + 1 < n_present; ++i) // after the last bin, nothing would be right
        sides.add(i);
    sides.finish(false);
    if (!any_missing)
        return;
    sides.start(false);
    for (size_t i = 0; i < n_present; ++i)
        sides.add(i);
    sides.finish(true);
}

struct Candidate {
    double value = -1; // criteria are never negative
    int32_t feature = -1;
    int32_t bin = 0; // the last bin that goes left; for categories, the number that go left − 1
    bool missing_right = false;
    int64_t left = 0; // pair sum of the left side
};

// Replaces `best` if a split of the feature has a higher value.
void improve(const Bins& bins, size_t feature, const BinSums& taken, int64_t total,
             const SearchOptions& options, Candidate& best);

// The same from the sums of all bins of the feature.
void improve(const Bins& bins, size_t feature, const int64_t* sums, int64_t total,
             const SearchOptions& options, Candidate& best);

// The best split of one feature.
inline Candidate scan_feature(const Bins& bins, size_t feature, const BinSums& taken, int64_t total,
                              const SearchOptions& options) {
    Candidate best;
    improve(bins, feature, taken, total, options, best);
    best.feature = static_cast<int32_t>(feature);
    return best;
}

// The splits of a node by variance, M · (p²/m + q²/r − P²/M) = (p·r − q·m)² / (m·r): one division,
// and the same bits when left and right are swapped. Most splits are worse than the best so far,
// which is seen without the division: if a ≤ (1 − 2⁻⁵⁰)·best·b as rounded, then a / b ≤ best.
struct ByVariance {
    ByVariance(int64_t total, const SearchOptions& options)
        : P(static_cast<double>(signed_of(total))), M(static_cast<double>(mass_of(total))),
          least_mass(static_cast<double>(options.least_mass)) {}

    double P;
    double M;
    double least_mass;
    double limit = -1;

    void exceed(double best) { limit = best * (1 - 0x1p-50); }

    REBEL_INLINE bool may_exceed(int64_t left) const {
        const auto p = static_cast<double>(signed_of(left));
        const auto m = static_cast<double>(mass_of(left));
        const double r = M - m;
        const double apart = p * r - (P - p) * m;
        return apart * apart > limit * (m * r);
    }
    // −1 if a side is too light.
    double value(int64_t left) const {
        const auto p = static_cast<double>(signed_of(left));
        const auto m = static_cast<double>(mass_of(left));
        const double r = M - m;
        const double apart = p * r - (P - p) * m;
        return m >= least_mass && r >= least_mass ? apart * apart / (m * r) : -1.0;
    }
};

// Whether a node has enough mass for two sides.
inline bool divisible(size_t n_samples, int64_t total, const SearchOptions& options) {
    return n_samples >= 2 && mass_of(total) >= 2 * options.least_mass;
}

// The value of the undivided node, on the scale of a candidate's value.
double value_of_whole(int64_t total, const SearchOptions& options);

// Writes the best split of a node, or that none gains enough.
void write_split(const Bins& bins, const Candidate& best, const BinSums& taken, int64_t total,
                 const SearchOptions& options, const Splits& splits, size_t node);

} // namespace rebel

// One feature's bins → its best split of a node.
#pragma once

#include <array>
#include <cstdint>

#include "stump_search.hpp"

namespace rebel {

// signed · 2³² + mass, see class_sums.hpp.
inline std::int64_t signed_of(std::int64_t pair) {
    return pair >> 32;
}
inline std::int64_t pair_of(std::int64_t signed_sum, std::int64_t mass) {
    return signed_sum * (std::int64_t{1} << 32) + mass;
}
inline std::int64_t mass_of(std::int64_t pair) {
    return pair & 0xffffffff;
}

// Some bins of a feature, rising, and their sums: all of them, or only those that are not empty.
// A threshold after an empty bin is worth what the one before it is, and loses the tie.
struct BinSums {
    std::array<std::int32_t, most_bins> bins;
    std::array<std::int64_t, most_bins> sums;
    std::size_t n = 0;

    void push(std::size_t bin, std::int64_t sum) {
        bins[n] = static_cast<std::int32_t>(bin);
        sums[n] = sum;
        ++n;
    }
};

// All bins from the first that is not empty; the last, for missing values, only if it is not empty.
void take_from_sums(const std::int64_t* sums, std::size_t n_bins, BinSums& taken);

// The bins that are not empty, without sums of all bins: for nodes with few samples.
void take_from_samples(const std::uint8_t* column, Vector<const std::int64_t> values,
                       Vector<const std::int32_t> samples, BinSums& taken);

struct Candidate {
    double value = -1; // criteria are never negative
    std::int32_t feature = -1;
    std::int32_t bin = 0; // the last bin that goes left; of categories, how many go left less one
    bool missing_right = false;
    std::int64_t left = 0; // pair sum of the left side
};

Candidate scan_feature(const Bins& bins, std::size_t feature, const BinSums& taken,
                       std::int64_t total, const SearchOptions& options);

// Marks the bins that go right. Categories and missing values that have no mass in the node go
// where most of its mass goes.
void mark_right(const Bins& bins, const Candidate& split, const BinSums& taken, std::int64_t total,
                Vector<std::uint8_t> right);

// A node whose mass does not suffice for two sides needs no search.
inline bool divisible(std::size_t n_samples, std::int64_t total, const SearchOptions& options) {
    return n_samples >= 2 && mass_of(total) >= 2 * options.least_mass;
}

// What the undivided node is worth, on the scale of a candidate's value.
double value_of_whole(std::int64_t total, const SearchOptions& options);

// What a split is worth more than the undivided node.
double gain_of(const Candidate& split, std::int64_t total, const SearchOptions& options);

// Writes the best split of a node, or that there is none that gains enough.
void write_split(const Bins& bins, const Candidate& best, const BinSums& taken, std::int64_t total,
                 const SearchOptions& options, const Splits& splits, std::size_t node);

} // namespace rebel

// One feature's bins → its best split of a node.
#pragma once

#include <array>
#include <cstdint>

#include "stump_search.hpp"

namespace rebel {

// signed · 2³² + mass, see class_sums.hpp.
inline std::int64_t signed_of(std::int64_t pair) { return pair >> 32; }
inline std::int64_t mass_of(std::int64_t pair) { return pair & 0xffffffff; }

// The bins of a feature whose sums are not zero, rising. A threshold after any other bin is worth
// what the one before it is.
struct FilledBins {
    std::array<std::int32_t, most_bins> bins;
    std::array<std::int64_t, most_bins> sums;
    std::size_t n = 0;

    void push(std::size_t bin, std::int64_t sum) {
        bins[n] = static_cast<std::int32_t>(bin);
        sums[n] = sum;
        ++n;
    }
};
void fill_from_sums(const std::int64_t* sums, std::size_t n_bins, FilledBins& filled);

// The same without sums of all bins, for nodes with few samples.
void fill_from_samples(const std::uint8_t* column, Vector<const std::int64_t> values,
                       Vector<const std::int32_t> samples, FilledBins& filled);

struct Candidate {
    double value = -1; // criteria are never negative
    std::int32_t feature = -1;
    std::int32_t bin = 0; // the last bin that goes left; of categories, how many go left less one
    bool missing_right = false;
    std::int64_t left = 0; // pair sum of the left side
};

Candidate scan_feature(const Bins& bins, std::size_t feature, const FilledBins& filled,
                       std::int64_t total, const SearchOptions& options);

// Marks the bins that go right. Categories and missing values that have no mass in the node go where
// most of its mass goes.
void mark_right(const Bins& bins, const Candidate& split, const FilledBins& filled,
                std::int64_t total, Vector<std::uint8_t> right);

// What the undivided node is worth.
double whole(std::int64_t total, const SearchOptions& options);

} // namespace rebel

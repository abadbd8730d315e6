// One feature's bins → its best split of a node.
#pragma once

#include <cstdint>
#include <utility>

#include "stump_search.hpp"

namespace rebel {

// signed · 2³² + mass, see class_sums.hpp.
inline std::int64_t signed_of(std::int64_t pair) { return pair >> 32; }
inline std::int64_t mass_of(std::int64_t pair) { return pair & 0xffffffff; }

struct Candidate {
    double value = -1; // criteria are never negative
    std::int32_t feature = -1;
    std::int32_t bin = 0; // the last bin that goes left; of categories, the last in their order
    bool missing_right = false;
    std::int64_t left = 0; // pair sum of the left side
};

Candidate scan_feature(const Bins& bins, std::size_t feature, const std::int64_t* sums,
                       std::int64_t total, const SearchOptions& options);

// Marks the bins that go right. Categories and missing values that have no mass in the node go where
// most of its mass goes.
void mark_right(const Bins& bins, const Candidate& split, const std::int64_t* sums,
                std::int64_t total, Vector<std::uint8_t> right);

// What the undivided node is worth.
double whole(std::int64_t total, const SearchOptions& options);

} // namespace rebel

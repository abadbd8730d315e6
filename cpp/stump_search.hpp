// The best split of a node, by sums over bins.
#pragma once

#include <cstdint>

#include "bins.hpp"

namespace rebel {

// What a split into left and right is worth, by each side's fixed-point (signed P, mass M).
enum class Criterion : std::uint8_t {
    variance = 0, // P_L²/M_L + P_R²/M_R: the second-order gain of an output for each leaf
    error = 1,    // |P_L| + |P_R|: the gain of a sign for each leaf [REBEL, Sec. 4]
};

struct SearchOptions {
    Criterion criterion;
    std::int64_t least_mass; // no side of a split has less
    double least_gain;       // and no split gains so little: below, it is rounding
};

// The nodes of one layer. Those of node i are samples[cuts(i, 0) … cuts(i, last)), handed over in
// subsets at cuts(i, 1), cuts(i, 2), …: with two columns, all at once.
struct NodeSamples {
    Vector<const std::int32_t> samples;
    Matrix<const std::int32_t> cuts;

    std::size_t n_nodes() const { return cuts.n_rows; }
    Vector<const std::int32_t> of(std::size_t node) const {
        return samples.slice(static_cast<std::size_t>(cuts(node, 0)),
                             static_cast<std::size_t>(cuts(node, cuts.n_cols - 1)));
    }
};

// For each node: the feature (−1: no split gains anything), the bins that go right, the pair sums
// of the left and of the right side, and the gain over leaving the node whole.
struct Splits {
    Vector<std::int32_t> features;
    Matrix<std::uint8_t> right;
    Matrix<std::int64_t> sides;
    Vector<double> gains;
};

// Finds the best split of every node of a layer; ties go to the lowest (feature, bin).
// `sums`, (nodes, bins), receives each node's sums. Where `parent_sums` has rows, nodes 2i and 2i +
// 1 are the children of row i: the smaller one is summed, the other is the parent less the smaller.
void search_layer(const Bins& bins, Vector<const std::uint8_t> allowed,
                  Vector<const std::int64_t> values, const NodeSamples& nodes,
                  Matrix<const std::int64_t> parent_sums, Matrix<std::int64_t> sums,
                  const SearchOptions& options, const Splits& splits, int n_threads);

struct Stump {
    std::int32_t feature = -1; // −1: the constant response is at least as good
    std::int64_t criterion = 0;
};

// The stump with the lowest Σ_k √(S_k² − P_k²) [THESIS, Eq. 4.10], each root rounded to an integer.
// `values`, (samples, classes padded to a multiple of 8), are the fixed-point G; `totals` are S.
Stump search_root(const Bins& bins, Vector<const std::uint8_t> allowed,
                  Matrix<const std::int32_t> values, Vector<const std::int64_t> totals,
                  const NodeSamples& root, Vector<std::uint8_t> right, int n_threads);

} // namespace rebel

// The best split of a node, by sums over bins.
#pragma once

#include <cstdint>

#include "bins.hpp"

namespace rebel {

// What a split into left and right is worth, by each side's fixed-point (signed P, mass M).
enum class Criterion : std::uint8_t {
    variance = 0, // P_L²/M_L + P_R²/M_R: the second-order gain of an output for each leaf
    error = 1,    // |P_L| + |P_R|: the gain of a sign for each leaf [REBEL, Sec. 4]
    // For labels ±1, |P| ≤ M, with weights of (M ± P)/2, and H their entropy in bits [QUICK, Sec.
    // 2]:
    entropy = 2,    // M − M_L·H_L − M_R·H_R
    gain_ratio = 3, // what that gains, over the entropy of the sides' masses
};

struct SearchOptions {
    Criterion criterion;
    std::int64_t least_mass; // no side of a split has less
    double least_gain;       // and no split gains so little: below, it is rounding
};

// The nodes of one layer. Those of node i are samples[cuts(i, 0) … cuts(i, last)), handed over in
// subsets at cuts(i, 1), cuts(i, 2), …: after each, features are dropped that cannot be the best
// (pruning.hpp). With two columns, or a first subset of all samples, there is nothing to drop.
struct NodeSamples {
    Vector<const std::int32_t> samples;
    Matrix<const std::int32_t> cuts;

    std::size_t n_nodes() const { return cuts.n_rows; }
    std::size_t n_subsets() const { return cuts.n_cols - 1; }
    Vector<const std::int32_t> of(std::size_t node) const { return part(node, 0, n_subsets()); }
    Vector<const std::int32_t> subset(std::size_t node, std::size_t s) const {
        return part(node, s, s + 1);
    }
    bool in_steps(std::size_t node) const { return subset(node, 0).size < of(node).size; }

    // Subsets from … to − 1.
    Vector<const std::int32_t> part(std::size_t node, std::size_t from, std::size_t to) const {
        return samples.slice(static_cast<std::size_t>(cuts(node, from)),
                             static_cast<std::size_t>(cuts(node, to)));
    }
};

// What a search has done: pairs of a sample and a feature visited, and features dropped before
// their last sample. May differ from run to run where threads share a bound.
struct Work {
    std::int64_t visited = 0;
    std::int64_t dropped = 0;
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
// Without rows for sums, the search keeps none, and drops features as it goes (layer_pruning.hpp).
Work search_layer(const Bins& bins, Vector<const std::uint8_t> allowed,
                  Vector<const std::int64_t> values, const NodeSamples& nodes,
                  Matrix<const std::int64_t> parent_sums, Matrix<std::int64_t> sums,
                  const SearchOptions& options, const Splits& splits, int n_threads);

struct Stump {
    std::int32_t feature = -1; // −1: the constant response is at least as good
    std::int64_t criterion = 0;
    Work work;
};

// The stump with the lowest Σ_k √(S_k² − P_k²) [THESIS, Eq. 4.10], each root rounded to an integer.
// `values`, (samples, classes padded to a multiple of 8), are the fixed-point G; `totals` are S.
Stump search_root(const Bins& bins, Vector<const std::uint8_t> allowed,
                  Matrix<const std::int32_t> values, Vector<const std::int64_t> totals,
                  const NodeSamples& root, Vector<std::uint8_t> right, int n_threads);

} // namespace rebel

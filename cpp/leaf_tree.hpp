// A whole step of boosting with trees whose leaves have their own outputs.
#pragma once

#include <utility>

#include "search.hpp"
#include "weights.hpp"

namespace rebel {

// A random direction in class space, with the same distribution for every class in units of √S_k,
// for `totals` S. It is centred, so that with two classes it always separates one from the other.
// `squares` receives the squares of its components.
struct DirectionSizes {
    double reach; // Σ_k S_k·|u_k|, which bounds Σ_n |⟨G_n, u⟩|
    double mass;  // Σ_k S_k·u_k²
};
DirectionSizes draw_direction(Vector<const double> totals, uint64_t key, Vector<double> direction,
                              Vector<double> squares);

// What trees are grown on besides the bins: `order` (sort_bins), the bin edges (bin_values), and
// the weight of each sample as multiples of a unit.
struct TreeData {
    Matrix<const uint32_t> order;
    Vector<const double> edges;
    Vector<const int32_t> edge_offsets;
    Vector<const double> counts;
    double unit;

    void check(const Bins& bins) const;
};

struct Focus {
    Samples samples;
    Allowed allowed;
};

// A tree of complete layers: its splits on bins (features and `right`) and on values, the samples'
// weight in each leaf, and the leaf of each sample. `category` receives the number of a node among
// those with a categorical feature, else −1.
struct GrownTree {
    Vector<int32_t> features;
    Matrix<uint8_t> right;
    Vector<double> thresholds;
    Vector<uint8_t> missing_right;
    Vector<int32_t> category;
    Vector<double> cover;
    Vector<uint16_t> regions;

    void check(const Bins& bins) const;
};

// Grows a tree by sums of pairs (grow_tree). Returns the number of layers that have a split: of
// the 2^depth − 1 nodes and 2^depth leaves, only those of these layers count.
int grow_term(const Bins& bins, const TreeData& data, const Focus& focus, Pairs values,
              const SearchOptions& options, const GrownTree& tree, Matrix<int64_t> scratch,
              int n_threads);

// Σ w⁺ and Σ w⁻ of each leaf, and its outputs ½ ln(s⁻/s⁺), shrunk towards 0 by `smoothing` of the
// average mass of a leaf. Returns the edge ρ = Σ|s⁺ − s⁻| / Σ(s⁺ + s⁻).
struct LeafSums {
    Matrix<double> plus;
    Matrix<double> minus;
    Matrix<double> outputs;
};
inline constexpr double least_smoothing = 1e-8; // limits an output to ½ ln(2 · 10⁸) ≈ 9.6

struct LeafTreeOptions {
    uint64_t key;      // of the random direction
    double least_mass; // of a leaf, as a fraction of all
    double smoothing;
};

// All of it: draws a direction, projects the weights on it, grows a tree, and solves its outputs.
// `values` and `sums` are memory to work in. Returns the number of layers and the edge.
struct TreeScratch {
    Vector<int64_t> values;
    Matrix<int64_t> sums;
};
std::pair<int, double> propose_tree(const Bins& bins, const TreeData& data, const Focus& focus,
                                    Planes weights, Vector<const double> totals,
                                    const LeafTreeOptions& options, const GrownTree& tree,
                                    const LeafSums& leaves, const TreeScratch& scratch,
                                    int n_threads);

} // namespace rebel

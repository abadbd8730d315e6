// Several rounds of boosting with leaf trees in one call.
#pragma once

#include "leaf_tree.hpp"
#include "rounds.hpp"

namespace rebel {

// How many rounds, and how terms are found in them.
struct TreePlan {
    Samples samples;
    Matrix<const uint8_t> allowed; // (rounds, features), or one row for all rounds
    Vector<const uint64_t> keys;   // (rounds,) of the random directions
    double least_mass;             // of a leaf, as a fraction of all
    double smoothing;
    double shrinkage;   // factor of the outputs
    double least_total; // ends when the weights of the training samples sum to this or less
};

// Memory to find a tree in.
struct TreeMemory {
    GrownTree tree;
    LeafSums leaves;
    TreeScratch scratch;
};

// The trees, one after the other, as in prediction.hpp. There may be room for more of them.
struct TreeTable {
    Vector<int32_t> depths;
    Vector<int32_t> features;
    Vector<double> thresholds;
    Vector<uint8_t> missing_right;
    Vector<int32_t> category;
    Matrix<uint8_t> right;
    Matrix<double> outputs;
    Vector<double> cover;

    void check(size_t n_rounds, size_t n_nodes, size_t n_classes) const;
};

// Proposes a tree, and adds it to the training samples and to the held-out ones, which have the
// bins `held_bins`; there may be none. Ends early before a tree that adds nothing, when `right` may
// be too short for the next tree, or when the weights have fallen to `least_total`. Returns the
// number of rounds.
int boost_trees(const Bins& bins, const TreeData& data, const Bins& held_bins, const TreePlan& plan,
                const Boosted& training, const Boosted& held, const TreeMemory& memory,
                const TreeTable& trees, const RoundLog& log, int n_threads);

} // namespace rebel

// Several rounds of boosting with similarities in one call.
#pragma once

#include "pairs.hpp"
#include "rounds.hpp"

namespace rebel {

// How many rounds, and how terms are found in them.
struct PairPlan {
    Vector<const int32_t> samples; // that are searched
    PairOptions options;
    Vector<const uint64_t> keys; // (rounds,) of the random draws
    double shrinkage;            // factor of the outputs
    double least_total; // ends when the weights of the training samples sum to this or less
};

// The training samples as points, for the comparison of others with them, and those others.
struct HeldPoints {
    Matrix<const float> points; // (N, d)
    Cube<const float> blocks;   // (ceil(M / 16), d, 16), see similarity.hpp
};

// The terms; see `Proposed`.
struct PairTable {
    Vector<uint8_t> kinds;
    Vector<int32_t> anchors;
    Vector<int32_t> rivals;
    Vector<double> apart;
    Cube<double> outputs; // (rounds, 2, K)

    void check(size_t n_rounds, size_t n_classes) const;
};

// Proposes a pair, and adds it to the training samples and to the held-out ones; there may be none.
// Ends early before a term that adds nothing, or when the weights have fallen to `least_total`.
// `memory` is overwritten in every round. Returns the number of rounds.
int boost_pairs(const PairSpace& space, const HeldPoints& others, const PairPlan& plan,
                const Boosted& training, const Boosted& held, const PairQueue& queue,
                const PairTerm& memory, const PairTable& terms, const RoundLog& log, int n_threads);

} // namespace rebel

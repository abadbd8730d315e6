// A round of similarities: the pair of training samples to compare with, and its output.
#pragma once

#include "levels.hpp"
#include "pair_search.hpp"

namespace rebel {

// What a round finds, and the arrays that receive its responses and outputs.
struct Proposed {
    int kind; // `constant` too
    int32_t anchor;
    int32_t rival; // −1 if there is none
    double apart;  // squared distance of anchor and rival, or τ
    double edge;   // ‖P‖₁/ΣS [THESIS, Eq. 4.12]
};
struct PairTerm {
    Vector<uint16_t> regions; // (N,) the levels of the responses
    Matrix<double> plus;      // see LevelSums
    Matrix<double> minus;
    Matrix<double> outputs;

    LevelSums sums() const { return {plus, minus, outputs}; }
};
inline constexpr int constant = 4;

// Takes the next pair of the queue, which is filled first if it is empty (pair_search.hpp), and
// solves its output. If a constant or the hard isolating learner, which responds with 1 at one
// sample and with −1 at all others, has a lower loss, takes that instead.
Proposed propose_pair(Planes weights, Vector<const double> totals, const PairSpace& space,
                      Vector<const int32_t> samples, const PairOptions& options, uint64_t key,
                      const PairQueue& queue, const PairTerm& out, int n_threads);

} // namespace rebel

// What several rounds of boosting in one call need, whatever finds the terms: such calls are for
// fits that nobody watches between the rounds.
#pragma once

#include "weights.hpp"

namespace rebel {

// Samples that terms are added to: their weights and scores, the totals of the weights, the classes
// that the scores decide for, and what decisions are judged by.
struct Boosted {
    Cube<double> weights;
    Matrix<double> scores;
    Vector<double> totals;
    Vector<int32_t> decided;
    JudgedLabels judged;

    void check(size_t n_samples, size_t n_classes) const;
};

// What is noted of each round: the edge of its term; and of the training and the held-out samples
// the exponent of the power of two that scaled the weights, the totals, and the error and cost.
struct RoundLog {
    Vector<double> edges;
    Matrix<int32_t> shifts; // (rounds, 2)
    Cube<double> totals;    // (rounds, 2, classes)
    Cube<double> rates;     // (rounds, 2, 2)

    void check(size_t n_rounds, size_t n_classes) const;
};

// Recomputes the totals of the weights: first with a scale from an upper bound, then from the sum.
void total_up(Planes weights, Vector<double> totals, int n_threads);

// Adds a term to samples, and notes its effect in the round's row of the log; `kind` is 0 for
// training samples, and 1 for held-out ones. Returns the exponent of the scale.
int add_term(const Boosted& to, Regions regions, Matrix<const double> outputs, const RoundLog& log,
             size_t round, size_t kind, int n_threads);

// Multiplies outputs by the shrinkage. Returns whether anything is left.
bool shrink(Matrix<double> outputs, double shrinkage);

// Whether the weights of training samples, before they were scaled by 2^−shifted, sum to more.
bool sum_exceeds(const Boosted& training, int shifted, double least_total);

} // namespace rebel

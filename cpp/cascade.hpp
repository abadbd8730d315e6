// Scores of samples that leave as soon as a check decides them.
#pragma once

#include <vector>

#include "prediction.hpp"
#include "similarity.hpp"

namespace rebel {

// Comparisons in one space, and the samples as its points.
struct ComparedPoints {
    Matrix<const float> placed; // (N, D)
    Matrix<const float> points; // (E, D) examples, in the order in which comparisons refer to them
    Comparisons comparisons;
};

// After each check, stops(i, 0) trees and stops(i, 1 + s) comparisons in space s have been added. A
// sample then leaves if its value is below low[i] or above high[i]. The value is the second score
// minus the first with two classes, else the highest score minus the second highest.
struct Checks {
    Matrix<const int64_t> stops;
    Vector<const double> low;
    Vector<const double> high;
};

// Adds terms to the scores until a check lets a sample leave, and writes the number of that check
// to `stage`, or the number of checks. Within a check, trees are added first, then the spaces in
// turn.
template <class Value>
void leave_early(Matrix<const Value> X, const Trees& trees,
                 const std::vector<ComparedPoints>& spaces, Vector<const double> values,
                 const Checks& checks, Matrix<double> scores, Vector<int32_t> stage, int n_threads);

} // namespace rebel

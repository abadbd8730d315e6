// Piecewise constant functions of single features.
#pragma once

#include "bins.hpp"

namespace rebel {

// Function i depends on features[i]. For numbers, its thresholds [starts[i], starts[i + 1]) rise; a
// sample that exceeds j of them has the output in row rows[i] + j, and NaN that in the row after.
// For categories, code c has row rows[i] + c, and all else the row after the last code.
struct Steps {
    Vector<const int32_t> features;
    Vector<const int64_t> starts;
    Vector<const double> thresholds;
    Vector<const int64_t> rows;
    Vector<const uint8_t> categorical;
    Matrix<const double> outputs;

    void check(size_t n_features) const;
};

// Adds the outputs of all functions to the scores, in this order.
template <class Value>
void add_steps(Matrix<const Value> X, const Steps& steps, Matrix<double> scores, int n_threads);

} // namespace rebel

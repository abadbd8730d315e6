// Features of smooth similarities: with the kernel k = 2τ/(τ + r) of squared distances r, and
// K = UᵀU among some examples, the features of a point are k(x)·U⁻¹, centred.
#pragma once

#include "ridge.hpp"

namespace rebel {

// Chooses examples one after the other, each time the one whose kernel the chosen ones explain
// least, until that is `least` or less for all. Returns how many were chosen. `factor` is U,
// padded by the identity; its size is that of `among`, padded to a multiple of 8.
int32_t choose_examples(Matrix<const float> among, double tau, double least, Vector<int32_t> chosen,
                        Matrix<double> factor);

// The features of all points, less `centre`, their mean. `distances` are (examples, points).
void place_features(Matrix<const float> distances, double tau, Vector<const int32_t> chosen,
                    Matrix<const double> factor, Vector<double> centre, Matrix<float> features);

// (M, K) scores of some points, from (K, 1 + R) constants and coefficients.
void feature_scores(Features features, Vector<const int32_t> points, Matrix<const double> solved,
                    Matrix<double> scores);

} // namespace rebel

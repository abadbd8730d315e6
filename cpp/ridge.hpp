// Least squares with a penalty, on features: sums of products, Cholesky's factor, and triangular
// systems. Sums are in the order of the points, or of the unknowns.
#pragma once

#include "views.hpp"

namespace rebel {

// (N, R); R is a multiple of 8, with columns of 0 at the end.
using Features = Matrix<const float>;

// gram = Σ_n weight·φᵢ·φⱼ.
void weighted_gram(Features features, Vector<const double> weight, Matrix<double> gram);

// sums[m] = Σ_n values[n][m]·φ.
void feature_sums(Features features, Matrix<const double> values, Matrix<double> sums);

// The upper triangular U with UᵀU = G + ridge·I, for the first rows and columns of G. No pivot is
// below `ridge`, but for rounding errors in G.
void ridge_factor(Matrix<const double> gram, double ridge, Matrix<double> factor);

// (R, m) values become U⁻ᵀ·values, and U⁻¹·values.
void solve_lower(Matrix<const double> factor, Matrix<double> values);
void solve_upper(Matrix<const double> factor, Matrix<double> values);

} // namespace rebel

// Binarization: many classes merged into two sides [LOCAL, Sec. 4; THESIS 5.3].
#pragma once

#include "weights.hpp"

namespace rebel {

// q = the leading eigenvector of a symmetric positive semidefinite matrix, of length 1, its largest
// entry positive; 0 if the matrix is. If the leading eigenvalue is multiple, or nearly, it is the
// projection of a unit vector on the leading space.
void leading_eigenvector(Matrix<const double> matrix, Vector<double> q);

// With U = G/√S and the leading eigenvector q of UᵀU: the fixed-point pair v · 2³² + mass of each
// sample (weights.hpp), v = U·q, mass = Σ_k W_k/S_k.
void binarize(Planes weights, Vector<const double> totals, Vector<int64_t> values, int n_threads);

} // namespace rebel

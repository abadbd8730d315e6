// Logistic regression of each class on features, by L-BFGS on whitened coefficients.
#pragma once

#include "ridge.hpp"

namespace rebel {

struct DescentOptions {
    double ridge;     // penalty on the squares of the coefficients
    double precision; // stop where a step promises to lower the loss by less than half of this
    size_t most_steps;
    size_t n_features; // that are used, the first ones
};

// Minimises Σ own·ln(1 + e^{−2H}) + rest·ln(1 + e^{2H}) + ridge/2·‖c‖² for each class, where
// H = b + ⟨c, φ⟩. `mass` (2, K, N) is the weight of the class and that of the others. Rows (b, c)
// of `solved` are the start, and become the result. The upper triangular factor U whitens: in terms
// of U·c, the curvature is at most about 1.
void solve_logistic(Features features, Cube<const double> mass, Matrix<const double> factor,
                    const DescentOptions& options, Matrix<double> solved);

} // namespace rebel

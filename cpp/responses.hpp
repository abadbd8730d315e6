// Responses in [−1, 1] in double precision, for similarities to the letter of [LOCAL, Sec. 5.2].
#pragma once

#include "views.hpp"

namespace rebel {

// out[i, n] = ‖placed_n − points_i‖².
void exact_distances(Matrix<const double> placed, Matrix<const double> points, Matrix<double> out,
                     int n_threads);

// For each response f, a row of `responses`, the outputs a that minimise Σ_n w⁺e^{fa} + w⁻e^{−fa}
// of each class, and the loss with them: for f = ±1 the closed form [LOCAL, Eq. 5], else Newton's
// method. `weights` are w⁺ and −w⁻, in one plane or two.
void solve_responses(Matrix<const double> responses, Cube<const double> weights,
                     Matrix<double> outputs, Vector<double> losses, int n_threads);

} // namespace rebel

// Responses in [−1, 1] in double precision, for similarities to the letter of [LOCAL, Sec. 5.2].
#pragma once

#include <utility>

#include "views.hpp"

namespace rebel {

// out[i, n] = ‖placed_n − points_i‖².
void exact_distances(Matrix<const double> placed, Matrix<const double> points, Matrix<double> out,
                     int n_threads);

// The first of several responses f, rows of `responses`, whose loss is below that of all before it,
// and below `least`, by more than a share `equal`; −1 if there is none. The second is its loss, and
// `output` receives its output: for each class the a that minimises Σ_n w⁺e^{fa} + w⁻e^{−fa}, for
// f = ±1 in closed form [LOCAL, Eq. 5], else by Newton's method. `weights` are w⁺ and −w⁻, in one
// plane or two.
//
// Most responses are not solved: by Jensen's inequality, no output gives a lower loss than one
// response for all samples of about the same |f|, and that is too high already.
std::pair<int64_t, double> best_response(Matrix<const double> responses, Cube<const double> weights,
                                         double least, double equal, Vector<double> output,
                                         int n_threads);

} // namespace rebel

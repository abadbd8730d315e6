// What turns scores into class probabilities (costs/posterior.py).
#pragma once

#include "views.hpp"

namespace rebel {

// The ln λ of each row with Σ_k σ(x_k − ln λ) = 1. A row ends its own search when a step moves it
// by less than `enough`, relative to ln λ: its result does not depend on the rows beside it.
void log_lambdas(Matrix<const double> x, double enough, Vector<double> log_lambda);

} // namespace rebel

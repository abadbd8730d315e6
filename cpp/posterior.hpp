// Class probabilities from scores, for uniform costs [THESIS Sec. 4.3]: P_k = σ(2H_k − ln λ) with
// the λ for which they sum to 1. Each sample's result depends on its own scores only.
#pragma once

#include <utility>

#include "views.hpp"

namespace rebel {

// Probabilities of (samples, classes) doubled scores 2H. ln λ is found by Newton's method, until a
// step is below `enough`, relative to ln λ or to 1.
void uniform_posteriors(Matrix<const double> doubled, double enough, Matrix<double> out,
                        int n_threads);

// Mean of −ln P of the samples' classes at doubled scores times a factor, and its derivative by the
// logarithm of the factor. Means are exact sums of rounded numbers, whatever the order of the
// samples. `weight` is (samples,), or empty.
std::pair<double, double> log_loss_and_slope(Matrix<const double> doubled, double factor,
                                             Vector<const int32_t> labels,
                                             Vector<const double> weight, double enough,
                                             int n_threads);

} // namespace rebel

// The best outputs of responses that have many discrete levels.
#pragma once

#include "weights.hpp"

namespace rebel {

// How the outputs a and b of f·a + b are found for each class. `affine`: both minimise the loss.
// `slope`: a minimises the loss and b is 0. `sign`: the same for f = ±1, where it has a closed
// form.
enum OutputRule : int { affine = 0, slope = 1, sign = 2 };

// Smoothing, relative to the mass: limits an output to ½ ln(2/cap) (losses/exponential.py).
inline constexpr double cap = 1e-8;

struct LevelSums {
    Matrix<double> plus;    // (levels, K) Σ w⁺ of each level
    Matrix<double> minus;   // (levels, K) Σ w⁻
    Matrix<double> outputs; // (2, K) a and b
};

// Sums up the weights of each level, solves the outputs, and returns the loss after the term.
// `regions` are the levels of the samples (similarity.hpp).
double solve_levels(Planes weights, Vector<const double> totals, Regions regions, int rule,
                    const LevelSums& out, int n_threads);

} // namespace rebel

// From a tree's regions to the next round's weights.
//
// Weights: one or two planes of (samples, classes). A positive entry is a w⁺, a negative one a −w⁻;
// THESIS subcosts leave at most one of the two at each place, so that one plane holds both.
#pragma once

#include <cstdint>

#include "views.hpp"

namespace rebel {

// The fixed-point pair that trees are grown on: signed = ⟨G_n, direction⟩, mass = ⟨W_n, squares⟩,
// each times its scale and rounded, packed as signed · 2³² + mass. Class k is added to the (k mod
// 4)-th of four sums, and those to one another in pairs.
struct Projection {
    Vector<const double> direction;
    Vector<const double> squares;
    double signed_scale;
    double mass_scale;
};
void project(Cube<const double> weights, const Projection& projection, Vector<std::int64_t> values,
             int n_threads);

// Adds each region's fixed-point sums: sums(r, 0, k) += Σ G_nk · scales[k], sums(r, 1, k) those of
// W.
void region_sums(Cube<const double> weights, Vector<const std::uint16_t> regions,
                 Vector<const double> scales, Cube<std::int64_t> sums, int n_threads);

// Adds the region's outputs to the scores, multiplies w⁺ by `up` and w⁻ by `down`, writes the class
// of the highest score (the first, if several), and adds the new W_nk times scales[k] to totals[k].
// Weights below `tiny` become 0: they no longer count, and denormal numbers are slow.
struct Step {
    Matrix<const double> outputs;
    Matrix<const double> up;
    Matrix<const double> down;
    Vector<const double> scales;
};
inline constexpr double tiny = 0x1p-900;
void advance(Cube<double> weights, Matrix<double> scores, Vector<const std::uint16_t> regions,
             const Step& step, Vector<std::int64_t> totals, Vector<std::int32_t> decided,
             int n_threads);

} // namespace rebel

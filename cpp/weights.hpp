// From the regions of a hypothesis to the weights of the next round.
#pragma once

#include "views.hpp"

namespace rebel {

// One or two planes of (samples, classes). A positive entry is a w⁺, a negative one a −w⁻. With
// THESIS subcosts at most one of the two is present at each place, so that one plane holds both.
using Planes = Cube<const double>;
using Regions = Vector<const uint16_t>; // (samples,) the region that each sample falls into

// The fixed-point pair that trees are grown on: signed = ⟨G_n, direction⟩ and mass = ⟨W_n,
// squares⟩, each scaled, rounded and packed as signed · 2³² + mass. Classes are added in lanes
// (arithmetic.hpp).
struct Projection {
    Vector<const double> direction;
    Vector<const double> squares;
    double signed_scale;
    double mass_scale;
};
void project(Planes weights, const Projection& projection, Vector<int64_t> values, int n_threads);

// Fixed-point weights for the root of a tree: signed G, (samples, classes padded to a multiple of
// 8), the key Σ_k |G_k| of each sample, and the totals of W over some samples.
void fix_weights(Planes weights, Vector<const int32_t> samples, double scale,
                 Matrix<int32_t> signed_weights, Vector<int64_t> keys, Vector<int64_t> totals,
                 int n_threads);

// Adds the fixed-point sums of each region: sums(r, 0, k) += Σ G_nk · scales[k], and sums(r, 1, k)
// the same of W.
void region_sums(Planes weights, Regions regions, Vector<const double> scales, Cube<int64_t> sums,
                 int n_threads);

// What the logistic loss needs: c⁺ or −c⁻ of each sample and class, and the odds e^H or e^−H. The
// outputs a of a region multiply the odds by `up` = e^a or `down` = e^−a.
struct LogisticLine {
    Cube<const double> subcosts;
    Cube<const double> odds;
    Matrix<const double> up;
    Matrix<const double> down;
    Vector<const double> scales;
};

// Slopes along a line search. With p = odds/(1 + odds), adds the fixed-point Σ c·p of each region
// to sums(r, 0, k) and Σ |c|·p·(1 − p) to sums(r, 1, k).
inline constexpr double huge = 0x1p1000; // odds are limited to this: ∞ · 0 is not a number
void logistic_sums(const LogisticLine& line, Regions regions, Cube<int64_t> sums, int n_threads);

// Adds the region's outputs to the scores, multiplies w⁺ by `up` and w⁻ by `down`, writes the class
// with the highest score (the first of equals), and adds the new W_nk · scales[k] to totals[k].
// Weights below `tiny` become 0: they no longer matter, and denormal numbers are slow.
struct Step {
    Matrix<const double> outputs;
    Matrix<const double> up;
    Matrix<const double> down;
    Vector<const double> scales;
};
inline constexpr double tiny = 0x1p-900;
void advance(Cube<double> weights, Matrix<double> scores, Regions regions, const Step& step,
             Vector<int64_t> totals, Vector<int32_t> decided, int n_threads);

// Labelled samples, and what mistakes cost by class. No labels: not judged.
struct JudgedLabels {
    Vector<const int32_t> labels;
    Vector<const double> counts; // weights as multiples of a unit, so that sums are exact
    Matrix<const double> costs;  // (true, decided)
    Vector<const int64_t> place; // of each among those decided on; none: the same samples
};
struct Rates {
    double error; // share of wrong decisions
    double cost;  // mean cost of the decisions
};
Rates rate(Vector<const int32_t> decided, const JudgedLabels& judged);

// A term's whole effect: the factors e^a and e^−a of its outputs, times a power of two that brings
// the totals to about 1; then `advance`, and the error and cost of the decisions.
struct Taken {
    int shift;  // exponent of that power of two, negated
    bool loose; // the bounds of the totals were too high for precise sums
    Rates rates;
};
inline constexpr double most_loose = 0x1p10;
Taken take_step(Cube<double> weights, Matrix<double> scores, Regions regions,
                Matrix<const double> outputs, Vector<double> totals, Vector<int32_t> decided,
                const JudgedLabels& judged, int n_threads);

} // namespace rebel

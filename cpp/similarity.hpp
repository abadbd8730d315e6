// Squared distances, and responses that compare a sample with one or two training samples.
#pragma once

#include "views.hpp"

namespace rebel {

using Distances = Matrix<const float>; // (points, samples), squared

// The values of 16 samples are adjacent, feature by feature: (ceil(N / 16), d, 16).
constexpr size_t abreast = 16;

// A response is stored as the index of a level. Level `zero_level` is 0, and on both sides of it
// each octave below 1 has `level_steps` levels. The first and last levels are −1 and 1.
constexpr int level_steps = 16;
constexpr int level_octaves = 8;
constexpr int zero_level = level_steps * level_octaves + 1;
constexpr int n_levels = 2 * zero_level + 1;

enum ComparisonKind : int { two_points = 0, nearer = 1, one_point = 2, inside = 3 };

struct Comparisons {
    Vector<const int32_t> anchors; // rows of the distances
    Vector<const int32_t> rivals;
    Vector<const int32_t> kinds;
    Vector<const double> apart;   // squared distance of anchor and rival, or τ
    Matrix<const double> outputs; // (T, K) a of f·a + b
    Matrix<const double> offsets; // (T, K) b
};

// The values of the levels, rising from −1 to 1.
Vector<const double> response_levels();

// out[i, n] = ‖x_n − points_i‖², with the features added in order.
void squared_distances(Cube<const float> blocks, Matrix<const float> points, Matrix<float> out,
                       int n_threads);

// The level of each sample's response. `anchor` and `rival` are its squared distances.
void compare(Vector<const float> anchor, Vector<const float> rival, int kind, double apart,
             Vector<uint16_t> levels, int n_threads);

// The level of each sample's response to one comparison, from its points: the anchor and, if the
// kind has one, the rival.
void compare_points(Cube<const float> blocks, Matrix<const float> points, int kind, double apart,
                    Vector<uint16_t> levels, int n_threads);

// Pairs of an anchor and a rival, as rows of the distances.
struct PairList {
    Vector<const int32_t> anchors;
    Vector<const int32_t> rivals;
    Vector<const double> apart;
};

// For sums over samples, responses are rounded to integers of this many bits.
constexpr int response_bits = 10;

// sums[i] = Σ f·signed, Σ f·mass and Σ f²·mass for each pair and class, f an integer.
// `signed_values` and `mass` are (K, n) integers, small enough that a double holds every sum of
// products exactly.
void pair_sums(Distances from_anchors, Distances from_rivals, const PairList& pairs, int kind,
               Matrix<const double> signed_values, Matrix<const double> mass, Cube<double> sums,
               int n_threads);

// nearest[i] = the samples whose value has the opposite sign to anchor i's and which do not
// coincide with it, by distance; the first of equally distant samples comes first. −1 if there are
// no more.
void nearest_rivals(Distances distances, Vector<const int64_t> anchor_values,
                    Vector<const int64_t> values, Matrix<int32_t> nearest);

// The response that is 1 at one sample and −1 at all others with the lowest loss; −1 if there are
// no samples. The loss is min_n Σ_k √(S_k² − P_nk²), P_n = 2·G_n − ΣG, the first of equals. Classes
// are added in lanes (arithmetic.hpp).
struct Isolated {
    int32_t sample;
    double loss;
};
Isolated best_isolated(Cube<const double> weights, Vector<const double> totals,
                       Vector<const double> signed_totals, int n_threads);

// scores += f·a + b of comparisons [first, last), in this order.
void add_comparisons(Distances distances, const Comparisons& comparisons,
                     Vector<const double> values, size_t first, size_t last, Matrix<double> scores,
                     int n_threads);

// scores += Σ_i f_i·a_i + b with f = (τ − r)/(τ + r), in double precision and in the order of i.
void add_similarities(Distances distances, double tau, Matrix<const double> outputs,
                      Vector<const double> offset, Matrix<double> scores, int n_threads);

} // namespace rebel

// Squared distances, and responses that compare a sample with one or two training samples.
#pragma once

#include <cstdint>

#include "views.hpp"

namespace rebel {

// The values of 16 samples lie side by side, feature by feature: (ceil(N / 16), d, 16).
constexpr std::size_t samples_abreast = 16;

// A response is kept as the index of a level: 0 is level zero, and on both sides of it each octave
// below 1 has `level_steps` levels; ±1 itself is the last.
constexpr int level_steps = 16;
constexpr int level_octaves = 8;
constexpr int zero_level = level_steps * level_octaves + 1;
constexpr int n_levels = 2 * zero_level + 1;

enum ComparisonKind : int { two_points = 0, nearer = 1, one_point = 2, inside = 3 };

struct Comparisons {
    Vector<const std::int32_t> anchors; // rows of the distances
    Vector<const std::int32_t> rivals;
    Vector<const std::int32_t> kinds;
    Vector<const double> apart;   // squared distance of anchor and rival, or τ
    Matrix<const double> outputs; // (T, K) a of f·a + b
    Matrix<const double> offsets; // (T, K) b
};

// out[i, n] = ‖x_n − points_i‖², features added one after the other.
void squared_distances(Cube<const float> blocks, Matrix<const float> points, Matrix<float> out,
                       int n_threads);

// The level of each sample's response; `anchor` and `rival` are its squared distances.
void compare(Vector<const float> anchor, Vector<const float> rival, int kind, double apart,
             Vector<std::uint16_t> levels, int n_threads);

// Pairs of an anchor and a rival, by the rows of their distances.
struct PairList {
    Vector<const std::int32_t> anchors;
    Vector<const std::int32_t> rivals;
    Vector<const double> apart;
};

// Responses are rounded to integers of so many bits for sums over samples.
constexpr int response_bits = 10;

// sums[i] = Σ f·signed, Σ f·mass, Σ f²·mass for each pair and class, f an integer. `signed_values`
// and `mass` are (K, n) integers, small enough that a double holds every sum of products exactly.
void pair_sums(Matrix<const float> from_anchors, Matrix<const float> from_rivals,
               const PairList& pairs, int kind, Matrix<const double> signed_values,
               Matrix<const double> mass, Cube<double> sums, int n_threads);

// scores += f·a + b of comparisons [first, last), one after the other.
void add_comparisons(Matrix<const float> distances, const Comparisons& comparisons,
                     Vector<const double> values, std::size_t first, std::size_t last,
                     Matrix<double> scores, int n_threads);

} // namespace rebel

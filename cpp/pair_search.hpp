// The search for pairs of training samples to compare with [LOCAL, Sec. 5].
#pragma once

#include <vector>

#include "similarity.hpp"
#include "weights.hpp"

namespace rebel {

// The training samples as points. Distances are looked up if they are known, else computed.
struct PairSpace {
    Cube<const float> blocks;      // (ceil(N / 16), d, 16), see similarity.hpp
    Matrix<const float> points;    // (N, d)
    Matrix<const float> distances; // (N, N), or none if they are not known

    bool is_known() const { return distances.n_rows > 0; }
};

struct PairOptions {
    int kind;         // `two_points` or `nearer`
    int rule;         // how outputs are found, see levels.hpp
    size_t n_anchors; // drawn at a time
    size_t n_rivals;  // compared for each of them
    size_t n_subset;  // samples that gains are computed on
};

// Pairs that were found together wait here.
struct PairQueue {
    Vector<int32_t> waiting; // (2,) index of the first, and number
    Matrix<int32_t> pairs;   // (anchors, 2)
    Matrix<float> rows;      // (2 · anchors, N) the distances from each, unless all are known
};

// Fills the queue. Anchors are drawn in proportion to |v| (binarization.hpp). Each is compared with
// its nearest rivals on the other side, and paired with the one that has the largest gain
// Σ_k P_k²/Q_k; with affine outputs, of f minus its mean. If there are more than `n_subset`
// samples, gains are computed on some of them, drawn in proportion to their mass.
void find_pairs(Planes weights, Vector<const double> totals, const PairSpace& space,
                Vector<const int32_t> samples, const PairOptions& options, uint64_t key,
                const PairQueue& queue, int n_threads);

// Squared distances from some samples to all, or to `others`: the rows `index` of a matrix.
struct Rows {
    std::vector<float> storage;
    Matrix<const float> matrix;
    std::vector<int32_t> index;

    Vector<const float> operator[](size_t i) const { return matrix.row(index[i]); }
};
Rows rows_from(const PairSpace& space, const std::vector<int32_t>& samples,
               const std::vector<int32_t>* others, int n_threads);

} // namespace rebel

// The scores of new samples.
#pragma once

#include "bins.hpp"

namespace rebel {

// Trees of complete layers. Tree t has depth depths[t]; its 2^depth − 1 nodes, in level order,
// begin at node_offsets[t], and the outputs of its 2^depth leaves at row leaf_offsets[t]. Node i
// sends x right if x > thresholds[i], and NaN if missing_right[i] is set. If category[i] is not
// negative, x is the code of a category, and row category[i] of `right` has the codes that go
// right.
struct Trees {
    Vector<const int32_t> depths;
    Vector<const int64_t> node_offsets;
    Vector<const int64_t> leaf_offsets;
    Vector<const int32_t> features;
    Vector<const double> thresholds;
    Vector<const uint8_t> missing_right;
    Vector<const int32_t> category;
    Matrix<const uint8_t> right;
    Matrix<const double> outputs;

    const double* outputs_of(size_t tree) const {
        return outputs.data + static_cast<size_t>(leaf_offsets[tree]) * outputs.n_cols;
    }
    void check() const {
        const size_t n_nodes = features.size;
        require(node_offsets.size == depths.size && leaf_offsets.size == depths.size &&
                    thresholds.size == n_nodes && missing_right.size == n_nodes &&
                    category.size == n_nodes && right.n_cols == most_bins,
                "the arrays of the trees do not match");
    }
};

// Adds the outputs of trees [first, last) to the scores, in this order.
template <class Value>
void predict(Matrix<const Value> X, const Trees& trees, size_t first, size_t last,
             Matrix<double> scores, int n_threads);

// The leaf of one tree that each sample falls into.
template <class Value>
void apply(Matrix<const Value> X, const Trees& trees, size_t tree, Vector<uint16_t> regions,
           int n_threads);

} // namespace rebel

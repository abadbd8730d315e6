// Scores of new samples, from their values.
#pragma once

#include <cstdint>

#include "views.hpp"

namespace rebel {

// Trees of complete layers, one after the other. Tree t has depth depths[t], its 2^depth − 1 nodes
// in level order begin at node_offsets[t], the outputs of its 2^depth leaves at row
// leaf_offsets[t]. A node sends x right if x > threshold; NaN goes right where missing_right says
// so. Where category[i] is not negative, x is a category's code, and row category[i] of `right`
// says which codes go right.
struct Trees {
    Vector<const std::int32_t> depths;
    Vector<const std::int64_t> node_offsets;
    Vector<const std::int64_t> leaf_offsets;
    Vector<const std::int32_t> features;
    Vector<const double> thresholds;
    Vector<const std::uint8_t> missing_right;
    Vector<const std::int32_t> category;
    Matrix<const std::uint8_t> right;
    Matrix<const double> outputs;
};

// Adds the outputs of trees [first, last) to the scores, one tree after the other.
template <class Value>
void predict(Matrix<const Value> X, const Trees& trees, std::size_t first, std::size_t last,
             Matrix<double> scores, int n_threads);

// The leaf of one tree that each sample falls into.
template <class Value>
void apply(Matrix<const Value> X, const Trees& trees, std::size_t tree,
           Vector<std::uint16_t> regions, int n_threads);

} // namespace rebel

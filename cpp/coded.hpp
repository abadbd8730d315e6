// The scores of new samples by trees whose tests look at bytes.
#pragma once

#include "bins.hpp"

namespace rebel {

// Samples as bytes. Column c codes features[c]: the number of its thresholds [starts[c],
// starts[c + 1]), at most 254, that the value exceeds; or, if categorical[c] is set, the category
// itself, where all but 0 to 254 are missing. Missing values have the code missing[c].
struct CodedColumns {
    Vector<const int32_t> features;
    Vector<const int64_t> starts;
    Vector<const double> thresholds;
    Vector<const uint8_t> missing;
    Vector<const uint8_t> categorical;

    void check(size_t n_features) const;
};

// Trees as in prediction.hpp. Node i sends a sample right if its code in column nodes(i, 0) exceeds
// nodes(i, 1), or is in the set nodes(i, 1) − 256: one of the 256 bits of its row of `sets`.
struct CodedTrees {
    Vector<const int32_t> depths;
    Vector<const int64_t> node_offsets;
    Vector<const int64_t> leaf_offsets;
    Matrix<const uint16_t> nodes;
    Matrix<const uint8_t> sets;
    Matrix<const double> outputs;

    void check(size_t n_columns) const;
    void check_sizes() const; // all but the nodes
};

// Adds the outputs of trees [first, last) to the scores, in this order.
template <class Value>
void predict_coded(Matrix<const Value> X, const CodedColumns& columns, const CodedTrees& trees,
                   size_t first, size_t last, Matrix<double> scores, int n_threads);

// The same for a single sample, whose scores are a vector: trees are walked side by side, and only
// the nodes that are reached are checked.
void score_row(Vector<const double> x, const CodedColumns& columns, const CodedTrees& trees,
               size_t first, size_t last, Vector<double> scores);

} // namespace rebel

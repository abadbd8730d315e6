// The nodes of a tree, and the samples in them.
#pragma once

#include "bins.hpp"

namespace rebel {

// The samples of the nodes of one layer: node i has samples[cuts(i, 0) … cuts(i, last)), in subsets
// that begin at cuts(i, 1), cuts(i, 2), … A pruned search drops features after each subset.
struct Nodes {
    Samples samples;
    Matrix<const int32_t> cuts;

    size_t n_nodes() const { return cuts.n_rows; }
    size_t n_subsets() const { return cuts.n_cols - 1; }
    Samples of(size_t node) const { return part(node, 0, n_subsets()); }
    Samples subset(size_t node, size_t s) const { return part(node, s, s + 1); }
    bool in_steps(size_t node) const { return subset(node, 0).size < of(node).size; }

    // Subsets from … to − 1.
    Samples part(size_t node, size_t from, size_t to) const {
        return samples.slice(cuts(node, from), cuts(node, to));
    }

    void check() const { require(cuts.n_cols >= 2, "cuts must have two columns or more"); }
};

// Node i tests features[i] (none if negative: all samples go left), and the bins b with
// right(i, b) ≠ 0 go right.
struct Layer {
    Vector<const int32_t> features;
    Matrix<const uint8_t> right;

    void check() const {
        require(right.is(features.size, most_bins), "right must be (nodes, 256)");
    }
};

// Splits the samples of each node, samples[starts[i] … starts[i + 1]), keeping their order. The
// children of node i are 2i and 2i + 1.
void split_samples(const Bins& bins, const Layer& layer, Vector<int32_t> samples,
                   Vector<const int32_t> starts, Vector<int32_t> child_starts, int n_threads);

// The leaf that each sample of `bins` reaches in a tree of complete layers, nodes in level order.
void route(const Bins& bins, const Layer& nodes, Vector<uint16_t> regions, int n_threads);

// One layer further: region i becomes 2i or 2i + 1, by the split of node i.
void descend(const Bins& bins, const Layer& layer, Vector<uint16_t> regions, int n_threads);

// Divides each node's samples[starts[i] … starts[i + 1]) into subsets for a pruned search, samples
// with the largest keys first. Keys are compared up to a quarter of a power of two: buckets are
// cheaper than sorting, and exact order is not needed. Within a subset the samples keep their
// order, which is the fastest to read. cuts(i, ·) receives where the node begins, where its first
// samples hold shares[0], shares[1], … of the sum of its keys, and where it ends.
//
// A key counts by its absolute value. If a node has keys of both signs, the keys of the lighter
// sign are scaled up so that both signs have the same sum.
void heaviest_first(Vector<const int64_t> keys, Vector<int32_t> samples,
                    Vector<const int32_t> starts, Vector<const double> shares, Matrix<int32_t> cuts,
                    int n_threads);

} // namespace rebel

// The searches for the best split of a node, a layer or a whole tree. Ties go to the lowest
// feature, then to the lowest bin.
#pragma once

#include <vector>

#include "nodes.hpp"
#include "splits.hpp"

namespace rebel {

struct Stump {
    int32_t feature = -1; // −1: the constant response is at least as good
    int64_t criterion = 0;
    Work work;
};

// The stump for all classes together, with the lowest Σ_k √(S_k² − P_k²) [THESIS, Eq. 4.10], each
// root rounded to an integer. `values`, (samples, classes padded to a multiple of 8), are the
// fixed-point G; `totals` are S.
Stump search_root(const Bins& bins, Allowed allowed, Matrix<const int32_t> values,
                  Vector<const int64_t> totals, const Nodes& nodes, Vector<uint8_t> right,
                  int n_threads);

// The best split of every node of a layer, by the sums of all features. `sums`, (nodes, bins),
// receives the sums of nodes that are large enough to need them, for the allowed features. If
// `parent_sums` has rows, nodes 2i and 2i + 1 are the children of row i: the smaller child is
// summed, and the other is the parent minus the smaller.
void search_layer(const Bins& bins, Allowed allowed, Pairs values, const Nodes& nodes,
                  Matrix<const int64_t> parent_sums, Matrix<int64_t> sums,
                  const SearchOptions& options, const Splits& splits, int n_threads);

// The same without checks, and with `order` (sort_bins), unless it is empty: if there are many
// small nodes, they are scanned in that order. `totals` are the sums of the nodes' pairs. Returns
// whether they were scanned in order: then there are no sums, and the next layers must `always` be.
bool search_in_order(const Bins& bins, Matrix<const uint32_t> order, Allowed allowed, Pairs values,
                     const Nodes& nodes, Matrix<const int64_t> parent_sums, Matrix<int64_t> sums,
                     const SearchOptions& options, const Splits& splits,
                     std::vector<int64_t> totals, bool always, int n_threads);

// The two halves of such a search, for samples that are spread over several places. Sums of pairs
// of some nodes over all bins, one row for each chosen node;
void node_sums(const Bins& bins, Pairs values, const Nodes& nodes, Vector<const int32_t> chosen,
               Matrix<int64_t> sums, int n_threads);

// and the best split of each node, given its sums, the sum of its pairs and its number of samples.
// Of `bins`, only the offsets and categories are read.
void choose_splits(const Bins& bins, Allowed allowed, Matrix<const int64_t> sums,
                   Vector<const int64_t> totals, Vector<const int64_t> counts,
                   const SearchOptions& options, const Splits& splits, int n_threads);

// The same splits, found by pruning; keeps no sums.
Work prune_layer(const Bins& bins, Allowed allowed, Pairs values, const Nodes& nodes,
                 const SearchOptions& options, const Splits& splits, int n_threads);

// The 2^depth − 1 nodes of `depth` complete layers, in level order.
struct GrownNodes {
    Vector<int32_t> features;
    Matrix<uint8_t> right;
};

// A whole tree: search a layer, split its samples, and repeat. `values` are the same in all layers,
// so that a node's sums minus those of its smaller child are those of its larger child. Reorders
// `samples`. `scratch` holds the sums of two layers, at least 3/4 · 2^depth rows. Returns the
// number of layers that have a split.
struct Growth {
    int n_layers;
    std::vector<int32_t> starts; // of the nodes that were searched last
};
Growth grow_layers(const Bins& bins, Matrix<const uint32_t> order, Allowed allowed, Pairs values,
                   Vector<int32_t> samples, const SearchOptions& options, const GrownNodes& nodes,
                   Matrix<int64_t> scratch, int n_threads);
int grow_tree(const Bins& bins, Matrix<const uint32_t> order, Allowed allowed, Pairs values,
              Vector<int32_t> samples, const SearchOptions& options, const GrownNodes& nodes,
              Matrix<int64_t> scratch, int n_threads);

} // namespace rebel

// The best splits of nodes by the weights of all classes [THESIS, 7.2].
//
// A side has the mass L_k of each class and L of all. Criteria compare the purity of the sides with
// that of the undivided node: Σ L_k²/L (Gini, Criterion::variance), max L_k (error), or
// Σ L_k log₂ L_k − L log₂ L, which is −L·H (entropy and gain ratio). A categorical feature is split
// into one category and the others.
#pragma once

#include "nodes.hpp"
#include "splits.hpp"

namespace rebel {

// `values`, (samples, classes padded to a multiple of 8), hold the weight of a sample at its class.
// Features that cannot be the best are dropped on the way. `splits.sides` receives masses.
Work prune_classes(const Bins& bins, Allowed allowed, Matrix<const int32_t> values,
                   size_t n_classes, const Nodes& nodes, const SearchOptions& options,
                   const Splits& splits, int n_threads);

// The same from the sums of each node over the bins, (nodes, bins, classes), and its number of
// samples. Of `bins`, only the offsets and categories are read.
void choose_by_classes(const Bins& bins, Allowed allowed, Cube<const int64_t> sums,
                       Vector<const int64_t> counts, const SearchOptions& options,
                       const Splits& splits, int n_threads);

} // namespace rebel

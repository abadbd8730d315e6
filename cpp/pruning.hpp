// QuickBoost [QUICK, Sec. 4]: visit heavy samples first, and drop a feature as soon as the
// remaining samples cannot make it the best.
//
// All features are screened on the first subset of samples, side by side. Those that may still win
// are screened on subset after subset, and those left at the end are valued by all samples. Sums
// are integers, so rounding never makes a bound too low.
#pragma once

#include <utility>

#include "search.hpp"

namespace rebel {

// What `prune` needs to know of a node.
class NodeSearch {
  public:
    NodeSearch(const Bins& bins_, Allowed allowed_, const Nodes& nodes_, size_t node_,
               Matrix<const int32_t> values_)
        : bins(bins_), allowed(allowed_), nodes(nodes_), node(node_), values(values_) {}
    virtual ~NodeSearch() = default;

    // The value of a feature by all samples; larger is better.
    virtual double value_of(size_t feature) const = 0;
    // Upper bounds on the value of each column, whatever samples follow subset s. `rest` holds the
    // Σ |value| of these samples, and `screens` the sums of the others, by kind.
    virtual void bound(Screen* screens, const Columns& columns, size_t s, const int64_t* rest,
                       double* bounds) const = 0;

    // The value of a feature whose sums are all known, by its reach (Screen::read), if there is one
    // kind and the value depends on nothing else.
    virtual double value_of_reach(int64_t) const { return 0; }
    bool valued_by_reach(size_t feature) const { return by_reach && !bins.is_categorical(feature); }

    Samples samples() const { return nodes.of(node); }

    const Bins& bins;
    Allowed allowed;
    const Nodes& nodes;
    size_t node;
    Matrix<const int32_t> values;             // (samples, kinds or more)
    size_t n_kinds = 0;                       // columns of `values` to screen; 0: none is dropped
    bool by_reach = false;                    // whether thresholds are valued by their reach
    double value_of_none = Candidate{}.value; // that a feature must exceed
};

// The best feature so far. Ties go to the lowest feature.
struct Leader {
    double value;
    int32_t feature = -1;

    // Whether a feature with this value or bound is better, or could be.
    bool may_lose_to(double other_value, size_t other) const {
        return other_value > value ||
               (other_value == value && static_cast<int32_t>(other) < feature);
    }
};

// The best feature, and what was done to find it.
std::pair<Leader, Work> prune(const NodeSearch& search, int n_threads);

} // namespace rebel

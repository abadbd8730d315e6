// QuickBoost [QUICK, Sec. 4]: visit heavy samples first, and drop a feature as soon as the
// remaining samples cannot make it the best.
//
// All features are screened on the first subset of samples, side by side. Those that may still win
// are screened on subset after subset, and those left at the end are valued by all samples. Sums
// are integers, so rounding never makes a bound too low.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "nodes.hpp"
#include "splits.hpp"

namespace rebel {

// The best split of every node of a layer. Gives the splits of search_layer, but keeps no sums.
Work prune_layer(const Bins& bins, Allowed allowed, Pairs values, const Nodes& nodes,
                 const SearchOptions& options, const Splits& splits, int n_threads);

// The best feature valued so far, shared by all threads. Ties go to the lowest feature.
class Leader {
  public:
    explicit Leader(double value_of_none) : value_(value_of_none) {}

    double value() const { return value_.load(std::memory_order_relaxed); }
    int32_t feature() const { return feature_; }

    // Whether a feature with this bound could still be the best.
    bool may_lose_to(double bound, size_t feature);
    void offer(double value, size_t feature);

  private:
    std::atomic<double> value_;
    int32_t feature_ = -1;
    std::mutex mutex_;
};

// The search of one node.
class Pruning {
  public:
    Pruning(const Bins& bins, Allowed allowed, const Nodes& nodes, size_t node,
            double value_of_none);
    virtual ~Pruning() = default;
    Pruning(const Pruning&) = delete;
    Pruning& operator=(const Pruning&) = delete;

    // Sums and bounds by the first `n_kinds` columns of `values`, (samples, kinds).
    void screen(Matrix<const int32_t> values, size_t n_kinds, int n_threads);
    const Leader& leader() const { return leader_; }
    Work work() const { return {visited_, static_cast<int64_t>(features_.size()) - n_valued_}; }

  protected:
    // Upper bounds on the value of each column, whatever samples follow subset s.
    virtual void bound(Screen* screens, const Columns& columns, size_t s, double* bounds) const = 0;
    // The value of a feature by all samples; larger is better.
    virtual double value_of(size_t feature) const = 0;

    // Σ |value| of the samples after subset s.
    int64_t rest(size_t s, size_t kind) const { return rest_[s * n_kinds_ + kind]; }
    void value(size_t feature);
    Samples samples() const { return nodes_.of(node_); }

    const Bins& bins_;
    const Nodes& nodes_;
    size_t node_;
    std::vector<size_t> features_; // allowed

  private:
    void weigh(Matrix<const int32_t> values);
    bool known(size_t s) const;
    Screen* screens(const Columns& columns) { return &screens_[columns.screen * n_kinds_]; }
    void begin(int n_threads);
    void pursue(int n_threads);
    void visit(const Columns& columns, size_t from, size_t to);
    void value_leaders();
    void value_the_rest(int n_threads);
    size_t keep_promising();
    void regroup();

    size_t n_kinds_ = 0;
    std::vector<int32_t> values_;       // (kinds, samples of the node)
    std::vector<int64_t> rest_;         // (subsets, kinds)
    std::vector<double> bounds_;        // by feature
    std::unique_ptr<Screen[]> screens_; // (blocks, kinds)
    std::vector<Columns> groups_;       // of features that may still be the best
    Leader leader_;
    std::atomic<int64_t> n_valued_ = 0;
    std::atomic<int64_t> visited_ = 0;
};

} // namespace rebel

// QuickBoost [QUICK, Sec. 4]: heavy samples first, and a feature is dropped as soon as even the
// best that the samples to come could make of it would not do.
//
// All features are screened on the first subset, those that are left on subset after subset, many
// side by side; and those that are left at the end are valued by all samples. Sums are integers, so
// that bounds are never short by a rounding of sums.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <vector>

#include "bins.hpp"
#include "stump_search.hpp"

namespace rebel {

// How far apart a feature can bring two sides: the largest |right − left| over its splits, nothing
// and everything on one side among them; for categories over any way to share them out.
//
// `low` and `high` are the extremes of a threshold's left sums without the missing values.
inline std::int64_t reach_of(std::int64_t low, std::int64_t high, std::int64_t present,
                             std::int64_t missing) {
    const std::int64_t total = present + missing;
    low += std::min<std::int64_t>(missing, 0);
    high += std::max<std::int64_t>(missing, 0);
    return std::max({std::abs(total), 2 * high - total, total - 2 * low});
}

// The lowest and highest of the sums of the first rows, for each column; rows have `n_cols`, a
// multiple of 8.
void prefix_extremes(const std::int32_t* rows, std::size_t n_rows, std::size_t n_cols,
                     std::int32_t* sum, std::int32_t* low, std::int32_t* high);

// Features that are visited side by side, up to 16, each at a place of a screen.
struct Columns {
    std::size_t screen = 0;
    std::array<std::uint32_t, block_width> features{};
    std::array<std::uint8_t, block_width> places{};
    std::size_t n = 0;

    void push(std::size_t feature, std::size_t place) {
        features[n] = static_cast<std::uint32_t>(feature);
        places[n++] = static_cast<std::uint8_t>(place);
    }
    bool whole_block() const {
        return n == block_width && features[0] % block_width == 0 &&
               features[n - 1] == features[0] + n - 1;
    }
};

// One or more numbers of each sample: the k-th at data[n · stride + k].
struct SampleValues {
    const std::int32_t* data;
    std::size_t stride;
    std::size_t n_kinds;
};

// Samples to visit, and a number of each.
struct Stretch {
    Vector<const std::int32_t> samples;
    const std::int32_t* values;
};

// Sums of one kind over the bins of some features. Row b has bin b of all of them, so that they are
// scanned side by side.
class Screen {
  public:
    void clear(const Bins& bins, const Columns& columns);
    void add(const Bins& bins, const Columns& columns, const Stretch& stretch);
    void take(std::size_t place, const Screen& from, std::size_t place_there);

    // reach[place] of each of the columns.
    void read(const Bins& bins, const Columns& columns, std::int64_t* reach);

    std::int32_t sum(std::size_t bin, std::size_t place) const {
        return sums_[bin * block_width + place];
    }

  private:
    std::size_t n_rows_;
    alignas(64) std::array<std::int32_t, most_bins * block_width> sums_;
};

// The best valued feature, which threads share. Ties go to the lowest.
class Leader {
  public:
    explicit Leader(double value_of_none) : value_(value_of_none) {}

    double value() const { return value_.load(std::memory_order_relaxed); }
    std::int32_t feature() const { return feature_; }

    bool may_lose_to(double bound, std::size_t feature);
    void offer(double value, std::size_t feature);

  private:
    std::atomic<double> value_;
    std::int32_t feature_ = -1;
    std::mutex mutex_;
};

class Pruning {
  public:
    Pruning(const Bins& bins, Vector<const std::uint8_t> allowed, const NodeSamples& nodes,
            std::size_t node, double value_of_none);
    virtual ~Pruning() = default;
    Pruning(const Pruning&) = delete;
    Pruning& operator=(const Pruning&) = delete;

    void screen(const SampleValues& values, int n_threads);
    const Leader& leader() const { return leader_; }
    Work work() const { return {visited_, n_features_ - n_valued_}; }

  protected:
    // The most that each of the columns can be worth, whatever samples come after subset s.
    virtual void bound(Screen* screens, const Columns& columns, std::size_t s,
                       double* bounds) const = 0;
    // What a feature is worth by all samples; the larger the better.
    virtual double value_of(std::size_t feature) const = 0;

    // Σ |value| of the samples after subset s.
    std::int64_t rest(std::size_t s, std::size_t kind) const { return rest_[s * n_kinds_ + kind]; }
    void value(std::size_t feature);
    Vector<const std::int32_t> samples() const { return nodes_.of(node_); }

    const Bins& bins_;
    const NodeSamples& nodes_;
    std::size_t node_;
    std::vector<std::size_t> features_; // allowed

  private:
    void weigh(const SampleValues& values);
    bool known(std::size_t s) const;
    Screen* screens(const Columns& columns) { return &screens_[columns.screen * n_kinds_]; }
    void begin(int n_threads);
    void pursue(int n_threads);
    void visit(const Columns& columns, std::size_t from, std::size_t to);
    void look(const Columns& columns, std::size_t s);
    void value_leaders();
    void value_the_rest(int n_threads);
    std::size_t keep_promising();
    void regroup();

    std::size_t n_kinds_ = 0;
    std::vector<std::int32_t> values_;  // (kinds, samples of the node)
    std::vector<std::int64_t> rest_;    // (subsets, kinds)
    std::vector<double> bounds_;        // by feature
    std::unique_ptr<Screen[]> screens_; // (blocks, kinds)
    std::vector<Columns> groups_;       // of features that may still be the best
    Leader leader_;
    std::int64_t n_features_ = 0;
    std::atomic<std::int64_t> n_valued_ = 0;
    std::atomic<std::int64_t> visited_ = 0;
};

} // namespace rebel

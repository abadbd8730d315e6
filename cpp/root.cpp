#include "pruning.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include "exact_cuts.hpp"
#include "multiversion.hpp"

namespace rebel {
namespace {

// For P = (total − left) − left.
REBEL_CLONES int64_t root_criterion(const int64_t* mass, const int32_t* total, const int32_t* left,
                                    size_t n_classes) {
    int64_t sum = 0;
    for (size_t k = 0; k < n_classes; ++k)
        sum += class_loss(mass[k], (int64_t{total[k]} - left[k]) - left[k]);
    return sum;
}

using Sums = std::vector<int32_t>; // one for each class, padded

// K-vector sums of a feature, valued by the root criterion (see scan_thresholds). Thresholds are
// tried after non-empty bins only: one after an empty bin has the value of the one before it.
class VectorSides {
  public:
    VectorSides(const NodeSearch& of, size_t feature, Vector<const int64_t> mass, const Sums& total)
        : memory_(of.bins.n_bins(feature) * of.values.n_cols, 0),
          sums_{memory_.data(), of.bins.n_bins(feature), of.values.n_cols}, mass_(mass),
          total_(total), left_(total.size()) {
        add_vectors(of.bins, feature, of.values, of.samples(), sums_);
        best.feature = static_cast<int32_t>(feature);
        if (of.bins.is_categorical(feature)) { // one category against the others
            for (size_t b = 0; b < sums_.n_rows; ++b)
                improve(sums_.row(b).data, b);
            return;
        }
        for (size_t b = 0; b + 1 < sums_.n_rows; ++b)
            if (holds(b))
                filled_[n_filled_++] = static_cast<uint8_t>(b);
        any_missing = holds(sums_.n_rows - 1);
        scan_thresholds(n_filled_, any_missing, *this);
    }

    void start(bool with_missing) {
        improved_ = false;
        if (with_missing)
            std::copy_n(sums_.row(sums_.n_rows - 1).data, left_.size(), left_.begin());
        else
            std::fill(left_.begin(), left_.end(), 0);
    }
    void add(size_t i) {
        const int32_t* more = sums_.row(filled_[i]).data;
        for (size_t k = 0; k < left_.size(); ++k)
            left_[k] += more[k];
        improve(left_.data(), filled_[i]);
    }
    void finish(bool missing_right) {
        if (improved_)
            best.missing_right = missing_right;
    }

    Candidate best{-std::numeric_limits<double>::infinity()}; // its value is minus the loss
    bool any_missing = false;

  private:
    void improve(const int32_t* left, size_t bin) {
        const auto value =
            -static_cast<double>(root_criterion(mass_.data, total_.data(), left, mass_.size));
        if (value > best.value) {
            best.value = value;
            best.bin = static_cast<int32_t>(bin);
            improved_ = true;
        }
    }

    bool holds(size_t bin) const {
        const auto row = sums_.row(bin);
        return std::any_of(row.begin(), row.end(), [](int32_t s) { return s != 0; });
    }

    Sums memory_;
    Matrix<int32_t> sums_; // (bins, classes)
    Vector<const int64_t> mass_;
    const Sums& total_;
    Sums left_;
    std::array<uint8_t, most_bins> filled_; // the non-empty bins
    size_t n_filled_ = 0;
    bool improved_ = false;
};

// No response has a lower loss than Σ_k √(S_k² − (|P_k| + R_k)²), with S_k of all samples, |P_k|
// the reach of the feature on the samples seen, for each class separately, and R_k the weight of
// the remaining samples. Rounding is monotone, so this holds for the integers too.
class RootSearch : public NodeSearch {
  public:
    RootSearch(const Bins& bins_, Allowed allowed_, Matrix<const int32_t> values_,
               Vector<const int64_t> mass, const Nodes& root)
        : NodeSearch(bins_, allowed_, root, 0, values_), mass_(mass), total_(values.n_cols, 0) {
        for (const int32_t n : samples())
            for (size_t k = 0; k < values.n_cols; ++k)
                total_[k] += values(n, k);
        const Sums nothing(values.n_cols, 0);
        value_of_none = -static_cast<double>(
            root_criterion(mass.data, total_.data(), nothing.data(), mass.size));
        // With more classes, a screen for each costs more than one pass with all sums.
        constexpr size_t most_screens = 16;
        mirrored_ = mass.size == 2 && opposite_classes();
        if (mass.size <= 2 || (nodes.in_steps(0) && mass.size <= most_screens))
            n_kinds = mirrored_ ? 1 : mass.size;
        by_reach = n_kinds == 1;
    }

    VectorSides scan(size_t feature) const { return {*this, feature, mass_, total_}; }

  private:
    // If so, both classes have the same reach, and one screen serves both.
    bool opposite_classes() const {
        return std::all_of(samples().begin(), samples().end(),
                           [&](int32_t n) { return values(n, 0) == -values(n, 1); });
    }

    void bound(Screen* screens, const Columns& columns, size_t, const int64_t* rest,
               double* bounds) const override {
        int64_t sums[block_width] = {};
        int64_t reach[block_width];
        for (size_t k = 0; k < mass_.size; ++k) {
            const size_t kind = mirrored_ ? 0 : k;
            if (kind == k)
                screens[kind].read(bins, columns, reach);
            for (size_t c = 0; c < columns.n; ++c)
                sums[c] += class_loss(mass_[k], reach[c] + rest[kind]);
        }
        std::transform(sums, sums + columns.n, bounds,
                       [](int64_t loss) { return -static_cast<double>(loss); });
    }

    double value_of(size_t feature) const override { return scan(feature).best.value; }

    double value_of_reach(int64_t reach) const override {
        int64_t sum = 0;
        for (const int64_t mass : mass_)
            sum += class_loss(mass, reach);
        return -static_cast<double>(sum);
    }

    Vector<const int64_t> mass_;
    Sums total_;
    bool mirrored_;
};

// Missing values that the samples do not have go where most samples go.
void mark_root(const RootSearch& search, const VectorSides& sides, Vector<uint8_t> right) {
    const auto feature = static_cast<size_t>(sides.best.feature);
    const size_t n_bins = search.bins.n_bins(feature);
    if (search.bins.is_categorical(feature)) {
        std::fill_n(right.begin(), n_bins, uint8_t{1});
        right[sides.best.bin] = 0;
        return;
    }
    std::fill(right.begin() + sides.best.bin + 1, right.begin() + n_bins - 1, uint8_t{1});
    right[n_bins - 1] = sides.best.missing_right;
    if (!sides.any_missing) {
        const uint8_t* column = search.bins.column(feature);
        const Samples samples = search.samples();
        const auto n_right = std::count_if(samples.begin(), samples.end(), [&](int32_t n) {
            return right[bin_of(column, n)] != 0;
        });
        right[n_bins - 1] = 2 * static_cast<size_t>(n_right) > samples.size;
    }
}

} // namespace

Stump search_root(const Bins& bins, Allowed allowed, Matrix<const int32_t> values,
                  Vector<const int64_t> totals, const Nodes& nodes, Vector<uint8_t> right,
                  int n_threads) {
    bins.check(allowed, values.n_rows);
    nodes.check();
    require(nodes.n_nodes() == 1, "nodes must be one root");
    require(values.n_cols % 8 == 0 && totals.size <= values.n_cols && right.size == most_bins,
            "values, totals and right do not match");
    const RootSearch search(bins, allowed, values, totals, nodes);
    const auto [best, work] = prune(search, n_threads);
    std::fill(right.begin(), right.end(), uint8_t{0});
    if (best.feature >= 0)
        mark_root(search, search.scan(static_cast<size_t>(best.feature)), right);
    return {best.feature, -static_cast<int64_t>(best.value), work};
}

} // namespace rebel

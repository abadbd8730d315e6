#include "root.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

// rint √((S − P)(S + P)): no product overflows, and sums of these integers do not depend on order.
inline int64_t class_loss(int64_t mass, int64_t p) {
    const int64_t product = std::max<int64_t>(0, mass - p) * (mass + p);
    return static_cast<int64_t>(
        std::nearbyint(std::sqrt(static_cast<double>(std::max<int64_t>(0, product)))));
}

// For P = (total − left) − left.
REBEL_CLONES int64_t root_criterion(const int64_t* mass, const int32_t* total, const int32_t* left,
                                    size_t n_classes) {
    int64_t sum = 0;
    for (size_t k = 0; k < n_classes; ++k)
        sum += class_loss(mass[k], (int64_t{total[k]} - left[k]) - left[k]);
    return sum;
}

using Sums = std::vector<int32_t>; // one for each class, padded

int64_t constant_criterion(Vector<const int64_t> mass, const Sums& total) {
    const Sums nothing(total.size(), 0);
    return root_criterion(mass.data, total.data(), nothing.data(), mass.size);
}

struct RootCandidate {
    int64_t criterion = std::numeric_limits<int64_t>::max();
    int32_t feature = -1;
    size_t bin = 0;
    bool missing_right = false;
    bool missing_met = false;
};

// K-vector sums of a feature, valued by the root criterion (see scan_thresholds). Thresholds are
// tried after non-empty bins only: one after an empty bin has the value of the one before it.
class VectorSides {
  public:
    VectorSides(Matrix<const int32_t> sums, Vector<const int64_t> mass, const Sums& total)
        : sums_(sums), mass_(mass), total_(total), left_(total.size()) {
        for (size_t b = 0; b + 1 < sums.n_rows; ++b)
            if (holds(b))
                filled_[n_filled_++] = static_cast<uint8_t>(b);
        best.missing_met = holds(sums.n_rows - 1);
    }

    size_t n_filled() const { return n_filled_; }

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

    void scan_categories() { // one category against the others
        for (size_t b = 0; b < sums_.n_rows; ++b)
            improve(sums_.row(b).data, b);
    }

    RootCandidate best;

  private:
    void improve(const int32_t* left, size_t bin) {
        const int64_t value = root_criterion(mass_.data, total_.data(), left, mass_.size);
        if (value < best.criterion) {
            best.criterion = value;
            best.bin = bin;
            improved_ = true;
        }
    }

    bool holds(size_t bin) const {
        const auto row = sums_.row(bin);
        return std::any_of(row.begin(), row.end(), [](int32_t s) { return s != 0; });
    }

    Matrix<const int32_t> sums_;
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
class RootSearch : public Pruning {
  public:
    RootSearch(const Bins& bins, Allowed allowed, Matrix<const int32_t> values,
               Vector<const int64_t> totals, const Nodes& root, Sums signed_total)
        : Pruning(bins, allowed, root, 0,
                  -static_cast<double>(constant_criterion(totals, signed_total))),
          values_(values), mass_(totals), signed_total_(std::move(signed_total)) {}

    void run(int n_threads) {
        // With more classes, a screen for each costs more than one pass with all sums.
        constexpr size_t most_screens = 16;
        if (mass_.size <= 2 || (nodes_.in_steps(0) && mass_.size <= most_screens)) {
            mirrored_ = mass_.size == 2 && opposite_classes();
            screen(values_, mirrored_ ? 1 : mass_.size, n_threads);
            return;
        }
        parallel_each(features_.size(), grain_for(1, samples().size), n_threads,
                      [&](size_t i) { value(features_[i]); });
    }

    RootCandidate best() const { return scan(static_cast<size_t>(leader().feature())); }

  private:
    // If so, both classes have the same reach, and one screen serves both.
    bool opposite_classes() const {
        return std::all_of(samples().begin(), samples().end(),
                           [&](int32_t n) { return values_(n, 0) == -values_(n, 1); });
    }

    void bound(Screen* screens, const Columns& columns, size_t s, double* bounds) const override {
        int64_t sums[block_width] = {};
        int64_t reach[block_width];
        for (size_t k = 0; k < mass_.size; ++k) {
            const size_t kind = mirrored_ ? 0 : k;
            if (kind == k)
                screens[kind].read(bins_, columns, reach);
            for (size_t c = 0; c < columns.n; ++c) {
                const size_t j = columns.places[c];
                sums[j] += class_loss(mass_[k], reach[j] + rest(s, kind));
            }
        }
        for (size_t c = 0; c < columns.n; ++c)
            bounds[columns.places[c]] = -static_cast<double>(sums[columns.places[c]]);
    }

    double value_of(size_t feature) const override {
        return -static_cast<double>(scan(feature).criterion);
    }

    RootCandidate scan(size_t feature) const {
        const size_t n_bins = bins_.n_bins(feature);
        std::vector<int32_t> memory(n_bins * values_.n_cols, 0);
        const Matrix<int32_t> sums{memory.data(), n_bins, values_.n_cols};
        add_vectors(bins_, feature, values_, samples(), sums);
        VectorSides sides(sums, mass_, signed_total_);
        sides.best.feature = static_cast<int32_t>(feature);
        if (bins_.is_categorical(feature))
            sides.scan_categories();
        else
            scan_thresholds(sides.n_filled(), sides.best.missing_met, sides);
        return sides.best;
    }

    Matrix<const int32_t> values_;
    Vector<const int64_t> mass_;
    Sums signed_total_;
    bool mirrored_ = false;
};

// Missing values that the samples do not have go where most samples go.
void mark_root(const Bins& bins, const RootCandidate& best, Samples samples,
               Vector<uint8_t> right) {
    const auto feature = static_cast<size_t>(best.feature);
    const size_t n_bins = bins.n_bins(feature);
    if (bins.is_categorical(feature)) {
        std::fill_n(right.begin(), n_bins, uint8_t{1});
        right[best.bin] = 0;
        return;
    }
    std::fill(right.begin() + best.bin + 1, right.begin() + n_bins - 1, uint8_t{1});
    right[n_bins - 1] = best.missing_right;
    if (!best.missing_met) {
        const uint8_t* column = bins.column(feature);
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
    Sums signed_total(values.n_cols, 0);
    for (const int32_t n : nodes.of(0))
        for (size_t k = 0; k < values.n_cols; ++k)
            signed_total[k] += values(n, k);
    const int64_t constant = constant_criterion(totals, signed_total);
    RootSearch search(bins, allowed, values, totals, nodes, std::move(signed_total));
    search.run(n_threads);
    std::fill(right.begin(), right.end(), uint8_t{0});
    if (search.leader().feature() < 0)
        return {-1, constant, search.work()};
    const RootCandidate best = search.best();
    mark_root(bins, best, nodes.of(0), right);
    return {best.feature, best.criterion, search.work()};
}

} // namespace rebel

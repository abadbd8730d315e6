#include "stump_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "class_sums.hpp"
#include "multiversion.hpp"
#include "parallel.hpp"
#include "pruning.hpp"

namespace rebel {
namespace {

// rint √((S − P)(S + P)): no product overflows, and a sum of such integers depends on no order.
inline std::int64_t class_loss(std::int64_t mass, std::int64_t p) {
    const std::int64_t product = std::max<std::int64_t>(0, mass - p) * (mass + p);
    return static_cast<std::int64_t>(
        std::nearbyint(std::sqrt(static_cast<double>(std::max<std::int64_t>(0, product)))));
}

// For P = (total − c) − c, c the sums of the left side.
REBEL_CLONES std::int64_t root_criterion(const std::int64_t* mass, const std::int32_t* total,
                                         const std::int32_t* left, std::size_t n_classes) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < n_classes; ++k)
        sum += class_loss(mass[k], (std::int64_t{total[k]} - left[k]) - left[k]);
    return sum;
}

std::int64_t constant_criterion(Vector<const std::int64_t> mass,
                                const std::vector<std::int32_t>& total) {
    const std::vector<std::int32_t> nothing(total.size(), 0);
    return root_criterion(mass.data, total.data(), nothing.data(), mass.size);
}

struct RootCandidate {
    std::int64_t criterion = std::numeric_limits<std::int64_t>::max();
    std::int32_t feature = -1;
    std::int32_t bin = 0;
    bool missing_right = false;
    bool missing_met = false;
};

// No response has a lower loss than Σ_k √(S_k² − (|P_k| + R_k)²), with S_k of all samples, |P_k|
// the most that the feature reaches on those seen, for each class apart, and R_k the weight of
// those to come. Rounding is monotone, so that this holds for the integers too.
class RootSearch : public Pruning {
  public:
    RootSearch(const Bins& bins, Vector<const std::uint8_t> allowed,
               Matrix<const std::int32_t> values, Vector<const std::int64_t> totals,
               const NodeSamples& root, std::vector<std::int32_t> signed_total)
        : Pruning(bins, allowed, root, 0,
                  -static_cast<double>(constant_criterion(totals, signed_total))),
          values_(values), mass_(totals), signed_total_(std::move(signed_total)) {}

    void run(int n_threads) {
        // A screen for each class is dearer than one pass with all sums.
        if (mass_.size <= 2 || (nodes_.in_steps(0) && mass_.size <= most_screens)) {
            mirrored_ = mass_.size == 2 && opposite_classes();
            screen({values_.data, values_.stride, mirrored_ ? 1 : mass_.size}, n_threads);
            return;
        }
        const std::size_t grain = std::max<std::size_t>(1, 20000 / (samples().size + 1));
        parallel_for(features_.size(), grain, n_threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i)
                value(features_[i]);
        });
    }

    RootCandidate best() const { return scan(static_cast<std::size_t>(leader().feature())); }

  private:
    static constexpr std::size_t most_screens = 16;

    // Then they have the same reach, and one screen serves both.
    bool opposite_classes() const {
        return std::all_of(samples().begin(), samples().end(), [&](std::int32_t n) {
            const std::int32_t* value = values_.row(static_cast<std::size_t>(n)).data;
            return value[0] == -value[1];
        });
    }

    void bound(Screen* screens, const Columns& columns, std::size_t s,
               double* bounds) const override {
        std::int64_t sums[block_width] = {};
        std::int64_t reach[block_width];
        for (std::size_t k = 0; k < mass_.size; ++k) {
            const std::size_t kind = mirrored_ ? 0 : k;
            if (kind == k)
                screens[kind].read(bins_, columns, reach);
            for (std::size_t c = 0; c < columns.n; ++c) {
                const std::size_t j = columns.places[c];
                sums[j] += class_loss(mass_[k], reach[j] + rest(s, kind));
            }
        }
        for (std::size_t c = 0; c < columns.n; ++c)
            bounds[columns.places[c]] = -static_cast<double>(sums[columns.places[c]]);
    }

    double value_of(std::size_t feature) const override {
        return -static_cast<double>(scan(feature).criterion);
    }

    RootCandidate scan(std::size_t feature) const {
        const std::size_t n_bins = bins_.n_bins(feature);
        const std::size_t n_lanes = values_.n_cols;
        std::vector<std::int32_t> sums(n_bins * n_lanes, 0);
        add_vectors(bins_, feature, values_, samples(), {sums.data(), n_bins, n_lanes});
        RootCandidate best;
        best.feature = static_cast<std::int32_t>(feature);
        const std::int32_t* missing = sums.data() + (n_bins - 1) * n_lanes;
        best.missing_met = holds(missing);
        if (bins_.is_categorical(feature)) {
            for (std::size_t b = 0; b < n_bins; ++b) // one category against the rest
                improve(best, sums.data() + b * n_lanes, b, false);
            return best;
        }
        std::vector<std::int32_t> with_missing(missing, missing + n_lanes);
        // Not after an empty bin: the threshold before it is worth the same, and after empty bins
        // at the start there would be the mirror image of all values against the missing ones.
        for (std::size_t b = 0; b + 2 < n_bins; ++b)
            if (holds(sums.data() + b * n_lanes)) {
                add(with_missing, sums.data() + b * n_lanes);
                improve(best, with_missing.data(), b, false);
            }
        if (best.missing_met) {
            std::vector<std::int32_t> without(n_lanes, 0);
            for (std::size_t b = 0; b + 1 < n_bins; ++b)
                if (holds(sums.data() + b * n_lanes)) {
                    add(without, sums.data() + b * n_lanes);
                    improve(best, without.data(), b, true);
                }
        }
        return best;
    }

    std::int64_t criterion(const std::int32_t* left) const {
        return root_criterion(mass_.data, signed_total_.data(), left, mass_.size);
    }

    void improve(RootCandidate& best, const std::int32_t* left, std::size_t bin,
                 bool missing_right) const {
        const std::int64_t value = criterion(left);
        if (value < best.criterion) {
            best.criterion = value;
            best.bin = static_cast<std::int32_t>(bin);
            best.missing_right = missing_right;
        }
    }

    bool holds(const std::int32_t* sums) const {
        return std::any_of(sums, sums + values_.n_cols, [](std::int32_t s) { return s != 0; });
    }

    static void add(std::vector<std::int32_t>& sum, const std::int32_t* more) {
        for (std::size_t k = 0; k < sum.size(); ++k)
            sum[k] += more[k];
    }

    Matrix<const std::int32_t> values_;
    Vector<const std::int64_t> mass_;
    std::vector<std::int32_t> signed_total_;
    bool mirrored_ = false;
};

void mark_root(const Bins& bins, const RootCandidate& best, Vector<const std::int32_t> samples,
               Vector<std::uint8_t> right) {
    const auto feature = static_cast<std::size_t>(best.feature);
    const auto bin = static_cast<std::size_t>(best.bin);
    const std::size_t n_bins = bins.n_bins(feature);
    std::fill(right.begin(), right.end(), std::uint8_t{0});
    if (bins.is_categorical(feature)) {
        for (std::size_t b = 0; b < n_bins; ++b)
            right[b] = b != bin;
        return;
    }
    std::fill(right.begin() + bin + 1, right.begin() + n_bins - 1, std::uint8_t{1});
    right[n_bins - 1] = best.missing_right;
    if (!best.missing_met) {
        const std::uint8_t* column = bins.column(feature);
        const auto n_right = std::count_if(samples.begin(), samples.end(), [&](std::int32_t n) {
            return right[column[static_cast<std::size_t>(n) * block_width]] != 0;
        });
        right[n_bins - 1] = 2 * static_cast<std::size_t>(n_right) > samples.size;
    }
}

} // namespace

Stump search_root(const Bins& bins, Vector<const std::uint8_t> allowed,
                  Matrix<const std::int32_t> values, Vector<const std::int64_t> totals,
                  const NodeSamples& root, Vector<std::uint8_t> right, int n_threads) {
    std::vector<std::int32_t> signed_total(values.n_cols, 0);
    for (const std::int32_t n : root.of(0))
        for (std::size_t k = 0; k < values.n_cols; ++k)
            signed_total[k] += values(static_cast<std::size_t>(n), k);
    const std::int64_t constant = constant_criterion(totals, signed_total);
    RootSearch search(bins, allowed, values, totals, root, std::move(signed_total));
    search.run(n_threads);
    std::fill(right.begin(), right.end(), std::uint8_t{0});
    if (search.leader().feature() < 0)
        return {-1, constant, search.work()};
    const RootCandidate best = search.best();
    mark_root(bins, best, root.of(0), right);
    return {best.feature, best.criterion, search.work()};
}

} // namespace rebel

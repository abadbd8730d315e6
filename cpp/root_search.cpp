#include "stump_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "class_sums.hpp"
#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

// Σ_k rint √((S − P)(S + P)) for P = (total − c) − c: no product overflows, no sum depends on
// order.
REBEL_CLONES std::int64_t root_criterion(const std::int64_t* mass, const std::int32_t* total,
                                         const std::int32_t* left, std::size_t n_classes) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < n_classes; ++k) {
        const std::int64_t p = (std::int64_t{total[k]} - left[k]) - left[k];
        const std::int64_t product = std::max<std::int64_t>(0, mass[k] - p) * (mass[k] + p);
        sum += static_cast<std::int64_t>(
            std::nearbyint(std::sqrt(static_cast<double>(std::max<std::int64_t>(0, product)))));
    }
    return sum;
}

struct RootCandidate {
    std::int64_t criterion = std::numeric_limits<std::int64_t>::max();
    std::int32_t feature = -1;
    std::int32_t bin = 0;
    bool missing_right = false;
    bool missing_met = false;
};

class RootSearch {
  public:
    RootSearch(const Bins& bins, Matrix<const std::int32_t> values,
               Vector<const std::int64_t> totals, const NodeSamples& root)
        : bins_(bins), values_(values), mass_(totals), samples_(root.of(0)),
          signed_total_(values.n_cols, 0) {
        for (const std::int32_t n : samples_)
            for (std::size_t k = 0; k < values_.n_cols; ++k)
                signed_total_[k] += values_(static_cast<std::size_t>(n), k);
    }

    std::int64_t constant() const {
        const std::vector<std::int32_t> nothing(values_.n_cols, 0);
        return criterion(nothing.data());
    }

    RootCandidate best_of(std::size_t feature) const {
        const std::size_t n_bins = bins_.n_bins(feature);
        const std::size_t n_lanes = values_.n_cols;
        std::vector<std::int32_t> sums(n_bins * n_lanes, 0);
        add_vectors(bins_, feature, values_, samples_, {sums.data(), n_bins, n_lanes});
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

  private:
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

    const Bins& bins_;
    Matrix<const std::int32_t> values_;
    Vector<const std::int64_t> mass_;
    Vector<const std::int32_t> samples_;
    std::vector<std::int32_t> signed_total_;
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
    const RootSearch search(bins, values, totals, root);
    std::vector<RootCandidate> found(bins.n_features());
    const std::size_t grain = std::max<std::size_t>(
        1, bins.n_features() * 20000 / (root.samples.size * bins.n_features() + 20000));
    parallel_for(found.size(), grain, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t f = begin; f < end; ++f)
            if (allowed[f] != 0)
                found[f] = search.best_of(f);
    });
    RootCandidate best;
    best.criterion = search.constant();
    for (const RootCandidate& candidate : found)
        if (candidate.criterion < best.criterion)
            best = candidate;
    std::fill(right.begin(), right.end(), std::uint8_t{0});
    if (best.feature >= 0)
        mark_root(bins, best, root.of(0), right);
    return {best.feature, best.criterion};
}

} // namespace rebel

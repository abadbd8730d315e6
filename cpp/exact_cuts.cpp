#include "exact_cuts.hpp"

#include <vector>

#include "multiversion.hpp"

namespace rebel {
namespace {

// The lowest and the highest sum of the first samples, and the sum of all, by class.
struct Range {
    int64_t low = 0;
    int64_t high = 0;
    int64_t sum = 0;
};

// The number of classes is a constant where it is small, so that their sums stay in registers.
template <size_t n>
REBEL_INLINE inline void ranges_of(Vector<const int32_t> order, Matrix<const int32_t> values,
                                   Range* ranges) {
    Range of[n];
    for (const int32_t sample : order) {
        const int32_t* value = values.data + static_cast<size_t>(sample) * n;
        for (size_t k = 0; k < n; ++k) {
            of[k].sum += value[k];
            of[k].low = std::min(of[k].low, of[k].sum);
            of[k].high = std::max(of[k].high, of[k].sum);
        }
    }
    std::copy_n(of, n, ranges);
}

REBEL_CLONES void find_ranges(Vector<const int32_t> order, Matrix<const int32_t> values,
                              Range* ranges) {
    const size_t n = values.n_cols;
    if (n == 1)
        return ranges_of<1>(order, values, ranges);
    if (n == 2)
        return ranges_of<2>(order, values, ranges);
    for (const int32_t sample : order)
        for (size_t k = 0; k < n; ++k) {
            Range& of = ranges[k];
            of.sum += values.data[static_cast<size_t>(sample) * n + k];
            of.low = std::min(of.low, of.sum);
            of.high = std::max(of.high, of.sum);
        }
}

// Adds the loss of one class, for its P.
inline void add_loss(const RootTotals& totals, size_t k, int64_t p, double& loss) {
    const int64_t mass = totals.mass[k];
    if (totals.second_order)
        loss -= static_cast<double>(p) * static_cast<double>(p) /
                static_cast<double>(std::max<int64_t>(mass, 1));
    else
        loss += static_cast<double>(class_loss(mass, p));
}

} // namespace

std::tuple<int64_t, bool, double> exact_cut(Vector<const int32_t> order, Vector<const int64_t> cuts,
                                            Matrix<const int32_t> values, const RootTotals& totals,
                                            double least) {
    const size_t n_classes = values.n_cols;
    require(totals.mass.size == n_classes && totals.total.size == n_classes,
            "values and totals do not match");
    require(order.size <= values.n_rows, "order and values do not match");
    std::tuple<int64_t, bool, double> best{-1, false, least};
    if (order.size == 0)
        return best;
    std::vector<Range> ranges(n_classes);
    find_ranges(order, values, ranges.data());
    const bool any_missing = order.size < values.n_rows;
    std::vector<int64_t> left(n_classes);
    for (const bool missing_right : {false, true}) {
        if (missing_right && !any_missing)
            break;
        // What no left side of the feature falls below: each class has its largest |P|. Losses fall
        // as any |P| grows, also when rounded, so most features end here.
        double bound = 0;
        for (size_t k = 0; k < n_classes; ++k) {
            left[k] = missing_right ? 0 : totals.total[k] - ranges[k].sum;
            const int64_t low = left[k] + ranges[k].low, high = left[k] + ranges[k].high;
            const int64_t total = totals.total[k];
            add_loss(totals, k, std::max(std::abs(total - 2 * low), std::abs(total - 2 * high)),
                     bound);
        }
        if (!(bound < std::get<2>(best)))
            continue;
        const size_t n_cuts = cuts.size + missing_right;
        size_t next = 0;
        for (size_t i = 0; i < n_cuts; ++i) {
            const size_t place = i < cuts.size ? static_cast<size_t>(cuts[i]) : order.size - 1;
            for (; next <= place; ++next)
                for (size_t k = 0; k < n_classes; ++k)
                    left[k] += values(order[next], k);
            double loss = 0;
            for (size_t k = 0; k < n_classes; ++k)
                add_loss(totals, k, (totals.total[k] - left[k]) - left[k], loss);
            if (loss < std::get<2>(best))
                best = {static_cast<int64_t>(place), missing_right, loss};
        }
    }
    return best;
}

} // namespace rebel

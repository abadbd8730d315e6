#include "slopes.hpp"

#include <cmath>
#include <vector>

#include "arithmetic.hpp"
#include "fixed_point.hpp"
#include "multiversion.hpp"

namespace rebel {
namespace {

// For a sum of n numbers, in units that their largest allows.
double scale_of(double largest, size_t n) {
    return fine_scale(largest * static_cast<double>(n));
}

REBEL_CLONES double size_of(const double* values, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; ++i) {
        const double size = std::fabs(values[i]);
        largest = size > largest ? size : largest;
    }
    const double scale = scale_of(largest, n);
    int64_t sum = 0;
    for (size_t i = 0; i < n; ++i)
        sum += rounded(std::fabs(values[i]) * scale);
    return static_cast<double>(sum) / scale;
}

REBEL_CLONES void along(Matrix<const double> values, const double* direction, double* projected) {
    for (size_t n = 0; n < values.n_rows; ++n) {
        double sum = 0;
        for (size_t k = 0; k < values.n_cols; ++k)
            sum += values.data[n * values.n_cols + k] * direction[k];
        projected[n] = sum;
    }
}

REBEL_CLONES void pack(const double* signed_values, const double* mass, double signed_scale,
                       double mass_scale, Vector<int64_t> pairs) {
    for (size_t n = 0; n < pairs.size; ++n)
        pairs.data[n] = rounded(signed_values[n] * signed_scale) * (int64_t{1} << 32) +
                        rounded(mass[n] * mass_scale);
}

REBEL_CLONES void find_scales(Matrix<const double> values, double* scales) {
    for (size_t k = 0; k < values.n_cols; ++k) {
        double largest = 0;
        for (size_t n = 0; n < values.n_rows; ++n) {
            const double size = std::fabs(values.data[n * values.n_cols + k]);
            largest = size > largest ? size : largest;
        }
        scales[k] = scale_of(largest, values.n_rows);
    }
}

// sums(r, 0, k), (r, 1, k) and (r, 2, k) are those of the slopes, their sizes and the curvatures.
REBEL_CLONES void add_by_region(const Slopes& slopes, Regions regions, const double* slope_scales,
                                const double* mass_scales, int64_t* sums) {
    const size_t n_classes = slopes.totals.size;
    for (size_t n = 0; n < regions.size; ++n) {
        int64_t* own = sums + regions.data[n] * 3 * n_classes;
        for (size_t k = 0; k < n_classes; ++k) {
            const size_t i = n * n_classes + k;
            const int64_t slope = rounded(slopes.signed_slopes.data[i] * slope_scales[k]);
            own[k] += slope;
            own[n_classes + k] += slope < 0 ? -slope : slope;
            own[2 * n_classes + k] += rounded(slopes.mass.data[i] * mass_scales[k]);
        }
    }
}

double solve_parabolas(const Slopes& slopes, Regions regions, double smoothing, size_t n_leaves,
                       const LeafSums& leaves) {
    const size_t n_classes = slopes.totals.size;
    std::vector<double> slope_scales(n_classes), mass_scales(n_classes);
    find_scales(slopes.signed_slopes, slope_scales.data());
    find_scales(slopes.mass, mass_scales.data());
    std::vector<int64_t> sums(3 * n_leaves * n_classes, 0);
    add_by_region(slopes, regions, slope_scales.data(), mass_scales.data(), sums.data());
    const double share = std::max(smoothing / static_cast<double>(n_leaves), least_smoothing);
    double apart = 0, all = 0;
    for (size_t r = 0; r < n_leaves; ++r)
        for (size_t k = 0; k < n_classes; ++k) {
            const int64_t* own = sums.data() + 3 * r * n_classes + k;
            const double slope = static_cast<double>(own[0]) / slope_scales[k];
            const double size = static_cast<double>(own[n_classes]) / slope_scales[k];
            const double mass = static_cast<double>(own[2 * n_classes]) / mass_scales[k];
            const double plus = (size + slope) / 2, minus = (size - slope) / 2;
            const double flat = mass + share * slopes.totals[k];
            leaves.plus(r, k) = plus;
            leaves.minus(r, k) = minus;
            leaves.outputs(r, k) = flat > 0 ? -slope / flat : 0.0;
            apart += std::fabs(plus - minus);
            all += plus + minus;
        }
    return apart / all;
}

} // namespace

void Slopes::check(const Bins& bins) const {
    require(totals.size > 0 && signed_slopes.is(bins.n_samples(), totals.size) &&
                mass.is(bins.n_samples(), totals.size),
            "bins and slopes do not match");
}

std::pair<int, double> propose_on_slopes(const Bins& bins, const TreeData& data, const Focus& focus,
                                         const Slopes& slopes, const LeafTreeOptions& options,
                                         const GrownTree& tree, const LeafSums& leaves,
                                         const TreeScratch& scratch, int n_threads) {
    slopes.check(bins);
    const size_t n_classes = slopes.totals.size;
    const size_t n_samples = bins.n_samples();
    const size_t most_leaves = tree.features.size + 1;
    require(scratch.values.size == n_samples, "bins and scratch do not match");
    require(leaves.plus.is(most_leaves, n_classes) && leaves.minus.is(most_leaves, n_classes) &&
                leaves.outputs.is(most_leaves, n_classes),
            "leaves and tree do not match");
    std::vector<double> direction(n_classes), squares(n_classes);
    draw_direction(slopes.totals, options.key, {direction.data(), n_classes},
                   {squares.data(), n_classes});
    std::vector<double> projected(n_samples), mass(n_samples);
    along(slopes.signed_slopes, direction.data(), projected.data());
    along(slopes.mass, squares.data(), mass.data());
    const double mass_total = size_of(mass.data(), n_samples);
    const double mass_scale = coarse_scale(mass_total);
    pack(projected.data(), mass.data(), coarse_scale(size_of(projected.data(), n_samples)),
         mass_scale, scratch.values);
    const double least = std::nearbyint(options.least_mass * (mass_total * mass_scale));
    const SearchOptions search{Criterion::variance,
                               std::max<int64_t>(1, static_cast<int64_t>(least)), 1.0};
    const int n_layers =
        grow_term(bins, data, focus, scratch.values, search, tree, scratch.sums, n_threads);
    const double edge =
        solve_parabolas(slopes, tree.regions, options.smoothing, size_t{1} << n_layers, leaves);
    return {n_layers, edge};
}

DistanceSums take_number_step(Matrix<double> scores, Regions regions, Matrix<const double> outputs,
                              Vector<const double> target, Vector<const double> weight,
                              Matrix<double> slopes) {
    const size_t n_samples = target.size;
    require(scores.is(n_samples, 1) && regions.size == n_samples && weight.size == n_samples &&
                slopes.is(n_samples, 1) && outputs.n_cols == 1,
            "scores, regions, target, weight and slopes do not match");
    std::vector<double> squared(n_samples), absolute(n_samples);
    for (size_t n = 0; n < n_samples; ++n) {
        scores.data[n] += outputs.data[regions.data[n]];
        const double distance = scores.data[n] - target.data[n];
        slopes.data[n] = 2 * weight.data[n] * distance;
        squared[n] = weight.data[n] * (distance * distance);
        absolute[n] = weight.data[n] * std::fabs(distance);
    }
    return {size_of(squared.data(), n_samples), size_of(absolute.data(), n_samples)};
}

} // namespace rebel

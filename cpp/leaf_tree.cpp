#include "leaf_tree.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "counting.hpp"
#include "elementary.hpp"
#include "fixed_point.hpp"
#include "random.hpp"

namespace rebel {
namespace {

constexpr uint16_t nowhere = 0xffff;

// The nodes of the last layer that was searched hold all samples, unless the search left some out.
void write_regions(const Bins& bins, const Growth& growth, Samples samples, const GrownTree& tree,
                   int n_threads) {
    const Vector<uint16_t> regions = tree.regions;
    std::fill(regions.begin(), regions.end(), samples.size == regions.size ? nowhere : uint16_t{0});
    const size_t n_nodes = (size_t{1} << growth.n_layers) - 1;
    if (samples.size == regions.size) {
        const bool divided = growth.starts.size() - 1 <= n_nodes; // the nodes, not their children
        const size_t first = (n_nodes - 1) / 2;
        for (size_t i = 0; i + 1 < growth.starts.size(); ++i) {
            const Samples own = samples.slice(growth.starts[i], growth.starts[i + 1]);
            const int32_t feature = divided ? tree.features[first + i] : -1;
            const auto leaf = static_cast<uint16_t>(divided ? 2 * i : i);
            if (feature < 0) {
                for (const int32_t n : own)
                    regions[n] = leaf;
                continue;
            }
            const uint8_t* column = bins.column(feature);
            const uint8_t* right = tree.right.row(first + i).data;
            for (const int32_t n : own)
                regions.data[n] = static_cast<uint16_t>(leaf + (right[bin_of(column, n)] != 0));
        }
    }
    // Samples outside the focus, or missed because others are repeated.
    if (n_nodes > 0 && (samples.size != regions.size ||
                        std::find(regions.begin(), regions.end(), nowhere) != regions.end()))
        route(bins, {tree.features.slice(0, n_nodes), tree.right.rows(0, n_nodes)}, regions,
              n_threads);
}

void write_values(const Bins& bins, const TreeData& data, size_t n_nodes, const GrownTree& tree) {
    int32_t n_categories = 0;
    for (size_t i = 0; i < n_nodes; ++i) {
        tree.thresholds[i] = std::numeric_limits<double>::infinity();
        tree.missing_right[i] = 0;
        tree.category[i] = -1;
        if (tree.features[i] < 0)
            continue;
        const auto f = static_cast<size_t>(tree.features[i]);
        const Vector<uint8_t> right = tree.right.row(i);
        const size_t missing = bins.n_bins(f) - 1;
        tree.missing_right[i] = right[missing];
        if (bins.is_categorical(f)) {
            // Codes that do not occur in these samples, but may in others, are treated as missing.
            std::fill(right.begin() + missing, right.end(), right[missing]);
            tree.category[i] = n_categories++;
            continue;
        }
        const auto first = static_cast<size_t>(
            std::find_if(right.begin(), right.begin() + missing, [](uint8_t r) { return r != 0; }) -
            right.begin());
        if (first > 0 && first < missing)
            tree.thresholds[i] = data.edges[static_cast<size_t>(data.edge_offsets[f]) + first - 1];
    }
}

double solve_leaves(Vector<const int64_t> sums, Vector<const double> scales, double smoothing,
                    size_t n_leaves, const LeafSums& leaves) {
    const size_t n_classes = scales.size;
    std::vector<double> added(n_classes, 0.0);
    double apart = 0, mass_sum = 0;
    for (size_t r = 0; r < n_leaves; ++r)
        for (size_t k = 0; k < n_classes; ++k) {
            const int64_t signed_sum = sums[2 * r * n_classes + k];
            const int64_t mass = sums[(2 * r + 1) * n_classes + k];
            if (mass == 0) { // as in most leaves of a deep tree on few samples
                leaves.plus(r, k) = leaves.minus(r, k) = 0;
                continue;
            }
            const double unit = 2 * scales[k];
            const double plus = static_cast<double>(mass + signed_sum) / unit;
            const double minus = static_cast<double>(mass - signed_sum) / unit;
            leaves.plus(r, k) = plus;
            leaves.minus(r, k) = minus;
            added[k] += plus + minus;
            apart += std::fabs(plus - minus);
            mass_sum += plus + minus;
        }
    const double share = std::max(smoothing / static_cast<double>(n_leaves), least_smoothing);
    for (size_t k = 0; k < n_classes; ++k)
        added[k] *= share;
    for (size_t r = 0; r < n_leaves; ++r)
        for (size_t k = 0; k < n_classes; ++k) {
            const double above = leaves.minus(r, k), below = leaves.plus(r, k);
            leaves.outputs(r, k) =
                above + below > 0 ? 0.5 * logarithm((above + added[k]) / (below + added[k])) : 0.0;
        }
    return apart / mass_sum;
}

} // namespace

void TreeData::check(const Bins& bins) const {
    check_order(bins, order);
    require(edge_offsets.size == bins.n_features() + 1 &&
                static_cast<size_t>(edge_offsets[bins.n_features()]) == edges.size &&
                edges.size + 2 * bins.n_features() == bins.n_bins(),
            "bins and edges do not match");
    require(counts.size == bins.n_samples(), "bins and counts do not match");
}

void GrownTree::check(const Bins& bins) const {
    const size_t n_nodes = features.size;
    require(std::has_single_bit(n_nodes + 1) && n_nodes > 0 && n_nodes < nowhere &&
                right.is(n_nodes, most_bins) && thresholds.size == n_nodes &&
                missing_right.size == n_nodes && category.size == n_nodes &&
                cover.size == n_nodes + 1,
            "tree must have the nodes of complete layers, and their leaves");
    require(regions.size == bins.n_samples(), "bins and regions do not match");
}

DirectionSizes draw_direction(Vector<const double> totals, uint64_t key, Vector<double> direction,
                              Vector<double> squares) {
    const size_t n_classes = totals.size;
    require(n_classes > 0 && direction.size == n_classes && squares.size == n_classes,
            "totals, direction and squares do not match");
    if (n_classes == 1) { // a regression
        direction[0] = squares[0] = 1;
        return {totals[0], totals[0]};
    }
    double sum = 0;
    for (size_t k = 0; k < n_classes; ++k)
        sum += direction[k] = random_normal(key, k);
    const double mean = sum / static_cast<double>(n_classes);
    double size = 0, largest = 0;
    for (size_t k = 0; k < n_classes; ++k) {
        direction[k] -= mean;
        size = std::max(size, std::fabs(direction[k]));
        largest = std::max(largest, totals[k]);
    }
    DirectionSizes sizes{0, 0};
    for (size_t k = 0; k < n_classes; ++k) {
        const double unit = largest > 0 ? std::sqrt(totals[k] / largest) : 1.0;
        direction[k] = unit > 0 ? direction[k] / size / unit : 0.0;
        squares[k] = direction[k] * direction[k];
        sizes.reach += totals[k] * std::fabs(direction[k]);
        sizes.mass += totals[k] * squares[k];
    }
    return sizes;
}

int grow_term(const Bins& bins, const TreeData& data, const Focus& focus, Pairs values,
              const SearchOptions& options, const GrownTree& tree, Matrix<int64_t> scratch,
              int n_threads) {
    bins.check(focus.allowed, values.size);
    data.check(bins);
    tree.check(bins);
    std::vector<int32_t> samples(focus.samples.begin(), focus.samples.end());
    const Vector<int32_t> ordered{samples.data(), samples.size()};
    const Growth growth = grow_layers(bins, data.order, focus.allowed, values, ordered, options,
                                      {tree.features, tree.right}, scratch, n_threads);
    write_regions(bins, growth, ordered, tree, n_threads);
    write_values(bins, data, (size_t{1} << growth.n_layers) - 1, tree);
    std::fill(tree.cover.begin(), tree.cover.end(), 0.0);
    add_counts(
        tree.regions.size, [&](size_t n) { return size_t{tree.regions.data[n]}; }, data.counts,
        tree.cover.slice(0, size_t{1} << growth.n_layers));
    for (double& weight : tree.cover)
        weight *= data.unit;
    return growth.n_layers;
}

std::pair<int, double> propose_tree(const Bins& bins, const TreeData& data, const Focus& focus,
                                    Planes weights, Vector<const double> totals,
                                    const LeafTreeOptions& options, const GrownTree& tree,
                                    const LeafSums& leaves, const TreeScratch& scratch,
                                    int n_threads) {
    const size_t n_classes = weights.n_cols;
    const size_t most_leaves = tree.features.size + 1;
    require(totals.size == n_classes, "weights and totals do not match");
    require(leaves.plus.is(most_leaves, n_classes) && leaves.minus.is(most_leaves, n_classes) &&
                leaves.outputs.is(most_leaves, n_classes),
            "leaves and tree do not match");
    std::vector<double> direction(n_classes), squares(n_classes), scales(n_classes);
    const DirectionSizes sizes = draw_direction(totals, options.key, {direction.data(), n_classes},
                                                {squares.data(), n_classes});
    const double mass_scale = coarse_scale(sizes.mass);
    project(weights,
            {{direction.data(), n_classes},
             {squares.data(), n_classes},
             coarse_scale(sizes.reach),
             mass_scale},
            scratch.values, n_threads);
    const double least = std::nearbyint(options.least_mass * (sizes.mass * mass_scale));
    // A gain below one fixed-point unit is a rounding error: a pure leaf must not be split.
    const SearchOptions search{Criterion::variance,
                               std::max<int64_t>(1, static_cast<int64_t>(least)), 1.0};
    const int n_layers =
        grow_term(bins, data, focus, scratch.values, search, tree, scratch.sums, n_threads);
    const size_t n_leaves = size_t{1} << n_layers;
    for (size_t k = 0; k < n_classes; ++k)
        scales[k] = fine_scale(totals[k]);
    std::vector<int64_t> sums(2 * n_leaves * n_classes, 0);
    region_sums(weights, tree.regions, {scales.data(), n_classes},
                {sums.data(), n_leaves, 2, n_classes}, n_threads);
    const double edge = solve_leaves({sums.data(), sums.size()}, {scales.data(), n_classes},
                                     options.smoothing, n_leaves, leaves);
    return {n_layers, edge};
}

} // namespace rebel

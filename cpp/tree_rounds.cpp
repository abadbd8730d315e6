#include "tree_rounds.hpp"

#include <algorithm>
#include <vector>

namespace rebel {
namespace {

// Where the next tree goes in a table.
struct Place {
    size_t round = 0, node = 0, leaf = 0, category = 0;
};

void write_tree(const GrownTree& tree, int n_layers, Matrix<const double> outputs,
                const TreeTable& trees, Place& place) {
    const size_t n_nodes = (size_t{1} << n_layers) - 1;
    trees.depths[place.round] = n_layers;
    std::copy_n(tree.features.data, n_nodes, trees.features.data + place.node);
    std::copy_n(tree.thresholds.data, n_nodes, trees.thresholds.data + place.node);
    std::copy_n(tree.missing_right.data, n_nodes, trees.missing_right.data + place.node);
    std::copy_n(tree.cover.data, n_nodes + 1, trees.cover.data + place.leaf);
    std::copy_n(outputs.data, outputs.n_rows * outputs.n_cols,
                trees.outputs.data + place.leaf * outputs.n_cols);
    for (size_t i = 0; i < n_nodes; ++i) {
        const bool categorical = tree.category[i] >= 0;
        trees.category[place.node + i] = categorical ? static_cast<int32_t>(place.category) : -1;
        if (categorical)
            std::copy_n(tree.right.row(i).data, most_bins, trees.right.row(place.category++).data);
    }
    place.node += n_nodes;
    place.leaf += n_nodes + 1;
    ++place.round;
}

} // namespace

void TreeTable::check(size_t n_rounds, size_t n_nodes, size_t n_classes) const {
    const size_t n = n_rounds * n_nodes;
    require(depths.size == n_rounds && features.size == n && thresholds.size == n &&
                missing_right.size == n && category.size == n && right.n_rows >= n_nodes &&
                right.n_cols == most_bins && outputs.is(n + n_rounds, n_classes) &&
                cover.size == n + n_rounds,
            "the table and the rounds do not match");
}

int boost_trees(const Bins& bins, const TreeData& data, const Bins& held_bins, const TreePlan& plan,
                const Boosted& training, const Boosted& held, const TreeMemory& memory,
                const TreeTable& trees, const RoundLog& log, int n_threads) {
    const GrownTree& tree = memory.tree;
    const size_t n_rounds = plan.keys.size;
    const size_t n_classes = training.totals.size;
    const size_t n_held = held.scores.n_rows;
    training.check(bins.n_samples(), n_classes);
    held_bins.check();
    held.check(held_bins.n_samples(), n_classes);
    log.check(n_rounds, n_classes);
    tree.check(bins);
    trees.check(n_rounds, tree.features.size, n_classes);
    require(plan.allowed.is(plan.allowed.n_rows, bins.n_features()) &&
                (plan.allowed.n_rows == 1 || plan.allowed.n_rows == n_rounds),
            "allowed must have a row for each round, or one for all");
    require(held_bins.n_features() == bins.n_features(), "held_bins and bins do not match");
    std::vector<uint16_t> held_regions(n_held);
    const Vector<uint16_t> there{held_regions.data(), n_held};
    Place place;
    int shifted = 0;
    while (place.round < n_rounds && place.category + tree.features.size <= trees.right.n_rows) {
        const size_t round = place.round;
        const size_t row = plan.allowed.n_rows == 1 ? 0 : round;
        const auto [n_layers, edge] =
            propose_tree(bins, data, {plan.samples, plan.allowed.row(row)}, training.weights,
                         training.totals, {plan.keys[round], plan.least_mass, plan.smoothing}, tree,
                         memory.leaves, memory.scratch, n_threads);
        const size_t n_leaves = size_t{1} << n_layers;
        const Matrix<double> outputs = memory.leaves.outputs.rows(0, n_leaves);
        if (!shrink(outputs, plan.shrinkage))
            break;
        write_tree(tree, n_layers, outputs, trees, place);
        log.edges[round] = edge;
        shifted += add_term(training, tree.regions, outputs, log, round, 0, n_threads);
        if (n_held > 0) {
            std::fill(held_regions.begin(), held_regions.end(), uint16_t{0});
            if (n_layers > 0)
                route(held_bins,
                      {tree.features.slice(0, n_leaves - 1), tree.right.rows(0, n_leaves - 1)},
                      there, n_threads);
            add_term(held, there, outputs, log, round, 1, n_threads);
        }
        if (!sum_exceeds(training, shifted, plan.least_total))
            break;
    }
    return static_cast<int>(place.round);
}

} // namespace rebel

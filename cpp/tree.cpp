#include "search.hpp"

#include <bit>
#include <utility>
#include <vector>

namespace rebel {
namespace {

// The sums of the children's pairs: the sides of their parents' splits. A category without mass may
// be on the side where it was not counted, so that children by categories are summed.
std::vector<int64_t> totals_of_children(const Bins& bins, Pairs values, const Splits& splits,
                                        Samples samples, const std::vector<int32_t>& starts) {
    std::vector<int64_t> totals(starts.size() - 1);
    for (size_t i = 0; i < totals.size(); ++i) {
        const int32_t feature = splits.features[i / 2];
        totals[i] = feature >= 0 && bins.is_categorical(static_cast<size_t>(feature))
                        ? total_of(values, samples.slice(starts[i], starts[i + 1]))
                        : splits.sides(i / 2, i % 2);
    }
    return totals;
}

} // namespace

Growth grow_layers(const Bins& bins, Matrix<const uint32_t> order, Allowed allowed, Pairs values,
                   Vector<int32_t> samples, const SearchOptions& options, const GrownNodes& nodes,
                   Matrix<int64_t> scratch, int n_threads) {
    const size_t n_leaves = nodes.features.size + 1;
    require(n_leaves >= 2 && std::has_single_bit(n_leaves) &&
                nodes.right.is(n_leaves - 1, most_bins),
            "nodes must be those of complete layers");
    require(4 * scratch.n_rows >= 3 * n_leaves, "scratch has too few rows");
    bins.check(allowed, values.size);
    require(scratch.n_cols == bins.n_bins(), "bins and scratch do not match");
    const int depth = static_cast<int>(std::bit_width(nodes.features.size));
    std::vector<int32_t> starts = {0, static_cast<int32_t>(samples.size)};
    options.check();
    check_order(bins, order);
    Matrix<const int64_t> parent_sums = scratch.rows(0, 0);
    bool in_order = false;
    std::vector<int64_t> totals = {total_of(values, samples)};
    for (int layer = 0; layer < depth; ++layer) {
        const size_t n_nodes = size_t{1} << layer;
        const size_t first = n_nodes - 1;
        std::vector<int64_t> sides(2 * n_nodes);
        std::vector<double> gains(n_nodes);
        const Splits splits{nodes.features.slice(first, first + n_nodes),
                            nodes.right.rows(first, first + n_nodes),
                            {sides.data(), n_nodes, 2},
                            {gains.data(), n_nodes}};
        // The last layer's sums use the first half of n_leaves rows, the one before's the rest.
        const size_t row = (depth - 1 - layer) % 2 == 0 ? 0 : n_leaves / 2;
        const Matrix<int64_t> sums = scratch.rows(row, row + n_nodes);
        std::vector<int32_t> cuts;
        for (size_t i = 0; i < n_nodes; ++i)
            cuts.insert(cuts.end(), {starts[i], starts[i + 1]});
        in_order = search_in_order(bins, order, allowed, values,
                                   {samples, {cuts.data(), n_nodes, 2}}, parent_sums, sums, options,
                                   splits, std::move(totals), in_order, n_threads);
        if (std::all_of(splits.features.begin(), splits.features.end(),
                        [](int32_t feature) { return feature < 0; }))
            return {layer, std::move(starts)};
        if (layer + 1 < depth) {
            std::vector<int32_t> child_starts(2 * n_nodes + 1);
            split_samples(bins, {splits.features, splits.right}, samples,
                          {starts.data(), starts.size()},
                          {child_starts.data(), child_starts.size()}, n_threads);
            starts = std::move(child_starts);
            totals = totals_of_children(bins, values, splits, samples, starts);
            parent_sums = sums;
        }
    }
    return {depth, std::move(starts)};
}

int grow_tree(const Bins& bins, Matrix<const uint32_t> order, Allowed allowed, Pairs values,
              Vector<int32_t> samples, const SearchOptions& options, const GrownNodes& nodes,
              Matrix<int64_t> scratch, int n_threads) {
    return grow_layers(bins, order, allowed, values, samples, options, nodes, scratch, n_threads)
        .n_layers;
}

} // namespace rebel

#include "grow.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace rebel {
namespace {

Matrix<std::int32_t> as_cuts(const std::vector<std::int32_t>& starts,
                             std::vector<std::int32_t>& cuts) {
    const std::size_t n_nodes = starts.size() - 1;
    cuts.resize(2 * n_nodes);
    for (std::size_t i = 0; i < n_nodes; ++i) {
        cuts[2 * i] = starts[i];
        cuts[2 * i + 1] = starts[i + 1];
    }
    return {cuts.data(), n_nodes, 2};
}

} // namespace

int grow_tree(const Bins& bins, Vector<const std::uint8_t> allowed,
              Vector<const std::int64_t> values, Vector<std::int32_t> samples,
              const SearchOptions& options, const GrownNodes& nodes, Matrix<std::int64_t> scratch,
              int n_threads) {
    const int depth = static_cast<int>(std::bit_width(nodes.features.size));
    const std::size_t n_bins = scratch.n_cols;
    // The last layer's sums take the first 2^(depth − 1) rows, those of the layer before the rest.
    const auto rows_of = [&](int layer) {
        const std::size_t first = (depth - 1 - layer) % 2 == 0 ? 0 : std::size_t{1} << (depth - 1);
        return Matrix<std::int64_t>(scratch.data + first * n_bins, std::size_t{1} << layer, n_bins);
    };
    std::vector<std::int32_t> starts = {0, static_cast<std::int32_t>(samples.size)};
    std::vector<std::int32_t> cuts;
    std::vector<std::int64_t> sides;
    std::vector<double> gains;
    Matrix<const std::int64_t> parent_sums(scratch.data, 0, n_bins);
    for (int layer = 0; layer < depth; ++layer) {
        const std::size_t n_nodes = std::size_t{1} << layer;
        const std::size_t first = n_nodes - 1;
        sides.resize(2 * n_nodes);
        gains.resize(n_nodes);
        const Splits splits{nodes.features.slice(first, first + n_nodes),
                            {nodes.right.row(first).data, n_nodes, most_bins},
                            {sides.data(), n_nodes, 2},
                            {gains.data(), n_nodes}};
        const Matrix<std::int64_t> sums = rows_of(layer);
        search_layer(bins, allowed, values, {samples, as_cuts(starts, cuts)}, parent_sums, sums,
                     options, splits, n_threads);
        if (std::all_of(splits.features.begin(), splits.features.end(),
                        [](std::int32_t feature) { return feature < 0; }))
            return layer;
        if (layer + 1 < depth) {
            std::vector<std::int32_t> child_starts(2 * n_nodes + 1);
            split_samples(bins, {splits.features, splits.right}, samples,
                          {starts.data(), starts.size()},
                          {child_starts.data(), child_starts.size()}, n_threads);
            starts = std::move(child_starts);
            parent_sums = sums;
        }
    }
    return depth;
}

} // namespace rebel

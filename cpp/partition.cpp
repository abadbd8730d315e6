#include "partition.hpp"

#include <algorithm>
#include <vector>

#include "parallel.hpp"

namespace rebel {
namespace {

std::size_t split_node(const std::uint8_t* column, const std::uint8_t* right,
                       Vector<std::int32_t> samples) {
    std::vector<std::int32_t> moved(samples.size);
    std::size_t n_left = 0;
    std::size_t n_right = 0;
    for (std::size_t i = 0; i < samples.size; ++i) {
        const std::int32_t sample = samples[i];
        const bool goes_right = right[column[static_cast<std::size_t>(sample) * block_width]] != 0;
        samples[n_left] = sample; // n_left ≤ i: overwrites only what has been read
        moved[n_right] = sample;
        n_left += !goes_right;
        n_right += goes_right;
    }
    std::copy_n(moved.begin(), n_right, samples.data + n_left);
    return n_left;
}

} // namespace

void split_samples(const Bins& bins, const Layer& layer, Vector<std::int32_t> samples,
                   Vector<const std::int32_t> starts, Vector<std::int32_t> child_starts,
                   int n_threads) {
    const std::size_t n_nodes = layer.features.size;
    const std::size_t grain = std::max<std::size_t>(1, n_nodes * 4096 / (samples.size + 1));
    parallel_for(n_nodes, grain, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const auto from = static_cast<std::size_t>(starts[i]);
            const auto to = static_cast<std::size_t>(starts[i + 1]);
            std::size_t n_left = to - from;
            if (layer.features[i] >= 0)
                n_left = split_node(bins.column(static_cast<std::size_t>(layer.features[i])),
                                    layer.right.row(i).data, samples.slice(from, to));
            child_starts[2 * i] = starts[i];
            child_starts[2 * i + 1] = starts[i] + static_cast<std::int32_t>(n_left);
        }
    });
    child_starts[2 * n_nodes] = starts[n_nodes];
}

void route(const Bins& bins, const Layer& nodes, Vector<std::uint16_t> regions, int n_threads) {
    const std::size_t n_nodes = nodes.features.size; // 2^depth − 1
    std::vector<const std::uint8_t*> columns(n_nodes, nullptr);
    for (std::size_t i = 0; i < n_nodes; ++i)
        if (nodes.features[i] >= 0)
            columns[i] = bins.column(static_cast<std::size_t>(nodes.features[i]));
    parallel_for(bins.n_samples(), 4096, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t n = begin; n < end; ++n) {
            std::size_t node = 0;
            while (node < n_nodes) {
                const std::uint8_t* column = columns[node];
                const bool goes_right =
                    column != nullptr &&
                    nodes.right.data[node * nodes.right.stride + column[n * block_width]] != 0;
                node = 2 * node + 1 + goes_right;
            }
            regions[n] = static_cast<std::uint16_t>(node - n_nodes);
        }
    });
}

} // namespace rebel

#include "binning.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "bins.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

// Number of edges below x, in a fixed number of steps without branches.
std::uint8_t count_below(const double* edges, std::size_t n_edges, double x) {
    std::size_t below = 0;
    for (std::size_t step = std::bit_floor(n_edges); step > 0; step /= 2) {
        const std::size_t next = below + step;
        below = (next <= n_edges && edges[next - 1] < x) ? next : below;
    }
    return static_cast<std::uint8_t>(below);
}

} // namespace

template <class Value>
void bin_values(Matrix<const Value> X, Vector<const double> edges,
                Vector<const std::int32_t> edge_offsets, Vector<const std::uint8_t> missing,
                Cube<std::uint8_t> blocks, int n_threads) {
    const std::size_t n_features = missing.size;
    parallel_for(X.n_rows, 2048, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t f = 0; f < n_features; ++f) {
            const auto first = static_cast<std::size_t>(edge_offsets[f]);
            const std::size_t n_edges = static_cast<std::size_t>(edge_offsets[f + 1]) - first;
            std::uint8_t* column = &blocks(f / block_width, 0, f % block_width);
            for (std::size_t n = begin; n < end; ++n) {
                const auto x = static_cast<double>(X(n, f));
                column[n * block_width] =
                    std::isnan(x) ? missing[f] : count_below(edges.data + first, n_edges, x);
            }
        }
    });
}

template void bin_values(Matrix<const float>, Vector<const double>, Vector<const std::int32_t>,
                         Vector<const std::uint8_t>, Cube<std::uint8_t>, int);
template void bin_values(Matrix<const double>, Vector<const double>, Vector<const std::int32_t>,
                         Vector<const std::uint8_t>, Cube<std::uint8_t>, int);

} // namespace rebel

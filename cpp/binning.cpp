#include "bins.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include "parallel.hpp"

namespace rebel {
namespace {

// Number of edges below x: a binary search without branches.
uint8_t count_below(Vector<const double> edges, double x) {
    size_t below = 0;
    for (size_t step = std::bit_floor(edges.size); step > 0; step /= 2) {
        const size_t next = below + step;
        below = (next <= edges.size && edges.data[next - 1] < x) ? next : below;
    }
    return static_cast<uint8_t>(below);
}

} // namespace

template <class Value>
void bin_values(Matrix<const Value> X, Vector<const double> edges,
                Vector<const int32_t> edge_offsets, Vector<const uint8_t> missing,
                Cube<uint8_t> blocks, int n_threads) {
    const size_t n_features = X.n_cols;
    require(edge_offsets.size == n_features + 1 && missing.size == n_features &&
                blocks.is(blocks_for(n_features), X.n_rows, block_width) &&
                static_cast<size_t>(edge_offsets[n_features]) == edges.size,
            "X, edges and blocks do not match");
    parallel_for(X.n_rows, 2048, n_threads, [&](size_t begin, size_t end) {
        for (size_t f = 0; f < n_features; ++f) {
            const auto own = edges.slice(edge_offsets[f], edge_offsets[f + 1]);
            uint8_t* column = &blocks(f / block_width, 0, f % block_width);
            for (size_t n = begin; n < end; ++n) {
                const auto x = static_cast<double>(X(n, f));
                column[n * block_width] = std::isnan(x) ? missing[f] : count_below(own, x);
            }
        }
    });
}

template void bin_values(Matrix<const float>, Vector<const double>, Vector<const int32_t>,
                         Vector<const uint8_t>, Cube<uint8_t>, int);
template void bin_values(Matrix<const double>, Vector<const double>, Vector<const int32_t>,
                         Vector<const uint8_t>, Cube<uint8_t>, int);

void sort_bins(const Bins& bins, Matrix<uint32_t> order, int n_threads) {
    bins.check();
    require(bins.n_samples() <= size_t{1} << 24, "order must be of at most 2²⁴ samples");
    require(order.is(bins.n_features(), bins.n_samples()), "bins and order do not match");
    const size_t work = 4 * bins.n_samples() * bins.n_features();
    parallel_each(bins.n_features(), grain_for(bins.n_features(), work), n_threads, [&](size_t f) {
        const uint8_t* column = bins.column(f);
        std::array<size_t, most_bins + 1> next{}; // where the bin's next sample goes
        for (size_t n = 0; n < bins.n_samples(); ++n)
            ++next[column[n * block_width] + size_t{1}];
        std::partial_sum(next.begin(), next.end(), next.begin());
        for (size_t n = 0; n < bins.n_samples(); ++n) {
            const uint32_t bin = column[n * block_width];
            order(f, next[bin]++) = (bin << 24) + static_cast<uint32_t>(n);
        }
    });
}

} // namespace rebel

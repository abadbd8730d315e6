#include "logistic.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "multiversion.hpp"
#include "parallel.hpp"
#include "rounding.hpp"

namespace rebel {
namespace {

constexpr std::size_t row_grain = 2048;

REBEL_CLONES void add_rows(const LogisticLine& line, std::size_t plane, std::size_t begin,
                           Vector<const std::uint16_t> regions, std::int64_t* __restrict sums) {
    const std::size_t n_classes = line.scales.size;
    const double* __restrict scales = line.scales.data;
    for (std::size_t n = 0; n < regions.size; ++n) {
        const double* __restrict cost = &line.subcosts(plane, begin + n, 0);
        const double* __restrict odds = &line.odds(plane, begin + n, 0);
        const std::size_t region = regions.data[n];
        const double* __restrict up = line.up.data + region * n_classes;
        const double* __restrict down = line.down.data + region * n_classes;
        std::int64_t* __restrict signed_sum = sums + region * 2 * n_classes;
        std::int64_t* __restrict mass = signed_sum + n_classes;
        for (std::size_t k = 0; k < n_classes; ++k) {
            const double moved = odds[k] * (cost[k] > 0 ? up[k] : down[k]);
            const double q = 1.0 / (1.0 + moved);
            const double pull = cost[k] * (1.0 - q);
            signed_sum[k] += rounded(pull * scales[k]);
            mass[k] += rounded(std::fabs(pull) * q * scales[k]);
        }
    }
}

} // namespace

void logistic_sums(const LogisticLine& line, Vector<const std::uint16_t> regions,
                   Cube<std::int64_t> sums, int n_threads) {
    const std::size_t size = sums.n_planes * sums.n_rows * sums.n_cols;
    const std::size_t grain = std::max(row_grain, 8 * sums.n_planes);
    std::mutex merging;
    parallel_for(regions.size, grain, n_threads, [&](std::size_t begin, std::size_t end) {
        std::vector<std::int64_t> own(size, 0);
        for (std::size_t plane = 0; plane < line.subcosts.n_planes; ++plane)
            add_rows(line, plane, begin, regions.slice(begin, end), own.data());
        const std::lock_guard lock(merging);
        for (std::size_t i = 0; i < size; ++i)
            sums.data[i] += own[i];
    });
}

} // namespace rebel

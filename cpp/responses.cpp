#include "responses.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <vector>

#include "multiversion.hpp"
#include "parallel.hpp"
#include "rounding.hpp"

namespace rebel {
namespace {

constexpr std::size_t row_grain = 2048;

constexpr std::size_t lanes = 4;
inline double together(const double* lane) {
    return (lane[0] + lane[1]) + (lane[2] + lane[3]);
}

REBEL_CLONES void project_rows(Cube<const double> weights, const Projection& projection,
                               Vector<std::int64_t> values, std::size_t begin, std::size_t end) {
    const std::size_t n_classes = weights.n_cols;
    const double* direction = projection.direction.data;
    const double* squares = projection.squares.data;
    for (std::size_t n = begin; n < end; ++n) {
        double signed_sum[lanes] = {};
        double mass[lanes] = {};
        for (std::size_t plane = 0; plane < weights.n_planes; ++plane) {
            const double* row = weights.data + (plane * weights.n_rows + n) * n_classes;
            std::size_t k = 0;
            for (; k + lanes <= n_classes; k += lanes)
                for (std::size_t j = 0; j < lanes; ++j) {
                    signed_sum[j] += row[k + j] * direction[k + j];
                    mass[j] += std::fabs(row[k + j]) * squares[k + j];
                }
            for (std::size_t j = 0; k + j < n_classes; ++j) {
                signed_sum[j] += row[k + j] * direction[k + j];
                mass[j] += std::fabs(row[k + j]) * squares[k + j];
            }
        }
        values.data[n] =
            rounded(together(signed_sum) * projection.signed_scale) * (std::int64_t{1} << 32) +
            rounded(together(mass) * projection.mass_scale);
    }
}

REBEL_CLONES void add_rows(Matrix<const double> weights, Vector<const std::uint16_t> regions,
                           const double* __restrict scales, std::int64_t* __restrict sums) {
    const std::size_t n_classes = weights.n_cols;
    for (std::size_t n = 0; n < regions.size; ++n) {
        const double* __restrict row = weights.data + n * n_classes;
        std::int64_t* __restrict signed_sum = sums + regions.data[n] * 2 * n_classes;
        std::int64_t* __restrict mass = signed_sum + n_classes;
        for (std::size_t k = 0; k < n_classes; ++k) {
            const std::int64_t w = rounded(row[k] * scales[k]);
            const std::int64_t sign = w >> 63;
            signed_sum[k] += w;
            mass[k] += (w ^ sign) - sign;
        }
    }
}

REBEL_CLONES void advance_rows(double* weights, Vector<const std::uint16_t> regions,
                               const Step& step, std::int64_t* __restrict totals) {
    const std::size_t n_classes = step.up.n_cols;
    const double* __restrict scales = step.scales.data;
    for (std::size_t n = 0; n < regions.size; ++n) {
        double* __restrict row = weights + n * n_classes;
        const double* __restrict up = step.up.data + regions.data[n] * n_classes;
        const double* __restrict down = step.down.data + regions.data[n] * n_classes;
        for (std::size_t k = 0; k < n_classes; ++k) {
            const double w = row[k] * (row[k] > 0 ? up[k] : down[k]);
            const double size = std::fabs(w);
            row[k] = size < tiny ? 0 : w;
            totals[k] += rounded(size * scales[k]);
        }
    }
}

// The first of the highest scores. Four maxima side by side: one would wait for itself.
inline std::size_t argmax(const double* row, std::size_t n) {
    double highest[4] = {row[0], row[0], row[0], row[0]};
    std::size_t k = 0;
    for (; k + 4 <= n; k += 4)
        for (std::size_t j = 0; j < 4; ++j)
            highest[j] = row[k + j] > highest[j] ? row[k + j] : highest[j];
    for (; k < n; ++k)
        highest[0] = row[k] > highest[0] ? row[k] : highest[0];
    const double top = std::max(std::max(highest[0], highest[1]), std::max(highest[2], highest[3]));
    k = 0;
    while (row[k] < top)
        ++k;
    return k;
}

REBEL_CLONES void add_outputs(double* __restrict scores, Vector<const std::uint16_t> regions,
                              Matrix<const double> outputs, std::int32_t* decided) {
    const std::size_t n_classes = outputs.n_cols;
    for (std::size_t n = 0; n < regions.size; ++n) {
        double* row = scores + n * n_classes;
        const double* output = outputs.data + regions.data[n] * n_classes;
        for (std::size_t k = 0; k < n_classes; ++k)
            row[k] += output[k];
        decided[n] = static_cast<std::int32_t>(argmax(row, n_classes));
    }
}

} // namespace

void project(Cube<const double> weights, const Projection& projection, Vector<std::int64_t> values,
             int n_threads) {
    parallel_for(weights.n_rows, row_grain, n_threads, [&](std::size_t begin, std::size_t end) {
        project_rows(weights, projection, values, begin, end);
    });
}

void region_sums(Cube<const double> weights, Vector<const std::uint16_t> regions,
                 Vector<const double> scales, Cube<std::int64_t> sums, int n_threads) {
    const std::size_t size = sums.n_planes * sums.n_rows * sums.n_cols;
    // Large enough that zeroing and merging a private copy of the sums is little of the work.
    const std::size_t grain = std::max(row_grain, 8 * sums.n_planes);
    std::mutex merging;
    parallel_for(weights.n_rows, grain, n_threads, [&](std::size_t begin, std::size_t end) {
        std::vector<std::int64_t> own(size, 0);
        for (std::size_t plane = 0; plane < weights.n_planes; ++plane)
            add_rows({&weights(plane, begin, 0), end - begin, weights.n_cols},
                     regions.slice(begin, end), scales.data, own.data());
        const std::lock_guard lock(merging);
        for (std::size_t i = 0; i < size; ++i)
            sums.data[i] += own[i];
    });
}

void advance(Cube<double> weights, Matrix<double> scores, Vector<const std::uint16_t> regions,
             const Step& step, Vector<std::int64_t> totals, Vector<std::int32_t> decided,
             int n_threads) {
    std::mutex merging;
    parallel_for(weights.n_rows, row_grain, n_threads, [&](std::size_t begin, std::size_t end) {
        std::vector<std::int64_t> own(totals.size, 0);
        for (std::size_t plane = 0; plane < weights.n_planes; ++plane)
            advance_rows(&weights(plane, begin, 0), regions.slice(begin, end), step, own.data());
        add_outputs(&scores(begin, 0), regions.slice(begin, end), step.outputs, &decided[begin]);
        const std::lock_guard lock(merging);
        for (std::size_t k = 0; k < totals.size; ++k)
            totals[k] += own[k];
    });
}

} // namespace rebel

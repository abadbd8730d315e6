#include "responses.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <vector>

#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

constexpr std::size_t row_grain = 2048;

// rint(x) for |x| < 2⁵¹: adding 1.5 · 2⁵² leaves the integer in the low bits. Unlike a cast it is
// one instruction on every machine, also in vectors.
constexpr double round_magic = 0x1.8p52;
inline std::int64_t rounded(double x) {
    return std::bit_cast<std::int64_t>(x + round_magic) - std::bit_cast<std::int64_t>(round_magic);
}

REBEL_CLONES void project_rows(Cube<const double> weights, const Projection& projection,
                               Vector<std::int64_t> values, std::size_t begin, std::size_t end) {
    const std::size_t n_classes = weights.n_cols;
    const double* direction = projection.direction.data;
    const double* squares = projection.squares.data;
    for (std::size_t n = begin; n < end; ++n) {
        double signed_sum = 0;
        double mass = 0;
        for (std::size_t plane = 0; plane < weights.n_planes; ++plane) {
            const double* row = &weights(plane, n, 0);
            for (std::size_t k = 0; k < n_classes; ++k) {
                signed_sum += row[k] * direction[k];
                mass += std::fabs(row[k]) * squares[k];
            }
        }
        values.data[n] = rounded(signed_sum * projection.signed_scale) * (std::int64_t{1} << 32) +
                         rounded(mass * projection.mass_scale);
    }
}

REBEL_CLONES void add_rows(Matrix<const double> weights, Vector<const std::uint16_t> regions,
                           double scale, Cube<std::int64_t> sums) {
    const std::size_t n_classes = weights.n_cols;
    for (std::size_t n = 0; n < regions.size; ++n) {
        const double* row = weights.data + n * n_classes;
        std::int64_t* signed_sum = sums.data + regions.data[n] * 2 * n_classes;
        std::int64_t* mass = signed_sum + n_classes;
        for (std::size_t k = 0; k < n_classes; ++k) {
            const std::int64_t w = rounded(row[k] * scale);
            const std::int64_t sign = w >> 63;
            signed_sum[k] += w;
            mass[k] += (w ^ sign) - sign;
        }
    }
}

REBEL_CLONES double advance_rows(double* weights,
                                 Vector<const std::uint16_t> regions, const Step& step) {
    const std::size_t n_classes = step.up.n_cols;
    double largest = 0;
    for (std::size_t n = 0; n < regions.size; ++n) {
        double* row = weights + n * n_classes;
        const double* up = step.up.data + regions.data[n] * n_classes;
        const double* down = step.down.data + regions.data[n] * n_classes;
        for (std::size_t k = 0; k < n_classes; ++k) {
            const double w = row[k] * (row[k] > 0 ? up[k] : down[k]);
            const double size = std::fabs(w);
            row[k] = size < tiny ? 0 : w;
            largest = size > largest ? size : largest;
        }
    }
    return largest;
}

REBEL_CLONES void add_outputs(double* scores, Vector<const std::uint16_t> regions,
                              Matrix<const double> outputs, std::int32_t* decided) {
    const std::size_t n_classes = outputs.n_cols;
    for (std::size_t n = 0; n < regions.size; ++n) {
        double* row = scores + n * n_classes;
        const double* output = outputs.data + regions.data[n] * n_classes;
        for (std::size_t k = 0; k < n_classes; ++k)
            row[k] += output[k];
        std::size_t best = 0;
        for (std::size_t k = 1; k < n_classes; ++k)
            best = row[k] > row[best] ? k : best;
        decided[n] = static_cast<std::int32_t>(best);
    }
}

} // namespace

void project(Cube<const double> weights, const Projection& projection, Vector<std::int64_t> values,
             int n_threads) {
    parallel_for(weights.n_rows, row_grain, n_threads, [&](std::size_t begin, std::size_t end) {
        project_rows(weights, projection, values, begin, end);
    });
}

void region_sums(Cube<const double> weights, Vector<const std::uint16_t> regions, double scale,
                 Cube<std::int64_t> sums, int n_threads) {
    const std::size_t size = sums.n_planes * sums.n_rows * sums.n_cols;
    // Large enough that zeroing and merging a private copy of the sums is little of the work.
    const std::size_t grain = std::max(row_grain, 8 * sums.n_planes);
    std::mutex merging;
    parallel_for(weights.n_rows, grain, n_threads, [&](std::size_t begin, std::size_t end) {
        std::vector<std::int64_t> own(size, 0);
        const Cube<std::int64_t> partial{own.data(), sums.n_planes, sums.n_rows, sums.n_cols};
        for (std::size_t plane = 0; plane < weights.n_planes; ++plane)
            add_rows({&weights(plane, begin, 0), end - begin, weights.n_cols},
                     regions.slice(begin, end), scale, partial);
        const std::lock_guard lock(merging);
        for (std::size_t i = 0; i < size; ++i)
            sums.data[i] += own[i];
    });
}

double advance(Cube<double> weights, Matrix<double> scores, Vector<const std::uint16_t> regions,
               const Step& step, Vector<std::int32_t> decided, int n_threads) {
    double largest = 0;
    std::mutex merging;
    parallel_for(weights.n_rows, row_grain, n_threads, [&](std::size_t begin, std::size_t end) {
        double own = 0;
        for (std::size_t plane = 0; plane < weights.n_planes; ++plane)
            own = std::max(own, advance_rows(&weights(plane, begin, 0),
                                             regions.slice(begin, end), step));
        add_outputs(&scores(begin, 0), regions.slice(begin, end), step.outputs, &decided[begin]);
        const std::lock_guard lock(merging);
        largest = std::max(largest, own);
    });
    return largest;
}

} // namespace rebel

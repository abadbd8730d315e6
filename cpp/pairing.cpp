#include "pairing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

constexpr std::size_t row_grain = 2048;
constexpr std::size_t lanes = 4;

// G of one sample.
inline void add_planes(Cube<const double> weights, std::size_t n, double* __restrict signed_row) {
    const std::size_t n_classes = weights.n_cols;
    const double* first = weights.data + n * n_classes;
    std::copy(first, first + n_classes, signed_row);
    for (std::size_t plane = 1; plane < weights.n_planes; ++plane) {
        const double* __restrict row = weights.data + (plane * weights.n_rows + n) * n_classes;
        for (std::size_t k = 0; k < n_classes; ++k)
            signed_row[k] += row[k];
    }
}

REBEL_CLONES double least_of_rows(Cube<const double> weights, const double* __restrict squares,
                                  const double* __restrict signed_totals, std::size_t begin,
                                  std::size_t end, double* __restrict left) {
    const std::size_t n_classes = weights.n_cols;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t n = begin; n < end; ++n) {
        add_planes(weights, n, left);
        for (std::size_t k = 0; k < n_classes; ++k) {
            const double P = 2 * left[k] - signed_totals[k];
            left[k] = std::sqrt(std::max(squares[k] - P * P, 0.0));
        }
        double sums[lanes] = {};
        for (std::size_t k = 0; k < n_classes; ++k)
            sums[k % lanes] += left[k];
        least = std::min(least, (sums[0] + sums[1]) + (sums[2] + sums[3]));
    }
    return least;
}

} // namespace

void nearest_rivals(Matrix<const float> distances, Vector<const std::int64_t> anchor_values,
                    Vector<const std::int64_t> values, Matrix<std::int32_t> nearest) {
    const std::size_t most = nearest.n_cols;
    std::vector<float> far(most);
    for (std::size_t i = 0; i < distances.n_rows; ++i) {
        const Vector<const float> row = distances.row(i);
        const Vector<std::int32_t> found = nearest.row(i);
        std::fill(found.begin(), found.end(), -1);
        std::fill(far.begin(), far.end(), std::numeric_limits<float>::infinity());
        for (std::size_t n = 0; n < row.size; ++n) {
            const bool opposed = anchor_values[i] > 0 ? values[n] < 0 : values[n] > 0;
            if (!(row[n] < far[most - 1] && row[n] > 0 && opposed && anchor_values[i] != 0))
                continue;
            std::size_t place = most - 1;
            for (; place > 0 && row[n] < far[place - 1]; --place) {
                far[place] = far[place - 1];
                found[place] = found[place - 1];
            }
            far[place] = row[n];
            found[place] = static_cast<std::int32_t>(n);
        }
    }
}

double least_isolated(Cube<const double> weights, Vector<const double> totals,
                      Vector<const double> signed_totals, int n_threads) {
    const std::size_t n_classes = weights.n_cols;
    std::vector<double> squares(n_classes);
    for (std::size_t k = 0; k < n_classes; ++k)
        squares[k] = totals[k] * totals[k];
    double least = std::numeric_limits<double>::infinity();
    std::mutex merging;
    parallel_for(weights.n_rows, row_grain, n_threads, [&](std::size_t begin, std::size_t end) {
        std::vector<double> left(n_classes);
        const double own =
            least_of_rows(weights, squares.data(), signed_totals.data, begin, end, left.data());
        const std::lock_guard lock(merging);
        least = std::min(least, own);
    });
    return least;
}

} // namespace rebel

#include "similarity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "arithmetic.hpp"
#include "comparing.hpp"
#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

REBEL_CLONES void distances_of_blocks(Cube<const float> blocks, const float* points,
                                      Matrix<float> out, size_t begin, size_t end) {
    const size_t n_features = blocks.n_rows;
    const size_t n_grouped = out.n_rows - out.n_rows % points_at_once;
    for (size_t b = begin; b < end; ++b) {
        const size_t n_here = std::min(abreast, out.n_cols - b * abreast);
        for_distances(blocks.data + b * n_features * abreast, points, n_features, n_grouped, 0,
                      out.n_rows, [=](size_t i, const float* sums) REBEL_INLINE {
                          std::copy(sums, sums + n_here, out.data + i * out.n_cols + b * abreast);
                      });
    }
}

inline double integer_response(double f) {
    constexpr double unit = 1 << response_bits;
    return (f * unit + round_magic) - round_magic;
}

REBEL_CLONES void compare_rows(Comparison of, size_t n, uint16_t* levels) {
    respond_to(of, n, levels, level_of);
}

REBEL_CLONES void add_rows(Distances distances, const Comparisons& all,
                           const double* __restrict values, size_t first, size_t last,
                           Matrix<double> scores, size_t begin, size_t end) {
    uint16_t levels[abreast];
    const size_t n_classes = scores.n_cols;
    for (size_t n = begin; n < end; n += abreast) {
        const size_t n_here = std::min(abreast, end - n);
        for (size_t t = first; t < last; ++t) {
            respond_to({&distances(all.anchors[t], n), &distances(all.rivals[t], n), all.kinds[t],
                        all.apart[t]},
                       n_here, levels, level_of);
            const double* __restrict output = all.outputs.data + t * n_classes;
            const double* __restrict offset = all.offsets.data + t * n_classes;
            for (size_t i = 0; i < n_here; ++i) {
                double* __restrict row = scores.data + (n + i) * n_classes;
                const double value = values[levels[i]];
                for (size_t k = 0; k < n_classes; ++k)
                    row[k] += value * output[k] + offset[k];
            }
        }
    }
}

REBEL_CLONES void add_similar_rows(Distances distances, double tau, Matrix<const double> outputs,
                                   const double* __restrict offset, Matrix<double> scores,
                                   size_t begin, size_t end) {
    double responses[abreast];
    const size_t n_classes = scores.n_cols;
    for (size_t n = begin; n < end; n += abreast) {
        const size_t n_here = std::min(abreast, end - n);
        for (size_t e = 0; e < distances.n_rows; ++e) {
            const float* __restrict r = &distances(e, n);
            for (size_t i = 0; i < n_here; ++i)
                responses[i] = (tau - double{r[i]}) / (tau + double{r[i]});
            const double* __restrict output = outputs.data + e * n_classes;
            for (size_t i = 0; i < n_here; ++i) {
                double* __restrict row = scores.data + (n + i) * n_classes;
                for (size_t k = 0; k < n_classes; ++k)
                    row[k] += responses[i] * output[k];
            }
        }
        for (size_t i = 0; i < n_here; ++i)
            for (size_t k = 0; k < n_classes; ++k)
                scores(n + i, k) += offset[k];
    }
}

REBEL_CLONES void sums_of_pair(Comparison pair, Matrix<const double> signed_values,
                               Matrix<const double> mass, double* __restrict f,
                               Matrix<double> sums) {
    const size_t n = signed_values.n_cols;
    respond_to(pair, n, f, integer_response);
    for (size_t k = 0; k < signed_values.n_rows; ++k) {
        const double* __restrict g = signed_values.data + k * n;
        const double* __restrict w = mass.data + k * n;
        double first[lanes] = {}, second[lanes] = {}, third[lanes] = {};
        in_lanes(n, [&](size_t i, size_t lane) REBEL_INLINE {
            const double weighted = f[i] * w[i];
            first[lane] += f[i] * g[i];
            second[lane] += weighted;
            third[lane] += f[i] * weighted;
        });
        sums(0, k) = together(first);
        sums(1, k) = together(second);
        sums(2, k) = together(third);
    }
}

REBEL_CLONES Isolated best_of_rows(Cube<const double> weights, const double* __restrict totals,
                                   const double* __restrict signed_totals, size_t begin, size_t end,
                                   double* __restrict left) {
    const size_t n_classes = weights.n_cols;
    Isolated best{-1, std::numeric_limits<double>::infinity()};
    for (size_t n = begin; n < end; ++n) {
        std::copy_n(weights.data + n * n_classes, n_classes, left);
        for (size_t plane = 1; plane < weights.n_planes; ++plane) {
            const double* __restrict row = weights.data + (plane * weights.n_rows + n) * n_classes;
            for (size_t k = 0; k < n_classes; ++k)
                left[k] += row[k];
        }
        for (size_t k = 0; k < n_classes; ++k) {
            const double P = 2 * left[k] - signed_totals[k];
            left[k] = std::sqrt(std::max(totals[k] * totals[k] - P * P, 0.0));
        }
        double sums[lanes] = {};
        for (size_t k = 0; k < n_classes; ++k)
            sums[k % lanes] += left[k];
        const double loss = together(sums);
        if (loss < best.loss)
            best = {static_cast<int32_t>(n), loss};
    }
    return best;
}

std::array<double, n_levels> make_levels() {
    std::array<double, n_levels> levels{};
    for (int i = 0; i < zero_level - 1; ++i) {
        const double mantissa = 1 + (i % level_steps + 0.5) / level_steps;
        const double size = std::ldexp(mantissa, i / level_steps - level_octaves);
        levels[static_cast<size_t>(zero_level + 1 + i)] = size;
        levels[static_cast<size_t>(zero_level - 1 - i)] = -size;
    }
    levels.front() = -1;
    levels.back() = 1;
    return levels;
}

void require_rows(Vector<const int32_t> rows, size_t n_rows) {
    for (const int32_t row : rows)
        require(static_cast<size_t>(row) < n_rows,
                "names a row of the distances that is not there");
}

} // namespace

void squared_distances(Cube<const float> blocks, Matrix<const float> points, Matrix<float> out,
                       int n_threads) {
    const size_t n_blocks = (out.n_cols + abreast - 1) / abreast;
    require(blocks.is(n_blocks, points.n_cols, abreast) && out.n_rows == points.n_rows,
            "blocks, points and out do not match");
    constexpr size_t subtractions = 1 << 19; // worth a block
    const size_t work = std::max<size_t>(1, points.n_rows * points.n_cols * abreast);
    const std::vector<float> in_groups = packed(points);
    parallel_for(n_blocks, std::max<size_t>(1, subtractions / work), n_threads,
                 [&](size_t begin, size_t end) {
                     distances_of_blocks(blocks, in_groups.data(), out, begin, end);
                 });
}

void compare(Vector<const float> anchor, Vector<const float> rival, int kind, double apart,
             Vector<uint16_t> levels, int n_threads) {
    require(anchor.size == levels.size && rival.size == levels.size,
            "anchor, rival and levels differ in length");
    require(kind >= two_points && kind <= inside, "kind must be 0, 1, 2 or 3");
    parallel_for(levels.size, 8192, n_threads, [&](size_t begin, size_t end) {
        compare_rows({anchor.data + begin, rival.data + begin, kind, apart}, end - begin,
                     levels.data + begin);
    });
}

void compare_points(Cube<const float> blocks, Matrix<const float> points, int kind, double apart,
                    Vector<uint16_t> levels, int n_threads) {
    require(points.n_rows == (kind == two_points || kind == nearer ? 2 : 1),
            "kind and points do not match");
    const size_t n = levels.size;
    std::vector<float> distances(points.n_rows * n);
    squared_distances(blocks, points, {distances.data(), points.n_rows, n}, n_threads);
    const float* last = distances.data() + (points.n_rows - 1) * n;
    compare({distances.data(), n}, {last, n}, kind, apart, levels, n_threads);
}

void pair_sums(Distances from_anchors, Distances from_rivals, const PairList& pairs, int kind,
               Matrix<const double> signed_values, Matrix<const double> mass, Cube<double> sums,
               int n_threads) {
    const size_t n_classes = signed_values.n_rows;
    const size_t n = signed_values.n_cols;
    const size_t n_pairs = pairs.apart.size;
    require(from_anchors.n_cols == n && from_rivals.n_cols == n && mass.is(n_classes, n) &&
                sums.is(n_pairs, 3, n_classes),
            "distances, weights and sums do not match");
    require(kind == two_points || kind == nearer, "kind must be 0 or 1");
    require(pairs.anchors.size == n_pairs && pairs.rivals.size == n_pairs,
            "the arrays of the pairs do not match");
    require_rows(pairs.anchors, from_anchors.n_rows);
    require_rows(pairs.rivals, from_rivals.n_rows);
    parallel_for(n_pairs, 1, n_threads, [&](size_t begin, size_t end) {
        std::vector<double> f(n);
        for (size_t i = begin; i < end; ++i)
            sums_of_pair({from_anchors.row(pairs.anchors[i]).data,
                          from_rivals.row(pairs.rivals[i]).data, kind, pairs.apart[i]},
                         signed_values, mass, f.data(), sums.plane(i));
    });
}

void nearest_rivals(Distances distances, Vector<const int64_t> anchor_values,
                    Vector<const int64_t> values, Matrix<int32_t> nearest) {
    const size_t most = nearest.n_cols;
    require(anchor_values.size == distances.n_rows && nearest.n_rows == distances.n_rows &&
                values.size == distances.n_cols && most > 0,
            "distances, values and nearest do not match");
    std::vector<float> far(most);
    for (size_t i = 0; i < distances.n_rows; ++i) {
        const Vector<const float> row = distances.row(i);
        const Vector<int32_t> found = nearest.row(i);
        std::fill(found.begin(), found.end(), -1);
        std::fill(far.begin(), far.end(), std::numeric_limits<float>::infinity());
        const int64_t own = anchor_values[i];
        for (size_t n = 0; n < row.size; ++n) {
            if (!(row[n] < far[most - 1] && row[n] > 0)) // most are too far
                continue;
            if (!(own > 0 ? values[n] < 0 : own < 0 && values[n] > 0))
                continue;
            size_t place = most - 1;
            for (; place > 0 && row[n] < far[place - 1]; --place) {
                far[place] = far[place - 1];
                found[place] = found[place - 1];
            }
            far[place] = row[n];
            found[place] = static_cast<int32_t>(n);
        }
    }
}

Isolated best_isolated(Cube<const double> weights, Vector<const double> totals,
                       Vector<const double> signed_totals, int n_threads) {
    const size_t n_classes = weights.n_cols;
    require(totals.size == n_classes && signed_totals.size == n_classes,
            "weights and totals differ in classes");
    constexpr size_t grain = 2048;
    std::vector<Isolated> bests(weights.n_rows / grain + 1,
                                {-1, std::numeric_limits<double>::infinity()});
    parallel_for(weights.n_rows, grain, n_threads, [&](size_t begin, size_t end) {
        std::vector<double> left(n_classes);
        bests[begin / grain] =
            best_of_rows(weights, totals.data, signed_totals.data, begin, end, left.data());
    });
    return *std::min_element(bests.begin(), bests.end(),
                             [](const Isolated& a, const Isolated& b) { return a.loss < b.loss; });
}

Vector<const double> response_levels() {
    static const std::array<double, n_levels> levels = make_levels();
    return {levels.data(), levels.size()};
}

void add_comparisons(Distances distances, const Comparisons& comparisons,
                     Vector<const double> values, size_t first, size_t last, Matrix<double> scores,
                     int n_threads) {
    const size_t n_terms = comparisons.anchors.size;
    require(comparisons.rivals.size == n_terms && comparisons.kinds.size == n_terms &&
                comparisons.apart.size == n_terms &&
                comparisons.outputs.is(n_terms, scores.n_cols) &&
                comparisons.offsets.is(n_terms, scores.n_cols),
            "the arrays of the comparisons do not match");
    require(distances.n_cols == scores.n_rows && values.size == n_levels && first <= last &&
                last <= n_terms,
            "distances, comparisons and scores do not match");
    require_rows(comparisons.anchors, distances.n_rows);
    require_rows(comparisons.rivals, distances.n_rows);
    for (const int32_t kind : comparisons.kinds)
        require(kind >= two_points && kind <= inside, "a comparison is of no known kind");
    constexpr size_t rows = 4 * abreast;
    parallel_for(scores.n_rows, rows, n_threads, [&](size_t begin, size_t end) {
        add_rows(distances, comparisons, values.data, first, last, scores, begin, end);
    });
}

void add_similarities(Distances distances, double tau, Matrix<const double> outputs,
                      Vector<const double> offset, Matrix<double> scores, int n_threads) {
    require(outputs.is(distances.n_rows, scores.n_cols) && offset.size == scores.n_cols &&
                distances.n_cols == scores.n_rows,
            "distances, outputs and scores do not match");
    require(tau > 0, "tau must be positive");
    parallel_for(scores.n_rows, 4 * abreast, n_threads, [&](size_t begin, size_t end) {
        add_similar_rows(distances, tau, outputs, offset.data, scores, begin, end);
    });
}

} // namespace rebel

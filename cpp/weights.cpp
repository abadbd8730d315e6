#include "weights.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "arithmetic.hpp"
#include "counting.hpp"
#include "elementary.hpp"
#include "few.hpp"
#include "fixed_point.hpp"
#include "multiversion.hpp"
#include "parallel.hpp"
#include "two_classes.hpp"

namespace rebel {
namespace {

constexpr size_t row_grain = 2048;

// Large enough that zeroing and merging the partial sums is a small part of the work.
size_t sum_grain(const Cube<int64_t>& sums) {
    return std::max(row_grain, 8 * sums.n_planes);
}

using Lanes [[gnu::vector_size(8 * lanes)]] = double;

// The next weights of a row, as many as there are lanes; 0 where none is left.
REBEL_INLINE inline Lanes lanes_of(const double* row, size_t n_left) {
    Lanes next{};
    if (n_left >= lanes)
        std::memcpy(&next, row, sizeof next);
    else if (n_left == 3)
        next = Lanes{row[0], row[1], row[2], 0};
    else if (n_left == 2)
        next = Lanes{row[0], row[1], 0, 0};
    else
        next = Lanes{row[0], 0, 0, 0};
    return next;
}

REBEL_INLINE inline int64_t pair_in_lanes(const double* signed_sum, const double* mass,
                                          const Projection& projection) {
    return rounded(together(signed_sum) * projection.signed_scale) * (int64_t{1} << 32) +
           rounded(together(mass) * projection.mass_scale);
}

// The pair of sample n. With few classes, the compiler works on several samples at a time;
template <class Constant>
REBEL_INLINE inline int64_t projected(Planes weights, size_t n, Constant n_classes,
                                      const Projection& projection) {
    double signed_sum[lanes] = {};
    double mass[lanes] = {};
    const double* row = weights.data + n * n_classes;
    in_lanes(n_classes, [&](size_t k, size_t lane) REBEL_INLINE {
        signed_sum[lane] = row[k] * projection.direction.data[k];
        mass[lane] = std::fabs(row[k]) * projection.squares.data[k];
    });
    return pair_in_lanes(signed_sum, mass, projection);
}

// with more classes or a second plane of weights, lanes are a vector.
REBEL_INLINE inline int64_t projected(Planes weights, size_t n, size_t n_classes,
                                      const Projection& projection) {
    Lanes signed_sum{}, mass{};
    for (size_t plane = 0; plane < weights.n_planes; ++plane) {
        const double* row = weights.data + (plane * weights.n_rows + n) * n_classes;
        for (size_t k = 0; k < n_classes; k += lanes) {
            const Lanes w = lanes_of(row + k, n_classes - k);
            signed_sum += w * lanes_of(projection.direction.data + k, n_classes - k);
            mass += (w < 0 ? -w : w) * lanes_of(projection.squares.data + k, n_classes - k);
        }
    }
    double signed_lanes[lanes], mass_lanes[lanes];
    std::memcpy(signed_lanes, &signed_sum, sizeof signed_sum);
    std::memcpy(mass_lanes, &mass, sizeof mass);
    return pair_in_lanes(signed_lanes, mass_lanes, projection);
}

REBEL_CLONES void project_rows(Planes weights, const Projection& projection,
                               int64_t* __restrict values, size_t begin, size_t end) {
    if (weights.n_planes > 1) {
        for (size_t n = begin; n < end; ++n)
            values[n] = projected(weights, n, weights.n_cols, projection);
        return;
    }
    constant_if_few(weights.n_cols, [&](auto n_classes) REBEL_INLINE {
        for (size_t n = begin; n < end; ++n)
            values[n] = projected(weights, n, n_classes, projection);
    });
}

REBEL_CLONES void fix_rows(Planes weights, double scale, Matrix<int32_t> fixed, int64_t* keys,
                           size_t begin, size_t end) {
    const size_t n_classes = weights.n_cols;
    for (size_t n = begin; n < end; ++n) {
        int64_t key = 0;
        int32_t* row = fixed.data + n * fixed.n_cols;
        std::fill_n(row, fixed.n_cols, 0);
        for (size_t k = 0; k < n_classes; ++k) {
            double sum = weights.data[n * n_classes + k];
            if (weights.n_planes == 2)
                sum += weights.data[(weights.n_rows + n) * n_classes + k];
            const int64_t w = rounded(sum * scale);
            row[k] = static_cast<int32_t>(w);
            key += w < 0 ? -w : w;
        }
        keys[n] = key;
    }
}

template <class Classes>
REBEL_INLINE inline void add_rows(Matrix<const double> weights, Regions regions,
                                  const double* __restrict scales, int64_t* __restrict sums,
                                  Classes n_classes) {
    for (size_t n = 0; n < regions.size; ++n) {
        const double* __restrict row = weights.data + n * n_classes;
        int64_t* __restrict signed_sum = sums + regions.data[n] * 2 * n_classes;
        int64_t* __restrict mass = signed_sum + n_classes;
        for (size_t k = 0; k < n_classes; ++k) {
            const int64_t w = rounded(row[k] * scales[k]);
            const int64_t sign = w >> 63;
            signed_sum[k] += w;
            mass[k] += (w ^ sign) - sign;
        }
    }
}

REBEL_CLONES void add_weights(Matrix<const double> weights, Regions regions, const double* scales,
                              int64_t* sums) {
    constant_if_few(weights.n_cols, [&](auto n_classes) REBEL_INLINE {
        add_rows(weights, regions, scales, sums, n_classes);
    });
}

REBEL_CLONES void add_slopes(const LogisticLine& line, size_t plane, size_t begin, Regions regions,
                             int64_t* __restrict sums) {
    const size_t n_classes = line.scales.size;
    const double* __restrict scales = line.scales.data;
    for (size_t n = 0; n < regions.size; ++n) {
        const double* __restrict cost = &line.subcosts(plane, begin + n, 0);
        const double* __restrict odds = &line.odds(plane, begin + n, 0);
        const size_t region = regions.data[n];
        const double* __restrict up = line.up.data + region * n_classes;
        const double* __restrict down = line.down.data + region * n_classes;
        int64_t* __restrict signed_sum = sums + region * 2 * n_classes;
        int64_t* __restrict mass = signed_sum + n_classes;
        for (size_t k = 0; k < n_classes; ++k) {
            const double moved = std::min(odds[k] * (cost[k] > 0 ? up[k] : down[k]), huge);
            const double q = 1.0 / (1.0 + moved);
            const double pull = cost[k] * (moved * q); // 1 − q would cancel where odds are small
            signed_sum[k] += rounded(pull * scales[k]);
            mass[k] += rounded(std::fabs(pull) * q * scales[k]);
        }
    }
}

template <class Classes>
REBEL_INLINE inline void advance_rows(double* weights, Regions regions, const Step& step,
                                      int64_t* __restrict totals, Classes n_classes) {
    const double* __restrict scales = step.scales.data;
    for (size_t n = 0; n < regions.size; ++n) {
        double* __restrict row = weights + n * n_classes;
        const double* __restrict up = step.up.data + regions.data[n] * n_classes;
        const double* __restrict down = step.down.data + regions.data[n] * n_classes;
        for (size_t k = 0; k < n_classes; ++k) {
            const double w = row[k] * (row[k] > 0 ? up[k] : down[k]);
            const double size = std::fabs(w);
            row[k] = size < tiny ? 0 : w;
            totals[k] += rounded(size * scales[k]);
        }
    }
}

REBEL_CLONES void advance_weights(double* weights, Regions regions, const Step& step,
                                  int64_t* totals) {
    constant_if_few(step.up.n_cols, [&](auto n_classes) REBEL_INLINE {
        advance_rows(weights, regions, step, totals, n_classes);
    });
}

template <class Classes>
REBEL_INLINE inline void add_outputs(double* __restrict scores, Regions regions,
                                     Matrix<const double> outputs, int32_t* decided,
                                     Classes n_classes) {
    for (size_t n = 0; n < regions.size; ++n) {
        double* row = scores + n * n_classes;
        const double* output = outputs.data + regions.data[n] * n_classes;
        for (size_t k = 0; k < n_classes; ++k)
            row[k] += output[k];
        decided[n] = static_cast<int32_t>(std::max_element(row, row + n_classes) - row);
    }
}

REBEL_CLONES void advance_scores(double* scores, Regions regions, Matrix<const double> outputs,
                                 int32_t* decided) {
    constant_if_few(outputs.n_cols, [&](auto n_classes) REBEL_INLINE {
        add_outputs(scores, regions, outputs, decided, n_classes);
    });
}

REBEL_CLONES void exponential_pairs(const double* x, size_t n, double unit, double* up,
                                    double* down) {
    for (size_t i = 0; i < n; ++i) {
        up[i] = exponential(x[i]) * unit;
        down[i] = exponential(-x[i]) * unit;
    }
}

REBEL_CLONES void find_largest(Matrix<const double> outputs, double* __restrict largest) {
    for (size_t r = 0; r < outputs.n_rows; ++r)
        for (size_t k = 0; k < outputs.n_cols; ++k)
            largest[k] = std::max(largest[k], std::fabs(outputs.data[r * outputs.n_cols + k]));
}

// Factors of all regions; if there are more of them than samples, of those that have samples.
void write_factors(Regions regions, Matrix<const double> outputs, double unit,
                   std::vector<double>& up, std::vector<double>& down) {
    const size_t n_classes = outputs.n_cols;
    if (outputs.n_rows <= regions.size) {
        exponential_pairs(outputs.data, up.size(), unit, up.data(), down.data());
        return;
    }
    std::vector<uint8_t> is_used(outputs.n_rows, 0);
    for (const uint16_t region : regions)
        is_used[region] = 1;
    std::vector<double> gathered;
    gathered.reserve(regions.size * n_classes);
    for (size_t r = 0; r < outputs.n_rows; ++r)
        if (is_used[r] != 0)
            gathered.insert(gathered.end(), outputs.row(r).begin(), outputs.row(r).end());
    std::vector<double> factors(2 * gathered.size());
    double* above = factors.data();
    double* below = above + gathered.size();
    exponential_pairs(gathered.data(), gathered.size(), unit, above, below);
    for (size_t r = 0; r < outputs.n_rows; ++r)
        if (is_used[r] != 0) {
            std::copy_n(above, n_classes, &up[r * n_classes]);
            std::copy_n(below, n_classes, &down[r * n_classes]);
            above += n_classes;
            below += n_classes;
        }
}

} // namespace

void project(Planes weights, const Projection& projection, Vector<int64_t> values, int n_threads) {
    require(values.size == weights.n_rows, "values and weights differ in length");
    require(projection.direction.size == weights.n_cols &&
                projection.squares.size == weights.n_cols,
            "projection and weights differ in classes");
    parallel_for(weights.n_rows, row_grain, n_threads, [&](size_t begin, size_t end) {
        project_rows(weights, projection, values.data, begin, end);
    });
}

void fix_weights(Planes weights, Vector<const int32_t> samples, double scale,
                 Matrix<int32_t> signed_weights, Vector<int64_t> keys, Vector<int64_t> totals,
                 int n_threads) {
    const size_t n_classes = weights.n_cols;
    require(signed_weights.is(weights.n_rows, (n_classes + 7) / 8 * 8) &&
                keys.size == weights.n_rows && totals.size == n_classes && weights.n_planes <= 2,
            "weights, keys and totals do not match");
    parallel_for(weights.n_rows, row_grain, n_threads, [&](size_t begin, size_t end) {
        fix_rows(weights, scale, signed_weights, keys.data, begin, end);
    });
    std::fill(totals.begin(), totals.end(), 0);
    for (const int32_t sample : samples)
        for (size_t k = 0; k < n_classes; ++k) {
            const auto n = static_cast<size_t>(sample);
            if (weights.n_planes == 1) { // then |G| = W
                totals[k] += std::abs(int64_t{signed_weights(n, k)});
                continue;
            }
            const double mass = std::fabs(weights(0, n, k)) + std::fabs(weights(1, n, k));
            totals[k] += rounded(mass * scale);
        }
}

void region_sums(Planes weights, Regions regions, Vector<const double> scales, Cube<int64_t> sums,
                 int n_threads) {
    require(regions.size == weights.n_rows && sums.is(sums.n_planes, 2, weights.n_cols) &&
                scales.size == weights.n_cols,
            "weights, regions and sums do not match");
    parallel_sum(weights.n_rows, sum_grain(sums), n_threads, sums.flat(),
                 [&](size_t begin, size_t end, int64_t* partial) {
                     for (size_t plane = 0; plane < weights.n_planes; ++plane)
                         add_weights(weights.plane(plane).rows(begin, end),
                                     regions.slice(begin, end), scales.data, partial);
                 });
}

void logistic_sums(const LogisticLine& line, Regions regions, Cube<int64_t> sums, int n_threads) {
    const size_t n_planes = line.subcosts.n_planes;
    const size_t n_classes = line.scales.size;
    require(line.subcosts.is(n_planes, regions.size, n_classes) &&
                line.odds.is(n_planes, regions.size, n_classes) &&
                line.up.is(sums.n_planes, n_classes) && line.down.is(sums.n_planes, n_classes) &&
                sums.is(sums.n_planes, 2, n_classes),
            "line, regions and sums do not match");
    parallel_sum(regions.size, sum_grain(sums), n_threads, sums.flat(),
                 [&](size_t begin, size_t end, int64_t* partial) {
                     for (size_t plane = 0; plane < n_planes; ++plane)
                         add_slopes(line, plane, begin, regions.slice(begin, end), partial);
                 });
}

void advance(Cube<double> weights, Matrix<double> scores, Regions regions, const Step& step,
             Vector<int64_t> totals, Vector<int32_t> decided, int n_threads) {
    const size_t n_rows = weights.n_rows;
    const size_t n_classes = weights.n_cols;
    const size_t n_regions = step.outputs.n_rows;
    require(regions.size == n_rows && scores.is(n_rows, n_classes) && totals.size == n_classes &&
                decided.size == n_rows,
            "weights, scores and regions do not match");
    require(step.outputs.is(n_regions, n_classes) && step.up.is(n_regions, n_classes) &&
                step.down.is(n_regions, n_classes) && step.scales.size == n_classes,
            "step and weights do not match");
    parallel_sum(n_rows, row_grain, n_threads, totals,
                 [&](size_t begin, size_t end, int64_t* partial) {
                     const Regions own = regions.slice(begin, end);
                     for (size_t plane = 0; plane < weights.n_planes; ++plane)
                         advance_weights(&weights(plane, begin, 0), own, step, partial);
                     advance_scores(&scores(begin, 0), own, step.outputs, &decided[begin]);
                 });
}

Rates rate(Vector<const int32_t> decided, const JudgedLabels& judged) {
    const size_t n_classes = judged.costs.n_cols;
    const size_t n_labels = judged.labels.size;
    require(judged.counts.size == n_labels && judged.costs.n_rows == n_classes &&
                n_labels == (judged.place.size > 0 ? judged.place.size : decided.size),
            "decisions, labels and costs do not match");
    std::vector<double> confusion(n_classes * n_classes, 0.0);
    const auto cell = [&](size_t n, size_t at) {
        return static_cast<size_t>(judged.labels.data[n]) * n_classes +
               static_cast<size_t>(decided.data[at]);
    };
    const Vector<double> cells{confusion.data(), confusion.size()};
    if (judged.place.size == 0) {
        add_counts(n_labels, [&](size_t n) { return cell(n, n); }, judged.counts, cells);
    } else {
        const auto place_of = [&](size_t n) {
            const auto at = static_cast<size_t>(judged.place.data[n]);
            require(at < decided.size, "decisions and places do not match");
            return cell(n, at);
        };
        add_counts(n_labels, place_of, judged.counts, cells);
    }
    double right = 0, total = 0, paid = 0;
    for (size_t i = 0; i < confusion.size(); ++i) {
        total += confusion[i];
        paid += confusion[i] * judged.costs.data[i];
        right += i % (n_classes + 1) == 0 ? confusion[i] : 0.0;
    }
    return {1 - right / total, paid / total};
}

Taken take_step(Cube<double> weights, Matrix<double> scores, Regions regions,
                Matrix<const double> outputs, Vector<double> totals, Vector<int32_t> decided,
                const JudgedLabels& judged, int n_threads) {
    const size_t n_classes = outputs.n_cols;
    const size_t n_outputs = outputs.n_rows * n_classes;
    require(totals.size == n_classes, "outputs and totals do not match");
    int shift = 0;
    std::frexp(*std::max_element(totals.begin(), totals.end()), &shift);
    const double unit = std::ldexp(1.0, -shift);
    std::vector<double> up(n_outputs), down(n_outputs), bounds(n_classes, 0.0), scales(n_classes);
    write_factors(regions, outputs, unit, up, down);
    find_largest(outputs, bounds.data());
    for (size_t k = 0; k < n_classes; ++k) {
        bounds[k] = exponential(bounds[k]) * unit * totals[k];
        scales[k] = fine_scale(bounds[k]);
    }
    std::vector<int64_t> sums(n_classes, 0);
    advance(weights, scores, regions,
            {outputs,
             {up.data(), outputs.n_rows, n_classes},
             {down.data(), outputs.n_rows, n_classes},
             {scales.data(), n_classes}},
            {sums.data(), n_classes}, decided, n_threads);
    Taken taken{shift, false, {NAN, NAN}};
    for (size_t k = 0; k < n_classes; ++k) {
        totals[k] = static_cast<double>(sums[k]) / scales[k];
        taken.loose = taken.loose || bounds[k] > most_loose * totals[k];
    }
    if (judged.labels.size > 0)
        taken.rates = rate(decided, judged);
    return taken;
}

} // namespace rebel

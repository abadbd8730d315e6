#include "cascade.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "comparing.hpp"
#include "multiversion.hpp"
#include "parallel.hpp"
#include "walking.hpp"

namespace rebel {
namespace {

constexpr size_t block_rows = 512;    // samples among which tiles are filled up with those left
constexpr size_t compared_rows = 256; // the same if distances are kept for them

// Positions, in a block, of samples that have not left yet.
using Alive = std::vector<uint32_t>;

// ---- trees

REBEL_CLONES void add_leaves(Matrix<double> scores, const uint32_t* rows, const uint32_t* leaf,
                             size_t n, const double* outputs) {
    const size_t n_classes = scores.n_cols;
    for (size_t i = 0; i < n; ++i) {
        double* score = scores.data + rows[i] * n_classes;
        const double* output = outputs + leaf[i] * n_classes;
        for (size_t k = 0; k < n_classes; ++k)
            score[k] += output[k];
    }
}

template <class Value>
struct TreeBlock {
    Matrix<const Value> X;
    const Trees& trees;
    std::vector<uint8_t> incomplete{}; // samples with missing values

    TreeBlock(Matrix<const Value> values, const Trees& all) : X(values), trees(all) {
        if (trees.right.n_rows > 0 || trees.depths.size == 0)
            return; // the general descent serves both
        incomplete.resize(X.n_rows);
        for (size_t n = 0; n < X.n_rows; ++n) {
            const Vector<const Value> row = X.row(n);
            incomplete[n] = std::any_of(row.begin(), row.end(), [](Value x) { return x != x; });
        }
    }

    void add(size_t first, size_t last, const Alive& alive, Matrix<double> scores) const {
        for (size_t begin = 0; begin < alive.size(); begin += tile_rows)
            add_tile(first, last, alive.data() + begin, std::min(tile_rows, alive.size() - begin),
                     scores);
    }

    void add_tile(size_t first, size_t last, const uint32_t* rows, size_t n,
                  Matrix<double> scores) const {
        std::array<const Value*, tile_rows> addresses{};
        bool any_missing = false;
        for (size_t i = 0; i < n; ++i) {
            addresses[i] = X.data + rows[i] * X.n_cols;
            any_missing |= !incomplete.empty() && incomplete[rows[i]];
        }
        const ScatteredRows<Value> row{addresses.data()};
        for (size_t tree = first; tree < last; ++tree) {
            Leaves leaf;
            if (trees.right.n_rows > 0)
                leaf = descend<true, true>(trees, tree, row, n);
            else if (any_missing)
                leaf = descend<false, true>(trees, tree, row, n);
            else if (n < tile_rows)
                leaf = descend<false, false>(trees, tree, row, n);
            else
                leaf = descend<false, false>(trees, tree, row, tile_rows);
            add_leaves(scores, rows, leaf.data(), n, trees.outputs_of(tree));
        }
    }
};

// ---- comparisons

REBEL_CLONES void distances_of_tile(const float* block, const float* points, size_t n_features,
                                    size_t first, size_t last, size_t n_grouped,
                                    const uint32_t* rows, size_t n, Matrix<float> out) {
    for_distances(block, points, n_features, n_grouped, first, last,
                  [=](size_t i, const float* sums) REBEL_INLINE {
                      for (size_t lane = 0; lane < n; ++lane)
                          out.data[i * out.n_cols + rows[lane]] = sums[lane];
                  });
}

REBEL_CLONES void add_tile_of_comparisons(Matrix<const float> distances, const Comparisons& all,
                                          const double* __restrict values, size_t first,
                                          size_t last, const uint32_t* rows, size_t n,
                                          Matrix<double> scores) {
    float anchor[abreast] = {}, rival[abreast] = {};
    uint16_t levels[abreast];
    const size_t n_classes = scores.n_cols;
    for (size_t t = first; t < last; ++t) {
        const float* from_anchor =
            distances.data + static_cast<size_t>(all.anchors.data[t]) * distances.n_cols;
        const float* from_rival =
            distances.data + static_cast<size_t>(all.rivals.data[t]) * distances.n_cols;
        for (size_t i = 0; i < n; ++i) {
            anchor[i] = from_anchor[rows[i]];
            rival[i] = from_rival[rows[i]];
        }
        respond_to({anchor, rival, all.kinds.data[t], all.apart.data[t]}, n, levels, level_of);
        const double* __restrict output = all.outputs.data + t * n_classes;
        const double* __restrict offset = all.offsets.data + t * n_classes;
        for (size_t i = 0; i < n; ++i) {
            double* __restrict row = scores.data + rows[i] * n_classes;
            const double value = values[levels[i]];
            for (size_t k = 0; k < n_classes; ++k)
                row[k] += value * output[k] + offset[k];
        }
    }
}

// A space of the whole call: packed examples, and how many of them each number of terms needs.
struct PackedSpace {
    const ComparedPoints& given;
    std::vector<float> points;
    size_t n_grouped;
    std::vector<size_t> needed; // (checks,)

    PackedSpace(const ComparedPoints& compared, const Checks& checks, size_t column)
        : given(compared), points(packed(compared.points)),
          n_grouped(compared.points.n_rows - compared.points.n_rows % points_at_once) {
        size_t most = 0, t = 0;
        for (size_t i = 0; i < checks.stops.n_rows; ++i) {
            for (; t < static_cast<size_t>(checks.stops(i, column)); ++t)
                most = std::max({most, static_cast<size_t>(given.comparisons.anchors[t]) + 1,
                                 static_cast<size_t>(given.comparisons.rivals[t]) + 1});
            if (most < n_grouped) // whole groups
                most += (points_at_once - most % points_at_once) % points_at_once;
            needed.push_back(most);
        }
    }
};

// The distances of a block of samples to the examples of a space, as far as they were needed.
class SpaceBlock {
  public:
    SpaceBlock(const PackedSpace& space, size_t begin, size_t end)
        : space_(space), placed_(space.given.placed.rows(begin, end)),
          distances_(space.given.points.n_rows * placed_.n_rows),
          tile_(space.given.points.n_cols * abreast) {}

    void add(size_t check, size_t first, size_t last, const double* values, const Alive& alive,
             Matrix<double> scores) {
        if (first == last)
            return;
        const size_t n_features = placed_.n_cols, needed = space_.needed[check];
        const Matrix<float> distances{distances_.data(), space_.given.points.n_rows,
                                      placed_.n_rows};
        for (size_t begin = 0; begin < alive.size(); begin += abreast) {
            const uint32_t* rows = alive.data() + begin;
            const size_t n = std::min(abreast, alive.size() - begin);
            if (known_ < needed) {
                for (size_t i = 0; i < n; ++i)
                    for (size_t f = 0; f < n_features; ++f)
                        tile_[f * abreast + i] = placed_.data[rows[i] * n_features + f];
                distances_of_tile(tile_.data(), space_.points.data(), n_features, known_, needed,
                                  space_.n_grouped, rows, n, distances);
            }
            add_tile_of_comparisons(distances, space_.given.comparisons, values, first, last, rows,
                                    n, scores);
        }
        known_ = std::max(known_, needed);
    }

  private:
    const PackedSpace& space_;
    Matrix<const float> placed_;
    std::vector<float> distances_; // (examples, samples of the block)
    std::vector<float> tile_;      // (D, 16)
    size_t known_ = 0;
};

// ---- checks

// The difference of two scores, or the lead of the highest over the second highest. With many
// classes, four pairs of maxima side by side do not wait for each other.
double value_of(const double* score, size_t n_classes) {
    if (n_classes == 2)
        return score[1] - score[0];
    constexpr size_t n_pairs = 4, many = 16;
    std::array<double, n_pairs> first, second;
    first.fill(-std::numeric_limits<double>::infinity());
    second = first;
    const auto take = [&](size_t pair, double value) {
        second[pair] = std::max(second[pair], std::min(first[pair], value));
        first[pair] = std::max(first[pair], value);
    };
    size_t k = 0;
    if (n_classes >= many) {
        for (; k + n_pairs <= n_classes; k += n_pairs)
            for (size_t pair = 0; pair < n_pairs; ++pair)
                take(pair, score[k + pair]);
        for (size_t pair = 1; pair < n_pairs; ++pair) {
            take(0, first[pair]);
            take(0, second[pair]);
        }
    }
    for (; k < n_classes; ++k)
        take(0, score[k]);
    return first[0] - second[0];
}

void require_fitting(const ComparedPoints& space, size_t n_rows, size_t n_classes) {
    const Comparisons& all = space.comparisons;
    const size_t n_terms = all.anchors.size;
    require(space.placed.is(n_rows, space.points.n_cols) && all.rivals.size == n_terms &&
                all.kinds.size == n_terms && all.apart.size == n_terms &&
                all.outputs.is(n_terms, n_classes) && all.offsets.is(n_terms, n_classes),
            "the arrays of a space do not match");
    for (size_t t = 0; t < n_terms; ++t) {
        const auto n_points = static_cast<int64_t>(space.points.n_rows);
        require(all.anchors[t] >= 0 && all.anchors[t] < n_points && all.rivals[t] >= 0 &&
                    all.rivals[t] < n_points,
                "a comparison names a point that is not there");
        require(all.kinds[t] >= two_points && all.kinds[t] <= inside,
                "a comparison is of no known kind");
    }
}

void require_rising(const Checks& checks, const Trees& trees,
                    const std::vector<ComparedPoints>& spaces) {
    const Matrix<const int64_t> stops = checks.stops;
    require(stops.n_cols == 1 + spaces.size() && checks.low.size == stops.n_rows &&
                checks.high.size == stops.n_rows,
            "stops, thresholds and spaces do not match");
    for (size_t column = 0; column < stops.n_cols; ++column) {
        const size_t n_terms =
            column == 0 ? trees.depths.size : spaces[column - 1].comparisons.anchors.size;
        int64_t before = 0;
        for (size_t i = 0; i < stops.n_rows; ++i) {
            require(stops(i, column) >= before && stops(i, column) <= static_cast<int64_t>(n_terms),
                    "stops must rise, up to the number of terms");
            before = stops(i, column);
        }
    }
}

} // namespace

template <class Value>
void leave_early(Matrix<const Value> X, const Trees& trees,
                 const std::vector<ComparedPoints>& spaces, Vector<const double> values,
                 const Checks& checks, Matrix<double> scores, Vector<int32_t> stage,
                 int n_threads) {
    trees.check();
    const size_t n_classes = scores.n_cols, n_checks = checks.low.size;
    require(scores.n_rows == X.n_rows && stage.size == X.n_rows && values.size == n_levels &&
                n_classes == trees.outputs.n_cols && n_classes > 1,
            "X, trees, scores and stage do not match");
    for (const ComparedPoints& space : spaces)
        require_fitting(space, X.n_rows, n_classes);
    require_rising(checks, trees, spaces);
    std::vector<PackedSpace> packed_spaces;
    for (size_t s = 0; s < spaces.size(); ++s)
        packed_spaces.emplace_back(spaces[s], checks, 1 + s);

    const size_t grain = spaces.empty() ? block_rows : compared_rows;
    parallel_for(X.n_rows, grain, n_threads, [&](size_t begin, size_t end) {
        const TreeBlock<Value> of_trees(X.rows(begin, end), trees);
        std::vector<SpaceBlock> of_spaces;
        for (const PackedSpace& space : packed_spaces)
            of_spaces.emplace_back(space, begin, end);
        const Matrix<double> sums = scores.rows(begin, end);
        Alive alive(end - begin);
        for (size_t i = 0; i < alive.size(); ++i)
            alive[i] = static_cast<uint32_t>(i);
        std::fill(stage.begin() + begin, stage.begin() + end, static_cast<int32_t>(n_checks));
        for (size_t i = 0; i < n_checks && !alive.empty(); ++i) {
            const auto stop = [&](size_t check, size_t column) {
                return static_cast<size_t>(checks.stops(check, column));
            };
            of_trees.add(i > 0 ? stop(i - 1, 0) : 0, stop(i, 0), alive, sums);
            for (size_t s = 0; s < of_spaces.size(); ++s)
                of_spaces[s].add(i, i > 0 ? stop(i - 1, 1 + s) : 0, stop(i, 1 + s), values.data,
                                 alive, sums);
            size_t n_left = 0;
            for (const uint32_t row : alive) {
                const double value = value_of(sums.data + row * n_classes, n_classes);
                if (value < checks.low[i] || value > checks.high[i])
                    stage[begin + row] = static_cast<int32_t>(i);
                else
                    alive[n_left++] = row;
            }
            alive.resize(n_left);
        }
    });
}

template void leave_early(Matrix<const float>, const Trees&, const std::vector<ComparedPoints>&,
                          Vector<const double>, const Checks&, Matrix<double>, Vector<int32_t>,
                          int);
template void leave_early(Matrix<const double>, const Trees&, const std::vector<ComparedPoints>&,
                          Vector<const double>, const Checks&, Matrix<double>, Vector<int32_t>,
                          int);

} // namespace rebel

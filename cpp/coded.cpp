#include "coded.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

constexpr size_t tile_rows = 32;            // samples that descend a tree side by side
constexpr size_t fewest = 256, most = 4096; // samples of a block
constexpr size_t cached_bytes = 1 << 18;    // of a block: codes and scores stay in the cache
constexpr size_t n_codes = 256;             // of a byte
constexpr size_t set_bytes = n_codes / 8;

// Samples that go through all trees together. Each block loads all trees anew, so large blocks are
// faster as long as they stay in the cache.
size_t rows_of_block(size_t n_columns, size_t n_classes) {
    const size_t bytes = n_columns + n_classes * sizeof(double);
    return std::clamp(cached_bytes / bytes / tile_rows * tile_rows, fewest, most);
}

// Where the code of sample i is: the samples of a tile are adjacent, for each column.
size_t place_of(size_t i, size_t n_columns) {
    return i / tile_rows * tile_rows * n_columns + i % tile_rows;
}

template <class Value>
void code_column(Matrix<const Value> X, const CodedColumns& columns, size_t c, uint8_t* codes) {
    const size_t n_columns = columns.features.size;
    const Value* x = X.data + columns.features.data[c];
    const uint8_t missing = columns.missing.data[c];
    codes += c * tile_rows;
    if (columns.categorical.data[c]) {
        for (size_t i = 0; i < X.n_rows; ++i, x += X.n_cols) {
            const auto code = static_cast<double>(*x);
            const bool known = code >= 0 && code < static_cast<double>(n_codes - 1);
            codes[place_of(i, n_columns)] = known ? static_cast<uint8_t>(code) : missing;
        }
        return;
    }
    const double* thresholds = columns.thresholds.data + columns.starts.data[c];
    const auto n_thresholds =
        static_cast<size_t>(columns.starts.data[c + 1] - columns.starts.data[c]);
    for (size_t i = 0; i < X.n_rows; ++i, x += X.n_cols) {
        const auto value = static_cast<double>(*x);
        size_t count = 0;
        for (size_t n = n_thresholds; n > 0;) {
            const size_t half = (n + 1) / 2;
            count += value > thresholds[count + half - 1] ? half : 0;
            n -= half;
        }
        codes[place_of(i, n_columns)] = value == value ? static_cast<uint8_t>(count) : missing;
    }
}

// The answers of all tests: a bit for each code. Row r < 256 has the codes above r, and the sets
// follow.
std::vector<uint8_t> answers_of(Matrix<const uint8_t> sets) {
    std::vector<uint8_t> answers((n_codes + sets.n_rows) * set_bytes, 0);
    for (size_t cut = 0; cut < n_codes; ++cut)
        for (size_t code = cut + 1; code < n_codes; ++code)
            answers[cut * set_bytes + code / 8] |= static_cast<uint8_t>(1u << code % 8);
    std::copy_n(sets.data, sets.n_rows * set_bytes, answers.begin() + n_codes * set_bytes);
    return answers;
}

REBEL_INLINE inline uint8_t answer(const uint8_t* answers, uint16_t test, uint8_t code) {
    return answers[test * set_bytes + code / 8] >> code % 8 & 1;
}

constexpr int most_layers = 5;   // further layers have too many nodes to test them all
constexpr size_t most_tests = 2; // of sets in a layer, which are tested sample by sample

// Layers whose nodes are all tested for all samples of a tile.
int layers_together(const uint16_t* nodes, int depth) {
    int layer = 0;
    for (; layer < std::min(depth, most_layers); ++layer) {
        size_t n_tests = 0;
        for (size_t node = (size_t{1} << layer) - 1; node < (size_t{2} << layer) - 1; ++node)
            n_tests += nodes[2 * node + 1] >= n_codes;
        if (n_tests > most_tests)
            break;
    }
    return layer;
}

typedef uint8_t Codes __attribute__((vector_size(tile_rows)));

REBEL_INLINE inline Codes answers_for(const uint8_t* code, uint16_t test, const uint8_t* answers) {
    uint8_t found[tile_rows];
    for (size_t i = 0; i < tile_rows; ++i)
        found[i] = static_cast<uint8_t>(-answer(answers, test, code[i]));
    Codes all;
    std::memcpy(&all, found, sizeof all);
    return all;
}

// A tile of samples descends the first layers together: every node is tested for every sample,
// which takes few instructions for all of them, and each sample follows the node that it is at.
template <bool with_sets>
REBEL_INLINE inline void descend_together(const uint8_t* codes, const uint16_t* nodes, int n_layers,
                                          const uint8_t* answers, uint32_t* leaf) {
    Codes at{};
    for (int layer = 0; layer < n_layers; ++layer) {
        Codes right{}; // all bits of a byte, or none
        const auto n_nodes = static_cast<uint8_t>(1 << layer);
        for (uint8_t node = 0; node < n_nodes; ++node, nodes += 2) {
            const uint8_t* code = codes + nodes[0] * tile_rows;
            Codes answered;
            if (with_sets && nodes[1] >= n_codes) {
                answered = answers_for(code, nodes[1], answers);
            } else {
                std::memcpy(&answered, code, sizeof answered);
                answered = reinterpret_cast<Codes>(answered > static_cast<uint8_t>(nodes[1]));
            }
            right |= reinterpret_cast<Codes>(at == node) & answered;
        }
        at = at + at - right;
    }
    uint8_t places[tile_rows];
    std::memcpy(places, &at, sizeof at);
    std::copy_n(places, tile_rows, leaf);
}

// Further layers, one after the other, so that the loads of a tile's samples overlap.
template <bool with_sets>
REBEL_INLINE inline void descend_alone(const uint8_t* codes, const uint16_t* nodes, int layer,
                                       int depth, const uint8_t* answers, uint32_t* leaf) {
    nodes += 2 * ((size_t{1} << layer) - 1);
    for (; layer < depth; ++layer) {
        for (size_t i = 0; i < tile_rows; ++i) {
            const uint16_t* node = nodes + 2 * leaf[i];
            const uint8_t code = codes[node[0] * tile_rows + i];
            const bool right = with_sets ? answer(answers, node[1], code) != 0 : code > node[1];
            leaf[i] = 2 * leaf[i] + (right ? 1 : 0);
        }
        nodes += size_t{2} << layer;
    }
}

template <bool with_sets>
REBEL_INLINE inline void add_tiles(const uint8_t* codes, size_t n_columns, const CodedTrees& trees,
                                   size_t tree, const uint8_t* answers, Matrix<double> scores) {
    const size_t n_classes = scores.n_cols;
    const int depth = trees.depths.data[tree];
    const uint16_t* nodes =
        trees.nodes.data + 2 * static_cast<size_t>(trees.node_offsets.data[tree]);
    const double* outputs =
        trees.outputs.data + static_cast<size_t>(trees.leaf_offsets.data[tree]) * n_classes;
    const int together = layers_together(nodes, depth);
    uint32_t leaf[tile_rows];
    for (size_t begin = 0; begin < scores.n_rows; begin += tile_rows) {
        const uint8_t* tile = codes + begin * n_columns;
        descend_together<with_sets>(tile, nodes, together, answers, leaf);
        descend_alone<with_sets>(tile, nodes, together, depth, answers, leaf);
        const size_t n = std::min(tile_rows, scores.n_rows - begin); // the last tile is padded
        for (size_t i = 0; i < n; ++i) {
            double* __restrict score = scores.data + (begin + i) * n_classes;
            const double* __restrict output = outputs + leaf[i] * n_classes;
            for (size_t k = 0; k < n_classes; ++k)
                score[k] += output[k];
        }
    }
}

REBEL_CLONES void add_by_numbers(const uint8_t* codes, size_t n_columns, const CodedTrees& trees,
                                 size_t first, size_t last, Matrix<double> scores) {
    for (size_t tree = first; tree < last; ++tree)
        add_tiles<false>(codes, n_columns, trees, tree, nullptr, scores);
}

REBEL_CLONES void add_by_sets(const uint8_t* codes, size_t n_columns, const CodedTrees& trees,
                              size_t first, size_t last, const uint8_t* answers,
                              Matrix<double> scores) {
    for (size_t tree = first; tree < last; ++tree)
        add_tiles<true>(codes, n_columns, trees, tree, answers, scores);
}

// ---- a single sample

constexpr size_t side_by_side = 8; // trees whose loads overlap

uint8_t code_of(double value, const CodedColumns& columns, size_t c) {
    if (columns.categorical.data[c])
        return value >= 0 && value < static_cast<double>(n_codes - 1) ? static_cast<uint8_t>(value)
                                                                      : columns.missing.data[c];
    if (value != value)
        return columns.missing.data[c];
    const double* thresholds = columns.thresholds.data + columns.starts.data[c];
    auto n = static_cast<size_t>(columns.starts.data[c + 1] - columns.starts.data[c]);
    size_t count = 0;
    while (n > 0) {
        const size_t half = (n + 1) / 2;
        count += value > thresholds[count + half - 1] ? half : 0;
        n -= half;
    }
    return static_cast<uint8_t>(count);
}

// Leaves of up to `side_by_side` trees that begin with `tree`.
template <bool with_sets>
void find_leaves(const uint8_t* codes, size_t n_columns, const CodedTrees& trees, size_t tree,
                 size_t n_trees, size_t* leaf) {
    const uint16_t* nodes[side_by_side];
    int together = 31, deepest = 0;
    for (size_t t = 0; t < n_trees; ++t) {
        const int depth = trees.depths.data[tree + t];
        nodes[t] = trees.nodes.data + 2 * static_cast<size_t>(trees.node_offsets.data[tree + t]);
        leaf[t] = 0;
        together = std::min(together, depth);
        deepest = std::max(deepest, depth);
    }
    const size_t n_tests = n_codes + trees.sets.n_rows;
    bool fits = true;
    const auto step = [&](size_t t, int layer) {
        const uint16_t* node = nodes[t] + 2 * ((size_t{1} << layer) - 1 + leaf[t]);
        const size_t column = node[0], test = node[1];
        const bool is_there = column < n_columns && test < n_tests;
        fits &= is_there;
        if (!is_there)
            return;
        const uint8_t code = codes[column];
        bool right = code > test;
        if (with_sets && test >= n_codes)
            right = trees.sets.data[(test - n_codes) * set_bytes + code / 8] >> code % 8 & 1;
        leaf[t] = 2 * leaf[t] + (right ? 1 : 0);
    };
    for (int layer = 0; layer < together; ++layer)
        for (size_t t = 0; t < n_trees; ++t)
            step(t, layer);
    for (int layer = together; layer < deepest; ++layer)
        for (size_t t = 0; t < n_trees; ++t)
            if (layer < trees.depths.data[tree + t])
                step(t, layer);
    require(fits, "a node names a column or a set that is not there");
}

} // namespace

void CodedColumns::check(size_t n_features) const {
    const size_t n = features.size;
    require(starts.size == n + 1 && missing.size == n && categorical.size == n && starts[0] == 0 &&
                starts[n] == static_cast<int64_t>(thresholds.size),
            "the arrays of the columns do not match");
    for (size_t c = 0; c < n; ++c) {
        require(features[c] >= 0 && static_cast<size_t>(features[c]) < n_features,
                "a column names a feature that is not there");
        const int64_t n_thresholds = starts[c + 1] - starts[c];
        require(n_thresholds >= 0 && n_thresholds < 255,
                "the thresholds of the columns do not match");
    }
}

void CodedTrees::check(size_t n_columns) const {
    check_sizes();
    for (size_t i = 0; i < nodes.n_rows; ++i)
        require(nodes.data[2 * i] < n_columns && nodes.data[2 * i + 1] < n_codes + sets.n_rows,
                "a node names a column or a set that is not there");
}

void CodedTrees::check_sizes() const {
    require(node_offsets.size == depths.size && leaf_offsets.size == depths.size &&
                nodes.n_cols == 2 && sets.n_cols == set_bytes,
            "the arrays of the trees do not match");
    size_t n_nodes = 0, n_leaves = 0;
    for (size_t tree = 0; tree < depths.size; ++tree) {
        require(depths[tree] >= 0 && depths[tree] < 31 &&
                    node_offsets[tree] == static_cast<int64_t>(n_nodes) &&
                    leaf_offsets[tree] == static_cast<int64_t>(n_leaves),
                "the depths and offsets of the trees do not match");
        n_nodes += (size_t{1} << depths[tree]) - 1;
        n_leaves += size_t{1} << depths[tree];
    }
    require(n_nodes == nodes.n_rows && n_leaves == outputs.n_rows,
            "the depths, nodes and outputs of the trees do not match");
}

template <class Value>
void predict_coded(Matrix<const Value> X, const CodedColumns& columns, const CodedTrees& trees,
                   size_t first, size_t last, Matrix<double> scores, int n_threads) {
    columns.check(X.n_cols);
    const size_t n_columns = columns.features.size;
    trees.check(n_columns);
    require(scores.is(X.n_rows, trees.outputs.n_cols) && first <= last && last <= trees.depths.size,
            "X, trees and scores do not match");
    const std::vector<uint8_t> answers = answers_of(trees.sets);
    const size_t grain = rows_of_block(n_columns, scores.n_cols);
    parallel_for(X.n_rows, grain, n_threads, [&](size_t begin, size_t end) {
        const size_t n_tiles = (end - begin + tile_rows - 1) / tile_rows;
        std::vector<uint8_t> codes(n_tiles * tile_rows * n_columns, 0);
        for (size_t c = 0; c < n_columns; ++c)
            code_column(X.rows(begin, end), columns, c, codes.data());
        const auto own = scores.rows(begin, end);
        if (trees.sets.n_rows > 0)
            add_by_sets(codes.data(), n_columns, trees, first, last, answers.data(), own);
        else
            add_by_numbers(codes.data(), n_columns, trees, first, last, own);
    });
}

void score_row(Vector<const double> x, const CodedColumns& columns, const CodedTrees& trees,
               size_t first, size_t last, Vector<double> scores) {
    columns.check(x.size);
    trees.check_sizes();
    const size_t n_columns = columns.features.size, n_classes = scores.size;
    require(n_classes == trees.outputs.n_cols && first <= last && last <= trees.depths.size,
            "trees and scores do not match");
    constexpr size_t few = 512; // columns whose codes fit on the stack
    std::array<uint8_t, few> near;
    std::vector<uint8_t> far(n_columns > few ? n_columns : 0);
    uint8_t* codes = n_columns > few ? far.data() : near.data();
    for (size_t c = 0; c < n_columns; ++c)
        codes[c] = code_of(x[columns.features.data[c]], columns, c);
    size_t leaf[side_by_side];
    for (size_t tree = first; tree < last; tree += side_by_side) {
        const size_t n_trees = std::min(side_by_side, last - tree);
        if (trees.sets.n_rows > 0)
            find_leaves<true>(codes, n_columns, trees, tree, n_trees, leaf);
        else
            find_leaves<false>(codes, n_columns, trees, tree, n_trees, leaf);
        for (size_t t = 0; t < n_trees; ++t) {
            const auto row = static_cast<size_t>(trees.leaf_offsets.data[tree + t]) + leaf[t];
            const double* output = trees.outputs.data + row * n_classes;
            for (size_t k = 0; k < n_classes; ++k)
                scores.data[k] += output[k];
        }
    }
}

template void predict_coded(Matrix<const float>, const CodedColumns&, const CodedTrees&, size_t,
                            size_t, Matrix<double>, int);
template void predict_coded(Matrix<const double>, const CodedColumns&, const CodedTrees&, size_t,
                            size_t, Matrix<double>, int);

} // namespace rebel

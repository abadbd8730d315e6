#include "coded.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

constexpr size_t block_rows = 256; // samples whose codes stay in the cache
constexpr size_t tile_rows = 32;   // samples that descend a tree side by side

// Writes the codes of one column, `stride` bytes apart.
template <class Value>
void code_column(Matrix<const Value> X, const CodedColumns& columns, size_t c, uint8_t* codes,
                 size_t stride) {
    const Value* x = X.data + columns.features.data[c];
    const uint8_t missing = columns.missing.data[c];
    if (columns.table.data[c] >= 0) {
        const uint8_t* table = columns.tables.row(columns.table.data[c]).data;
        for (size_t i = 0; i < X.n_rows; ++i, x += X.n_cols) {
            const auto code = static_cast<double>(*x);
            const bool known = code >= 0 && code < static_cast<double>(most_bins);
            codes[i * stride] = known ? table[static_cast<size_t>(code)] : missing;
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
        codes[i * stride] = value == value ? static_cast<uint8_t>(count) : missing;
    }
}

// `n` samples, `stride` bytes apart, descend a tree layer by layer, so that loads overlap.
template <size_t n>
REBEL_INLINE inline void descend_bytes(const uint8_t* codes, size_t stride, const uint16_t* nodes,
                                       int depth, uint32_t* leaf) {
    std::fill_n(leaf, n, 0);
    for (int layer = 0; layer < depth; ++layer) {
        for (size_t i = 0; i < n; ++i) {
            const uint16_t* node = nodes + 2 * leaf[i];
            leaf[i] = 2 * leaf[i] + (codes[i * stride + node[0]] > node[1] ? 1 : 0);
        }
        nodes += size_t{2} << layer;
    }
}

REBEL_CLONES void add_block(const uint8_t* codes, size_t stride, const CodedTrees& trees,
                            size_t first, size_t last, Matrix<double> scores) {
    const size_t n_classes = scores.n_cols;
    uint32_t leaf[tile_rows];
    for (size_t tree = first; tree < last; ++tree) {
        const uint16_t* nodes =
            trees.nodes.data + 2 * static_cast<size_t>(trees.node_offsets.data[tree]);
        const double* outputs =
            trees.outputs.data + static_cast<size_t>(trees.leaf_offsets.data[tree]) * n_classes;
        for (size_t begin = 0; begin < scores.n_rows; begin += tile_rows) {
            // The last tile is padded: there is room for the codes of a whole tile.
            descend_bytes<tile_rows>(codes + begin * stride, stride, nodes, trees.depths.data[tree],
                                     leaf);
            const size_t n = std::min(tile_rows, scores.n_rows - begin);
            for (size_t i = 0; i < n; ++i) {
                double* __restrict score = scores.data + (begin + i) * n_classes;
                const double* __restrict output = outputs + leaf[i] * n_classes;
                for (size_t k = 0; k < n_classes; ++k)
                    score[k] += output[k];
            }
        }
    }
}

} // namespace

void CodedColumns::check(size_t n_features) const {
    const size_t n = features.size;
    require(starts.size == n + 1 && missing.size == n && table.size == n &&
                tables.n_cols == most_bins && starts[0] == 0 &&
                starts[n] == static_cast<int64_t>(thresholds.size),
            "the arrays of the columns do not match");
    for (size_t c = 0; c < n; ++c) {
        require(features[c] >= 0 && static_cast<size_t>(features[c]) < n_features,
                "a column names a feature that is not there");
        const int64_t n_thresholds = starts[c + 1] - starts[c];
        require(n_thresholds >= 0 && n_thresholds < 255 &&
                    table[c] < static_cast<int64_t>(tables.n_rows),
                "the thresholds or tables of the columns do not match");
    }
}

void CodedTrees::check(size_t n_columns) const {
    require(node_offsets.size == depths.size && leaf_offsets.size == depths.size &&
                nodes.n_cols == 2,
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
    require(n_columns > 0 || n_nodes == 0, "the trees and columns do not match");
}

template <class Value>
void predict_coded(Matrix<const Value> X, const CodedColumns& columns, const CodedTrees& trees,
                   size_t first, size_t last, Matrix<double> scores, int n_threads) {
    columns.check(X.n_cols);
    const size_t n_columns = columns.features.size;
    trees.check(n_columns);
    require(scores.is(X.n_rows, trees.outputs.n_cols) && first <= last && last <= trees.depths.size,
            "X, trees and scores do not match");
    for (size_t i = 0; i < trees.nodes.n_rows; ++i)
        require(trees.nodes.data[2 * i] < n_columns, "a node names a column that is not there");
    parallel_for(X.n_rows, block_rows, n_threads, [&](size_t begin, size_t end) {
        const size_t n_tiles = (end - begin + tile_rows - 1) / tile_rows;
        std::vector<uint8_t> codes(n_tiles * tile_rows * n_columns, 0);
        for (size_t c = 0; c < n_columns; ++c)
            code_column(X.rows(begin, end), columns, c, codes.data() + c, n_columns);
        add_block(codes.data(), n_columns, trees, first, last, scores.rows(begin, end));
    });
}

template void predict_coded(Matrix<const float>, const CodedColumns&, const CodedTrees&, size_t,
                            size_t, Matrix<double>, int);
template void predict_coded(Matrix<const double>, const CodedColumns&, const CodedTrees&, size_t,
                            size_t, Matrix<double>, int);

} // namespace rebel

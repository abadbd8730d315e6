// Arrays of Python → views and structs of the kernels, sizes checked. Only module.cpp knows of
// this.
#pragma once

#include "binning.hpp"
#include "bins.hpp"
#include "class_sums.hpp"
#include "grow.hpp"
#include "heaviest.hpp"
#include "logistic.hpp"
#include "pairing.hpp"
#include "partition.hpp"
#include "predict.hpp"
#include "responses.hpp"
#include "similarity.hpp"
#include "stump_search.hpp"
#include "views.hpp"
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/tuple.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace rebel;

namespace {

template <class T, std::size_t n>
using Array = nb::ndarray<T, nb::numpy, nb::ndim<n>, nb::c_contig, nb::device::cpu>;
using U8 = const std::uint8_t;
using I32 = const std::int32_t;
using I64 = const std::int64_t;
using F32 = const float;
using F64 = const double;

template <class T>
Vector<T> view(const Array<T, 1>& array) {
    return {array.data(), array.shape(0)};
}
template <class T>
Matrix<T> view(const Array<T, 2>& array) {
    return {array.data(), array.shape(0), array.shape(1)};
}
template <class T>
Cube<T> view(const Array<T, 3>& array) {
    return {array.data(), array.shape(0), array.shape(1), array.shape(2)};
}

// A tuple of arrays and numbers → the struct with those fields.
template <class T>
auto field(const T& value) {
    if constexpr (std::is_arithmetic_v<T>)
        return value;
    else
        return view(value);
}
template <class Struct, class... Fields>
Struct unpack(const std::tuple<Fields...>& fields) {
    return std::apply([](const auto&... each) { return Struct{field(each)...}; }, fields);
}

void require(bool condition, const char* message) {
    if (!condition)
        throw nb::value_error(message);
}

using BinsTuple = std::tuple<Array<U8, 3>, Array<I32, 1>, Array<U8, 1>>;
using LayerTuple = std::tuple<Array<I32, 1>, Array<U8, 2>>;
using NodesOutTuple = std::tuple<Array<std::int32_t, 1>, Array<std::uint8_t, 2>>;
using NodesTuple = std::tuple<Array<I32, 1>, Array<I32, 2>>;
using OptionsTuple = std::tuple<int, std::int64_t, double>;
using SplitsTuple = std::tuple<Array<std::int32_t, 1>, Array<std::uint8_t, 2>,
                               Array<std::int64_t, 2>, Array<double, 1>>;
using ProjectionTuple = std::tuple<Array<F64, 1>, Array<F64, 1>, double, double>;
using StepTuple = std::tuple<Array<F64, 2>, Array<F64, 2>, Array<F64, 2>, Array<F64, 1>>;
using LineTuple =
    std::tuple<Array<F64, 3>, Array<F64, 3>, Array<F64, 2>, Array<F64, 2>, Array<F64, 1>>;
using TreesTuple =
    std::tuple<Array<I32, 1>, Array<I64, 1>, Array<I64, 1>, Array<I32, 1>, Array<F64, 1>,
               Array<U8, 1>, Array<I32, 1>, Array<U8, 2>, Array<F64, 2>>;
using ComparisonsTuple = std::tuple<Array<I32, 1>, Array<I32, 1>, Array<I32, 1>, Array<F64, 1>,
                                    Array<F64, 2>, Array<F64, 2>>;
using PairsTuple = std::tuple<Array<I32, 1>, Array<I32, 1>, Array<F64, 1>>;

Bins as_bins(const BinsTuple& tuple) {
    const auto bins = unpack<Bins>(tuple);
    require(bins.blocks.n_cols == block_width, "blocks must hold 16 features each");
    require(bins.offsets.size == bins.n_features() + 1, "offsets must be features + 1");
    require(bins.n_blocks() == (bins.n_features() + block_width - 1) / block_width,
            "blocks and features do not match");
    return bins;
}

NodeSamples as_nodes(const NodesTuple& tuple) {
    const auto nodes = unpack<NodeSamples>(tuple);
    require(nodes.cuts.n_cols >= 2, "cuts must have two columns or more");
    return nodes;
}

Layer as_layer(const LayerTuple& tuple) {
    const auto layer = unpack<Layer>(tuple);
    require(layer.right.n_rows == layer.features.size && layer.right.n_cols == most_bins,
            "right must be (nodes, 256)");
    return layer;
}

Splits as_splits(const SplitsTuple& tuple, std::size_t n_nodes) {
    const auto splits = unpack<Splits>(tuple);
    require(splits.features.size == n_nodes && splits.right.n_rows == n_nodes &&
                splits.right.n_cols == most_bins && splits.sides.n_rows == n_nodes &&
                splits.sides.n_cols == 2 && splits.gains.size == n_nodes,
            "splits and nodes do not match");
    return splits;
}

Projection as_projection(const ProjectionTuple& tuple, std::size_t n_classes) {
    const auto projection = unpack<Projection>(tuple);
    require(projection.direction.size == n_classes && projection.squares.size == n_classes,
            "projection and weights differ in classes");
    return projection;
}

Step as_step(const StepTuple& tuple, std::size_t n_classes) {
    const auto step = unpack<Step>(tuple);
    const std::size_t n_regions = step.outputs.n_rows;
    require(step.up.n_rows == n_regions && step.down.n_rows == n_regions &&
                step.outputs.n_cols == n_classes && step.up.n_cols == n_classes &&
                step.down.n_cols == n_classes && step.scales.size == n_classes,
            "step and weights do not match");
    return step;
}

Trees as_trees(const TreesTuple& tuple) {
    const auto trees = unpack<Trees>(tuple);
    const std::size_t n_nodes = trees.features.size;
    require(trees.node_offsets.size == trees.depths.size &&
                trees.leaf_offsets.size == trees.depths.size && trees.thresholds.size == n_nodes &&
                trees.missing_right.size == n_nodes && trees.category.size == n_nodes &&
                trees.right.n_cols == most_bins,
            "the arrays of the trees do not match");
    return trees;
}

Comparisons as_comparisons(const ComparisonsTuple& tuple, std::size_t n_points) {
    const auto all = unpack<Comparisons>(tuple);
    const std::size_t n_terms = all.anchors.size;
    require(all.rivals.size == n_terms && all.kinds.size == n_terms && all.apart.size == n_terms &&
                all.outputs.n_rows == n_terms && all.offsets.n_rows == n_terms &&
                all.offsets.n_cols == all.outputs.n_cols,
            "the arrays of the comparisons do not match");
    for (std::size_t t = 0; t < n_terms; ++t)
        require(static_cast<std::size_t>(all.anchors.data[t]) < n_points &&
                    static_cast<std::size_t>(all.rivals.data[t]) < n_points &&
                    all.kinds.data[t] >= two_points && all.kinds.data[t] <= inside,
                "a comparison names a point that is not there, or is of no known kind");
    return all;
}

PairList as_pairs(const PairsTuple& tuple, std::size_t n_pairs, std::size_t n_anchors,
                  std::size_t n_rivals) {
    const auto list = unpack<PairList>(tuple);
    require(list.anchors.size == n_pairs && list.rivals.size == n_pairs &&
                list.apart.size == n_pairs,
            "the arrays of the pairs do not match");
    for (std::size_t i = 0; i < n_pairs; ++i)
        require(static_cast<std::size_t>(list.anchors.data[i]) < n_anchors &&
                    static_cast<std::size_t>(list.rivals.data[i]) < n_rivals,
                "a pair names a row that is not there");
    return list;
}

SearchOptions as_options(const OptionsTuple& tuple) {
    const auto [criterion, least_mass, least_gain] = tuple;
    require(criterion >= 0 && criterion <= 3, "criterion must be 0, 1, 2 or 3");
    return {static_cast<Criterion>(criterion), least_mass, least_gain};
}

std::tuple<std::int64_t, std::int64_t> counts(const Work& work) {
    return {work.visited, work.dropped};
}

} // namespace

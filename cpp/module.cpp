// The whole compiled API. Arrays come in without conversion, sizes are checked here, the kernels
// run without the GIL. Names and arguments are those of src/rebelboost/kernels/reference/; tuples
// there are the structs of the kernels' headers here, field by field.
#include "arrays.hpp"

namespace {

template <class Value>
void bin_values_of(const Array<const Value, 2>& X, const Array<F64, 1>& edges,
                   const Array<I32, 1>& edge_offsets, const Array<U8, 1>& missing,
                   const Array<std::uint8_t, 3>& blocks, int n_threads) {
    require(edge_offsets.shape(0) == X.shape(1) + 1 && missing.shape(0) == X.shape(1) &&
                blocks.shape(0) == (X.shape(1) + block_width - 1) / block_width &&
                blocks.shape(1) == X.shape(0) && blocks.shape(2) == block_width &&
                static_cast<std::size_t>(view(edge_offsets)[X.shape(1)]) == edges.shape(0),
            "X, edges and blocks do not match");
    bin_values(view(X), view(edges), view(edge_offsets), view(missing), view(blocks), n_threads);
}

template <class Value>
void predict_of(const Array<const Value, 2>& X, const TreesTuple& trees, std::size_t first,
                std::size_t last, const Array<double, 2>& scores, int n_threads) {
    const auto all = as_trees(trees);
    require(scores.shape(0) == X.shape(0) && scores.shape(1) == all.outputs.n_cols &&
                first <= last && last <= all.depths.size,
            "X, trees and scores do not match");
    predict(view(X), all, first, last, view(scores), n_threads);
}

template <class Value>
void apply_of(const Array<const Value, 2>& X, const TreesTuple& trees, std::size_t tree,
              const Array<std::uint16_t, 1>& regions, int n_threads) {
    const auto all = as_trees(trees);
    require(regions.shape(0) == X.shape(0) && tree < all.depths.size,
            "X, trees and regions do not match");
    apply(view(X), all, tree, view(regions), n_threads);
}

} // namespace

NB_MODULE(_compiled, m) {
    using Release = nb::call_guard<nb::gil_scoped_release>;

    m.def("bin_values", &bin_values_of<float>, "X"_a.noconvert(), "edges"_a.noconvert(),
          "edge_offsets"_a.noconvert(), "missing"_a.noconvert(), "blocks"_a.noconvert(),
          "n_threads"_a, Release());
    m.def("bin_values", &bin_values_of<double>, "X"_a.noconvert(), "edges"_a.noconvert(),
          "edge_offsets"_a.noconvert(), "missing"_a.noconvert(), "blocks"_a.noconvert(),
          "n_threads"_a, Release());

    m.def(
        "class_sums",
        [](const BinsTuple& bins, const Array<U8, 1>& allowed, const Array<I32, 2>& values,
           const Array<I32, 1>& samples, const Array<std::int32_t, 2>& sums, int n_threads) {
            const auto set = as_bins(bins);
            require(allowed.shape(0) == set.n_features() && values.shape(0) == set.n_samples() &&
                        values.shape(1) % 8 == 0 && sums.shape(1) == values.shape(1) &&
                        sums.shape(0) == set.offset(set.n_features()),
                    "bins, allowed, values and sums do not match");
            class_sums(set, view(allowed), view(values), view(samples), view(sums), n_threads);
        },
        "bins"_a.noconvert(), "allowed"_a.noconvert(), "values"_a.noconvert(),
        "samples"_a.noconvert(), "sums"_a.noconvert(), "n_threads"_a, Release());

    m.def(
        "search_root",
        [](const BinsTuple& bins, const Array<U8, 1>& allowed, const Array<I32, 2>& values,
           const Array<I64, 1>& totals, const NodesTuple& nodes,
           const Array<std::uint8_t, 1>& right, int n_threads) {
            const auto set = as_bins(bins);
            const auto root = as_nodes(nodes);
            require(allowed.shape(0) == set.n_features() && values.shape(0) == set.n_samples() &&
                        root.n_nodes() == 1,
                    "bins, allowed, values and nodes do not match");
            require(values.shape(1) % 8 == 0 && totals.shape(0) <= values.shape(1) &&
                        right.shape(0) == most_bins,
                    "values, totals and right do not match");
            const Stump best = search_root(set, view(allowed), view(values), view(totals), root,
                                           view(right), n_threads);
            return std::make_tuple(best.feature, best.criterion, counts(best.work));
        },
        "bins"_a.noconvert(), "allowed"_a.noconvert(), "values"_a.noconvert(),
        "totals"_a.noconvert(), "nodes"_a.noconvert(), "right"_a.noconvert(), "n_threads"_a,
        Release());

    m.def(
        "search_layer",
        [](const BinsTuple& bins, const Array<U8, 1>& allowed, const Array<I64, 1>& values,
           const NodesTuple& nodes, const Array<I64, 2>& parent_sums,
           const Array<std::int64_t, 2>& sums, const OptionsTuple& options,
           const SplitsTuple& splits, int n_threads) {
            const auto set = as_bins(bins);
            const auto layer = as_nodes(nodes);
            const std::size_t n_bins = set.offset(set.n_features());
            require(allowed.shape(0) == set.n_features() && values.shape(0) == set.n_samples(),
                    "bins, allowed and values do not match");
            require(parent_sums.shape(0) == 0 || 2 * parent_sums.shape(0) == layer.n_nodes(),
                    "parent_sums must have half as many rows as there are nodes, or none");
            require((sums.shape(0) == layer.n_nodes() ||
                     (sums.shape(0) == 0 && parent_sums.shape(0) == 0)) &&
                        sums.shape(1) == n_bins && parent_sums.shape(1) == n_bins,
                    "sums must have a column for each bin, and a row for each node or none");
            return counts(search_layer(set, view(allowed), view(values), layer, view(parent_sums),
                                       view(sums), as_options(options),
                                       as_splits(splits, layer.n_nodes()), n_threads));
        },
        "bins"_a.noconvert(), "allowed"_a.noconvert(), "values"_a.noconvert(),
        "nodes"_a.noconvert(), "parent_sums"_a.noconvert(), "sums"_a.noconvert(), "options"_a,
        "splits"_a.noconvert(), "n_threads"_a, Release());

    m.def(
        "grow_tree",
        [](const BinsTuple& bins, const Array<U8, 1>& allowed, const Array<I64, 1>& values,
           const Array<std::int32_t, 1>& samples, const OptionsTuple& options,
           const NodesOutTuple& nodes, const Array<std::int64_t, 2>& scratch, int n_threads) {
            const auto grown = unpack<GrownNodes>(nodes);
            const std::size_t n_leaves = grown.features.size + 1;
            require(n_leaves >= 2 && (n_leaves & (n_leaves - 1)) == 0 &&
                        grown.right.n_rows == n_leaves - 1 && grown.right.n_cols == most_bins,
                    "nodes must be those of complete layers");
            require(4 * scratch.shape(0) >= 3 * n_leaves, "scratch has too few rows");
            const Bins data = as_bins(bins);
            require(scratch.shape(1) == data.offset(data.n_features()) &&
                        values.shape(0) == data.n_samples() &&
                        allowed.shape(0) == data.n_features(),
                    "bins, values and scratch do not match");
            return grow_tree(data, view(allowed), view(values), view(samples), as_options(options),
                             grown, view(scratch), n_threads);
        },
        "bins"_a.noconvert(), "allowed"_a.noconvert(), "values"_a.noconvert(),
        "samples"_a.noconvert(), "options"_a, "nodes"_a.noconvert(), "scratch"_a.noconvert(),
        "n_threads"_a, Release());

    m.def(
        "heaviest_first",
        [](const Array<I64, 1>& keys, const Array<std::int32_t, 1>& samples,
           const Array<I32, 1>& starts, const Array<F64, 1>& shares,
           const Array<std::int32_t, 2>& cuts, int n_threads) {
            require(starts.shape(0) == cuts.shape(0) + 1 && cuts.shape(1) == shares.shape(0) + 2,
                    "starts, shares and cuts do not match");
            heaviest_first(view(keys), view(samples), view(starts), view(shares), view(cuts),
                           n_threads);
        },
        "keys"_a.noconvert(), "samples"_a.noconvert(), "starts"_a.noconvert(),
        "shares"_a.noconvert(), "cuts"_a.noconvert(), "n_threads"_a, Release());

    m.def(
        "split_samples",
        [](const BinsTuple& bins, const LayerTuple& layer, const Array<std::int32_t, 1>& samples,
           const Array<I32, 1>& starts, const Array<std::int32_t, 1>& child_starts, int n_threads) {
            const auto nodes = as_layer(layer);
            require(starts.shape(0) == nodes.features.size + 1 &&
                        child_starts.shape(0) == 2 * nodes.features.size + 1,
                    "layer, starts and child_starts do not match");
            split_samples(as_bins(bins), nodes, view(samples), view(starts), view(child_starts),
                          n_threads);
        },
        "bins"_a.noconvert(), "layer"_a.noconvert(), "samples"_a.noconvert(),
        "starts"_a.noconvert(), "child_starts"_a.noconvert(), "n_threads"_a, Release());

    m.def(
        "route",
        [](const BinsTuple& bins, const LayerTuple& nodes, const Array<std::uint16_t, 1>& regions,
           int n_threads) {
            require(regions.shape(0) == std::get<0>(bins).shape(1),
                    "bins and regions do not match");
            route(as_bins(bins), as_layer(nodes), view(regions), n_threads);
        },
        "bins"_a.noconvert(), "nodes"_a.noconvert(), "regions"_a.noconvert(), "n_threads"_a,
        Release());

    m.def(
        "project",
        [](const Array<F64, 3>& weights, const ProjectionTuple& projection,
           const Array<std::int64_t, 1>& values, int n_threads) {
            require(values.shape(0) == weights.shape(1), "values and weights differ in length");
            project(view(weights), as_projection(projection, weights.shape(2)), view(values),
                    n_threads);
        },
        "weights"_a.noconvert(), "projection"_a.noconvert(), "values"_a.noconvert(), "n_threads"_a,
        Release());

    m.def(
        "region_sums",
        [](const Array<F64, 3>& weights, const Array<const std::uint16_t, 1>& regions,
           const Array<F64, 1>& scales, const Array<std::int64_t, 3>& sums, int n_threads) {
            require(regions.shape(0) == weights.shape(1) && sums.shape(1) == 2 &&
                        sums.shape(2) == weights.shape(2) && scales.shape(0) == weights.shape(2),
                    "weights, regions and sums do not match");
            region_sums(view(weights), view(regions), view(scales), view(sums), n_threads);
        },
        "weights"_a.noconvert(), "regions"_a.noconvert(), "scales"_a.noconvert(),
        "sums"_a.noconvert(), "n_threads"_a, Release());

    m.def(
        "logistic_sums",
        [](const LineTuple& line, const Array<const std::uint16_t, 1>& regions,
           const Array<std::int64_t, 3>& sums, int n_threads) {
            const auto all = unpack<LogisticLine>(line);
            const std::size_t n_classes = all.scales.size;
            require(all.subcosts.n_rows == regions.shape(0) && all.subcosts.n_cols == n_classes &&
                        all.odds.n_planes == all.subcosts.n_planes &&
                        all.odds.n_rows == regions.shape(0) && all.odds.n_cols == n_classes &&
                        all.up.n_rows == sums.shape(0) && all.up.n_cols == n_classes &&
                        all.down.n_rows == sums.shape(0) && all.down.n_cols == n_classes &&
                        sums.shape(1) == 2 && sums.shape(2) == n_classes,
                    "line, regions and sums do not match");
            logistic_sums(all, view(regions), view(sums), n_threads);
        },
        "line"_a.noconvert(), "regions"_a.noconvert(), "sums"_a.noconvert(), "n_threads"_a,
        Release());

    m.def(
        "advance",
        [](const Array<double, 3>& weights, const Array<double, 2>& scores,
           const Array<const std::uint16_t, 1>& regions, const StepTuple& step,
           const Array<std::int64_t, 1>& totals, const Array<std::int32_t, 1>& decided,
           int n_threads) {
            require(regions.shape(0) == weights.shape(1) && scores.shape(0) == weights.shape(1) &&
                        scores.shape(1) == weights.shape(2) &&
                        totals.shape(0) == weights.shape(2) && decided.shape(0) == scores.shape(0),
                    "weights, scores and regions do not match");
            advance(view(weights), view(scores), view(regions), as_step(step, weights.shape(2)),
                    view(totals), view(decided), n_threads);
        },
        "weights"_a.noconvert(), "scores"_a.noconvert(), "regions"_a.noconvert(),
        "step"_a.noconvert(), "totals"_a.noconvert(), "decided"_a.noconvert(), "n_threads"_a,
        Release());

    m.def(
        "squared_distances",
        [](const Array<F32, 3>& blocks, const Array<F32, 2>& points, const Array<float, 2>& out,
           int n_threads) {
            require(blocks.shape(2) == samples_abreast && blocks.shape(1) == points.shape(1) &&
                        out.shape(0) == points.shape(0) &&
                        blocks.shape(0) == (out.shape(1) + samples_abreast - 1) / samples_abreast,
                    "blocks, points and out do not match");
            squared_distances(view(blocks), view(points), view(out), n_threads);
        },
        "blocks"_a.noconvert(), "points"_a.noconvert(), "out"_a.noconvert(), "n_threads"_a,
        Release());

    m.def(
        "compare",
        [](const Array<F32, 1>& anchor, const Array<F32, 1>& rival, int kind, double apart,
           const Array<std::uint16_t, 1>& levels, int n_threads) {
            require(anchor.shape(0) == levels.shape(0) && rival.shape(0) == levels.shape(0),
                    "anchor, rival and levels differ in length");
            require(kind >= two_points && kind <= inside, "kind must be 0, 1, 2 or 3");
            compare(view(anchor), view(rival), kind, apart, view(levels), n_threads);
        },
        "anchor"_a.noconvert(), "rival"_a.noconvert(), "kind"_a, "apart"_a, "levels"_a.noconvert(),
        "n_threads"_a, Release());

    m.def(
        "pair_sums",
        [](const Array<F32, 2>& from_anchors, const Array<F32, 2>& from_rivals,
           const PairsTuple& pairs, int kind, const Array<F64, 2>& signed_values,
           const Array<F64, 2>& mass, const Array<double, 3>& sums, int n_threads) {
            const std::size_t n = signed_values.shape(1);
            require(from_anchors.shape(1) == n && from_rivals.shape(1) == n && mass.shape(1) == n &&
                        mass.shape(0) == signed_values.shape(0) && sums.shape(2) == mass.shape(0) &&
                        sums.shape(1) == 3,
                    "distances, weights and sums do not match");
            require(kind == two_points || kind == nearer, "kind must be 0 or 1");
            const auto list =
                as_pairs(pairs, sums.shape(0), from_anchors.shape(0), from_rivals.shape(0));
            pair_sums(view(from_anchors), view(from_rivals), list, kind, view(signed_values),
                      view(mass), view(sums), n_threads);
        },
        "from_anchors"_a.noconvert(), "from_rivals"_a.noconvert(), "pairs"_a.noconvert(), "kind"_a,
        "signed_values"_a.noconvert(), "mass"_a.noconvert(), "sums"_a.noconvert(), "n_threads"_a,
        Release());

    m.def(
        "nearest_rivals",
        [](const Array<F32, 2>& distances, const Array<I64, 1>& anchor_values,
           const Array<I64, 1>& values, const Array<std::int32_t, 2>& nearest) {
            require(anchor_values.shape(0) == distances.shape(0) &&
                        nearest.shape(0) == distances.shape(0) &&
                        values.shape(0) == distances.shape(1) && nearest.shape(1) > 0,
                    "distances, values and nearest do not match");
            nearest_rivals(view(distances), view(anchor_values), view(values), view(nearest));
        },
        "distances"_a.noconvert(), "anchor_values"_a.noconvert(), "values"_a.noconvert(),
        "nearest"_a.noconvert(), Release());

    m.def(
        "least_isolated",
        [](const Array<F64, 3>& weights, const Array<F64, 1>& totals,
           const Array<F64, 1>& signed_totals, int n_threads) {
            require(totals.shape(0) == weights.shape(2) &&
                        signed_totals.shape(0) == weights.shape(2),
                    "weights and totals differ in classes");
            return least_isolated(view(weights), view(totals), view(signed_totals), n_threads);
        },
        "weights"_a.noconvert(), "totals"_a.noconvert(), "signed_totals"_a.noconvert(),
        "n_threads"_a, Release());

    m.def(
        "add_comparisons",
        [](const Array<F32, 2>& distances, const ComparisonsTuple& comparisons,
           const Array<F64, 1>& values, std::size_t first, std::size_t last,
           const Array<double, 2>& scores, int n_threads) {
            const auto all = as_comparisons(comparisons, distances.shape(0));
            require(distances.shape(1) == scores.shape(0) &&
                        all.outputs.n_cols == scores.shape(1) && values.shape(0) == n_levels &&
                        first <= last && last <= all.anchors.size,
                    "distances, comparisons and scores do not match");
            add_comparisons(view(distances), all, view(values), first, last, view(scores),
                            n_threads);
        },
        "distances"_a.noconvert(), "comparisons"_a.noconvert(), "values"_a.noconvert(), "first"_a,
        "last"_a, "scores"_a.noconvert(), "n_threads"_a, Release());

    m.def("predict", &predict_of<float>, "X"_a.noconvert(), "trees"_a.noconvert(), "first"_a,
          "last"_a, "scores"_a.noconvert(), "n_threads"_a, Release());
    m.def("predict", &predict_of<double>, "X"_a.noconvert(), "trees"_a.noconvert(), "first"_a,
          "last"_a, "scores"_a.noconvert(), "n_threads"_a, Release());
    m.def("apply", &apply_of<float>, "X"_a.noconvert(), "trees"_a.noconvert(), "tree"_a,
          "regions"_a.noconvert(), "n_threads"_a, Release());
    m.def("apply", &apply_of<double>, "X"_a.noconvert(), "trees"_a.noconvert(), "tree"_a,
          "regions"_a.noconvert(), "n_threads"_a, Release());
}

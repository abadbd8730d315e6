// The whole compiled API. Names and arguments are those of src/rebelboost/kernels/reference/.
// Arrays become views without conversion, and tuples become structs (casters.hpp). The kernels
// check sizes, and run without the GIL.
#include "casters.hpp"
#include "released_gil.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace rebel;

NB_MODULE(_compiled, m) {
    const nb::call_guard<ReleasedGil> no_gil;

    m.def("bin_values", &bin_values<float>, "X"_a, "edges"_a, "edge_offsets"_a, "missing"_a,
          "blocks"_a, "n_threads"_a, no_gil);
    m.def("bin_values", &bin_values<double>, "X"_a, "edges"_a, "edge_offsets"_a, "missing"_a,
          "blocks"_a, "n_threads"_a, no_gil);

    m.def("class_sums", &class_sums, "bins"_a, "allowed"_a, "values"_a, "samples"_a, "sums"_a,
          "n_threads"_a, no_gil);
    m.def("search_root", &search_root, "bins"_a, "allowed"_a, "values"_a, "totals"_a, "nodes"_a,
          "right"_a, "n_threads"_a, no_gil);
    m.def("exact_cut", &exact_cut, "order"_a, "cuts"_a, "values"_a, "totals"_a, "least"_a, no_gil);
    m.def("sort_bins", &sort_bins, "bins"_a, "order"_a, "n_threads"_a, no_gil);
    m.def("search_layer", &search_layer, "bins"_a, "allowed"_a, "values"_a, "nodes"_a,
          "parent_sums"_a, "sums"_a, "options"_a, "splits"_a, "n_threads"_a, no_gil);
    m.def("node_sums", &node_sums, "bins"_a, "values"_a, "nodes"_a, "chosen"_a, "sums"_a,
          "n_threads"_a, no_gil);
    m.def("choose_splits", &choose_splits, "bins"_a, "allowed"_a, "sums"_a, "totals"_a, "counts"_a,
          "options"_a, "splits"_a, "n_threads"_a, no_gil);
    m.def("prune_layer", &prune_layer, "bins"_a, "allowed"_a, "values"_a, "nodes"_a, "options"_a,
          "splits"_a, "n_threads"_a, no_gil);
    m.def("prune_classes", &prune_classes, "bins"_a, "allowed"_a, "values"_a, "n_classes"_a,
          "nodes"_a, "options"_a, "splits"_a, "n_threads"_a, no_gil);
    m.def("choose_by_classes", &choose_by_classes, "bins"_a, "allowed"_a, "sums"_a, "counts"_a,
          "options"_a, "splits"_a, "n_threads"_a, no_gil);
    m.def("grow_tree", &grow_tree, "bins"_a, "order"_a, "allowed"_a, "values"_a, "samples"_a,
          "options"_a, "nodes"_a, "scratch"_a, "n_threads"_a, no_gil);

    m.def("draw_direction", &draw_direction, "totals"_a, "key"_a, "direction"_a, "squares"_a,
          no_gil);
    m.def("grow_term", &grow_term, "bins"_a, "data"_a, "focus"_a, "values"_a, "options"_a, "tree"_a,
          "scratch"_a, "n_threads"_a, no_gil);
    m.def("propose_tree", &propose_tree, "bins"_a, "data"_a, "focus"_a, "weights"_a, "totals"_a,
          "options"_a, "tree"_a, "leaves"_a, "scratch"_a, "n_threads"_a, no_gil);

    m.def("total_up", &total_up, "weights"_a, "totals"_a, "n_threads"_a, no_gil);
    m.def("boost_trees", &boost_trees, "bins"_a, "data"_a, "held_bins"_a, "plan"_a, "training"_a,
          "held"_a, "memory"_a, "trees"_a, "log"_a, "n_threads"_a, no_gil);

    m.def("propose_on_slopes", &propose_on_slopes, "bins"_a, "data"_a, "focus"_a, "slopes"_a,
          "options"_a, "tree"_a, "leaves"_a, "scratch"_a, "n_threads"_a, no_gil);
    m.def("take_number_step", &take_number_step, "scores"_a, "regions"_a, "outputs"_a, "target"_a,
          "weight"_a, "slopes"_a, no_gil);

    m.def("split_samples", &split_samples, "bins"_a, "layer"_a, "samples"_a, "starts"_a,
          "child_starts"_a, "n_threads"_a, no_gil);
    m.def("route", &route, "bins"_a, "nodes"_a, "regions"_a, "n_threads"_a, no_gil);
    m.def("descend", &descend, "bins"_a, "layer"_a, "regions"_a, "n_threads"_a, no_gil);
    m.def("heaviest_first", &heaviest_first, "keys"_a, "samples"_a, "starts"_a, "shares"_a,
          "cuts"_a, "n_threads"_a, no_gil);

    m.def("exponentials", &exponentials, "x"_a, "out"_a, no_gil);
    m.def("logarithms", &logarithms, "x"_a, "out"_a, no_gil);
    m.def("uniform_posteriors", &uniform_posteriors, "doubled"_a, "enough"_a, "out"_a,
          "n_threads"_a, no_gil);
    m.def("log_loss_and_slope", &log_loss_and_slope, "doubled"_a, "factor"_a, "labels"_a,
          "weight"_a, "enough"_a, "n_threads"_a, no_gil);
    m.def("random_numbers", &random_numbers, "key"_a, "first"_a, "out"_a, no_gil);
    m.def("random_normals", &random_normals, "key"_a, "first"_a, "out"_a, no_gil);

    m.def("project", &project, "weights"_a, "projection"_a, "values"_a, "n_threads"_a, no_gil);
    m.def("fix_weights", &fix_weights, "weights"_a, "samples"_a, "scale"_a, "signed_weights"_a,
          "keys"_a, "totals"_a, "n_threads"_a, no_gil);
    m.def("region_sums", &region_sums, "weights"_a, "regions"_a, "scales"_a, "sums"_a,
          "n_threads"_a, no_gil);
    m.def("logistic_sums", &logistic_sums, "line"_a, "regions"_a, "sums"_a, "n_threads"_a, no_gil);
    m.def("advance", &advance, "weights"_a, "scores"_a, "regions"_a, "step"_a, "totals"_a,
          "decided"_a, "n_threads"_a, no_gil);

    m.def("rate", &rate, "decided"_a, "judged"_a, no_gil);
    m.def("take_step", &take_step, "weights"_a, "scores"_a, "regions"_a, "outputs"_a, "totals"_a,
          "decided"_a, "judged"_a, "n_threads"_a, no_gil);

    m.def("predict", &predict<float>, "X"_a, "trees"_a, "first"_a, "last"_a, "scores"_a,
          "n_threads"_a, no_gil);
    m.def("predict", &predict<double>, "X"_a, "trees"_a, "first"_a, "last"_a, "scores"_a,
          "n_threads"_a, no_gil);
    m.def("apply", &apply<float>, "X"_a, "trees"_a, "tree"_a, "regions"_a, "n_threads"_a, no_gil);
    m.def("apply", &apply<double>, "X"_a, "trees"_a, "tree"_a, "regions"_a, "n_threads"_a, no_gil);

    m.def("predict_coded", &predict_coded<float>, "X"_a, "columns"_a, "trees"_a, "first"_a,
          "last"_a, "scores"_a, "n_threads"_a, no_gil);
    m.def("predict_coded", &predict_coded<double>, "X"_a, "columns"_a, "trees"_a, "first"_a,
          "last"_a, "scores"_a, "n_threads"_a, no_gil);
    m.def("score_row", &score_row, "x"_a, "columns"_a, "trees"_a, "first"_a, "last"_a, "scores"_a,
          no_gil);
    m.def("add_steps", &add_steps<float>, "X"_a, "steps"_a, "scores"_a, "n_threads"_a, no_gil);
    m.def("add_steps", &add_steps<double>, "X"_a, "steps"_a, "scores"_a, "n_threads"_a, no_gil);

    m.def("leave_early", &leave_early<float>, "X"_a, "trees"_a, "spaces"_a, "values"_a, "checks"_a,
          "scores"_a, "stage"_a, "n_threads"_a, no_gil);
    m.def("leave_early", &leave_early<double>, "X"_a, "trees"_a, "spaces"_a, "values"_a, "checks"_a,
          "scores"_a, "stage"_a, "n_threads"_a, no_gil);

    m.def("squared_distances", &squared_distances, "blocks"_a, "points"_a, "out"_a, "n_threads"_a,
          no_gil);
    m.def("compare", &compare, "anchor"_a, "rival"_a, "kind"_a, "apart"_a, "levels"_a,
          "n_threads"_a, no_gil);
    m.def("compare_points", &compare_points, "blocks"_a, "points"_a, "kind"_a, "apart"_a,
          "levels"_a, "n_threads"_a, no_gil);
    m.def("pair_sums", &pair_sums, "from_anchors"_a, "from_rivals"_a, "pairs"_a, "kind"_a,
          "signed_values"_a, "mass"_a, "sums"_a, "n_threads"_a, no_gil);
    m.def("nearest_rivals", &nearest_rivals, "distances"_a, "anchor_values"_a, "values"_a,
          "nearest"_a, no_gil);
    m.def("best_isolated", &best_isolated, "weights"_a, "totals"_a, "signed_totals"_a,
          "n_threads"_a, no_gil);
    m.def("leading_eigenvector", &leading_eigenvector, "matrix"_a, "q"_a, no_gil);
    m.def("binarize", &binarize, "weights"_a, "totals"_a, "values"_a, "n_threads"_a, no_gil);
    m.def("solve_levels", &solve_levels, "weights"_a, "totals"_a, "regions"_a, "rule"_a, "out"_a,
          "n_threads"_a, no_gil);
    m.def("exact_distances", &exact_distances, "placed"_a, "points"_a, "out"_a, "n_threads"_a,
          no_gil);
    m.def("best_response", &best_response, "responses"_a, "weights"_a, "least"_a, "equal"_a,
          "output"_a, "n_threads"_a, no_gil);
    m.def("propose_pair", &propose_pair, "weights"_a, "totals"_a, "space"_a, "samples"_a,
          "options"_a, "key"_a, "queue"_a, "out"_a, "n_threads"_a, no_gil);
    m.def("boost_pairs", &boost_pairs, "space"_a, "others"_a, "plan"_a, "training"_a, "held"_a,
          "queue"_a, "memory"_a, "terms"_a, "log"_a, "n_threads"_a, no_gil);
    m.def("add_comparisons", &add_comparisons, "distances"_a, "comparisons"_a, "values"_a,
          "first"_a, "last"_a, "scores"_a, "n_threads"_a, no_gil);
    m.def("add_similarities", &add_similarities, "distances"_a, "tau"_a, "outputs"_a, "offset"_a,
          "scores"_a, "n_threads"_a, no_gil);

    m.def("choose_examples", &choose_examples, "among"_a, "tau"_a, "least"_a, "chosen"_a,
          "factor"_a, no_gil);
    m.def("place_features", &place_features, "distances"_a, "tau"_a, "chosen"_a, "factor"_a,
          "centre"_a, "features"_a, no_gil);
    m.def("feature_scores", &feature_scores, "features"_a, "points"_a, "solved"_a, "scores"_a,
          no_gil);
    m.def("weighted_gram", &weighted_gram, "features"_a, "weight"_a, "gram"_a, no_gil);
    m.def("feature_sums", &feature_sums, "features"_a, "values"_a, "sums"_a, no_gil);
    m.def("ridge_factor", &ridge_factor, "gram"_a, "ridge"_a, "factor"_a, no_gil);
    m.def("solve_lower", &solve_lower, "factor"_a, "values"_a, no_gil);
    m.def("solve_upper", &solve_upper, "factor"_a, "values"_a, no_gil);
    m.def("solve_logistic", &solve_logistic, "features"_a, "mass"_a, "factor"_a, "options"_a,
          "solved"_a, no_gil);

    m.def("integrate", &integrate, "images"_a, "sums"_a, "n_threads"_a, no_gil);
    m.def("window_scales", &window_scales, "sums"_a, "scales"_a, "n_threads"_a, no_gil);
    m.def("window_values", &window_values, "sums"_a, "scales"_a, "rectangles"_a, "values"_a,
          "n_threads"_a, no_gil);
    m.def("scan_windows", &scan_windows, "sums"_a, "grid"_a, "rectangles"_a, "trees"_a, "floors"_a,
          "scores"_a, "used"_a, "n_threads"_a, no_gil);
}

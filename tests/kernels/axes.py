"""Arguments of the kernels: which axes are free, and which arrays are written."""

from rebelboost.base.arrays import GrownTree, Splits
from rebelboost.base.kernel_arrays import (
    LevelSums,
    PairQueue,
    PairTable,
    PairTerm,
    RoundLog,
    TreeTable,
)

BOOSTED = ("weights", "scores", "totals", "decided")

FREE = {
    "class_sums samples 0",
    "search_root nodes.samples 0",
    "search_root nodes.cuts 1",  # subsets
    "search_root totals 0",  # classes, as long as the padded values hold them
    "exact_cut order 0",  # samples without a value are left out
    "exact_cut cuts 0",
    "exact_cut values 0",
    "search_layer nodes.samples 0",
    "search_layer nodes.cuts 1",
    "prune_layer nodes.samples 0",
    "prune_layer nodes.cuts 1",
    "prune_classes nodes.samples 0",
    "prune_classes nodes.cuts 1",
    "choose_by_classes bins.blocks 1",  # samples, which are not read
    "choose_by_classes sums 2",  # classes
    "node_sums nodes.samples 0",
    "node_sums nodes.cuts 0",  # as long as the chosen nodes are among them
    "node_sums nodes.cuts 1",
    "choose_splits bins.blocks 1",  # samples, which are not read
    "grow_tree samples 0",
    "grow_tree scratch 0",
    "grow_term focus.samples 0",
    "grow_term scratch 0",
    "propose_on_slopes focus.samples 0",
    "propose_on_slopes scratch.sums 0",
    "take_number_step outputs 0",  # regions
    "propose_tree focus.samples 0",
    "propose_tree weights 0",  # planes
    "propose_tree scratch.sums 0",
    "take_step weights 0",
    "take_step outputs 0",  # regions
    "rate decided 0",  # as long as the places are among them
    "boost_trees plan.samples 0",
    "boost_trees training.weights 0",  # planes
    "boost_trees held.weights 0",
    "boost_trees trees.right 0",
    "boost_pairs plan.samples 0",
    "boost_pairs training.weights 0",
    "boost_pairs held.weights 0",
    "total_up weights 0",
    "total_up weights 1",  # samples
    "log_loss_and_slope doubled 1",  # classes, as long as the labels are among them
    "heaviest_first keys 0",
    "heaviest_first samples 0",
    "split_samples samples 0",
    "split_samples bins.blocks 1",  # samples
    "fix_weights weights 0",  # planes
    "fix_weights samples 0",
    "project weights 0",
    "region_sums weights 0",
    "region_sums sums 0",  # regions
    "advance weights 0",
    *(
        f"{kernel} {free}"
        for kernel in ("predict", "apply", "leave_early")
        for free in ("X 1", "trees.right 0", "trees.outputs 0")
    ),
    "apply trees.outputs 1",
    "predict_coded X 1",  # as long as the features are among them
    "predict_coded trees.sets 0",  # more than the nodes name
    "score_row x 0",  # as long as the features are among them
    "score_row trees.sets 0",  # more than the nodes name
    "add_steps X 1",  # as long as the features are among them
    "compare_points levels 0",  # as long as the blocks hold so many samples
    "squared_distances out 1",  # as long as the blocks hold so many samples, and no block is idle
    "pair_sums from_anchors 0",
    "pair_sums from_rivals 0",
    "nearest_rivals nearest 1",  # rivals of each anchor
    "best_isolated weights 0",
    "best_isolated weights 1",  # samples
    "binarize weights 0",
    "solve_levels weights 0",
    "best_response weights 0",
    "best_response responses 0",
    "propose_pair weights 0",
    "propose_pair samples 0",
    "add_comparisons distances 0",  # points
    "place_features distances 0",  # examples
    "place_features chosen 0",  # as long as the padding allows
    "feature_scores features 0",  # points
    "solve_lower values 1",
    "solve_upper values 1",
    "window_scales sums 1",  # height
    "window_scales sums 2",  # width
    "window_values sums 1",
    "window_values sums 2",
    "scan_windows trees.right 0",
    "random_numbers out 0",
    "random_normals out 0",
}
"""Axes that may be longer than the other arguments ask for."""

WRITTEN = {
    "bin_values blocks",
    "class_sums sums",
    "search_root right",
    "sort_bins order",
    "search_layer sums",
    "search_layer splits.features",
    "search_layer splits.right",
    "search_layer splits.sides",
    "search_layer splits.gains",
    "node_sums sums",
    "choose_splits splits.features",
    "choose_splits splits.right",
    "choose_splits splits.sides",
    "choose_splits splits.gains",
    "prune_layer splits.features",
    "prune_layer splits.right",
    "prune_layer splits.sides",
    "prune_layer splits.gains",
    *(
        f"{kernel} splits.{field}"
        for kernel in ("prune_classes", "choose_by_classes")
        for field in Splits._fields
    ),
    "grow_tree samples",
    "grow_tree nodes.features",
    "grow_tree nodes.right",
    "grow_tree scratch",
    "draw_direction direction",
    "draw_direction squares",
    *(
        f"{kernel} tree.{field}"
        for kernel in ("grow_term", "propose_tree", "propose_on_slopes")
        for field in GrownTree._fields
    ),
    "grow_term scratch",
    *(
        f"{kernel} {memory}"
        for kernel in ("propose_tree", "propose_on_slopes")
        for memory in (
            "leaves.plus",
            "leaves.minus",
            "leaves.outputs",
            "scratch.values",
            "scratch.sums",
        )
    ),
    "take_number_step scores",
    "take_number_step slopes",
    "take_step weights",
    "take_step scores",
    "take_step totals",
    "take_step decided",
    *(
        f"{kernel} {samples}.{field}"
        for kernel in ("boost_trees", "boost_pairs")
        for samples in ("training", "held")
        for field in BOOSTED
    ),
    *(f"{kernel} log.{f}" for kernel in ("boost_trees", "boost_pairs") for f in RoundLog._fields),
    *(f"boost_trees trees.{field}" for field in TreeTable._fields),
    *(f"boost_pairs terms.{field}" for field in PairTable._fields),
    *(f"boost_pairs queue.{field}" for field in PairQueue._fields),
    *(f"boost_pairs memory.{field}" for field in PairTerm._fields),
    "total_up totals",
    "uniform_posteriors out",
    "heaviest_first samples",
    "heaviest_first cuts",
    "split_samples samples",
    "split_samples child_starts",
    "route regions",
    "descend regions",
    "fix_weights signed_weights",
    "fix_weights keys",
    "fix_weights totals",
    "project values",
    "region_sums sums",
    "logistic_sums sums",
    "advance weights",
    "advance scores",
    "advance totals",
    "advance decided",
    "predict scores",
    "apply regions",
    "add_steps scores",
    "predict_coded scores",
    "score_row scores",
    "squared_distances out",
    "compare levels",
    "compare_points levels",
    "pair_sums sums",
    "nearest_rivals nearest",
    "leading_eigenvector q",
    "binarize values",
    *(f"solve_levels out.{field}" for field in LevelSums._fields),
    "exact_distances out",
    "best_response output",
    *(f"propose_pair queue.{field}" for field in PairQueue._fields),
    *(f"propose_pair out.{field}" for field in PairTerm._fields),
    "add_comparisons scores",
    "add_similarities scores",
    "choose_examples chosen",
    "choose_examples factor",
    "place_features centre",
    "place_features features",
    "feature_scores scores",
    "weighted_gram gram",
    "feature_sums sums",
    "ridge_factor factor",
    "solve_lower values",
    "solve_upper values",
    "solve_logistic solved",
    "integrate sums",
    "window_scales scales",
    "window_values values",
    "scan_windows scores",
    "scan_windows used",
    "exponentials out",
    "logarithms out",
    "random_numbers out",
    "random_normals out",
    "leave_early scores",
    "leave_early stage",
}

// A step of boosting with trees for losses that are parabolas of the scores.
#pragma once

#include "leaf_tree.hpp"

namespace rebel {

// Slopes and curvatures of the loss, (samples, classes) each, and the sums of the curvatures by
// class.
struct Slopes {
    Matrix<const double> signed_slopes;
    Matrix<const double> mass;
    Vector<const double> totals;

    void check(const Bins& bins) const;
};

// Like propose_tree: projects slopes and curvatures on a random direction, grows a tree, and puts
// the outputs of each leaf at the minimum of its parabola, −P/(W + ridge). The ridge is `smoothing`
// of the average curvature of a leaf.
std::pair<int, double> propose_on_slopes(const Bins& bins, const TreeData& data, const Focus& focus,
                                         const Slopes& slopes, const LeafTreeOptions& options,
                                         const GrownTree& tree, const LeafSums& leaves,
                                         const TreeScratch& scratch, int n_threads);

// The effect of a term on least squares, (H − y)² times the sample's weight: adds the region's
// output to the score, and writes the new slope. Returns the sums of the loss and of the weighted
// distances |H − y|.
struct DistanceSums {
    double squared;
    double absolute;
};
DistanceSums take_number_step(Matrix<double> scores, Regions regions, Matrix<const double> outputs,
                              Vector<const double> target, Vector<const double> weight,
                              Matrix<double> slopes);

} // namespace rebel

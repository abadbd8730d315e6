// L-BFGS: steps towards the minimum of a convex function, by its slopes alone.
#pragma once

#include <deque>
#include <vector>

#include "views.hpp"

namespace rebel {

class Descent {
  public:
    // Of n unknowns and a constant. Vectors are padded by zeros to a multiple of 8, as n is.
    Descent(size_t n, double precision, size_t most_steps);

    // Where the slope is asked for next; the start, before the first one is taken.
    std::vector<double>& trial() { return trial_; }
    const std::vector<double>& trial() const { return trial_; }

    // Takes the slope at the trial point; returns whether there is a further one.
    bool take(const std::vector<double>& slope);

  private:
    struct Pair {
        std::vector<double> step, change;
        double product;
    };

    void remember(const std::vector<double>& slope);
    void turn();

    double precision_;
    size_t most_steps_;
    std::vector<double> trial_, at_, slope_, direction_;
    double fall_ = 0; // derivative along the direction at its start
    double length_ = 0;
    size_t n_taken_ = 0;
    std::deque<Pair> pairs_; // the oldest first
    double scale_ = 1;
};

} // namespace rebel

// Slopes of the logistic loss along a line search, by region.
#pragma once

#include <cstdint>

#include "views.hpp"

namespace rebel {

// What the logistic loss needs of a sample and a class: c⁺ or −c⁻, and the odds e^H or e^−H.
// A region's outputs a multiply the odds by `up` = e^a or `down` = e^−a.
struct LogisticLine {
    Cube<const double> subcosts;
    Cube<const double> odds;
    Matrix<const double> up;
    Matrix<const double> down;
    Vector<const double> scales;
};

// With p = 1 − 1/(1 + odds): sums(r, 0, k) += Σ c·p · scales[k], sums(r, 1, k) += Σ |c|·p·(1 − p)
// of the region's samples, in fixed point.
void logistic_sums(const LogisticLine& line, Vector<const std::uint16_t> regions,
                   Cube<std::int64_t> sums, int n_threads);

} // namespace rebel

#include "pair_rounds.hpp"

#include <algorithm>
#include <vector>

namespace rebel {
namespace {

// What each level of a response adds to the scores: f·a + b.
void write_by_level(Matrix<const double> outputs, Matrix<double> by_level) {
    const Vector<const double> levels = response_levels();
    for (size_t l = 0; l < by_level.n_rows; ++l)
        for (size_t k = 0; k < by_level.n_cols; ++k)
            by_level(l, k) = levels[l] * outputs(0, k) + outputs(1, k);
}

void write_levels(const HeldPoints& others, const Proposed& term, std::vector<float>& points,
                  Vector<uint16_t> levels, int n_threads) {
    if (term.kind == constant) {
        std::fill(levels.begin(), levels.end(), uint16_t{n_levels - 1});
        return;
    }
    const size_t n_features = others.points.n_cols;
    const size_t n_points = term.rival < 0 ? 1 : 2;
    std::copy_n(others.points.row(term.anchor).data, n_features, points.data());
    if (n_points == 2)
        std::copy_n(others.points.row(term.rival).data, n_features, points.data() + n_features);
    compare_points(others.blocks, {points.data(), n_points, n_features}, term.kind, term.apart,
                   levels, n_threads);
}

} // namespace

void PairTable::check(size_t n_rounds, size_t n_classes) const {
    require(kinds.size == n_rounds && anchors.size == n_rounds && rivals.size == n_rounds &&
                apart.size == n_rounds && outputs.is(n_rounds, 2, n_classes),
            "the table and the rounds do not match");
}

int boost_pairs(const PairSpace& space, const HeldPoints& others, const PairPlan& plan,
                const Boosted& training, const Boosted& held, const PairQueue& queue,
                const PairTerm& memory, const PairTable& terms, const RoundLog& log,
                int n_threads) {
    const size_t n_rounds = plan.keys.size;
    const size_t n_classes = training.totals.size;
    const size_t n_held = held.scores.n_rows;
    training.check(space.points.n_rows, n_classes);
    held.check(n_held, n_classes);
    log.check(n_rounds, n_classes);
    terms.check(n_rounds, n_classes);
    require(others.points.n_rows == space.points.n_rows &&
                others.blocks.is((n_held + abreast - 1) / abreast, others.points.n_cols, abreast),
            "points and held-out samples do not match");
    require(memory.plus.is(n_levels, n_classes) && memory.minus.is(n_levels, n_classes) &&
                memory.outputs.is(2, n_classes),
            "memory and weights do not match");
    std::vector<double> by_level(n_levels * n_classes);
    const Matrix<double> added{by_level.data(), n_levels, n_classes};
    std::vector<uint16_t> held_levels(n_held);
    const Vector<uint16_t> there{held_levels.data(), n_held};
    std::vector<float> points(2 * others.points.n_cols);
    int shifted = 0;
    for (size_t round = 0; round < n_rounds; ++round) {
        const Proposed term =
            propose_pair(training.weights, training.totals, space, plan.samples, plan.options,
                         plan.keys[round], queue, memory, n_threads);
        if (!shrink(memory.outputs, plan.shrinkage))
            return static_cast<int>(round);
        terms.kinds[round] = static_cast<uint8_t>(term.kind);
        terms.anchors[round] = term.anchor;
        terms.rivals[round] = term.rival;
        terms.apart[round] = term.apart;
        std::copy_n(memory.outputs.data, 2 * n_classes, &terms.outputs(round, 0, 0));
        log.edges[round] = term.edge;
        write_by_level(memory.outputs, added);
        shifted += add_term(training, memory.regions, added, log, round, 0, n_threads);
        if (n_held > 0) {
            write_levels(others, term, points, there, n_threads);
            add_term(held, there, added, log, round, 1, n_threads);
        }
        if (!sum_exceeds(training, shifted, plan.least_total))
            return static_cast<int>(round + 1);
    }
    return static_cast<int>(n_rounds);
}

} // namespace rebel

#include "pairs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "multiversion.hpp"

namespace rebel {
namespace {

constexpr double margin = 1 - 1e-9; // for rounding

// A term, and the loss after it.
struct Solved {
    Proposed term;
    double loss;
};

// Solves a term with responses of ±1, and keeps it if its loss is lower.
void solve_instead(Planes weights, Vector<const double> totals,
                   const std::vector<uint16_t>& regions, Proposed term, const PairTerm& out,
                   Solved& best, int n_threads) {
    const size_t n_classes = weights.n_cols;
    const size_t n = n_levels * n_classes;
    std::vector<double> sums(2 * n + 2 * n_classes);
    const LevelSums own{{&sums[0], n_levels, n_classes},
                        {&sums[n], n_levels, n_classes},
                        {&sums[2 * n], 2, n_classes}};
    const double loss =
        solve_levels(weights, totals, {regions.data(), regions.size()}, sign, own, n_threads);
    if (!(loss < best.loss))
        return;
    std::copy(regions.begin(), regions.end(), out.regions.begin());
    std::copy_n(own.plus.data, n, out.plus.data);
    std::copy_n(own.minus.data, n, out.minus.data);
    std::copy_n(own.outputs.data, 2 * n_classes, out.outputs.data);
    best = {term, loss};
}

// The largest |G_nk| of each class.
REBEL_CLONES void find_largest(Planes weights, double* __restrict largest) {
    const size_t n_classes = weights.n_cols;
    for (size_t n = 0; n < weights.n_rows; ++n)
        for (size_t k = 0; k < n_classes; ++k) {
            double G = weights.data[n * n_classes + k];
            for (size_t plane = 1; plane < weights.n_planes; ++plane)
                G += weights.data[(plane * weights.n_rows + n) * n_classes + k];
            largest[k] = std::max(largest[k], std::fabs(G));
        }
}

// Lower bound of the loss of all isolating learners: |P_k| ≤ |ΣG_k| + 2·max_n |G_nk|.
double least_loss(Planes weights, Vector<const double> totals,
                  const std::vector<double>& signed_sums) {
    std::vector<double> largest(totals.size);
    find_largest(weights, largest.data());
    double sum = 0;
    for (size_t k = 0; k < totals.size; ++k) {
        const double P = std::fabs(signed_sums[k]) + 2 * largest[k];
        sum += std::sqrt(std::max(totals[k] * totals[k] - P * P, 0.0));
    }
    return margin * sum;
}

Proposed propose(Planes weights, Vector<const double> totals, const PairSpace& space,
                 Vector<const int32_t> samples, const PairOptions& options, uint64_t key,
                 const PairQueue& queue, const PairTerm& out, int n_threads) {
    const size_t n = weights.n_rows;
    const size_t n_classes = weights.n_cols;
    require(totals.size == n_classes && out.regions.size == n,
            "weights, totals and the term do not match");
    require(space.points.n_rows == n && (!space.is_known() || space.distances.is(n, n)) &&
                space.blocks.is((n + abreast - 1) / abreast, space.points.n_cols, abreast),
            "weights and points do not match");
    require(queue.waiting.size == 2 && queue.pairs.is(options.n_anchors, 2) &&
                queue.rows.is(2 * options.n_anchors, n),
            "queue, options and points do not match");
    require(options.kind == two_points || options.kind == nearer, "kind must be 0 or 1");
    require(options.n_rivals > 0 && options.n_subset > 0, "rivals and subset must be positive");
    for (const int32_t sample : samples)
        require(static_cast<size_t>(sample) < n, "names a sample that is not there");
    if (queue.waiting[1] <= 0)
        find_pairs(weights, totals, space, samples, options, key, queue, n_threads);
    const bool is_found = queue.waiting[1] > 0;
    Solved best{{constant, -1, -1, 1, 0}, 0};
    if (is_found) {
        const int32_t next = queue.waiting[0]++;
        --queue.waiting[1];
        require(static_cast<size_t>(next) < queue.pairs.n_rows, "the queue names too few pairs");
        const int32_t anchor = queue.pairs(next, 0), rival = queue.pairs(next, 1);
        require(static_cast<size_t>(anchor) < n && static_cast<size_t>(rival) < n,
                "names a sample that is not there");
        const auto row = [&](int32_t sample, int32_t place) -> Vector<const float> {
            if (space.is_known())
                return space.distances.row(sample);
            return queue.rows.row(place);
        };
        const auto r_i = row(anchor, 2 * next), r_j = row(rival, 2 * next + 1);
        best.term = {options.kind, anchor, rival, double{r_i[rival]}, 0};
        compare(r_i, r_j, options.kind, best.term.apart, out.regions, n_threads);
    } else {
        std::fill(out.regions.begin(), out.regions.end(), uint16_t{n_levels - 1});
    }
    best.loss = solve_levels(weights, totals, out.regions, is_found ? options.rule : int{sign},
                             out.sums(), n_threads);
    std::vector<double> plus(n_classes), minus(n_classes), signed_sums(n_classes);
    for (size_t l = 0; l < n_levels; ++l)
        for (size_t k = 0; k < n_classes; ++k) {
            plus[k] += out.plus(l, k);
            minus[k] += out.minus(l, k);
        }
    double of_constant = 0;
    for (size_t k = 0; k < n_classes; ++k) {
        signed_sums[k] = plus[k] - minus[k];
        of_constant += 2 * std::sqrt(plus[k] * minus[k]);
    }
    if (is_found && best.loss > margin * of_constant)
        solve_instead(weights, totals, std::vector<uint16_t>(n, uint16_t{n_levels - 1}),
                      {constant, -1, -1, 1, 0}, out, best, n_threads);
    if (best.loss <= least_loss(weights, totals, signed_sums))
        return best.term;
    const Isolated isolated =
        best_isolated(weights, totals, {signed_sums.data(), n_classes}, n_threads);
    if (isolated.sample < 0 || !(best.loss > isolated.loss))
        return best.term;
    const Rows rows = rows_from(space, {isolated.sample}, nullptr, n_threads);
    float nearest = std::numeric_limits<float>::infinity();
    for (const float r : rows[0])
        if (r > 0)
            nearest = std::min(nearest, r);
    const double tau = std::isinf(nearest) ? 1 : double{nearest} / 4;
    std::vector<uint16_t> regions(n);
    compare(rows[0], rows[0], inside, tau, {regions.data(), n}, n_threads);
    solve_instead(weights, totals, regions, {inside, isolated.sample, -1, tau, 0}, out, best,
                  n_threads);
    return best.term;
}

// ‖P‖₁/ΣS, with P = Σ f·(w⁺ − w⁻); in the order of levels and classes.
double edge_of(const PairTerm& term) {
    const Vector<const double> levels = response_levels();
    double above = 0, below = 0;
    for (size_t k = 0; k < term.plus.n_cols; ++k) {
        double P = 0, S = 0;
        for (size_t l = 0; l < levels.size; ++l) {
            P += levels[l] * (term.plus(l, k) - term.minus(l, k));
            S += term.plus(l, k) + term.minus(l, k);
        }
        above += std::fabs(P);
        below += S;
    }
    return below > 0 ? above / below : 0;
}

} // namespace

Proposed propose_pair(Planes weights, Vector<const double> totals, const PairSpace& space,
                      Vector<const int32_t> samples, const PairOptions& options, uint64_t key,
                      const PairQueue& queue, const PairTerm& out, int n_threads) {
    Proposed found = propose(weights, totals, space, samples, options, key, queue, out, n_threads);
    found.edge = edge_of(out);
    return found;
}

} // namespace rebel

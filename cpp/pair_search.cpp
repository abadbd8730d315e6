#include "pair_search.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "arithmetic.hpp"
#include "binarization.hpp"
#include "levels.hpp"
#include "multiversion.hpp"
#include "random.hpp"

namespace rebel {
namespace {

using Ids = std::vector<int32_t>;

// ---- drawing

// The fixed-point pairs of binarization.
struct Sides {
    std::vector<int64_t> pairs;

    int64_t value(int32_t n) const { return pairs[static_cast<size_t>(n)] >> 32; }
    int64_t mass(int32_t n) const { return pairs[static_cast<size_t>(n)] & 0xFFFFFFFF; }
};

template <class Mass>
std::vector<uint64_t> cumulative(Vector<const int32_t> samples, Mass mass) {
    std::vector<uint64_t> held(samples.size);
    uint64_t sum = 0;
    for (size_t i = 0; i < samples.size; ++i)
        held[i] = sum += static_cast<uint64_t>(mass(samples[i]));
    return held;
}

// Distinct samples, drawn in proportion to |v|, in the order of `samples`.
Ids draw_anchors(Vector<const int32_t> samples, const Sides& sides, uint64_t key, size_t n_drawn) {
    const auto held = cumulative(samples, [&](int32_t n) { return std::abs(sides.value(n)); });
    Ids anchors;
    if (held.empty() || held.back() == 0)
        return anchors;
    for (size_t i = 0; i < n_drawn; ++i) {
        const uint64_t at = as_below(random_number(key, i), held.back());
        const auto place = std::upper_bound(held.begin(), held.end(), at) - held.begin();
        anchors.push_back(static_cast<int32_t>(place));
    }
    std::sort(anchors.begin(), anchors.end());
    anchors.erase(std::unique(anchors.begin(), anchors.end()), anchors.end());
    for (int32_t& anchor : anchors)
        anchor = samples[anchor];
    return anchors;
}

// The samples that pairs are compared on, and their shares of the mass, if they were drawn: at
// equal steps of the mass, from a random start.
struct Judges {
    Ids ids;
    std::vector<double> shares;
};

Judges draw_judges(Vector<const int32_t> samples, const Sides& sides, uint64_t start,
                   size_t n_subset) {
    if (samples.size <= n_subset)
        return {{samples.begin(), samples.end()}, {}};
    Judges judges;
    const auto held = cumulative(samples, [&](int32_t n) { return sides.mass(n); });
    const uint64_t total = held.back();
    if (total == 0)
        return judges;
    size_t place = 0;
    for (uint64_t i = 0; i < n_subset; ++i) {
        const uint64_t at = (i * total + as_below(start, total)) / n_subset;
        while (held[place] <= at)
            ++place;
        judges.ids.push_back(samples[place]);
        judges.shares.push_back(static_cast<double>(sides.mass(samples[place])) /
                                static_cast<double>(total));
    }
    return judges;
}

// ---- gains

// The judges' weights as integers, (K, judges), and their sums.
struct FixedWeights {
    std::vector<double> scales, signed_values, mass, signed_sums, mass_sums;
};

REBEL_CLONES void fix_weights(Planes weights, const Judges& judges, FixedWeights& fixed) {
    const size_t n = judges.ids.size();
    const size_t n_classes = weights.n_cols;
    for (size_t i = 0; i < n; ++i) {
        const double divisor =
            judges.shares.empty() ? 1 : judges.shares[i] * static_cast<double>(n);
        const size_t row = static_cast<size_t>(judges.ids[i]);
        for (size_t k = 0; k < n_classes; ++k) {
            double G = weights.data[row * n_classes + k], W = std::fabs(G);
            for (size_t plane = 1; plane < weights.n_planes; ++plane) {
                const double w = weights.data[(plane * weights.n_rows + row) * n_classes + k];
                G += w;
                W += std::fabs(w);
            }
            const double factor = fixed.scales[k] / divisor;
            fixed.signed_values[k * n + i] = (G * factor + round_magic) - round_magic;
            fixed.mass[k * n + i] = (W * factor + round_magic) - round_magic;
        }
    }
}

FixedWeights fixed_weights(Planes weights, Vector<const double> totals, const Judges& judges) {
    const size_t n_classes = weights.n_cols;
    const size_t n = judges.ids.size();
    FixedWeights fixed;
    // Samples divided by their share sum to at most K times the totals: Σ |integers| ≤ 2³⁰. A
    // double then holds every sum of products with responses exactly.
    const int bits = 30 - static_cast<int>(std::bit_width(n_classes));
    for (const double total : totals) {
        int exponent = 0;
        std::frexp(total, &exponent);
        fixed.scales.push_back(std::ldexp(1.0, bits - exponent));
    }
    fixed.signed_values.resize(n_classes * n);
    fixed.mass.resize(n_classes * n);
    fix_weights(weights, judges, fixed);
    for (size_t k = 0; k < n_classes; ++k) {
        const auto g = fixed.signed_values.begin() + static_cast<std::ptrdiff_t>(k * n);
        const auto w = fixed.mass.begin() + static_cast<std::ptrdiff_t>(k * n);
        fixed.signed_sums.push_back(std::accumulate(g, g + static_cast<std::ptrdiff_t>(n), 0.0));
        fixed.mass_sums.push_back(std::accumulate(w, w + static_cast<std::ptrdiff_t>(n), 0.0));
    }
    return fixed;
}

double gain_of(const FixedWeights& fixed, Matrix<const double> sums, bool has_offset) {
    double gain = 0;
    for (size_t k = 0; k < sums.n_cols; ++k) {
        const double R = sums(1, k);
        double P = sums(0, k), Q = sums(2, k);
        if (has_offset) {
            const double mean = R / std::max(fixed.mass_sums[k], 1.0);
            P -= mean * fixed.signed_sums[k];
            Q -= mean * R;
        }
        if (Q > 0)
            gain += P * P / (Q * fixed.scales[k]);
    }
    return gain;
}

// Candidates: anchors by place, rivals by place among the judges.
struct Candidates {
    Ids of_anchor, places;
    std::vector<double> apart;
};

Candidates nearby(const Rows& from_anchors, const Ids& anchors, const Judges& judges,
                  const Sides& sides, size_t n_rivals) {
    Candidates found;
    std::vector<int64_t> values;
    for (const int32_t n : judges.ids)
        values.push_back(sides.value(n));
    Ids nearest(n_rivals);
    for (size_t a = 0; a < anchors.size(); ++a) {
        const Vector<const float> row = from_anchors[a];
        const int64_t own = sides.value(anchors[a]);
        nearest_rivals({row.data, 1, row.size}, {&own, 1}, {values.data(), values.size()},
                       {nearest.data(), 1, n_rivals});
        for (const int32_t place : nearest)
            if (place >= 0) {
                found.of_anchor.push_back(static_cast<int32_t>(a));
                found.places.push_back(place);
                found.apart.push_back(double{row[place]});
            }
    }
    return found;
}

} // namespace

Rows rows_from(const PairSpace& space, const Ids& samples, const Ids* others, int n_threads) {
    if (space.is_known() && others == nullptr)
        return {{}, space.distances, samples};
    const size_t n_others = others == nullptr ? space.points.n_rows : others->size();
    const size_t n_features = space.points.n_cols;
    Rows rows{std::vector<float>(samples.size() * n_others), {}, Ids(samples.size())};
    rows.matrix = {rows.storage.data(), samples.size(), n_others};
    std::iota(rows.index.begin(), rows.index.end(), 0);
    if (space.is_known()) {
        float* next = rows.storage.data();
        for (const int32_t i : samples)
            for (const int32_t j : *others)
                *next++ = space.distances(i, j);
        return rows;
    }
    std::vector<float> points(samples.size() * n_features), laid;
    for (size_t i = 0; i < samples.size(); ++i)
        std::copy_n(space.points.row(samples[i]).data, n_features, &points[i * n_features]);
    Cube<const float> blocks = space.blocks;
    if (others != nullptr) {
        blocks = {nullptr, (n_others + abreast - 1) / abreast, n_features, abreast};
        laid.resize(blocks.n_planes * n_features * abreast);
        blocks.data = laid.data();
        for (size_t j = 0; j < n_others; ++j) {
            const Vector<const float> point = space.points.row((*others)[j]);
            float* place = &laid[j / abreast * n_features * abreast + j % abreast];
            for (size_t f = 0; f < n_features; ++f)
                place[f * abreast] = point[f];
        }
    }
    squared_distances(blocks, {points.data(), samples.size(), n_features},
                      {rows.storage.data(), samples.size(), n_others}, n_threads);
    return rows;
}

void find_pairs(Planes weights, Vector<const double> totals, const PairSpace& space,
                Vector<const int32_t> samples, const PairOptions& options, uint64_t key,
                const PairQueue& queue, int n_threads) {
    const size_t n_classes = weights.n_cols;
    queue.waiting[0] = queue.waiting[1] = 0;
    Sides sides{std::vector<int64_t>(weights.n_rows)};
    binarize(weights, totals, {sides.pairs.data(), sides.pairs.size()}, n_threads);
    const Ids anchors = draw_anchors(samples, sides, key, options.n_anchors);
    const Judges judges =
        draw_judges(samples, sides, random_number(key, options.n_anchors), options.n_subset);
    if (anchors.empty() || judges.ids.empty())
        return;
    // A reduced or drawn part has fewer than N samples, so one of N is all of them, in order.
    const Ids* others = judges.ids.size() == weights.n_rows ? nullptr : &judges.ids;
    const Rows from_anchors = rows_from(space, anchors, others, n_threads);
    const Candidates found = nearby(from_anchors, anchors, judges, sides, options.n_rivals);
    const size_t n_found = found.places.size();
    Ids rivals, rows_of_anchors;
    for (size_t i = 0; i < n_found; ++i) {
        rivals.push_back(judges.ids[static_cast<size_t>(found.places[i])]);
        rows_of_anchors.push_back(from_anchors.index[static_cast<size_t>(found.of_anchor[i])]);
    }
    const Rows from_rivals = rows_from(space, rivals, others, n_threads);
    const FixedWeights fixed = fixed_weights(weights, totals, judges);
    std::vector<double> sums(n_found * 3 * n_classes);
    const Cube<double> by_pair{sums.data(), n_found, 3, n_classes};
    pair_sums(from_anchors.matrix, from_rivals.matrix,
              {{rows_of_anchors.data(), n_found},
               {from_rivals.index.data(), n_found},
               {found.apart.data(), n_found}},
              options.kind, {fixed.signed_values.data(), n_classes, judges.ids.size()},
              {fixed.mass.data(), n_classes, judges.ids.size()}, by_pair, n_threads);
    // The best rival of each anchor; the first of equals, which is the nearest.
    int32_t n_pairs = 0;
    double best = -1;
    for (size_t i = 0; i < n_found; ++i) {
        const double gain = gain_of(fixed, by_pair.plane(i), options.rule == affine);
        const bool is_first = i == 0 || found.of_anchor[i] != found.of_anchor[i - 1];
        if (!is_first && !(gain > best))
            continue;
        n_pairs += is_first ? 1 : 0;
        best = gain;
        queue.pairs(n_pairs - 1, 0) = anchors[static_cast<size_t>(found.of_anchor[i])];
        queue.pairs(n_pairs - 1, 1) = rivals[i];
    }
    queue.waiting[1] = n_pairs;
    if (space.is_known())
        return;
    const size_t n_rows = 2 * static_cast<size_t>(n_pairs);
    const Rows rows =
        rows_from(space, {queue.pairs.data, queue.pairs.data + n_rows}, nullptr, n_threads);
    std::copy(rows.storage.begin(), rows.storage.end(), queue.rows.data);
}

} // namespace rebel

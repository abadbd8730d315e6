#include "layer_pruning.hpp"

#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "parallel.hpp"
#include "pruning.hpp"

namespace rebel {
namespace {

class NodePruning : public Pruning {
  public:
    NodePruning(const Bins& bins, Vector<const std::uint8_t> allowed,
                Vector<const std::int64_t> values, const NodeSamples& nodes, std::size_t node,
                const SearchOptions& options)
        : Pruning(bins, allowed, nodes, node, Candidate{}.value), values_(values),
          options_(options) {
        for (const std::int32_t n : samples())
            total_ += values[static_cast<std::size_t>(n)];
        if (options.criterion == Criterion::error)
            return;
        energy_.assign(nodes.n_subsets(), 0);
        boundable_ =
            options.criterion != Criterion::gain_ratio; // of which no useful bound is known
        for (std::size_t s = nodes.n_subsets(); s-- > 0;) {
            double energy = 0;
            for (const std::int32_t n : nodes.subset(node, s))
                energy += weigh(values[static_cast<std::size_t>(n)]);
            if (s > 0)
                energy_[s - 1] = energy_[s] + energy * (1 + 1e-6); // more than it can be rounded by
        }
    }

    void run(const SampleValues& values, int n_threads) {
        if (divisible(samples().size, total_, options_))
            screen(values, n_threads);
    }

    void write(const Splits& splits) const {
        Candidate best;
        BinSums taken;
        if (leader().feature() >= 0) {
            const auto feature = static_cast<std::size_t>(leader().feature());
            take_from_samples(bins_.column(feature), values_, samples(), taken);
            best = scan_feature(bins_, feature, taken, total_, options_);
        }
        write_split(bins_, best, taken, total_, options_, splits, node_);
    }

  private:
    // v²/m of a sample. One with a signed value but without mass, or for entropies with less mass,
    // may make any difference.
    double weigh(std::int64_t pair) {
        const auto v = std::fabs(static_cast<double>(signed_of(pair)));
        const auto m = static_cast<double>(mass_of(pair));
        weight_ += v;
        boundable_ =
            boundable_ && v <= (options_.criterion == Criterion::variance ? m * 0x1p60 : m);
        return m > 0 ? v * v / m : 0;
    }

    void bound(Screen* screens, const Columns& columns, std::size_t s,
               double* bounds) const override {
        if (options_.criterion != Criterion::error) {
            for (std::size_t c = 0; c < columns.n; ++c)
                bounds[columns.places[c]] = bound_of_pairs(screens, columns, c, s);
            return;
        }
        // |P_left| + |P_right| is at most what the feature reaches on the samples seen and the
        // weight of those to come [QUICK, Prop. 1].
        std::int64_t reach[block_width];
        screens->read(bins_, columns, reach);
        for (std::size_t c = 0; c < columns.n; ++c)
            bounds[columns.places[c]] = static_cast<double>(reach[columns.places[c]] + rest(s, 0));
    }

    double bound_of_pairs(const Screen* screens, const Columns& columns, std::size_t c,
                          std::size_t s) const {
        if (!boundable_)
            return std::numeric_limits<double>::infinity();
        const std::size_t feature = columns.features[c];
        BinSums seen;
        std::int64_t total = 0;
        for (std::size_t b = 0; b < bins_.n_bins(feature); ++b) {
            const std::int64_t pair =
                pair_of(screens[0].sum(b, columns.places[c]), screens[1].sum(b, columns.places[c]));
            total += pair;
            if (pair != 0)
                seen.push(b, pair);
        }
        const SearchOptions any_mass{options_.criterion, 1, 0};
        const double best = std::max(value_of_whole(total, any_mass),
                                     scan_feature(bins_, feature, seen, total, any_mass).value);
        return options_.criterion == Criterion::variance
                   ? most_variance(best, total, energy_[s])
                   : most_information(best, static_cast<double>(rest(s, 1)));
    }

    // Adding a sample never lowers a side's M·H [QUICK, Prop. 1]. The slack is more than the
    // values' rounding errors, some 2⁸ units of M·2⁻⁵³.
    double most_information(double seen, double mass_to_come) const {
        return seen + mass_to_come + 0x1p-40 * static_cast<double>(mass_of(total_));
    }

    // P²/M is convex and homogeneous, hence subadditive: what samples to come add to P_L²/M_L +
    // P_R²/M_R is at most Σ v²/m of theirs. `seen` is that sum on the samples seen, as by_variance
    // has it: less P²/M, times M. The slacks are more than the rounding errors here and there.
    double most_variance(double seen, std::int64_t total_seen, double energy) const {
        const auto p = static_cast<double>(signed_of(total_seen));
        const double m = std::max(1.0, static_cast<double>(mass_of(total_seen)));
        const auto P = static_cast<double>(signed_of(total_));
        const auto M = static_cast<double>(mass_of(total_));
        const double sides = M * ((seen * (1 + 0x1p-40) + p * p) / m + energy);
        const double most = std::max(0.0, sides - P * P) + 0x1p-45 * (sides + P * P);
        const double root = std::sqrt(most) + 0x1p-49 * weight_ * std::sqrt(M);
        return root * root * (1 + 0x1p-40);
    }

    double value_of(std::size_t feature) const override {
        BinSums taken;
        take_from_samples(bins_.column(feature), values_, samples(), taken);
        return scan_feature(bins_, feature, taken, total_, options_).value;
    }

    Vector<const std::int64_t> values_;
    const SearchOptions& options_;
    std::int64_t total_ = 0;     // pair sum
    std::vector<double> energy_; // Σ v²/m of the samples after each subset
    double weight_ = 0;          // Σ |v|
    bool boundable_ = true;
};

} // namespace

Work prune_layer(const Bins& bins, Vector<const std::uint8_t> allowed,
                 Vector<const std::int64_t> values, const NodeSamples& nodes,
                 const SearchOptions& options, const Splits& splits, int n_threads) {
    const std::size_t n_kinds = options.criterion == Criterion::error ? 1 : 2;
    std::vector<std::int32_t> unpacked(values.size * n_kinds);
    for (std::size_t n = 0; n < values.size; ++n) {
        unpacked[n * n_kinds] = static_cast<std::int32_t>(signed_of(values[n]));
        if (n_kinds == 2)
            unpacked[n * n_kinds + 1] = static_cast<std::int32_t>(mass_of(values[n]));
    }
    std::atomic<std::int64_t> visited = 0;
    std::atomic<std::int64_t> dropped = 0;
    // Of many nodes each has one thread; one node has them all.
    parallel_for(nodes.n_nodes(), 1, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t node = begin; node < end; ++node) {
            NodePruning search(bins, allowed, values, nodes, node, options);
            search.run({unpacked.data(), n_kinds, n_kinds}, n_threads);
            search.write(splits);
            visited += search.work().visited;
            dropped += search.work().dropped;
        }
    });
    return {visited, dropped};
}

} // namespace rebel

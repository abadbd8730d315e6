#include "pruning.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <vector>

#include "parallel.hpp"

namespace rebel {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr double out_of_play = -unbounded;

class Pruning {
  public:
    Pruning(const NodeSearch& of, int n_threads)
        : of_(of), samples_(of.samples()), n_kinds_(of.n_kinds), n_threads_(n_threads),
          leader_{of.value_of_none}, bounds_(of.bins.n_features(), out_of_play) {
        std::vector<size_t> features;
        for (size_t f = 0; f < of.bins.n_features(); ++f)
            if (of.allowed[f] != 0) {
                features.push_back(f);
                bounds_[f] = unbounded;
            }
        work_.dropped = static_cast<int64_t>(features.size());
        group(features);
        screens_ = std::make_unique_for_overwrite<Screen[]>(groups_.size() * n_kinds_);
    }

    std::pair<Leader, Work> run() {
        if (n_kinds_ > 0)
            screen();
        value_the_rest();
        return {leader_, work_};
    }

  private:
    void group(const std::vector<size_t>& features) {
        groups_.clear();
        n_columns_ = features.size();
        for (size_t i = 0; i < features.size(); ++i) {
            if (i % block_width == 0)
                groups_.push_back({i / block_width, {}, {}, 0});
            groups_.back().push(features[i], i % block_width);
        }
    }

    Screen* screens(const Columns& columns) { return &screens_[columns.screen * n_kinds_]; }

    std::vector<size_t> features_left() const {
        std::vector<size_t> left;
        for (const Columns& group : groups_)
            left.insert(left.end(), group.features.begin(), group.features.begin() + group.n);
        return left;
    }

    // Visits subset after subset until all features are dropped or known. Small subsets are visited
    // together, because bounding a group costs as much as a thousand additions.
    void screen() {
        constexpr size_t worth_a_bound = 1000;
        weigh();
        visit(0, 1);
        size_t s = 0; // the last subset visited
        if (!(of_.by_reach && known(s)))
            value_leaders();
        keep_promising();
        while (n_columns_ > 0 && !known(s)) {
            if (2 * n_columns_ <= block_width * groups_.size())
                regroup();
            const size_t from = s + 1;
            do
                ++s;
            while (!known(s) && of_.nodes.part(of_.node, from, s + 1).size * n_columns_ <
                                    worth_a_bound * groups_.size());
            visit(from, s + 1);
            keep_promising();
        }
        all_known_ = known(s);
    }

    // Lays the values out in the order of the visits, and adds up what follows each subset.
    void weigh() {
        const size_t n_subsets = of_.nodes.n_subsets();
        values_.resize(n_kinds_ * samples_.size);
        weights_.assign((n_subsets + 1) * n_kinds_, 0);
        int32_t* value = values_.data();
        for (size_t kind = 0; kind < n_kinds_; ++kind) {
            std::transform(samples_.begin(), samples_.end(), value,
                           [&](int32_t n) { return of_.values(n, kind); });
            for (size_t s = 0; s < n_subsets; ++s) {
                int64_t weight = 0;
                for (size_t left = of_.nodes.subset(of_.node, s).size; left > 0; --left)
                    weight += std::abs(int64_t{*value++});
                weights_[s * n_kinds_ + kind] = weight;
            }
        }
        for (size_t i = n_subsets * n_kinds_; i-- > 0;)
            weights_[i] += weights_[i + n_kinds_];
    }

    // Σ |value| of the samples after subset s, by kind.
    const int64_t* rest(size_t s) const { return weights_.data() + (s + 1) * n_kinds_; }

    // Whether all samples after this subset have weight 0.
    bool known(size_t s) const {
        return std::all_of(rest(s), rest(s) + n_kinds_, [](int64_t weight) { return weight == 0; });
    }

    // Adds subsets from … to − 1 to the screens of all groups, and bounds their features.
    void visit(size_t from, size_t to) {
        const Samples part = of_.nodes.part(of_.node, from, to);
        const auto skipped = static_cast<size_t>(part.data - samples_.data);
        const size_t n_visits = part.size * n_columns_;
        const size_t grain = 1 + groups_.size() * 20000 / (n_visits + 1);
        parallel_each(groups_.size(), grain, n_threads_, [&](size_t g) {
            const Columns& columns = groups_[g];
            for (size_t kind = 0; kind < n_kinds_; ++kind) {
                Screen& screen = screens(columns)[kind];
                if (from == 0)
                    screen.clear(of_.bins, columns);
                screen.add(of_.bins, columns, part,
                           values_.data() + kind * samples_.size + skipped);
            }
            double bounds[block_width];
            of_.bound(screens(columns), columns, to - 1, rest(to - 1), bounds);
            for (size_t c = 0; c < columns.n; ++c)
                bounds_[columns.features[c]] = bounds[c];
        });
        work_.visited += static_cast<int64_t>(n_visits);
        n_seen_ = skipped + part.size;
    }

    void keep_promising() {
        n_columns_ = 0;
        for (Columns& group : groups_) {
            Columns kept{group.screen, {}, {}, 0};
            for (size_t c = 0; c < group.n; ++c) {
                const size_t f = group.features[c];
                if (bounds_[f] != out_of_play && leader_.may_lose_to(bounds_[f], f))
                    kept.push(f, group.places[c]);
            }
            group = kept;
            n_columns_ += kept.n;
        }
        std::erase_if(groups_, [](const Columns& group) { return group.n == 0; });
    }

    // Moves the remaining columns together, so that many are added side by side: with a few
    // columns, each addition would wait for the sum just written. Once the new group g is full, all
    // columns of the old groups up to g have been taken, so that it can have the screen of number
    // g.
    void regroup() {
        const std::vector<Columns> before = groups_;
        group(features_left());
        const auto gathered = std::make_unique_for_overwrite<Screen>();
        for (size_t kind = 0; kind < n_kinds_; ++kind) {
            size_t i = 0;
            for (const Columns& columns : before)
                for (size_t c = 0; c < columns.n; ++c, ++i) {
                    const Columns& fresh = groups_[i / block_width];
                    if (i % block_width == 0)
                        gathered->clear(of_.bins, fresh);
                    gathered->take(i % block_width, screens(columns)[kind], columns.places[c]);
                    if (i % block_width + 1 == fresh.n)
                        screens(fresh)[kind] = *gathered;
                }
        }
    }

    // The features with the highest bounds are valued first, because their values prune the others.
    void value_leaders() {
        constexpr int n_leaders = 2;
        for (int i = 0; i < n_leaders; ++i) {
            const auto top = std::max_element(bounds_.begin(), bounds_.end());
            const auto feature = static_cast<size_t>(top - bounds_.begin());
            if (*top == out_of_play || !leader_.may_lose_to(*top, feature))
                return;
            value(feature);
            *top = out_of_play;
        }
    }

    void value_the_rest() {
        std::vector<size_t> left = features_left();
        std::stable_sort(left.begin(), left.end(),
                         [&](size_t a, size_t b) { return bounds_[a] > bounds_[b]; });
        parallel_each(left.size(), 1, n_threads_, [&](size_t i) {
            std::unique_lock lock(mutex_);
            const bool promising = leader_.may_lose_to(bounds_[left[i]], left[i]);
            lock.unlock();
            if (promising)
                value(left[i]);
        });
    }

    // Samples that the feature has been screened on are not counted as visits again.
    void value(size_t feature) {
        const double value = value_of(feature);
        const std::lock_guard lock(mutex_);
        work_.visited += static_cast<int64_t>(samples_.size - n_seen_);
        --work_.dropped;
        if (leader_.may_lose_to(value, feature))
            leader_ = {value, static_cast<int32_t>(feature)};
    }

    double value_of(size_t feature) const {
        if (n_kinds_ == 0 || !of_.valued_by_reach(feature))
            return of_.value_of(feature);
        if (all_known_)
            return bounds_[feature];
        return of_.value_of_reach(reach_of(of_.bins, feature, samples_, values_.data()));
    }

    const NodeSearch& of_;
    const Samples samples_;
    const size_t n_kinds_;
    const int n_threads_;
    std::vector<int32_t> values_;       // (kinds, samples of the node)
    std::vector<int64_t> weights_;      // (subsets + 1, kinds) of each subset and those after it
    std::vector<Columns> groups_;       // of features that may still be the best
    size_t n_columns_ = 0;              // in all groups
    size_t n_seen_ = 0;                 // samples that the columns have been screened on
    bool all_known_ = false;            // whether the bounds of the columns are their values
    std::unique_ptr<Screen[]> screens_; // (groups, kinds)
    Mutex mutex_;                       // for the following, while features are valued
    Leader leader_;
    Work work_;
    std::vector<double> bounds_; // by feature
};

class SplitSearch : public NodeSearch {
  public:
    SplitSearch(const Bins& bins_, Allowed allowed_, Pairs pairs, const Nodes& nodes_, size_t node_,
                const SearchOptions& options, Matrix<const int32_t> unpacked)
        : NodeSearch(bins_, allowed_, nodes_, node_, unpacked), pairs_(pairs), options_(options),
          total_(total_of(pairs, samples())) {
        if (divisible(samples().size, total_, options))
            n_kinds = options.criterion == Criterion::error ? 1 : 2;
        else
            value_of_none = unbounded; // so that all features are dropped at once
        by_reach = options.criterion == Criterion::error && weighs_all();
        if (options.criterion == Criterion::error)
            return;
        energy_.assign(nodes.n_subsets() + 1, 0);
        boundable_ = options.criterion != Criterion::gain_ratio; // no useful bound is known
        for (size_t s = nodes.n_subsets(); s-- > 0;) {
            double energy = 0;
            for (const int32_t n : nodes.subset(node, s))
                energy += energy_of(pairs[n]);
            energy_[s] = energy_[s + 1] + energy * (1 + 1e-6); // more than the rounding error
        }
    }

    Work run(const Splits& splits, int n_threads) const {
        const auto [leader, work] = prune(*this, n_threads);
        Candidate best;
        BinSums taken;
        if (leader.feature >= 0)
            best = scan(static_cast<size_t>(leader.feature), taken);
        write_split(bins, best, taken, total_, options_, splits, node);
        return work;
    }

  private:
    // Whether only sides without a signed sum, which gain nothing, may be too light.
    bool weighs_all() const {
        return options_.least_mass <= 0 ||
               (options_.least_mass == 1 &&
                std::all_of(samples().begin(), samples().end(), [&](int32_t n) {
                    return signed_of(pairs_[n]) == 0 || mass_of(pairs_[n]) > 0;
                }));
    }

    // v²/m of a sample. No bound holds if a sample has a signed value but no mass or, for
    // entropies, less mass.
    double energy_of(int64_t pair) {
        const auto v = std::fabs(static_cast<double>(signed_of(pair)));
        const auto m = static_cast<double>(mass_of(pair));
        weight_ += v;
        boundable_ =
            boundable_ && v <= (options_.criterion == Criterion::variance ? m * 0x1p60 : m);
        return m > 0 ? v * v / m : 0;
    }

    void bound(Screen* screens, const Columns& columns, size_t s, const int64_t* rest,
               double* bounds) const override {
        if (options_.criterion != Criterion::error) {
            for (size_t c = 0; c < columns.n; ++c)
                bounds[c] = bound_of_pairs(screens, columns, c, s, rest);
            return;
        }
        // |P_left| + |P_right| is at most the reach of the feature on the samples seen plus the
        // weight of the remaining ones [QUICK, Prop. 1].
        int64_t reach[block_width];
        screens->read(bins, columns, reach);
        for (size_t c = 0; c < columns.n; ++c)
            bounds[c] = static_cast<double>(reach[c] + rest[0]);
    }

    double bound_of_pairs(const Screen* screens, const Columns& columns, size_t c, size_t s,
                          const int64_t* rest) const {
        if (!boundable_)
            return unbounded;
        const size_t feature = columns.features[c];
        BinSums seen;
        int64_t total = 0;
        for (size_t b = 0; b < bins.n_bins(feature); ++b) {
            const int64_t pair =
                pair_of(screens[0].sum(b, columns.places[c]), screens[1].sum(b, columns.places[c]));
            total += pair;
            if (pair != 0)
                seen.push(b, pair);
        }
        const SearchOptions any_mass{options_.criterion, 1, 0};
        const double best = std::max(value_of_whole(total, any_mass),
                                     scan_feature(bins, feature, seen, total, any_mass).value);
        return options_.criterion == Criterion::variance
                   ? most_variance(best, total, energy_[s + 1])
                   : most_information(best, static_cast<double>(rest[1]));
    }

    // Adding a sample never lowers a side's M·H [QUICK, Prop. 1]. The slack exceeds the rounding
    // errors of the values, about 2⁸ units of M·2⁻⁵³.
    double most_information(double seen, double mass_to_come) const {
        return seen + mass_to_come + 0x1p-40 * static_cast<double>(mass_of(total_));
    }

    // P²/M is convex and homogeneous, hence subadditive: the remaining samples add at most their
    // Σ v²/m to P_L²/M_L + P_R²/M_R. `seen` is that sum on the samples seen, as by_variance gives
    // it: minus P²/M, times M. The slacks exceed the rounding errors in both places.
    double most_variance(double seen, int64_t total_seen, double energy) const {
        const auto p = static_cast<double>(signed_of(total_seen));
        const double m = std::max(1.0, static_cast<double>(mass_of(total_seen)));
        const auto P = static_cast<double>(signed_of(total_));
        const auto M = static_cast<double>(mass_of(total_));
        const double sides = M * ((seen * (1 + 0x1p-40) + p * p) / m + energy);
        const double most = std::max(0.0, sides - P * P) + 0x1p-45 * (sides + P * P);
        const double root = std::sqrt(most) + 0x1p-49 * weight_ * std::sqrt(M);
        return root * root * (1 + 0x1p-40);
    }

    double value_of(size_t feature) const override {
        BinSums taken;
        return scan(feature, taken).value;
    }

    double value_of_reach(int64_t reach) const override { return static_cast<double>(reach); }

    Candidate scan(size_t feature, BinSums& taken) const {
        take_from_samples(bins.column(feature), pairs_, samples(), taken);
        return scan_feature(bins, feature, taken, total_, options_);
    }

    Pairs pairs_;
    const SearchOptions& options_;
    int64_t total_;
    std::vector<double> energy_; // Σ v²/m of each subset and those after it
    double weight_ = 0;          // Σ |v|
    bool boundable_ = true;
};

} // namespace

std::pair<Leader, Work> prune(const NodeSearch& search, int n_threads) {
    return Pruning(search, n_threads).run();
}

Work prune_layer(const Bins& bins, Allowed allowed, Pairs values, const Nodes& nodes,
                 const SearchOptions& options, const Splits& splits, int n_threads) {
    bins.check(allowed, values.size);
    nodes.check();
    options.check();
    splits.check(nodes.n_nodes());
    const size_t n_kinds = options.criterion == Criterion::error ? 1 : 2;
    const auto unpacked = std::make_unique_for_overwrite<int32_t[]>(n_kinds * values.size);
    for (size_t n = 0; n < values.size; ++n) {
        unpacked[n_kinds * n] = static_cast<int32_t>(signed_of(values[n]));
        if (n_kinds == 2)
            unpacked[2 * n + 1] = static_cast<int32_t>(mass_of(values[n]));
    }
    std::vector<Work> work(nodes.n_nodes());
    // With many nodes, each is searched by one thread; a single node is searched by all of them.
    parallel_each(nodes.n_nodes(), 1, n_threads, [&](size_t node) {
        const SplitSearch search(bins, allowed, values, nodes, node, options,
                                 {unpacked.get(), values.size, n_kinds});
        work[node] = search.run(splits, n_threads);
    });
    return std::accumulate(work.begin(), work.end(), Work{}, [](Work a, Work b) {
        return Work{a.visited + b.visited, a.dropped + b.dropped};
    });
}

} // namespace rebel

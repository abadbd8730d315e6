#include "pruning.hpp"

#include <cmath>
#include <limits>

#include "parallel.hpp"

namespace rebel {

bool Leader::may_lose_to(double bound, size_t feature) {
    const double best = value();
    if (bound != best)
        return bound > best;
    const std::lock_guard lock(mutex_);
    return bound == value() && static_cast<int32_t>(feature) < feature_;
}

void Leader::offer(double value, size_t feature) {
    const auto place = static_cast<int32_t>(feature);
    const std::lock_guard lock(mutex_);
    if (value > value_ || (value == value_ && place < feature_)) {
        value_.store(value, std::memory_order_relaxed);
        feature_ = place;
    }
}

namespace {

constexpr double out_of_play = -std::numeric_limits<double>::infinity();

} // namespace

Pruning::Pruning(const Bins& bins, Allowed allowed, const Nodes& nodes, size_t node,
                 double value_of_none)
    : bins_(bins), nodes_(nodes), node_(node), bounds_(bins.n_features(), out_of_play),
      leader_(value_of_none) {
    for (size_t f = 0; f < bins.n_features(); ++f)
        if (allowed[f] != 0)
            features_.push_back(f);
}

void Pruning::screen(Matrix<const int32_t> values, size_t n_kinds, int n_threads) {
    n_kinds_ = n_kinds;
    weigh(values);
    for (const size_t f : features_) {
        if (groups_.empty() || groups_.back().screen != f / block_width)
            groups_.push_back({f / block_width, {}, {}, 0});
        groups_.back().push(f, f % block_width);
    }
    begin(n_threads);
    value_leaders();
    pursue(n_threads);
    value_the_rest(n_threads);
}

void Pruning::weigh(Matrix<const int32_t> values) {
    const Samples own = samples();
    values_.resize(own.size * n_kinds_);
    rest_.assign(nodes_.n_subsets() * n_kinds_, 0);
    for (size_t kind = 0; kind < n_kinds_; ++kind) {
        int32_t* value = values_.data() + kind * own.size;
        for (size_t i = 0; i < own.size; ++i)
            value[i] = values(own[i], kind);
        size_t i = own.size;
        for (size_t s = nodes_.n_subsets() - 1; s > 0; --s) {
            int64_t weight = rest(s, kind);
            for (size_t left = nodes_.subset(node_, s).size; left > 0; --left)
                weight += std::abs(int64_t{value[--i]});
            rest_[(s - 1) * n_kinds_ + kind] = weight;
        }
    }
}

// Whether all samples after this subset have weight 0.
bool Pruning::known(size_t s) const {
    const int64_t* rest = rest_.data() + s * n_kinds_;
    return std::all_of(rest, rest + n_kinds_, [](int64_t weight) { return weight == 0; });
}

void Pruning::begin(int n_threads) {
    screens_.reset(new Screen[bins_.n_blocks() * n_kinds_]);
    parallel_each(groups_.size(), 4, n_threads, [&](size_t g) {
        for (size_t kind = 0; kind < n_kinds_; ++kind)
            screens(groups_[g])[kind].clear(bins_, groups_[g]);
        visit(groups_[g], 0, 1);
    });
}

// Visits subset after subset until all features are dropped or known. Small subsets are visited
// together, because bounding a group costs as much as a thousand additions.
void Pruning::pursue(int n_threads) {
    constexpr size_t worth_a_bound = 1000;
    size_t s = 0; // the last subset visited
    size_t n_columns = keep_promising();
    while (n_columns > 0 && !known(s)) {
        if (2 * n_columns <= block_width * groups_.size())
            regroup();
        const size_t from = s + 1;
        size_t n_visits = 0;
        do
            n_visits += nodes_.subset(node_, ++s).size * n_columns;
        while (!known(s) && n_visits < worth_a_bound * groups_.size());
        const size_t grain = 1 + groups_.size() * 20000 / (n_visits + 1);
        parallel_each(groups_.size(), grain, n_threads,
                      [&](size_t g) { visit(groups_[g], from, s + 1); });
        n_columns = keep_promising();
    }
}

// Adds subsets from … to − 1, and bounds the features.
void Pruning::visit(const Columns& columns, size_t from, size_t to) {
    const Samples part = nodes_.part(node_, from, to);
    const auto skipped = static_cast<size_t>(part.data - samples().data);
    for (size_t kind = 0; kind < n_kinds_; ++kind)
        screens(columns)[kind].add(bins_, columns,
                                   {part, values_.data() + kind * samples().size + skipped});
    visited_ += static_cast<int64_t>(columns.n * part.size);
    double bounds[block_width];
    bound(screens(columns), columns, to - 1, bounds);
    for (size_t c = 0; c < columns.n; ++c)
        bounds_[columns.features[c]] = bounds[columns.places[c]];
}

// Returns the number of features that are kept.
size_t Pruning::keep_promising() {
    size_t n_left = 0;
    for (Columns& group : groups_) {
        Columns kept{group.screen, {}, {}, 0};
        for (size_t c = 0; c < group.n; ++c) {
            const size_t f = group.features[c];
            if (bounds_[f] != out_of_play && leader_.may_lose_to(bounds_[f], f))
                kept.push(f, group.places[c]);
        }
        group = kept;
        n_left += kept.n;
    }
    std::erase_if(groups_, [](const Columns& group) { return group.n == 0; });
    return n_left;
}

// Moves the remaining columns together, so that many are added side by side: with a few columns,
// each addition would wait for the sum just written.
//
// The new group g takes columns of the old groups from g on. It reuses the screen of the old group
// g, because all columns of that group have been taken once the new one is full.
void Pruning::regroup() {
    struct Source {
        size_t feature, screen, place;
    };
    std::vector<Source> sources;
    for (const Columns& group : groups_)
        for (size_t c = 0; c < group.n; ++c)
            sources.push_back({group.features[c], group.screen, group.places[c]});
    const auto gathered = std::make_unique<Screen>();
    for (size_t g = 0; g * block_width < sources.size(); ++g) {
        Columns fresh{groups_[g].screen, {}, {}, 0};
        const size_t first = g * block_width;
        const size_t last = std::min(first + block_width, sources.size());
        for (size_t i = first; i < last; ++i)
            fresh.push(sources[i].feature, i - first);
        for (size_t kind = 0; kind < n_kinds_; ++kind) {
            gathered->clear(bins_, fresh);
            for (size_t i = first; i < last; ++i)
                gathered->take(i - first, screens_[sources[i].screen * n_kinds_ + kind],
                               sources[i].place);
            screens(fresh)[kind] = *gathered;
        }
        groups_[g] = fresh;
    }
    groups_.resize((sources.size() + block_width - 1) / block_width);
}

// The features with the highest bounds are valued first, because their values prune the others.
void Pruning::value_leaders() {
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

void Pruning::value_the_rest(int n_threads) {
    std::vector<size_t> left;
    for (const Columns& group : groups_)
        left.insert(left.end(), group.features.begin(), group.features.begin() + group.n);
    std::stable_sort(left.begin(), left.end(),
                     [&](size_t a, size_t b) { return bounds_[a] > bounds_[b]; });
    parallel_each(left.size(), 1, n_threads, [&](size_t i) {
        if (leader_.may_lose_to(bounds_[left[i]], left[i]))
            value(left[i]);
    });
}

void Pruning::value(size_t feature) {
    visited_ += static_cast<int64_t>(samples().size);
    ++n_valued_;
    leader_.offer(value_of(feature), feature);
}

namespace {

class NodePruning : public Pruning {
  public:
    NodePruning(const Bins& bins, Allowed allowed, Pairs values, const Nodes& nodes, size_t node,
                const SearchOptions& options)
        : Pruning(bins, allowed, nodes, node, Candidate{}.value), values_(values),
          options_(options), total_(total_of(values, samples())) {
        if (options.criterion == Criterion::error)
            return;
        energy_.assign(nodes.n_subsets(), 0);
        boundable_ = options.criterion != Criterion::gain_ratio; // no useful bound is known
        for (size_t s = nodes.n_subsets(); s-- > 0;) {
            double energy = 0;
            for (const int32_t n : nodes.subset(node, s))
                energy += energy_of(values[n]);
            if (s > 0)
                energy_[s - 1] = energy_[s] + energy * (1 + 1e-6); // more than the rounding error
        }
    }

    void run(Matrix<const int32_t> values, int n_threads) {
        if (divisible(samples().size, total_, options_))
            screen(values, values.n_cols, n_threads);
    }

    void write(const Splits& splits) const {
        Candidate best;
        BinSums taken;
        if (leader().feature() >= 0)
            best = scan(static_cast<size_t>(leader().feature()), taken);
        write_split(bins_, best, taken, total_, options_, splits, node_);
    }

  private:
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

    void bound(Screen* screens, const Columns& columns, size_t s, double* bounds) const override {
        if (options_.criterion != Criterion::error) {
            for (size_t c = 0; c < columns.n; ++c)
                bounds[columns.places[c]] = bound_of_pairs(screens, columns, c, s);
            return;
        }
        // |P_left| + |P_right| is at most the reach of the feature on the samples seen plus the
        // weight of the remaining ones [QUICK, Prop. 1].
        int64_t reach[block_width];
        screens->read(bins_, columns, reach);
        for (size_t c = 0; c < columns.n; ++c)
            bounds[columns.places[c]] = static_cast<double>(reach[columns.places[c]] + rest(s, 0));
    }

    double bound_of_pairs(const Screen* screens, const Columns& columns, size_t c, size_t s) const {
        if (!boundable_)
            return std::numeric_limits<double>::infinity();
        const size_t feature = columns.features[c];
        BinSums seen;
        int64_t total = 0;
        for (size_t b = 0; b < bins_.n_bins(feature); ++b) {
            const int64_t pair =
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

    Candidate scan(size_t feature, BinSums& taken) const {
        take_from_samples(bins_.column(feature), values_, samples(), taken);
        return scan_feature(bins_, feature, taken, total_, options_);
    }

    Pairs values_;
    const SearchOptions& options_;
    int64_t total_;
    std::vector<double> energy_; // Σ v²/m of the samples after each subset
    double weight_ = 0;          // Σ |v|
    bool boundable_ = true;
};

} // namespace

Work prune_layer(const Bins& bins, Allowed allowed, Pairs values, const Nodes& nodes,
                 const SearchOptions& options, const Splits& splits, int n_threads) {
    bins.check(allowed, values.size);
    nodes.check();
    options.check();
    splits.check(nodes.n_nodes());
    const size_t n_kinds = options.criterion == Criterion::error ? 1 : 2;
    std::vector<int32_t> unpacked(values.size * n_kinds);
    for (size_t n = 0; n < values.size; ++n) {
        unpacked[n * n_kinds] = static_cast<int32_t>(signed_of(values[n]));
        if (n_kinds == 2)
            unpacked[n * n_kinds + 1] = static_cast<int32_t>(mass_of(values[n]));
    }
    int64_t work[2] = {};
    // With many nodes, each is searched by one thread; a single node is searched by all of them.
    parallel_sum(nodes.n_nodes(), 1, n_threads, {work, 2},
                 [&](size_t node, size_t, int64_t* partial) {
                     NodePruning search(bins, allowed, values, nodes, node, options);
                     search.run({unpacked.data(), values.size, n_kinds}, n_threads);
                     search.write(splits);
                     partial[0] += search.work().visited;
                     partial[1] += search.work().dropped;
                 });
    return {work[0], work[1]};
}

} // namespace rebel

#include "pruning.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

constexpr std::size_t prefetch_distance = 32;
// To look at a group's sums costs what so many additions do; not worth it after fewer.
constexpr std::size_t worth_a_look = 1000;
constexpr double out_of_play = -std::numeric_limits<double>::infinity();

// `next` are the rows of the block that comes after this one: the first are fetched in time.
REBEL_CLONES void add_rows(const std::uint8_t* rows, const std::uint8_t* next,
                           const Stretch& stretch, std::int32_t* sums) {
    const Vector<const std::int32_t> samples = stretch.samples;
    for (std::size_t i = 0; i < samples.size; ++i) {
        const bool within = i + prefetch_distance < samples.size;
        const std::size_t ahead =
            within ? i + prefetch_distance : std::min(i + prefetch_distance - samples.size, i);
        __builtin_prefetch((within ? rows : next) +
                           static_cast<std::size_t>(samples[ahead]) * block_width);
        const std::uint8_t* row = rows + static_cast<std::size_t>(samples[i]) * block_width;
        const std::int32_t value = stretch.values[i];
#pragma GCC unroll 16
        for (std::size_t j = 0; j < block_width; ++j)
            sums[row[j] * block_width + j] += value;
    }
}

// The number of columns is known to the compiler, lest counting them take longer than adding.
template <std::size_t n>
inline void add_to(const Bins& bins, const Columns& columns, std::size_t first,
                   const Stretch& stretch, std::int32_t* sums) {
    const std::uint8_t* column[n];
    std::int32_t* sum[n];
    for (std::size_t c = 0; c < n; ++c) {
        column[c] = bins.column(columns.features[first + c]);
        sum[c] = sums + columns.places[first + c];
    }
    for (std::size_t i = 0; i < stretch.samples.size; ++i) {
        const std::size_t place = static_cast<std::size_t>(stretch.samples[i]) * block_width;
        const std::int32_t value = stretch.values[i];
#pragma GCC unroll 16
        for (std::size_t c = 0; c < n; ++c)
            sum[c][column[c][place] * block_width] += value;
    }
}

REBEL_CLONES void add_columns(const Bins& bins, const Columns& columns, const Stretch& stretch,
                              std::int32_t* sums) {
    std::size_t c = 0;
    for (; c + 8 <= columns.n; c += 8)
        add_to<8>(bins, columns, c, stretch, sums);
    if (c + 4 <= columns.n) {
        add_to<4>(bins, columns, c, stretch, sums);
        c += 4;
    }
    if (c + 2 <= columns.n) {
        add_to<2>(bins, columns, c, stretch, sums);
        c += 2;
    }
    if (c < columns.n)
        add_to<1>(bins, columns, c, stretch, sums);
}

using Lanes [[gnu::vector_size(32)]] = std::int32_t;
constexpr std::size_t lanes = 8;

inline void prefix_lanes(const std::int32_t* rows, std::size_t n_rows, std::size_t stride,
                         std::int32_t* sum, std::int32_t* low, std::int32_t* high) {
    Lanes s{};
    Lanes l{};
    Lanes h{};
    for (std::size_t b = 0; b < n_rows; ++b) {
        Lanes row;
        std::memcpy(&row, rows + b * stride, sizeof row);
        s += row;
        l = s < l ? s : l;
        h = s > h ? s : h;
    }
    std::memcpy(sum, &s, sizeof s);
    std::memcpy(low, &l, sizeof l);
    std::memcpy(high, &h, sizeof h);
}

std::int64_t reach_of_categories(const std::int32_t* sums, std::size_t n_bins) {
    std::int64_t reach = 0;
    for (std::size_t b = 0; b < n_bins; ++b)
        reach += std::abs(std::int64_t{sums[b * block_width]});
    return reach;
}

} // namespace

REBEL_CLONES void prefix_extremes(const std::int32_t* rows, std::size_t n_rows, std::size_t n_cols,
                                  std::int32_t* sum, std::int32_t* low, std::int32_t* high) {
    for (std::size_t j = 0; j < n_cols; j += lanes)
        prefix_lanes(rows + j, n_rows, n_cols, sum + j, low + j, high + j);
}

void Screen::clear(const Bins& bins, const Columns& columns) {
    n_rows_ = 0;
    for (std::size_t c = 0; c < columns.n; ++c)
        n_rows_ = std::max(n_rows_, bins.n_bins(columns.features[c]));
    std::fill_n(sums_.data(), n_rows_ * block_width, 0);
}

void Screen::add(const Bins& bins, const Columns& columns, const Stretch& stretch) {
    if (!columns.whole_block()) {
        add_columns(bins, columns, stretch, sums_.data());
        return;
    }
    const std::size_t next = columns.features[0] + block_width;
    const std::uint8_t* rows = bins.column(columns.features[0]);
    add_rows(rows, next < bins.n_features() ? bins.column(next) : rows, stretch, sums_.data());
}

void Screen::take(std::size_t place, const Screen& from, std::size_t place_there) {
    for (std::size_t b = 0; b < std::min(n_rows_, from.n_rows_); ++b)
        sums_[b * block_width + place] = from.sum(b, place_there);
}

void Screen::read(const Bins& bins, const Columns& columns, std::int64_t* reach) {
    std::int32_t missing[block_width] = {};
    for (std::size_t c = 0; c < columns.n; ++c) { // out of the way, for a while
        const std::size_t last = bins.n_bins(columns.features[c]) - 1;
        std::swap(missing[c], sums_[last * block_width + columns.places[c]]);
    }
    std::int32_t sum[block_width];
    std::int32_t low[block_width];
    std::int32_t high[block_width];
    prefix_extremes(sums_.data(), n_rows_, block_width, sum, low, high);
    for (std::size_t c = 0; c < columns.n; ++c) {
        const std::size_t j = columns.places[c];
        const std::size_t n_bins = bins.n_bins(columns.features[c]);
        reach[j] = reach_of(low[j], high[j], sum[j], missing[c]);
        std::swap(missing[c], sums_[(n_bins - 1) * block_width + j]);
        if (bins.is_categorical(columns.features[c]))
            reach[j] = reach_of_categories(sums_.data() + j, n_bins);
    }
}

// Could a feature with this bound still be the best?
bool Leader::may_lose_to(double bound, std::size_t feature) {
    const double best = value();
    if (bound != best)
        return bound > best;
    const std::lock_guard lock(mutex_);
    return bound == value() && static_cast<std::int32_t>(feature) < feature_;
}

void Leader::offer(double value, std::size_t feature) {
    const auto place = static_cast<std::int32_t>(feature);
    const std::lock_guard lock(mutex_);
    if (value > value_ || (value == value_ && place < feature_)) {
        value_.store(value, std::memory_order_relaxed);
        feature_ = place;
    }
}

Pruning::Pruning(const Bins& bins, Vector<const std::uint8_t> allowed, const NodeSamples& nodes,
                 std::size_t node, double value_of_none)
    : bins_(bins), nodes_(nodes), node_(node), bounds_(bins.n_features(), out_of_play),
      leader_(value_of_none) {
    for (std::size_t f = 0; f < bins.n_features(); ++f)
        if (allowed[f] != 0)
            features_.push_back(f);
    n_features_ = static_cast<std::int64_t>(features_.size());
}

void Pruning::screen(const SampleValues& values, int n_threads) {
    weigh(values);
    for (const std::size_t f : features_) {
        if (groups_.empty() || groups_.back().screen != f / block_width)
            groups_.push_back({f / block_width, {}, {}, 0});
        groups_.back().push(f, f % block_width);
    }
    begin(n_threads);
    value_leaders();
    pursue(n_threads);
    value_the_rest(n_threads);
}

void Pruning::weigh(const SampleValues& values) {
    n_kinds_ = values.n_kinds;
    const Vector<const std::int32_t> own = samples();
    values_.resize(own.size * n_kinds_);
    rest_.assign(nodes_.n_subsets() * n_kinds_, 0);
    for (std::size_t kind = 0; kind < n_kinds_; ++kind) {
        std::int32_t* value = values_.data() + kind * own.size;
        for (std::size_t i = 0; i < own.size; ++i)
            value[i] = values.data[static_cast<std::size_t>(own[i]) * values.stride + kind];
        std::size_t i = own.size;
        for (std::size_t s = nodes_.n_subsets() - 1; s > 0; --s) {
            std::int64_t weight = rest_[s * n_kinds_ + kind];
            for (std::size_t left = nodes_.subset(node_, s).size; left > 0; --left)
                weight += std::abs(std::int64_t{value[--i]});
            rest_[(s - 1) * n_kinds_ + kind] = weight;
        }
    }
}

// No sample that weighs anything comes after this subset.
bool Pruning::known(std::size_t s) const {
    const auto from = rest_.begin() + static_cast<std::ptrdiff_t>(s * n_kinds_);
    return std::all_of(from, from + static_cast<std::ptrdiff_t>(n_kinds_),
                       [](std::int64_t r) { return r == 0; });
}

void Pruning::begin(int n_threads) {
    screens_.reset(new Screen[bins_.n_blocks() * n_kinds_]);
    parallel_for(groups_.size(), 4, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t g = begin; g < end; ++g) {
            for (std::size_t kind = 0; kind < n_kinds_; ++kind)
                screens(groups_[g])[kind].clear(bins_, groups_[g]);
            visit(groups_[g], 0, 1);
            look(groups_[g], 0);
        }
    });
}

// Subset after subset, several at once where they are small, until all are dropped or known.
void Pruning::pursue(int n_threads) {
    std::size_t s = 0; // the last subset that was visited
    std::size_t n_columns = keep_promising();
    while (n_columns > 0 && !known(s)) {
        if (2 * n_columns <= block_width * groups_.size())
            regroup();
        const std::size_t from = s + 1;
        std::size_t n_visits = 0;
        do
            n_visits += nodes_.subset(node_, ++s).size * n_columns;
        while (!known(s) && n_visits < worth_a_look * groups_.size());
        const std::size_t grain = 1 + groups_.size() * 20000 / (n_visits + 1);
        parallel_for(groups_.size(), grain, n_threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t g = begin; g < end; ++g) {
                visit(groups_[g], from, s + 1);
                look(groups_[g], s);
            }
        });
        n_columns = keep_promising();
    }
}

void Pruning::visit(const Columns& columns, std::size_t from, std::size_t to) {
    const Vector<const std::int32_t> part = nodes_.part(node_, from, to);
    const auto skipped = static_cast<std::size_t>(part.data - samples().data);
    for (std::size_t kind = 0; kind < n_kinds_; ++kind)
        screens(columns)[kind].add(bins_, columns,
                                   {part, values_.data() + kind * samples().size + skipped});
    visited_ += static_cast<std::int64_t>(columns.n * part.size);
}

void Pruning::look(const Columns& columns, std::size_t s) {
    double bounds[block_width];
    bound(screens(columns), columns, s, bounds);
    for (std::size_t c = 0; c < columns.n; ++c)
        bounds_[columns.features[c]] = bounds[columns.places[c]];
}

// Returns how many are left.
std::size_t Pruning::keep_promising() {
    std::size_t n_left = 0;
    for (Columns& group : groups_) {
        Columns kept{group.screen, {}, {}, 0};
        for (std::size_t c = 0; c < group.n; ++c) {
            const std::size_t f = group.features[c];
            if (bounds_[f] != out_of_play && leader_.may_lose_to(bounds_[f], f))
                kept.push(f, group.places[c]);
        }
        group = kept;
        n_left += kept.n;
    }
    std::erase_if(groups_, [](const Columns& group) { return group.n == 0; });
    return n_left;
}

// Brings columns together again, so that many are added side by side: a few alone would wait for
// the sums that they have just written.
//
// The new group g takes columns of the old ones from g on, and the screen of the old g, from which
// nothing is left to be taken once g is full.
void Pruning::regroup() {
    struct Source {
        std::size_t feature, screen, place;
    };
    std::vector<Source> sources;
    for (const Columns& group : groups_)
        for (std::size_t c = 0; c < group.n; ++c)
            sources.push_back({group.features[c], group.screen, group.places[c]});
    const auto gathered = std::make_unique<Screen>();
    for (std::size_t g = 0; g * block_width < sources.size(); ++g) {
        Columns fresh{groups_[g].screen, {}, {}, 0};
        const std::size_t first = g * block_width;
        const std::size_t last = std::min(first + block_width, sources.size());
        for (std::size_t i = first; i < last; ++i)
            fresh.push(sources[i].feature, i - first);
        for (std::size_t kind = 0; kind < n_kinds_; ++kind) {
            gathered->clear(bins_, fresh);
            for (std::size_t i = first; i < last; ++i)
                gathered->take(i - first, screens_[sources[i].screen * n_kinds_ + kind],
                               sources[i].place);
            screens(fresh)[kind] = *gathered;
        }
        groups_[g] = fresh;
    }
    groups_.resize((sources.size() + block_width - 1) / block_width);
}

// The features with the highest bounds come first: what they are worth prunes the others.
void Pruning::value_leaders() {
    constexpr int n_leaders = 2;
    for (int i = 0; i < n_leaders; ++i) {
        const auto top = std::max_element(bounds_.begin(), bounds_.end());
        const auto feature = static_cast<std::size_t>(top - bounds_.begin());
        if (*top == out_of_play || !leader_.may_lose_to(*top, feature))
            return;
        value(feature);
        *top = out_of_play;
    }
}

void Pruning::value_the_rest(int n_threads) {
    std::vector<std::size_t> left;
    for (const Columns& group : groups_)
        left.insert(left.end(), group.features.begin(), group.features.begin() + group.n);
    std::stable_sort(left.begin(), left.end(),
                     [&](std::size_t a, std::size_t b) { return bounds_[a] > bounds_[b]; });
    parallel_for(left.size(), 1, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            if (leader_.may_lose_to(bounds_[left[i]], left[i]))
                value(left[i]);
    });
}

void Pruning::value(std::size_t feature) {
    visited_ += static_cast<std::int64_t>(samples().size);
    ++n_valued_;
    leader_.offer(value_of(feature), feature);
}

} // namespace rebel

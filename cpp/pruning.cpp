#include "pruning.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

constexpr std::size_t prefetch_distance = 12;
// To look at the sums costs what so many additions do; not worth it after fewer.
constexpr std::size_t worth_a_look = 1000;
constexpr double out_of_play = -std::numeric_limits<double>::infinity();

// The number of columns is known to the compiler, lest counting them take longer than adding.
template <std::size_t n>
inline void add_to(const std::uint8_t* rows, const std::uint8_t* columns,
                   const std::int32_t* values, std::size_t stride,
                   Vector<const std::int32_t> samples, std::int32_t* sums) {
    std::size_t which[n];
    for (std::size_t c = 0; c < n; ++c)
        which[c] = n == block_width ? c : columns[c];
    for (std::size_t i = 0; i < samples.size; ++i) {
        if (i + prefetch_distance < samples.size) {
            const auto ahead = static_cast<std::size_t>(samples.data[i + prefetch_distance]);
            __builtin_prefetch(rows + ahead * block_width);
            __builtin_prefetch(values + ahead * stride);
        }
        const auto place = static_cast<std::size_t>(samples.data[i]);
        const std::uint8_t* row = rows + place * block_width;
        const std::int32_t value = values[place * stride];
#pragma GCC unroll 16
        for (std::size_t c = 0; c < n; ++c) {
            const std::size_t j = n == block_width ? c : which[c];
            sums[row[j] * block_width + j] += value;
        }
    }
}

REBEL_CLONES void add_values(const std::uint8_t* rows, const Columns& columns,
                             const std::int32_t* values, std::size_t stride,
                             Vector<const std::int32_t> samples, std::int32_t* sums) {
    const std::uint8_t* which = columns.which.data();
    if (columns.n == block_width) {
        add_to<block_width>(rows, which, values, stride, samples, sums);
        return;
    }
    std::size_t c = 0;
    for (; c + 8 <= columns.n; c += 8)
        add_to<8>(rows, which + c, values, stride, samples, sums);
    for (; c + 4 <= columns.n; c += 4)
        add_to<4>(rows, which + c, values, stride, samples, sums);
    if (columns.n - c == 3)
        add_to<3>(rows, which + c, values, stride, samples, sums);
    if (columns.n - c == 2)
        add_to<2>(rows, which + c, values, stride, samples, sums);
    if (columns.n - c == 1)
        add_to<1>(rows, which + c, values, stride, samples, sums);
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

void Screen::clear(const Bins& bins, std::size_t block) {
    n_rows_ = 0;
    for (std::size_t f = bins.first_feature(block); f < bins.last_feature(block); ++f)
        n_rows_ = std::max(n_rows_, bins.n_bins(f));
    std::fill_n(sums_.data(), n_rows_ * block_width, 0);
}

void Screen::add(const Bins& bins, const Columns& columns, const std::int32_t* values,
                 std::size_t stride, Vector<const std::int32_t> samples) {
    add_values(bins.column(columns.block * block_width), columns, values, stride, samples,
               sums_.data());
}

void Screen::read(const Bins& bins, const Columns& columns, std::int64_t* reach) {
    std::int32_t missing[block_width] = {};
    for (std::size_t c = 0; c < columns.n; ++c) { // out of the way, for a while
        const std::size_t last = bins.n_bins(columns.feature(c)) - 1;
        std::swap(missing[c], sums_[last * block_width + columns.which[c]]);
    }
    std::int32_t sum[block_width];
    std::int32_t low[block_width];
    std::int32_t high[block_width];
    prefix_extremes(sums_.data(), n_rows_, block_width, sum, low, high);
    for (std::size_t c = 0; c < columns.n; ++c) {
        const std::size_t j = columns.which[c];
        const std::size_t n_bins = bins.n_bins(columns.feature(c));
        reach[j] = reach_of(low[j], high[j], sum[j], missing[c]);
        std::swap(missing[c], sums_[(n_bins - 1) * block_width + j]);
        if (bins.is_categorical(columns.feature(c)))
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
    values_ = values;
    weigh();
    for (const std::size_t f : features_) {
        if (tasks_.empty() || tasks_.back().columns.block != f / block_width)
            tasks_.push_back({0, {f / block_width, {}, 0}});
        tasks_.back().columns.push(f % block_width);
    }
    screens_.reset(new Screen[bins_.n_blocks() * values.n_kinds]); // cleared below
    parallel_for(tasks_.size(), 4, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k) {
            for (std::size_t kind = 0; kind < values_.n_kinds; ++kind)
                screens(tasks_[k])[kind].clear(bins_, tasks_[k].columns.block);
            visit(tasks_[k], nodes_.subset(node_, 0));
            look(tasks_[k], 0);
        }
    });
    value_leaders();
    for (Task& task : tasks_)
        keep_promising(task);
    std::stable_sort(tasks_.begin(), tasks_.end(),
                     [](const Task& a, const Task& b) { return a.bound > b.bound; });
    parallel_for(tasks_.size(), 1, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k)
            pursue(tasks_[k]);
    });
}

void Pruning::weigh() {
    const std::size_t n_kinds = values_.n_kinds;
    rest_.assign(nodes_.n_subsets() * n_kinds, 0);
    for (std::size_t s = nodes_.n_subsets() - 1; s > 0; --s) {
        std::int64_t* before = rest_.data() + (s - 1) * n_kinds;
        std::copy_n(before + n_kinds, n_kinds, before);
        for (const std::int32_t n : nodes_.subset(node_, s))
            for (std::size_t kind = 0; kind < n_kinds; ++kind)
                before[kind] += std::abs(std::int64_t{
                    values_.data[static_cast<std::size_t>(n) * values_.stride + kind]});
    }
}

// No sample that weighs anything comes after this subset.
bool Pruning::known(std::size_t s) const {
    const auto from = rest_.begin() + static_cast<std::ptrdiff_t>(s * values_.n_kinds);
    return std::all_of(from, from + static_cast<std::ptrdiff_t>(values_.n_kinds),
                       [](std::int64_t r) { return r == 0; });
}

void Pruning::visit(const Task& task, Vector<const std::int32_t> samples) {
    for (std::size_t kind = 0; kind < values_.n_kinds; ++kind)
        screens(task)[kind].add(bins_, task.columns, values_.data + kind, values_.stride, samples);
    visited_ += static_cast<std::int64_t>(task.columns.n * samples.size);
}

void Pruning::look(const Task& task, std::size_t s) {
    double bounds[block_width];
    bound(screens(task), task.columns, s, bounds);
    for (std::size_t c = 0; c < task.columns.n; ++c)
        bounds_[task.columns.feature(c)] = bounds[task.columns.which[c]];
}

void Pruning::keep_promising(Task& task) {
    const Columns columns = task.columns;
    task = {out_of_play, {columns.block, {}, 0}};
    for (std::size_t c = 0; c < columns.n; ++c) {
        const std::size_t f = columns.feature(c);
        if (bounds_[f] == out_of_play || !leader_.may_lose_to(bounds_[f], f))
            continue;
        task.columns.push(columns.which[c]);
        task.bound = std::max(task.bound, bounds_[f]);
    }
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

// Subset after subset, until all are dropped or known; several at once where they are small.
void Pruning::pursue(Task& task) {
    keep_promising(task);
    std::size_t s = 0; // the last subset that was visited
    while (task.columns.n > 0 && !known(s)) {
        const std::size_t from = s + 1;
        do
            ++s;
        while (!known(s) && nodes_.part(node_, from, s + 1).size * task.columns.n < worth_a_look);
        visit(task, nodes_.part(node_, from, s + 1));
        look(task, s);
        keep_promising(task);
    }
    for (std::size_t c = 0; c < task.columns.n; ++c)
        value(task.columns.feature(c));
}

void Pruning::value(std::size_t feature) {
    visited_ += static_cast<std::int64_t>(samples().size);
    ++n_valued_;
    leader_.offer(value_of(feature), feature);
}

} // namespace rebel

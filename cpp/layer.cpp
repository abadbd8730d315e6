#include "search.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "parallel.hpp"

namespace rebel {
namespace {

void add_to_block(const Bins& bins, size_t block, Allowed allowed, Pairs values, Samples samples,
                  Vector<int64_t> sums, int n_threads) {
    const size_t grain = samples.size / (4 * static_cast<size_t>(n_threads)) + 1;
    parallel_sum(samples.size, std::max<size_t>(4096, grain), n_threads, sums,
                 [&](size_t from, size_t to, int64_t* partial) {
                     add_pairs(bins, block, allowed, values, samples.slice(from, to), partial);
                 });
}

// The running sum of a node's samples in the order of a feature's bins.
struct RunningSum {
    ByVariance node;
    int64_t start = 0; // the sum of missing values, if they are on the left
    int64_t sum = start;
    uint32_t last = most_bins; // the bin of the last sample; at first, none
};

// A layer's search as independent tasks: (siblings) × (block of features).
struct LayerSearch {
    const Bins& bins;
    Matrix<const uint32_t> order;
    Allowed allowed;
    Pairs values;
    const Nodes& nodes;
    Matrix<const int64_t> parent_sums;
    Matrix<int64_t> sums;
    const SearchOptions& options;
    std::vector<int64_t> totals; // of the nodes
    bool always_in_order = false;
    // Threads keep the best of each block of features; one thread keeps the best of all blocks.
    size_t n_bests = 1;
    size_t n_siblings = parent_sums.n_rows > 0 ? 2 : 1;
    std::vector<Candidate> best{};
    std::vector<uint16_t> node_of{}; // of each sample, if nodes are scanned in order
    const ByVariance nothing{0, {Criterion::variance, 1, 0}}; // that is too light to be split

    void run(int n_threads) {
        const size_t n_nodes = nodes.n_nodes();
        n_bests = n_threads > 1 ? bins.n_blocks() : 1;
        best.resize(n_nodes * n_bests);
        const size_t work = nodes.samples.size * bins.n_features();
        if (in_order() && find_nodes()) {
            parallel_each(bins.n_blocks(), grain_for(bins.n_blocks(), 2 * work), n_threads,
                          [&](size_t block) { scan_in_order(block); });
            return;
        }
        const size_t n_tasks = n_nodes / n_siblings * bins.n_blocks();
        // With few blocks of features, threads share the samples instead.
        const bool share_samples = n_threads > 1 && n_tasks < 2 * static_cast<size_t>(n_threads);
        for (size_t task = 0; share_samples && task < n_tasks; ++task)
            sum(task, n_threads);
        parallel_each(n_tasks, grain_for(n_tasks, work + 20000), n_threads, [&](size_t task) {
            if (!share_samples)
                sum(task, 1);
            scan(task);
        });
    }

    void write(const Splits& splits) const {
        for (size_t node = 0; node < nodes.n_nodes(); ++node) {
            const Candidate* own = best.data() + node * n_bests;
            Candidate top; // ties go to the first block
            for (size_t b = 0; b < n_bests; ++b)
                if (own[b].value > top.value)
                    top = own[b];
            BinSums taken;
            if (top.feature >= 0)
                take(node, static_cast<size_t>(top.feature), taken);
            write_split(bins, top, taken, totals[node], options, splits, node);
        }
    }

    size_t first_node(size_t task) const { return task / bins.n_blocks() * n_siblings; }
    size_t block(size_t task) const { return task % bins.n_blocks(); }
    Candidate& best_of(size_t node, size_t block) {
        return best[node * n_bests + (n_bests > 1 ? block : 0)];
    }

    bool divisible(size_t node) const {
        return rebel::divisible(nodes.of(node).size, totals[node], options);
    }

    // A node with few samples is scanned without sums over all bins, and so are its children.
    bool sparse(size_t node) const {
        return few * nodes.of(node).size * bins.n_features() < sums.n_cols;
    }

    // Many small nodes are scanned together, in the order of each feature's bins, if that is faster
    // than one node after the other. Measured in the time that a bin of a dense node takes: 8 for a
    // bin of a sample in a sparse node, 2 if all samples are visited in order.
    static constexpr size_t few = 8;
    bool in_order() const {
        if (order.n_rows == 0 || options.criterion != Criterion::variance)
            return false;
        if (always_in_order)
            return true;
        size_t work = 0;
        for (size_t node = 0; node < nodes.n_nodes(); ++node)
            if (divisible(node))
                work += std::min(few * nodes.of(node).size * bins.n_features(), sums.n_cols);
        return work > 2 * order.n_cols * bins.n_features();
    }

    // The node of each sample. `order` has each sample once; if nodes do not, there is no such
    // node.
    bool find_nodes() {
        const auto no_node = static_cast<uint16_t>(nodes.n_nodes());
        node_of.assign(order.n_cols, no_node);
        for (size_t node = 0; node < nodes.n_nodes(); ++node)
            for (const int32_t n : nodes.of(node)) {
                uint16_t& own = node_of[static_cast<size_t>(n)];
                if (own != no_node) {
                    node_of.clear();
                    return false;
                }
                own = static_cast<uint16_t>(node);
            }
        return true;
    }

    // Sums over the node with fewer samples, and subtracts from the parent for the other.
    void sum(size_t task, int n_threads) const {
        size_t node = first_node(task);
        const auto needs_sums = [&](size_t i) { return divisible(i) && !sparse(i); };
        if (!needs_sums(node) && (n_siblings == 1 || !needs_sums(node + 1)))
            return;
        if (n_siblings == 2 && nodes.of(node + 1).size < nodes.of(node).size)
            ++node;
        const Samples samples = nodes.of(node);
        const size_t begin = bins.offset(bins.first_feature(block(task)));
        const size_t end = bins.offset(bins.last_feature(block(task)));
        const Vector<int64_t> own = sums.row(node).slice(begin, end);
        std::fill(own.begin(), own.end(), 0);
        add_to_block(bins, block(task), allowed, values, samples, own, n_threads);
        if (n_siblings == 1)
            return;
        for (size_t f = bins.first_feature(block(task)); f < bins.last_feature(block(task)); ++f)
            if (allowed[f] != 0)
                std::transform(parent_sums.row(node / 2).begin() + bins.offset(f),
                               parent_sums.row(node / 2).begin() + bins.offset(f + 1),
                               sums.row(node).begin() + bins.offset(f),
                               sums.row(node ^ 1).begin() + bins.offset(f), std::minus());
    }

    void scan(size_t task) {
        const size_t last = bins.last_feature(block(task));
        for (size_t i = 0; i < n_siblings; ++i) {
            const size_t node = first_node(task) + i;
            if (!divisible(node))
                continue;
            const bool is_sparse = sparse(node);
            Candidate& top = best_of(node, block(task));
            BinSums taken;
            for (size_t f = bins.first_feature(block(task)); f < last; ++f) {
                if (allowed[f] == 0)
                    continue;
                if (!is_sparse) {
                    improve(bins, f, &sums(node, bins.offset(f)), totals[node], options, top);
                    continue;
                }
                take_from_samples(bins.column(f), values, nodes.of(node), taken);
                improve(bins, f, taken, totals[node], options, top);
            }
        }
    }

    // All nodes, feature by feature.
    void scan_in_order(size_t block) {
        // One more for the samples of other nodes.
        std::vector<RunningSum> running(nodes.n_nodes() + 1, {nothing});
        std::vector<int64_t> missing(nodes.n_nodes() + 1);
        for (size_t f = bins.first_feature(block); f < bins.last_feature(block); ++f) {
            if (allowed[f] == 0)
                continue;
            if (bins.is_categorical(f)) {
                scan_categories(f, block);
                continue;
            }
            const uint32_t first_missing = static_cast<uint32_t>(bins.n_bins(f) - 1) << 24;
            const auto sorted = order.row(f);
            const auto end = std::lower_bound(sorted.begin(), sorted.end(), first_missing);
            std::fill(missing.begin(), missing.end(), 0);
            for (auto at = end; at != sorted.end(); ++at)
                missing[node_at(*at)] += values[*at & 0xffffff];
            const Vector<const uint32_t> present{sorted.data,
                                                 static_cast<size_t>(end - sorted.begin())};
            start(running, missing, block);
            pass(present, f, block, false, running);
            if (end == sorted.end())
                continue;
            // Once more with missing values on the right, for nodes that have some.
            for (size_t node = 0; node <= nodes.n_nodes(); ++node)
                running[node] = {missing[node] != 0 ? running[node].node : nothing};
            pass(present, f, block, true, running);
        }
    }

    size_t node_at(uint32_t place) const { return node_of[place & 0xffffff]; }

    void start(std::vector<RunningSum>& running, const std::vector<int64_t>& missing,
               size_t block) {
        for (size_t node = 0; node < nodes.n_nodes(); ++node) {
            running[node] = {nothing};
            if (divisible(node)) {
                running[node] = {ByVariance(totals[node], options), missing[node]};
                running[node].node.exceed(best_of(node, block).value);
            }
        }
        running.back() = {nothing};
    }

    void pass(Vector<const uint32_t> present, size_t f, size_t block, bool missing_right,
              std::vector<RunningSum>& running) {
        for (const uint32_t place : present) {
            RunningSum& at = running[node_at(place)];
            const uint32_t bin = place >> 24;
            // One branch, which is rarely taken.
            if ((bin != at.last) & at.node.may_exceed(at.sum))
                take_if_better(at, f, block, missing_right, running);
            at.last = bin;
            at.sum += values.data[place & 0xffffff];
        }
        if (missing_right) // all present values left
            for (size_t node = 0; node < nodes.n_nodes(); ++node)
                take_if_better(running[node], f, block, true, running);
    }

    [[gnu::noinline]] void take_if_better(RunningSum& at, size_t f, size_t block,
                                          bool missing_right,
                                          const std::vector<RunningSum>& running) {
        const auto node = static_cast<size_t>(&at - running.data());
        if (at.last == most_bins || node == nodes.n_nodes())
            return;
        // A bin whose sum is 0 counts as empty, and thresholds are after non-empty bins.
        if (at.sum == at.start && !any_filled(node, f, at.last))
            return;
        Candidate& top = best_of(node, block);
        const double value = at.node.value(at.sum);
        if (value > top.value) {
            top = {value, static_cast<int32_t>(f), static_cast<int32_t>(at.last), missing_right,
                   at.sum};
            at.node.exceed(value);
        }
    }

    bool any_filled(size_t node, size_t f, uint32_t last) const {
        BinSums taken;
        take_from_samples(bins.column(f), values, nodes.of(node), taken);
        return taken.n > 0 && static_cast<uint32_t>(taken.bins[0]) <= last;
    }

    void scan_categories(size_t f, size_t block) {
        BinSums taken;
        for (size_t node = 0; node < nodes.n_nodes(); ++node)
            if (divisible(node)) {
                take_from_samples(bins.column(f), values, nodes.of(node), taken);
                improve(bins, f, taken, totals[node], options, best_of(node, block));
            }
    }

    // What marking a split needs: all sums of categories, and of a number only that of missing
    // values.
    void take(size_t node, size_t feature, BinSums& taken) const {
        const bool from_samples = !node_of.empty() || sparse(node);
        const size_t n_bins = bins.n_bins(feature), missing = n_bins - 1;
        if (bins.is_categorical(feature)) {
            if (from_samples)
                take_from_samples(bins.column(feature), values, nodes.of(node), taken);
            else
                take_from_sums(&sums(node, bins.offset(feature)), n_bins, taken);
            return;
        }
        const int64_t sum = from_samples ? sum_of_bin(feature, missing, node)
                                         : sums(node, bins.offset(feature) + missing);
        if (sum != 0)
            taken.push(missing, sum);
    }

    int64_t sum_of_bin(size_t feature, size_t bin, size_t node) const {
        const uint8_t* column = bins.column(feature);
        int64_t sum = 0;
        for (const int32_t n : nodes.of(node))
            if (bin_of(column, n) == bin)
                sum += values[n];
        return sum;
    }
};

} // namespace

void search_layer(const Bins& bins, Allowed allowed, Pairs values, const Nodes& nodes,
                  Matrix<const int64_t> parent_sums, Matrix<int64_t> sums,
                  const SearchOptions& options, const Splits& splits, int n_threads) {
    bins.check(allowed, values.size);
    nodes.check();
    options.check();
    splits.check(nodes.n_nodes());
    require(parent_sums.n_rows == 0 || 2 * parent_sums.n_rows == nodes.n_nodes(),
            "parent_sums must have half as many rows as there are nodes, or none");
    require(sums.is(nodes.n_nodes(), bins.n_bins()) && parent_sums.n_cols == bins.n_bins(),
            "sums must have a row for each node and a column for each bin");
    std::vector<int64_t> totals(nodes.n_nodes());
    parallel_each(nodes.n_nodes(), grain_for(nodes.n_nodes(), nodes.samples.size), n_threads,
                  [&](size_t i) { totals[i] = total_of(values, nodes.of(i)); });
    LayerSearch search{bins,        {},   allowed, values,           nodes,
                       parent_sums, sums, options, std::move(totals)};
    search.run(n_threads);
    search.write(splits);
}

bool search_in_order(const Bins& bins, Matrix<const uint32_t> order, Allowed allowed, Pairs values,
                     const Nodes& nodes, Matrix<const int64_t> parent_sums, Matrix<int64_t> sums,
                     const SearchOptions& options, const Splits& splits,
                     std::vector<int64_t> totals, bool always, int n_threads) {
    LayerSearch search{bins, order,   allowed,           values, nodes, parent_sums,
                       sums, options, std::move(totals), always};
    search.run(n_threads);
    search.write(splits);
    return !search.node_of.empty();
}

} // namespace rebel

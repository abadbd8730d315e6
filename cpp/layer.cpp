#include "search.hpp"

#include <functional>
#include <vector>

#include "parallel.hpp"

namespace rebel {
namespace {

// A layer's search as independent tasks: (siblings) × (block of features).
struct LayerSearch {
    const Bins& bins;
    Allowed allowed;
    Pairs values;
    const Nodes& nodes;
    Matrix<const int64_t> parent_sums;
    Matrix<int64_t> sums;
    const SearchOptions& options;
    size_t n_siblings = parent_sums.n_rows > 0 ? 2 : 1;
    std::vector<int64_t> totals = std::vector<int64_t>(nodes.n_nodes());
    std::vector<Candidate> best = std::vector<Candidate>(nodes.n_nodes() * bins.n_blocks());

    void run(int n_threads) {
        const size_t n_nodes = nodes.n_nodes();
        parallel_each(n_nodes, grain_for(n_nodes, nodes.samples.size), n_threads,
                      [&](size_t i) { totals[i] = total_of(values, nodes.of(i)); });
        const size_t n_tasks = n_nodes / n_siblings * bins.n_blocks();
        // With few blocks of features, threads share the samples instead.
        const bool share_samples = n_threads > 1 && n_tasks < 2 * static_cast<size_t>(n_threads);
        for (size_t task = 0; share_samples && task < n_tasks; ++task)
            sum(task, n_threads);
        const size_t work = nodes.samples.size * bins.n_features();
        parallel_each(n_tasks, grain_for(n_tasks, work + 20000), n_threads, [&](size_t task) {
            if (!share_samples)
                sum(task, 1);
            scan(task);
        });
    }

    void write(const Splits& splits) const {
        for (size_t node = 0; node < nodes.n_nodes(); ++node) {
            const auto own = best.begin() + static_cast<ptrdiff_t>(node * bins.n_blocks());
            Candidate top; // ties go to the first block
            for (size_t b = 0; b < bins.n_blocks(); ++b)
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

    bool divisible(size_t node) const {
        return rebel::divisible(nodes.of(node).size, totals[node], options);
    }

    // A node with few samples is scanned without sums over all bins, and so are its children.
    bool sparse(size_t node) const {
        return 3 * nodes.of(node).size * bins.n_features() < sums.n_cols;
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
        const size_t grain = samples.size / (4 * static_cast<size_t>(n_threads)) + 1;
        parallel_sum(samples.size, std::max<size_t>(4096, grain), n_threads, own,
                     [&](size_t from, size_t to, int64_t* partial) {
                         add_pairs(bins, block(task), values, samples.slice(from, to), partial);
                     });
        if (n_siblings == 2)
            std::transform(parent_sums.row(node / 2).begin() + begin,
                           parent_sums.row(node / 2).begin() + end, own.begin(),
                           sums.row(node ^ 1).begin() + begin, std::minus());
    }

    void scan(size_t task) {
        const size_t last = bins.last_feature(block(task));
        for (size_t i = 0; i < n_siblings; ++i) {
            const size_t node = first_node(task) + i;
            if (!divisible(node))
                continue;
            Candidate& top = best[node * bins.n_blocks() + block(task)];
            BinSums taken;
            for (size_t f = bins.first_feature(block(task)); f < last; ++f) {
                if (allowed[f] == 0)
                    continue;
                take(node, f, taken);
                const Candidate found = scan_feature(bins, f, taken, totals[node], options);
                if (found.value > top.value)
                    top = found;
            }
        }
    }

    void take(size_t node, size_t feature, BinSums& taken) const {
        if (sparse(node))
            take_from_samples(bins.column(feature), values, nodes.of(node), taken);
        else
            take_from_sums(&sums(node, bins.offset(feature)), bins.n_bins(feature), taken);
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
    LayerSearch search{bins, allowed, values, nodes, parent_sums, sums, options};
    search.run(n_threads);
    search.write(splits);
}

} // namespace rebel

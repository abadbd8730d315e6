#include "layer.hpp"

#include <vector>

#include "parallel.hpp"

namespace rebel {
namespace {

// A layer's search as independent tasks: (siblings) × (block of features).
class LayerSearch {
  public:
    LayerSearch(const Bins& bins, Allowed allowed, Pairs values, const Nodes& nodes,
                Matrix<const int64_t> parent_sums, Matrix<int64_t> sums,
                const SearchOptions& options)
        : bins_(bins), allowed_(allowed), values_(values), nodes_(nodes), parent_sums_(parent_sums),
          sums_(sums), options_(options), n_siblings_(parent_sums.n_rows > 0 ? 2 : 1),
          totals_(nodes.n_nodes(), 0), best_(nodes.n_nodes() * bins.n_blocks()) {}

    void run(int n_threads) {
        const size_t n_nodes = nodes_.n_nodes();
        parallel_each(n_nodes, grain_for(n_nodes, nodes_.samples.size), n_threads,
                      [&](size_t i) { totals_[i] = total_of(values_, nodes_.of(i)); });
        const size_t n_tasks = n_nodes / n_siblings_ * bins_.n_blocks();
        // With few blocks of features, threads share the samples instead.
        const bool share_samples = n_threads > 1 && n_tasks < 2 * static_cast<size_t>(n_threads);
        if (share_samples)
            for (size_t task = 0; task < n_tasks; ++task)
                if (summed(family(task)))
                    sum(task, n_threads);
        const size_t work = nodes_.samples.size * bins_.n_features();
        parallel_each(n_tasks, grain_for(n_tasks, work + 20000), n_threads, [&](size_t task) {
            if (summed(family(task))) {
                if (!share_samples)
                    sum(task, 1);
                if (n_siblings_ == 2)
                    subtract(task);
            }
            scan(task);
        });
    }

    void write(const Splits& splits) const {
        for (size_t node = 0; node < nodes_.n_nodes(); ++node) {
            Candidate best;
            for (size_t b = 0; b < bins_.n_blocks(); ++b)
                if (best_[node * bins_.n_blocks() + b].value > best.value)
                    best = best_[node * bins_.n_blocks() + b];
            BinSums taken;
            if (best.feature >= 0)
                take(node, static_cast<size_t>(best.feature), taken);
            write_split(bins_, best, taken, totals_[node], options_, splits, node);
        }
    }

  private:
    size_t family(size_t task) const { return task / bins_.n_blocks(); }
    size_t block(size_t task) const { return task % bins_.n_blocks(); }

    // The node of a family that is summed: the one with fewer samples.
    size_t smaller(size_t family) const {
        const size_t first = family * n_siblings_;
        const bool is_second =
            n_siblings_ == 2 && nodes_.of(first + 1).size < nodes_.of(first).size;
        return first + is_second;
    }

    bool divisible(size_t node) const {
        return rebel::divisible(nodes_.of(node).size, totals_[node], options_);
    }

    // A node with few samples is scanned without sums over all bins, and so are its children.
    bool sparse(size_t node) const {
        return 3 * nodes_.of(node).size * bins_.n_features() < sums_.n_cols;
    }

    bool summed(size_t family) const {
        const size_t first = family * n_siblings_;
        const auto needs_sums = [&](size_t node) { return divisible(node) && !sparse(node); };
        return needs_sums(first) || (n_siblings_ == 2 && needs_sums(first + 1));
    }

    int64_t* block_sums(size_t node, size_t block) const {
        return sums_.row(node).data + bins_.block_offset(block);
    }

    void sum(size_t task, int n_threads) {
        const size_t node = smaller(family(task));
        const Samples samples = nodes_.of(node);
        const Vector<int64_t> sums{block_sums(node, block(task)), bins_.block_bins(block(task))};
        std::fill(sums.begin(), sums.end(), 0);
        const size_t grain = samples.size / (4 * static_cast<size_t>(n_threads)) + 1;
        parallel_sum(samples.size, n_threads > 1 ? std::max<size_t>(4096, grain) : samples.size + 1,
                     n_threads, sums, [&](size_t begin, size_t end, int64_t* partial) {
                         add_pairs(bins_, block(task), values_, samples.slice(begin, end), partial);
                     });
    }

    void subtract(size_t task) {
        const size_t node = smaller(family(task));
        const int64_t* less = block_sums(node, block(task));
        const int64_t* parent =
            parent_sums_.row(family(task)).data + bins_.block_offset(block(task));
        int64_t* more = block_sums(node ^ 1, block(task));
        for (size_t i = 0; i < bins_.block_bins(block(task)); ++i)
            more[i] = parent[i] - less[i];
    }

    void scan(size_t task) {
        const size_t first = family(task) * n_siblings_;
        for (size_t node = first; node < first + n_siblings_; ++node) {
            if (!divisible(node))
                continue;
            Candidate& best = best_[node * bins_.n_blocks() + block(task)];
            BinSums taken;
            for (size_t f = bins_.first_feature(block(task)); f < bins_.last_feature(block(task));
                 ++f) {
                if (allowed_[f] == 0)
                    continue;
                take(node, f, taken);
                const Candidate found = scan_feature(bins_, f, taken, totals_[node], options_);
                if (found.value > best.value)
                    best = found;
            }
        }
    }

    void take(size_t node, size_t feature, BinSums& taken) const {
        if (sparse(node))
            take_from_samples(bins_.column(feature), values_, nodes_.of(node), taken);
        else
            take_from_sums(sums_.row(node).data + bins_.offset(feature), bins_.n_bins(feature),
                           taken);
    }

    const Bins& bins_;
    Allowed allowed_;
    Pairs values_;
    const Nodes& nodes_;
    Matrix<const int64_t> parent_sums_;
    Matrix<int64_t> sums_;
    const SearchOptions& options_;
    size_t n_siblings_;
    std::vector<int64_t> totals_;
    std::vector<Candidate> best_; // (nodes, blocks)
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
    LayerSearch search(bins, allowed, values, nodes, parent_sums, sums, options);
    search.run(n_threads);
    search.write(splits);
}

} // namespace rebel

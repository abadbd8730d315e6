#include "stump_search.hpp"

#include <algorithm>
#include <vector>

#include "class_sums.hpp"
#include "layer_pruning.hpp"
#include "parallel.hpp"
#include "scan.hpp"

namespace rebel {
namespace {

// A layer's search as independent tasks: (siblings) × (block of features).
class LayerSearch {
  public:
    LayerSearch(const Bins& bins, Vector<const std::uint8_t> allowed,
                Vector<const std::int64_t> values, const NodeSamples& nodes,
                Matrix<const std::int64_t> parent_sums, Matrix<std::int64_t> sums,
                const SearchOptions& options)
        : bins_(bins), allowed_(allowed), values_(values), nodes_(nodes), parent_sums_(parent_sums),
          sums_(sums), options_(options), n_siblings_(parent_sums.n_rows > 0 ? 2 : 1),
          totals_(nodes.n_nodes(), 0), best_(nodes.n_nodes() * bins.n_blocks()) {}

    void run(int n_threads) {
        total_up(n_threads);
        const std::size_t n_tasks = n_families() * bins_.n_blocks();
        const bool split_rows = n_threads > 1 && n_tasks < 2 * static_cast<std::size_t>(n_threads);
        if (split_rows)
            for (std::size_t task = 0; task < n_tasks; ++task)
                if (summed(family(task)))
                    sum_by_rows(task, n_threads);
        // Blocks of tasks worth about 20 µs, as parallel.hpp asks.
        const std::size_t work = nodes_.samples.size * bins_.n_features() + 1;
        const std::size_t grain = std::max<std::size_t>(1, n_tasks * 20000 / (work + 20000));
        parallel_for(n_tasks, grain, n_threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t task = begin; task < end; ++task) {
                if (summed(family(task))) {
                    if (!split_rows)
                        sum(task);
                    subtract(task);
                }
                scan(task);
            }
        });
    }

    Work work() const {
        const auto n_features =
            std::count_if(allowed_.begin(), allowed_.end(), [](auto f) { return f != 0; });
        std::int64_t n_samples = 0;
        for (std::size_t node = 0; node < nodes_.n_nodes(); ++node)
            n_samples += static_cast<std::int64_t>(nodes_.of(node).size);
        return {n_samples * n_features, 0};
    }

    void write(const Splits& splits) const {
        for (std::size_t node = 0; node < nodes_.n_nodes(); ++node)
            write(node, splits);
    }

  private:
    std::size_t n_families() const { return nodes_.n_nodes() / n_siblings_; }
    std::size_t family(std::size_t task) const { return task / bins_.n_blocks(); }
    std::size_t block(std::size_t task) const { return task % bins_.n_blocks(); }

    // The node of a family that is summed: the one with fewer samples.
    std::size_t smaller(std::size_t family) const {
        const std::size_t first = family * n_siblings_;
        return n_siblings_ == 2 && nodes_.of(first + 1).size < nodes_.of(first).size ? first + 1
                                                                                     : first;
    }

    bool divisible(std::size_t node) const {
        return rebel::divisible(nodes_.of(node).size, totals_[node], options_);
    }

    // A node with few samples is scanned without sums of all bins; so are its children.
    bool sparse(std::size_t node) const {
        return 3 * nodes_.of(node).size * bins_.n_features() < sums_.n_cols;
    }

    bool summed(std::size_t family) const {
        const std::size_t first = family * n_siblings_;
        const auto needs_sums = [&](std::size_t node) { return divisible(node) && !sparse(node); };
        return needs_sums(first) || (n_siblings_ == 2 && needs_sums(first + 1));
    }

    std::int64_t* block_sums(std::size_t node, std::size_t block) const {
        return sums_.row(node).data + bins_.block_offset(block);
    }

    void total_up(int n_threads) {
        const std::size_t n_nodes = nodes_.n_nodes();
        const std::size_t grain =
            std::max<std::size_t>(1, n_nodes * 20000 / (nodes_.samples.size + 1));
        parallel_for(n_nodes, grain, n_threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t node = begin; node < end; ++node)
                for (const std::int32_t n : nodes_.of(node))
                    totals_[node] += values_[static_cast<std::size_t>(n)];
        });
    }

    void sum(std::size_t task) {
        const std::size_t node = smaller(family(task));
        std::int64_t* sums = block_sums(node, block(task));
        std::fill_n(sums, bins_.block_bins(block(task)), 0);
        add_pairs(bins_, block(task), values_, nodes_.of(node), sums);
    }

    // The same with rows shared out among threads: for few features, when blocks are too few to
    // share.
    void sum_by_rows(std::size_t task, int n_threads) {
        const std::size_t node = smaller(family(task));
        const Vector<const std::int32_t> samples = nodes_.of(node);
        const std::size_t grain = std::max<std::size_t>(
            4096, samples.size / (4 * static_cast<std::size_t>(n_threads)) + 1);
        if (samples.size <= grain) {
            sum(task);
            return;
        }
        const std::size_t n_bins = bins_.block_bins(block(task));
        const std::size_t n_parts = (samples.size - 1) / grain + 1;
        std::vector<std::int64_t> parts(n_parts * n_bins, 0);
        parallel_for(samples.size, grain, n_threads, [&](std::size_t begin, std::size_t end) {
            add_pairs(bins_, block(task), values_, samples.slice(begin, end),
                      parts.data() + begin / grain * n_bins);
        });
        std::int64_t* sums = block_sums(node, block(task));
        std::fill_n(sums, n_bins, 0);
        for (std::size_t i = 0; i < parts.size(); ++i)
            sums[i % n_bins] += parts[i];
    }

    void subtract(std::size_t task) {
        if (n_siblings_ == 1)
            return;
        const std::size_t node = smaller(family(task));
        const std::int64_t* less = block_sums(node, block(task));
        const std::int64_t* parent =
            parent_sums_.row(family(task)).data + bins_.block_offset(block(task));
        std::int64_t* more = block_sums(node ^ 1, block(task));
        for (std::size_t i = 0; i < bins_.block_bins(block(task)); ++i)
            more[i] = parent[i] - less[i];
    }

    void scan(std::size_t task) {
        const std::size_t first = family(task) * n_siblings_;
        for (std::size_t node = first; node < first + n_siblings_; ++node) {
            Candidate& best = best_[node * bins_.n_blocks() + block(task)];
            best = Candidate{};
            if (!divisible(node))
                continue;
            BinSums taken;
            for (std::size_t f = bins_.first_feature(block(task));
                 f < bins_.last_feature(block(task)); ++f) {
                if (allowed_[f] == 0)
                    continue;
                take(node, f, taken);
                const Candidate found = scan_feature(bins_, f, taken, totals_[node], options_);
                if (found.value > best.value)
                    best = found;
            }
        }
    }

    void take(std::size_t node, std::size_t feature, BinSums& taken) const {
        if (sparse(node))
            take_from_samples(bins_.column(feature), values_, nodes_.of(node), taken);
        else
            take_from_sums(sums_.row(node).data + bins_.offset(feature), bins_.n_bins(feature),
                           taken);
    }

    void write(std::size_t node, const Splits& splits) const {
        Candidate best;
        for (std::size_t b = 0; b < bins_.n_blocks(); ++b)
            if (best_[node * bins_.n_blocks() + b].value > best.value)
                best = best_[node * bins_.n_blocks() + b];
        BinSums taken;
        if (best.feature >= 0)
            take(node, static_cast<std::size_t>(best.feature), taken);
        write_split(bins_, best, taken, totals_[node], options_, splits, node);
    }

    const Bins& bins_;
    Vector<const std::uint8_t> allowed_;
    Vector<const std::int64_t> values_;
    const NodeSamples& nodes_;
    Matrix<const std::int64_t> parent_sums_;
    Matrix<std::int64_t> sums_;
    const SearchOptions& options_;
    std::size_t n_siblings_;
    std::vector<std::int64_t> totals_;
    std::vector<Candidate> best_;
};

} // namespace

Work search_layer(const Bins& bins, Vector<const std::uint8_t> allowed,
                  Vector<const std::int64_t> values, const NodeSamples& nodes,
                  Matrix<const std::int64_t> parent_sums, Matrix<std::int64_t> sums,
                  const SearchOptions& options, const Splits& splits, int n_threads) {
    if (sums.n_rows == 0)
        return prune_layer(bins, allowed, values, nodes, options, splits, n_threads);
    LayerSearch search(bins, allowed, values, nodes, parent_sums, sums, options);
    search.run(n_threads);
    search.write(splits);
    return search.work();
}

} // namespace rebel

#include "stump_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "class_sums.hpp"
#include "multiversion.hpp"
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
        : bins_(bins), allowed_(allowed), values_(values), nodes_(nodes),
          parent_sums_(parent_sums), sums_(sums), options_(options),
          n_siblings_(parent_sums.n_rows > 0 ? 2 : 1), totals_(nodes.n_nodes(), 0),
          best_(nodes.n_nodes() * bins.n_blocks()) {}

    void run(int n_threads) {
        total_up(n_threads);
        const std::size_t n_tasks = n_families() * bins_.n_blocks();
        const bool split_rows = n_threads > 1 && n_tasks < 2 * static_cast<std::size_t>(n_threads);
        if (split_rows)
            for (std::size_t task = 0; task < n_tasks; ++task)
                sum_by_rows(task, n_threads);
        // Blocks of tasks worth about 20 µs, as parallel.hpp asks.
        const std::size_t work = nodes_.samples.size * bins_.n_features() + 1;
        const std::size_t grain = std::max<std::size_t>(1, n_tasks * 20000 / (work + 20000));
        parallel_for(n_tasks, grain, n_threads, [&](std::size_t begin, std::size_t end) {
            for (std::size_t task = begin; task < end; ++task) {
                if (!split_rows)
                    sum(task);
                subtract(task);
                scan(task);
            }
        });
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

    std::int64_t* block_sums(std::size_t node, std::size_t block) const {
        return sums_.row(node).data + bins_.block_offset(block);
    }

    void total_up(int n_threads) {
        const std::size_t n_nodes = nodes_.n_nodes();
        const std::size_t grain = std::max<std::size_t>(1, n_nodes * 20000 / (nodes_.samples.size + 1));
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

    // The same with rows shared out among threads: for few features, when blocks are too few to share.
    void sum_by_rows(std::size_t task, int n_threads) {
        const std::size_t node = smaller(family(task));
        const Vector<const std::int32_t> samples = nodes_.of(node);
        const std::size_t grain =
            std::max<std::size_t>(4096, samples.size / (4 * static_cast<std::size_t>(n_threads)) + 1);
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
            if (nodes_.of(node).size < 2)
                continue;
            for (std::size_t f = bins_.first_feature(block(task));
                 f < bins_.last_feature(block(task)); ++f) {
                if (allowed_[f] == 0)
                    continue;
                const Candidate found = scan_feature(bins_, f, sums_.row(node).data + bins_.offset(f),
                                                     totals_[node], options_);
                if (found.value > best.value)
                    best = found;
            }
        }
    }

    void write(std::size_t node, const Splits& splits) const {
        Candidate best;
        for (std::size_t b = 0; b < bins_.n_blocks(); ++b)
            if (best_[node * bins_.n_blocks() + b].value > best.value)
                best = best_[node * bins_.n_blocks() + b];
        const std::int64_t total = totals_[node];
        const double gain = best.feature < 0 ? 0 : best.value - whole(total, options_);
        const bool found = gain > 0;
        splits.features[node] = found ? best.feature : -1;
        splits.gains[node] = found ? gain : 0;
        splits.sides(node, 0) = found ? best.left : total;
        splits.sides(node, 1) = found ? total - best.left : 0;
        if (found)
            mark_right(bins_, best,
                       sums_.row(node).data + bins_.offset(static_cast<std::size_t>(best.feature)),
                       total, splits.right.row(node));
        else
            std::fill(splits.right.row(node).begin(), splits.right.row(node).end(), std::uint8_t{0});
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

// Σ_k rint √((S − P)(S + P)) for P = (total − c) − c: no product overflows, no sum depends on order.
REBEL_CLONES std::int64_t root_criterion(const std::int64_t* mass, const std::int32_t* total,
                                         const std::int32_t* left, std::size_t n_classes) {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < n_classes; ++k) {
        const std::int64_t p = (std::int64_t{total[k]} - left[k]) - left[k];
        const std::int64_t product = std::max<std::int64_t>(0, mass[k] - p) * (mass[k] + p);
        sum += static_cast<std::int64_t>(std::nearbyint(
            std::sqrt(static_cast<double>(std::max<std::int64_t>(0, product)))));
    }
    return sum;
}

struct RootCandidate {
    std::int64_t criterion = std::numeric_limits<std::int64_t>::max();
    std::int32_t feature = -1;
    std::int32_t bin = 0;
    bool missing_right = false;
    bool missing_met = false;
};

class RootSearch {
  public:
    RootSearch(const Bins& bins, Matrix<const std::int32_t> values,
               Vector<const std::int64_t> totals, const NodeSamples& root)
        : bins_(bins), values_(values), mass_(totals), samples_(root.of(0)),
          signed_total_(values.n_cols, 0) {
        for (const std::int32_t n : samples_)
            for (std::size_t k = 0; k < values_.n_cols; ++k)
                signed_total_[k] += values_(static_cast<std::size_t>(n), k);
    }

    std::int64_t constant() const {
        const std::vector<std::int32_t> nothing(values_.n_cols, 0);
        return criterion(nothing.data());
    }

    RootCandidate best_of(std::size_t feature) const {
        const std::size_t n_bins = bins_.n_bins(feature);
        const std::size_t n_lanes = values_.n_cols;
        std::vector<std::int32_t> sums(n_bins * n_lanes, 0);
        add_vectors(bins_, feature, values_, samples_, {sums.data(), n_bins, n_lanes});
        RootCandidate best;
        best.feature = static_cast<std::int32_t>(feature);
        const std::int32_t* missing = sums.data() + (n_bins - 1) * n_lanes;
        best.missing_met = std::any_of(missing, missing + n_lanes, [](auto s) { return s != 0; });
        if (bins_.is_categorical(feature)) {
            for (std::size_t b = 0; b < n_bins; ++b) // one category against the rest
                improve(best, sums.data() + b * n_lanes, b, false);
            return best;
        }
        std::vector<std::int32_t> with_missing(missing, missing + n_lanes);
        for (std::size_t b = 0; b + 2 < n_bins; ++b) {
            add(with_missing, sums.data() + b * n_lanes);
            improve(best, with_missing.data(), b, false);
        }
        if (best.missing_met) {
            std::vector<std::int32_t> without(n_lanes, 0);
            for (std::size_t b = 0; b + 1 < n_bins; ++b) {
                add(without, sums.data() + b * n_lanes);
                improve(best, without.data(), b, true);
            }
        }
        return best;
    }

  private:
    std::int64_t criterion(const std::int32_t* left) const {
        return root_criterion(mass_.data, signed_total_.data(), left, mass_.size);
    }

    void improve(RootCandidate& best, const std::int32_t* left, std::size_t bin,
                 bool missing_right) const {
        const std::int64_t value = criterion(left);
        if (value < best.criterion) {
            best.criterion = value;
            best.bin = static_cast<std::int32_t>(bin);
            best.missing_right = missing_right;
        }
    }

    static void add(std::vector<std::int32_t>& sum, const std::int32_t* more) {
        for (std::size_t k = 0; k < sum.size(); ++k)
            sum[k] += more[k];
    }

    const Bins& bins_;
    Matrix<const std::int32_t> values_;
    Vector<const std::int64_t> mass_;
    Vector<const std::int32_t> samples_;
    std::vector<std::int32_t> signed_total_;
};

void mark_root(const Bins& bins, const RootCandidate& best, Vector<const std::int32_t> samples,
               Vector<std::uint8_t> right) {
    const auto feature = static_cast<std::size_t>(best.feature);
    const auto bin = static_cast<std::size_t>(best.bin);
    const std::size_t n_bins = bins.n_bins(feature);
    std::fill(right.begin(), right.end(), std::uint8_t{0});
    if (bins.is_categorical(feature)) {
        for (std::size_t b = 0; b < n_bins; ++b)
            right[b] = b != bin;
        return;
    }
    std::fill(right.begin() + bin + 1, right.begin() + n_bins - 1, std::uint8_t{1});
    right[n_bins - 1] = best.missing_right;
    if (!best.missing_met) {
        const std::uint8_t* column = bins.column(feature);
        const auto n_right = std::count_if(samples.begin(), samples.end(), [&](std::int32_t n) {
            return right[column[static_cast<std::size_t>(n) * block_width]] != 0;
        });
        right[n_bins - 1] = 2 * static_cast<std::size_t>(n_right) > samples.size;
    }
}

} // namespace

void search_layer(const Bins& bins, Vector<const std::uint8_t> allowed,
                  Vector<const std::int64_t> values, const NodeSamples& nodes,
                  Matrix<const std::int64_t> parent_sums, Matrix<std::int64_t> sums,
                  const SearchOptions& options, const Splits& splits, int n_threads) {
    LayerSearch search(bins, allowed, values, nodes, parent_sums, sums, options);
    search.run(n_threads);
    search.write(splits);
}

Stump search_root(const Bins& bins, Vector<const std::uint8_t> allowed,
                  Matrix<const std::int32_t> values, Vector<const std::int64_t> totals,
                  const NodeSamples& root, Vector<std::uint8_t> right, int n_threads) {
    const RootSearch search(bins, values, totals, root);
    std::vector<RootCandidate> found(bins.n_features());
    const std::size_t grain = std::max<std::size_t>(
        1, bins.n_features() * 20000 / (root.samples.size * bins.n_features() + 20000));
    parallel_for(found.size(), grain, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t f = begin; f < end; ++f)
            if (allowed[f] != 0)
                found[f] = search.best_of(f);
    });
    RootCandidate best;
    best.criterion = search.constant();
    for (const RootCandidate& candidate : found)
        if (candidate.criterion < best.criterion)
            best = candidate;
    std::fill(right.begin(), right.end(), std::uint8_t{0});
    if (best.feature >= 0)
        mark_root(bins, best, root.of(0), right);
    return {best.feature, best.criterion};
}

} // namespace rebel

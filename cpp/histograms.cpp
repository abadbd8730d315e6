#include "search.hpp"

#include <vector>

#include "parallel.hpp"

namespace rebel {

void node_sums(const Bins& bins, Pairs values, const Nodes& nodes, Vector<const int32_t> chosen,
               Matrix<int64_t> sums, int n_threads) {
    bins.check();
    nodes.check();
    require(values.size == bins.n_samples(), "bins and values do not match");
    require(sums.is(chosen.size, bins.n_bins()),
            "sums must have a row for each chosen node and a column for each bin");
    for (const int32_t node : chosen)
        require(node >= 0 && static_cast<size_t>(node) < nodes.n_nodes(), "no such node");
    const size_t n_blocks = bins.n_blocks();
    const size_t n_tasks = chosen.size * n_blocks;
    // With few blocks of features, threads share the samples instead.
    const bool share_samples = n_threads > 1 && n_tasks < 2 * static_cast<size_t>(n_threads);
    const auto sum = [&](size_t task, int threads) {
        const size_t block = task % n_blocks;
        const Samples samples = nodes.of(static_cast<size_t>(chosen[task / n_blocks]));
        const Vector<int64_t> own = sums.row(task / n_blocks)
                                        .slice(bins.offset(bins.first_feature(block)),
                                               bins.offset(bins.last_feature(block)));
        std::fill(own.begin(), own.end(), 0);
        const size_t grain = samples.size / (4 * static_cast<size_t>(threads)) + 1;
        parallel_sum(samples.size, std::max<size_t>(4096, grain), threads, own,
                     [&](size_t from, size_t to, int64_t* partial) {
                         add_pairs(bins, block, values, samples.slice(from, to), partial);
                     });
    };
    if (share_samples) {
        for (size_t task = 0; task < n_tasks; ++task)
            sum(task, n_threads);
        return;
    }
    const size_t work = nodes.samples.size * bins.n_features();
    parallel_each(n_tasks, grain_for(n_tasks, work + 20000), n_threads,
                  [&](size_t task) { sum(task, 1); });
}

void choose_splits(const Bins& bins, Allowed allowed, Matrix<const int64_t> sums,
                   Vector<const int64_t> totals, Vector<const int64_t> counts,
                   const SearchOptions& options, const Splits& splits, int n_threads) {
    bins.check(allowed, bins.n_samples());
    options.check();
    splits.check(totals.size);
    require(sums.is(totals.size, bins.n_bins()) && counts.size == totals.size,
            "sums, totals and counts do not match");
    parallel_each(totals.size, 1, n_threads, [&](size_t node) {
        Candidate top;
        BinSums taken;
        const bool may = divisible(static_cast<size_t>(counts[node]), totals[node], options);
        for (size_t f = 0; may && f < bins.n_features(); ++f)
            if (allowed[f] != 0)
                improve(bins, f, &sums(node, bins.offset(f)), totals[node], options, top);
        if (top.feature >= 0)
            take_from_sums(&sums(node, bins.offset(static_cast<size_t>(top.feature))),
                           bins.n_bins(static_cast<size_t>(top.feature)), taken);
        write_split(bins, top, taken, totals[node], options, splits, node);
    });
}

} // namespace rebel

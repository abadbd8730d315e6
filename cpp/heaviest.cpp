#include "heaviest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <vector>

#include "parallel.hpp"

namespace rebel {
namespace {

// By exponent and two bits of the mantissa, the heaviest first, those that weigh nothing last.
constexpr std::size_t n_buckets = 4 * 64 + 1;
constexpr std::uint64_t of_one = std::bit_cast<std::uint64_t>(1.0) >> 50;

std::size_t bucket_of(std::int64_t key) {
    if (key <= 0)
        return n_buckets - 1;
    const auto bits = std::bit_cast<std::uint64_t>(static_cast<double>(key));
    return n_buckets - 2 - static_cast<std::size_t>((bits >> 50) - of_one);
}

// The samples' weights: |key|, on the lighter sign times what makes both signs weigh the same.
void weigh(Vector<const std::int64_t> keys, Vector<const std::int32_t> samples,
           std::int64_t* weights) {
    std::int64_t plus = 0;
    std::int64_t minus = 0;
    for (std::size_t i = 0; i < samples.size; ++i) {
        weights[i] = keys[static_cast<std::size_t>(samples[i])];
        plus += std::max<std::int64_t>(weights[i], 0);
        minus += std::max<std::int64_t>(-weights[i], 0);
    }
    if (minus == 0)
        return;
    const auto more = static_cast<double>(std::max(plus, minus));
    const double raise = plus > 0 ? more / static_cast<double>(std::min(plus, minus)) : 1;
    const bool raised = plus < minus; // the sign that is
    for (std::size_t i = 0; i < samples.size; ++i) {
        const std::int64_t weight = std::abs(weights[i]);
        const bool lighter = (weights[i] > 0) == raised;
        weights[i] =
            lighter ? static_cast<std::int64_t>(static_cast<double>(weight) * raise) : weight;
    }
}

// How much comes before a bucket's next sample, and the first subset that it may be in.
struct Bucket {
    std::int64_t mass_before = 0;
    std::size_t subset = 0;
};
using Buckets = std::array<Bucket, n_buckets>;

std::int64_t fill(const std::vector<std::int64_t>& weights, std::uint16_t* bucket,
                  Buckets& buckets) {
    std::array<std::int64_t, n_buckets> mass{};
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const std::size_t b = bucket_of(weights[i]);
        bucket[i] = static_cast<std::uint16_t>(b);
        mass[b] += weights[i];
    }
    std::int64_t total = 0;
    for (std::size_t b = 0; b < n_buckets; ++b) {
        buckets[b].mass_before = total;
        total += mass[b];
    }
    return total;
}

void order(Vector<const std::int64_t> keys, Vector<std::int32_t> samples,
           Vector<const double> shares, std::int32_t begin, Vector<std::int32_t> cuts) {
    std::vector<std::int64_t> weights(samples.size);
    weigh(keys, samples, weights.data());
    std::vector<std::uint16_t> subset(samples.size); // at first a sample's bucket, then its subset
    Buckets buckets{};
    const auto total = static_cast<double>(fill(weights, subset.data(), buckets));
    std::vector<std::int32_t> next(shares.size + 2, 0);
    for (std::size_t i = 0; i < samples.size; ++i) {
        Bucket& bucket = buckets[subset[i]];
        const auto before = static_cast<double>(bucket.mass_before);
        while (bucket.subset < shares.size && before >= shares[bucket.subset] * total)
            ++bucket.subset;
        bucket.mass_before += weights[i];
        subset[i] = static_cast<std::uint16_t>(bucket.subset);
        ++next[bucket.subset + 1];
    }
    for (std::size_t s = 1; s < next.size(); ++s)
        next[s] += next[s - 1];
    for (std::size_t s = 0; s < next.size(); ++s)
        cuts[s] = begin + next[s];
    const std::vector<std::int32_t> unordered(samples.begin(), samples.end());
    for (std::size_t i = 0; i < samples.size; ++i)
        samples[static_cast<std::size_t>(next[subset[i]]++)] = unordered[i];
}

} // namespace

void heaviest_first(Vector<const std::int64_t> keys, Vector<std::int32_t> samples,
                    Vector<const std::int32_t> starts, Vector<const double> shares,
                    Matrix<std::int32_t> cuts, int n_threads) {
    const std::size_t n_nodes = cuts.n_rows;
    const std::size_t grain = std::max<std::size_t>(1, n_nodes * 4096 / (samples.size + 1));
    parallel_for(n_nodes, grain, n_threads, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const Vector<std::int32_t> own = samples.slice(static_cast<std::size_t>(starts[i]),
                                                           static_cast<std::size_t>(starts[i + 1]));
            order(keys, own, shares, starts[i], cuts.row(i));
        }
    });
}

} // namespace rebel

#include "heaviest.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "parallel.hpp"

namespace rebel {
namespace {

constexpr std::size_t n_buckets = 4 * 64 + 1;

// By exponent and two bits of the mantissa, the heaviest first, those that weigh nothing last.
std::size_t bucket_of(std::int64_t key) {
    if (key <= 0)
        return n_buckets - 1;
    const auto bits = static_cast<std::uint64_t>(key);
    const auto width = static_cast<std::size_t>(std::bit_width(bits));
    const std::uint64_t mantissa = (width > 3 ? bits >> (width - 3) : bits << (3 - width)) & 3;
    return 4 * (64 - width) + (3 - static_cast<std::size_t>(mantissa));
}

// How much comes before a bucket's next sample, and the first subset that it may be in.
struct Bucket {
    std::int64_t mass_before = 0;
    std::size_t subset = 0;
};
using Buckets = std::array<Bucket, n_buckets>;

std::int64_t weigh(Vector<const std::int64_t> keys, Vector<const std::int32_t> samples,
                   std::uint16_t* bucket, Buckets& buckets) {
    std::array<std::int64_t, n_buckets> mass{};
    for (std::size_t i = 0; i < samples.size; ++i) {
        const std::int64_t key = keys[static_cast<std::size_t>(samples[i])];
        const std::size_t b = bucket_of(key);
        bucket[i] = static_cast<std::uint16_t>(b);
        mass[b] += key;
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
    std::vector<std::uint16_t> subset(samples.size); // at first a sample's bucket, then its subset
    Buckets buckets{};
    const auto total = static_cast<double>(weigh(keys, samples, subset.data(), buckets));
    std::vector<std::int32_t> next(shares.size + 2, 0);
    for (std::size_t i = 0; i < samples.size; ++i) {
        Bucket& bucket = buckets[subset[i]];
        const auto before = static_cast<double>(bucket.mass_before);
        while (bucket.subset < shares.size && before >= shares[bucket.subset] * total)
            ++bucket.subset;
        bucket.mass_before += keys[static_cast<std::size_t>(samples[i])];
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

#include "nodes.hpp"

#include <array>
#include <bit>
#include <numeric>
#include <vector>

#include "parallel.hpp"

namespace rebel {
namespace {

size_t split_node(const uint8_t* column, const uint8_t* right, Vector<int32_t> samples) {
    std::vector<int32_t> moved(samples.size);
    size_t n_left = 0;
    size_t n_right = 0;
    for (size_t i = 0; i < samples.size; ++i) {
        const int32_t sample = samples[i];
        const bool goes_right = right[bin_of(column, sample)] != 0;
        samples[n_left] = sample; // n_left ≤ i: this sample has been read
        moved[n_right] = sample;
        n_left += !goes_right;
        n_right += goes_right;
    }
    std::copy_n(moved.begin(), n_right, samples.data + n_left);
    return n_left;
}

// By exponent and two bits of the mantissa, the heaviest first and zeros last.
constexpr size_t n_buckets = 4 * 64 + 1;

size_t bucket_of(int64_t weight) {
    constexpr uint64_t of_one = std::bit_cast<uint64_t>(1.0) >> 50;
    if (weight <= 0)
        return n_buckets - 1;
    const auto bits = std::bit_cast<uint64_t>(static_cast<double>(weight));
    return n_buckets - 2 - static_cast<size_t>((bits >> 50) - of_one);
}

// The absolute values of the keys, with the lighter sign scaled up to the sum of the other.
std::vector<int64_t> balanced(Vector<const int64_t> keys, Samples samples) {
    std::vector<int64_t> weights(samples.size);
    int64_t sum = 0;
    int64_t sizes = 0;
    for (size_t i = 0; i < samples.size; ++i) {
        weights[i] = keys[samples[i]];
        sum += weights[i];
        sizes += std::abs(weights[i]);
    }
    const int64_t plus = (sizes + sum) / 2, minus = sizes - plus;
    if (minus == 0)
        return weights;
    const auto more = static_cast<double>(std::max(plus, minus));
    const double up = plus > 0 ? more / static_cast<double>(plus) : 1;
    const double down = -more / static_cast<double>(minus);
    for (int64_t& weight : weights)
        weight = static_cast<int64_t>(static_cast<double>(weight) * (weight > 0 ? up : down));
    return weights;
}

// Whether the samples of a bucket are all in one subset, and in which. Samples are in subset s if
// the mass before them is below shares[s] of the total, and in no earlier one.
struct Bucket {
    int64_t mass = 0; // of its samples; then the mass before its next sample
    int32_t n = 0;
    uint16_t subset = 0; // the first subset that its next sample may be in
    bool divided = false;

    void advance(Vector<const double> shares, double total) {
        while (subset < shares.size && static_cast<double>(mass) >= shares[subset] * total)
            ++subset;
    }
};

void order(Vector<const int64_t> keys, Vector<int32_t> samples, Vector<const double> shares,
           int32_t begin, Vector<int32_t> cuts) {
    const std::vector<int64_t> weights = balanced(keys, samples);
    std::vector<uint16_t> subset(samples.size); // at first a sample's bucket, then its subset
    std::array<Bucket, n_buckets> buckets;
    for (size_t i = 0; i < samples.size; ++i) {
        const size_t b = bucket_of(weights[i]);
        subset[i] = static_cast<uint16_t>(b);
        buckets[b].mass += weights[i];
        ++buckets[b].n;
    }
    int64_t sum = 0;
    for (const Bucket& bucket : buckets)
        sum += bucket.mass;
    const auto total = static_cast<double>(sum);
    std::vector<int32_t> next(shares.size + 2, 0);
    int64_t before = 0;
    for (Bucket& bucket : buckets) {
        const int64_t after = before + bucket.mass;
        bucket.mass = before;
        bucket.advance(shares, total);
        bucket.divided =
            bucket.subset<shares.size&& static_cast<double>(after)> shares[bucket.subset] * total;
        if (!bucket.divided)
            next[bucket.subset + 1u] += bucket.n;
        before = after;
    }
    for (size_t i = 0; i < samples.size; ++i) {
        Bucket& bucket = buckets[subset[i]];
        if (bucket.divided) {
            bucket.advance(shares, total);
            bucket.mass += weights[i];
            ++next[bucket.subset + 1u];
        }
        subset[i] = bucket.subset;
    }
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::transform(next.begin(), next.end(), cuts.begin(), [=](int32_t n) { return begin + n; });
    const std::vector<int32_t> unordered(samples.begin(), samples.end());
    for (size_t i = 0; i < samples.size; ++i)
        samples[next[subset[i]]++] = unordered[i];
}

} // namespace

void split_samples(const Bins& bins, const Layer& layer, Vector<int32_t> samples,
                   Vector<const int32_t> starts, Vector<int32_t> child_starts, int n_threads) {
    bins.check();
    layer.check();
    const size_t n_nodes = layer.features.size;
    require(starts.size == n_nodes + 1 && child_starts.size == 2 * n_nodes + 1,
            "layer, starts and child_starts do not match");
    parallel_each(n_nodes, grain_for(n_nodes, 5 * samples.size), n_threads, [&](size_t i) {
        const auto own = samples.slice(starts[i], starts[i + 1]);
        size_t n_left = own.size;
        if (layer.features[i] >= 0)
            n_left = split_node(bins.column(layer.features[i]), layer.right.row(i).data, own);
        child_starts[2 * i] = starts[i];
        child_starts[2 * i + 1] = starts[i] + static_cast<int32_t>(n_left);
    });
    child_starts[2 * n_nodes] = starts[n_nodes];
}

void route(const Bins& bins, const Layer& nodes, Vector<uint16_t> regions, int n_threads) {
    bins.check();
    nodes.check();
    require(regions.size == bins.n_samples(), "bins and regions do not match");
    const size_t n_nodes = nodes.features.size; // 2^depth − 1
    std::vector<const uint8_t*> columns(n_nodes, nullptr);
    for (size_t i = 0; i < n_nodes; ++i)
        if (nodes.features[i] >= 0)
            columns[i] = bins.column(nodes.features[i]);
    parallel_each(bins.n_samples(), 4096, n_threads, [&](size_t n) {
        size_t node = 0;
        while (node < n_nodes) {
            const uint8_t* column = columns[node];
            const bool goes_right =
                column != nullptr &&
                nodes.right.data[node * most_bins + column[n * block_width]] != 0;
            node = 2 * node + 1 + goes_right;
        }
        regions[n] = static_cast<uint16_t>(node - n_nodes);
    });
}

void descend(const Bins& bins, const Layer& layer, Vector<uint16_t> regions, int n_threads) {
    bins.check();
    layer.check();
    require(regions.size == bins.n_samples(), "bins and regions do not match");
    std::vector<const uint8_t*> columns(layer.features.size, nullptr);
    for (size_t i = 0; i < columns.size(); ++i)
        if (layer.features[i] >= 0)
            columns[i] = bins.column(layer.features[i]);
    parallel_each(bins.n_samples(), 4096, n_threads, [&](size_t n) {
        const size_t node = regions.data[n];
        assert(node < columns.size());
        const uint8_t* column = columns[node];
        const bool goes_right =
            column != nullptr && layer.right.data[node * most_bins + column[n * block_width]] != 0;
        regions.data[n] = static_cast<uint16_t>(2 * node + goes_right);
    });
}

void heaviest_first(Vector<const int64_t> keys, Vector<int32_t> samples,
                    Vector<const int32_t> starts, Vector<const double> shares, Matrix<int32_t> cuts,
                    int n_threads) {
    const size_t n_nodes = cuts.n_rows;
    require(starts.size == n_nodes + 1 && cuts.n_cols == shares.size + 2,
            "starts, shares and cuts do not match");
    parallel_each(n_nodes, grain_for(n_nodes, 5 * samples.size), n_threads, [&](size_t i) {
        order(keys, samples.slice(starts[i], starts[i + 1]), shares, starts[i], cuts.row(i));
    });
}

} // namespace rebel

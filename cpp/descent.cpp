#include "descent.hpp"

#include <algorithm>

#include "tiles.hpp"

namespace rebel {
namespace {

constexpr size_t memory = 8;
constexpr double too_far = 0.5; // share of the slope at its start with which a step may end

REBEL_CLONES double product_of(const std::vector<double>& a, const std::vector<double>& b) {
    return dot(a.data(), b.data(), a.size());
}

// out = a + factor·b
REBEL_CLONES void combine(const std::vector<double>& a, double factor, const std::vector<double>& b,
                          std::vector<double>& out) {
    for (size_t i = 0; i < out.size(); i += 4)
        store(loaded<Doubles>(&a[i]) + factor * loaded<Doubles>(&b[i]), &out[i]);
}

} // namespace

Descent::Descent(size_t n, double precision, size_t most_steps)
    : precision_(precision), most_steps_(most_steps), trial_(n + eight), at_(n + eight),
      slope_(n + eight), direction_(n + eight) {}

bool Descent::take(const std::vector<double>& slope) {
    ++n_taken_;
    const bool is_last = n_taken_ >= most_steps_;
    if (n_taken_ > 1) {
        const double rise = product_of(direction_, slope);
        if (rise > -too_far * fall_ && !is_last) {
            length_ *= fall_ / (fall_ - rise);
            combine(at_, length_, direction_, trial_);
            return true;
        }
        remember(slope);
    }
    at_ = trial_;
    slope_ = slope;
    turn();
    fall_ = product_of(direction_, slope);
    length_ = 1;
    // The first direction is that of the slope, whose length says little: go at least one step.
    const bool has_settled = n_taken_ > 1 && !(-fall_ > precision_);
    if (is_last || has_settled)
        return false;
    combine(at_, 1, direction_, trial_);
    return true;
}

void Descent::remember(const std::vector<double>& slope) {
    Pair pair{std::vector<double>(slope.size()), std::vector<double>(slope.size()), 0};
    combine(trial_, -1, at_, pair.step);
    combine(slope, -1, slope_, pair.change);
    pair.product = product_of(pair.step, pair.change);
    const double size = product_of(pair.change, pair.change);
    if (!(pair.product > 0 && size > 0))
        return;
    scale_ = pair.product / size;
    pairs_.push_back(std::move(pair));
    if (pairs_.size() > memory)
        pairs_.pop_front();
}

// The direction is the negative slope, times an estimate of the inverse of the curvature.
void Descent::turn() {
    std::vector<double>& turned = direction_;
    turned = slope_;
    std::vector<double> shares;
    for (auto pair = pairs_.rbegin(); pair != pairs_.rend(); ++pair) {
        shares.push_back(product_of(pair->step, turned) / pair->product);
        combine(turned, -shares.back(), pair->change, turned);
    }
    for (double& each : turned)
        each *= scale_;
    for (const Pair& pair : pairs_) {
        const double share = shares.back() - product_of(pair.change, turned) / pair.product;
        shares.pop_back();
        combine(turned, share, pair.step, turned);
    }
    for (double& each : turned)
        each = -each;
}

} // namespace rebel

#include "class_splits.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "arithmetic.hpp"
#include "parallel.hpp"
#include "pruning.hpp"

namespace rebel {
namespace {

using ClassSums = std::vector<int64_t>; // one for each class
using Side = Vector<const int64_t>;     // the same, wherever it is

Side side_of(const ClassSums& sums) {
    return {sums.data(), sums.size()};
}

int64_t mass_of_all(Side sums) {
    return std::accumulate(sums.begin(), sums.end(), int64_t{0});
}

// How pure a side is, times its mass.
double purity(Side sums, Criterion criterion) {
    const auto mass = static_cast<double>(mass_of_all(sums));
    double total = 0;
    if (criterion == Criterion::error)
        return static_cast<double>(*std::max_element(sums.begin(), sums.end()));
    if (criterion == Criterion::variance) {
        for (const int64_t sum : sums)
            total += static_cast<double>(sum) * static_cast<double>(sum);
        return mass > 0 ? total / mass : 0;
    }
    for (const int64_t sum : sums)
        total += times_log2(static_cast<double>(sum));
    return total - times_log2(mass);
}

// A node, which splits are compared with.
struct Undivided {
    Undivided(ClassSums of_classes, const SearchOptions& of_search)
        : sums(std::move(of_classes)), options(of_search), mass(mass_of_all(side_of(sums))),
          pure(purity(side_of(sums), options.criterion)) {}

    // −1 if a side is too light.
    double value(Side left, ClassSums& memory) const {
        for (size_t k = 0; k < sums.size(); ++k)
            memory[k] = sums[k] - left[k];
        const Side right = side_of(memory);
        const int64_t light = mass_of_all(left), rest = mass - light;
        if (light < options.least_mass || rest < options.least_mass)
            return -1;
        const double gained =
            (purity(left, options.criterion) + purity(right, options.criterion)) - pure;
        if (options.criterion != Criterion::gain_ratio)
            return std::max(0.0, gained);
        const double parted =
            times_log2(static_cast<double>(mass)) -
            (times_log2(static_cast<double>(light)) + times_log2(static_cast<double>(rest)));
        return parted > 0 ? std::max(0.0, gained / parted) : 0;
    }

    ClassSums sums;
    const SearchOptions& options;
    int64_t mass;
    double pure;
};

// The best split of a feature by the sums of its bins (see scan_thresholds). Its `left` is a mass.
class ClassSides {
  public:
    // sum(bin, k) is that of a class in a bin.
    template <class Sum>
    ClassSides(const Undivided& of, size_t n_bins, Sum sum)
        : of_(of), n_bins_(n_bins), sums_(n_bins * of.sums.size()), left_(of.sums.size()),
          right_(of.sums.size()) {
        for (size_t b = 0; b < n_bins; ++b)
            for (size_t k = 0; k < left_.size(); ++k)
                sums_[b * left_.size() + k] = sum(b, k);
        for (size_t b = 0; b + 1 < n_bins; ++b)
            if (holds(b))
                filled_[n_filled_++] = static_cast<uint8_t>(b);
        any_missing_ = holds(n_bins - 1);
    }

    const Candidate& scan(size_t feature, bool categorical) {
        best.feature = static_cast<int32_t>(feature);
        if (categorical) {
            for (size_t b = 0; b < n_bins_; ++b)
                if (holds(b))
                    improve(bin(b), b);
        } else {
            scan_thresholds(n_filled_, any_missing_, *this);
        }
        return best;
    }

    void start(bool with_missing) {
        improved_ = false;
        if (with_missing)
            std::copy_n(bin(n_bins_ - 1).data, left_.size(), left_.begin());
        else
            std::fill(left_.begin(), left_.end(), 0);
    }
    void add(size_t i) {
        const Side more = bin(filled_[i]);
        for (size_t k = 0; k < left_.size(); ++k)
            left_[k] += more[k];
        improve(side_of(left_), filled_[i]);
    }
    void finish(bool missing_right) {
        if (improved_)
            best.missing_right = missing_right;
    }

    // The bins that go right. Those without mass go where most of the mass goes, except between
    // the thresholds of a number.
    void mark(bool categorical, Vector<uint8_t> right) const {
        const bool mostly_right = of_.mass - best.left > best.left;
        const auto last_left = static_cast<size_t>(best.bin);
        if (categorical) {
            for (size_t b = 0; b < n_bins_; ++b)
                right[b] = holds(b) ? b != last_left : mostly_right;
            return;
        }
        std::fill(right.begin() + last_left + 1, right.begin() + n_bins_ - 1, uint8_t{1});
        right[n_bins_ - 1] = any_missing_ ? best.missing_right : mostly_right;
    }

    Candidate best;

  private:
    Side bin(size_t b) const { return {sums_.data() + b * left_.size(), left_.size()}; }
    bool holds(size_t b) const { return mass_of_all(bin(b)) > 0; }

    void improve(Side left, size_t place) {
        const double value = of_.value(left, right_);
        if (value > best.value) {
            best.value = value;
            best.bin = static_cast<int32_t>(place);
            best.left = mass_of_all(left);
            improved_ = true;
        }
    }

    const Undivided& of_;
    size_t n_bins_;
    std::vector<int64_t> sums_; // (bins, classes)
    ClassSums left_, right_;
    std::array<uint8_t, most_bins> filled_; // the non-empty bins but the last, for missing values
    size_t n_filled_ = 0;
    bool any_missing_ = false;
    bool improved_ = false;
};

// Whether a node has enough mass for two sides.
bool splittable(size_t n_samples, const Undivided& whole) {
    return n_samples >= 2 && whole.mass >= 2 * whole.options.least_mass;
}

// `sides` belong to the best feature, if there is one.
void write(const Bins& bins, const ClassSides* sides, const Undivided& whole, const Splits& splits,
           size_t node) {
    const bool found = sides != nullptr && sides->best.value > whole.options.least_gain;
    splits.features[node] = found ? sides->best.feature : -1;
    splits.gains[node] = found ? sides->best.value : 0;
    splits.sides(node, 0) = found ? sides->best.left : whole.mass;
    splits.sides(node, 1) = whole.mass - splits.sides(node, 0);
    const Vector<uint8_t> right = splits.right.row(node);
    std::fill(right.begin(), right.end(), uint8_t{0});
    if (found)
        sides->mark(bins.is_categorical(static_cast<size_t>(sides->best.feature)), right);
}

// No split of all samples gains more than the best one of the samples seen, plus the weight of the
// remaining ones: Z_m ε_m ≤ Z ε [THESIS, 7.2], where Z ε is Z − purity for Gini and the error, and
// −purity for the entropy.
class ClassSearch : public NodeSearch {
  public:
    ClassSearch(const Bins& bins_, Allowed allowed_, Matrix<const int32_t> values_,
                size_t n_classes, const Nodes& nodes_, size_t node_, const SearchOptions& options)
        : NodeSearch(bins_, allowed_, nodes_, node_, values_), whole_(total(n_classes), options) {
        if (!splittable(samples().size, whole_)) {
            value_of_none = std::numeric_limits<double>::infinity(); // so that none is searched
            return;
        }
        constexpr size_t most_screens = 16; // as in RootSearch
        // No useful bound on gain ratios is known.
        if (options.criterion != Criterion::gain_ratio && nodes.in_steps(node) &&
            n_classes <= most_screens)
            n_kinds = n_classes;
    }

    Work run(const Splits& splits, int n_threads) const {
        const auto [leader, work] = prune(*this, n_threads);
        if (leader.feature < 0) {
            write(bins, nullptr, whole_, splits, node);
            return work;
        }
        ClassSides sides = scanned(static_cast<size_t>(leader.feature));
        write(bins, &sides, whole_, splits, node);
        return work;
    }

  private:
    ClassSums total(size_t n_classes) const {
        ClassSums sums(n_classes, 0);
        for (const int32_t n : samples())
            for (size_t k = 0; k < n_classes; ++k)
                sums[k] += values(n, k);
        return sums;
    }

    ClassSides scanned(size_t feature) const {
        std::vector<int32_t> memory(bins.n_bins(feature) * values.n_cols, 0);
        const Matrix<int32_t> sums{memory.data(), bins.n_bins(feature), values.n_cols};
        add_vectors(bins, feature, values, samples(), sums);
        ClassSides sides(whole_, sums.n_rows,
                         [&](size_t b, size_t k) { return int64_t{sums(b, k)}; });
        sides.scan(feature, bins.is_categorical(feature));
        return sides;
    }

    double value_of(size_t feature) const override { return scanned(feature).best.value; }

    void bound(Screen* screens, const Columns& columns, size_t, const int64_t* rest,
               double* bounds) const override {
        const int64_t to_come = std::accumulate(rest, rest + n_kinds, int64_t{0});
        const bool entropy = whole_.options.criterion == Criterion::entropy;
        // More than the rounding errors of the purities of up to 16 classes.
        const double slack = 0x1p-36 * static_cast<double>(whole_.mass);
        for (size_t c = 0; c < columns.n; ++c) {
            const size_t feature = columns.features[c], place = columns.places[c];
            const auto sum = [&](size_t b, size_t k) { return int64_t{screens[k].sum(b, place)}; };
            ClassSums seen(n_kinds, 0);
            for (size_t b = 0; b < bins.n_bins(feature); ++b)
                for (size_t k = 0; k < n_kinds; ++k)
                    seen[k] += sum(b, k);
            const SearchOptions any_mass{whole_.options.criterion, 0, 0};
            const Undivided part(std::move(seen), any_mass);
            ClassSides sides(part, bins.n_bins(feature), sum);
            const double gained =
                std::max(0.0, sides.scan(feature, bins.is_categorical(feature)).value);
            bounds[c] = (part.pure + gained) + (entropy ? 0.0 : static_cast<double>(to_come)) -
                        whole_.pure + slack;
        }
    }

    Undivided whole_;
};

} // namespace

Work prune_classes(const Bins& bins, Allowed allowed, Matrix<const int32_t> values,
                   size_t n_classes, const Nodes& nodes, const SearchOptions& options,
                   const Splits& splits, int n_threads) {
    bins.check(allowed, values.n_rows);
    nodes.check();
    options.check();
    splits.check(nodes.n_nodes());
    require(values.n_cols % 8 == 0 && n_classes > 0 && n_classes <= values.n_cols,
            "values and n_classes do not match");
    std::vector<Work> work(nodes.n_nodes());
    parallel_each(nodes.n_nodes(), 1, n_threads, [&](size_t node) {
        const ClassSearch search(bins, allowed, values, n_classes, nodes, node, options);
        work[node] = search.run(splits, n_threads);
    });
    return std::accumulate(work.begin(), work.end(), Work{}, [](Work a, Work b) {
        return Work{a.visited + b.visited, a.dropped + b.dropped};
    });
}

void choose_by_classes(const Bins& bins, Allowed allowed, Cube<const int64_t> sums,
                       Vector<const int64_t> counts, const SearchOptions& options,
                       const Splits& splits, int n_threads) {
    bins.check();
    options.check();
    splits.check(counts.size);
    require(allowed.size == bins.n_features(), "bins and allowed do not match");
    require(sums.n_planes == counts.size && sums.n_rows == bins.n_bins() && sums.n_cols > 0,
            "sums must have all bins of each node, and counts each node");
    parallel_each(counts.size, 1, n_threads, [&](size_t node) {
        const Matrix<const int64_t> own = sums.plane(node);
        ClassSums total(sums.n_cols, 0);
        const auto any =
            static_cast<size_t>(std::find(allowed.begin(), allowed.end(), 1) - allowed.begin());
        for (size_t b = 0; any < allowed.size && b < bins.n_bins(any); ++b)
            for (size_t k = 0; k < total.size(); ++k)
                total[k] += own(bins.offset(any) + b, k);
        const Undivided whole(std::move(total), options);
        std::unique_ptr<ClassSides> best;
        for (size_t f = 0; f < bins.n_features(); ++f) {
            if (allowed[f] == 0 || !splittable(static_cast<size_t>(counts[node]), whole))
                continue;
            auto sides =
                std::make_unique<ClassSides>(whole, bins.n_bins(f), [&](size_t b, size_t k) {
                    return own(bins.offset(f) + b, k);
                });
            if (sides->scan(f, bins.is_categorical(f)).value > (best ? best->best.value : -1.0))
                best = std::move(sides);
        }
        write(bins, best.get(), whole, splits, node);
    });
}

} // namespace rebel

#include "logistic.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "descent.hpp"
#include "elementary.hpp"
#include "tiles.hpp"

namespace rebel {
namespace {

constexpr size_t rows_at_once = 128; // whose slopes are added in single precision

// The regression of one class: where it stands, and its slopes there.
struct OfClass {
    size_t k;
    Descent descent;
    std::vector<float> coefficients, partial, scratch, white;
    std::vector<double> slope;
    double by_constant[eight];
    bool goes_on = true;

    OfClass(size_t number, size_t n, const DescentOptions& options)
        : k(number), descent(n, options.precision, options.most_steps), coefficients(n), partial(n),
          scratch(n), white(n), slope(n + eight) {}
};

// A lower triangular system in single precision, solved for eight unknowns at a time.
class Triangle {
  public:
    template <class At> // at(i, j) for j ≤ i
    Triangle(size_t n, At at) : n_(n), rows_(n * n), inverses_(n * eight) {
        for (size_t i = 0; i < n; ++i)
            for (size_t j = 0; j < i - i % eight; ++j)
                rows_[i * n + j] = static_cast<float>(at(i, j));
        for (size_t first = 0; first < n; first += eight)
            invert([=](size_t i, size_t j) { return at(first + i, first + j); },
                   inverses_.data() + first * eight);
    }

    // Solves for the `scratch` of all classes that go on, together: rows are read once.
    REBEL_INLINE void solve(std::vector<OfClass>& classes) const {
        for (size_t first = 0; first < n_; first += eight) {
            const float* rows[eight];
            for (size_t i = 0; i < eight; ++i)
                rows[i] = rows_.data() + (first + i) * n_;
            const float* columns = inverses_.data() + first * eight;
            for (OfClass& of : classes)
                if (of.goes_on)
                    solve_block(rows, columns, first, of.scratch.data(), of.white.data());
        }
    }

  private:
    REBEL_INLINE static void solve_block(const float* const* rows, const float* columns,
                                         size_t first, const float* values, float* found) {
        float done[eight];
        dots_of_rows(rows, found, first, done);
        auto sum = (values[first] - done[0]) * loaded<Floats>(columns);
        for (size_t j = 1; j < eight; ++j)
            sum += (values[first + j] - done[j]) * loaded<Floats>(columns + j * eight);
        store(sum, found + first);
    }

    // The inverse of a block on the diagonal, column by column.
    template <class At>
    static void invert(At at, float* columns) {
        for (size_t j = 0; j < eight; ++j) {
            double found[eight] = {};
            found[j] = 1 / at(j, j);
            for (size_t i = j + 1; i < eight; ++i) {
                double total = 0;
                for (size_t k = j; k < i; ++k)
                    total += at(i, k) * found[k];
                found[i] = -total / at(i, i);
            }
            for (size_t i = 0; i < eight; ++i)
                columns[j * eight + i] = static_cast<float>(found[i]);
        }
    }

    size_t n_;
    std::vector<float> rows_;
    std::vector<float> inverses_;
};

// The points with any weight, and their weights class by class, padded to a multiple of 8.
struct Kept {
    std::vector<const float*> rows;
    size_t n_points;
    std::vector<double> own, rest; // (K, points)

    Kept(Features features, Cube<const double> mass, const float* nothing) {
        const size_t n = mass.n_cols, n_classes = mass.n_rows;
        std::vector<size_t> kept;
        for (size_t i = 0; i < n; ++i)
            if (mass.data[i] + mass.data[n_classes * n + i] > 0)
                kept.push_back(i);
        n_points = (kept.size() + eight - 1) / eight * eight;
        rows.assign(n_points, nothing);
        own.assign(n_classes * n_points, 0.0);
        rest.assign(n_classes * n_points, 0.0);
        for (size_t i = 0; i < kept.size(); ++i) {
            rows[i] = features.data + kept[i] * features.n_cols;
            for (size_t k = 0; k < n_classes; ++k) {
                own[k * n_points + i] = mass.data[k * n + kept[i]];
                rest[k * n_points + i] = mass.data[(n_classes + k) * n + kept[i]];
            }
        }
    }
};

// Derivatives of the loss by the scores of eight points.
REBEL_INLINE inline void by_score(const float* products, double constant, const double* own,
                                  const double* rest, double* out) {
    for (size_t i = 0; i < eight; i += 4) {
        const Doubles product{products[i], products[i + 1], products[i + 2], products[i + 3]};
        const Doubles doubled = 2 * (product + constant);
        Doubles e = doubled < 0.0 ? doubled : -doubled;
        exponentiate(e);
        const Doubles larger = 1 / (1 + e), smaller = e * larger;
        const Doubles P = doubled < 0.0 ? smaller : larger;
        const Doubles Q = doubled < 0.0 ? larger : smaller;
        store(2 * (loaded<Doubles>(rest + i) * P - loaded<Doubles>(own + i) * Q), out + i);
    }
}

// Adds the slopes of eight points.
REBEL_INLINE inline void add_slopes(const Kept& kept, size_t first, OfClass& of) {
    float products[eight], factors[eight];
    double slopes[eight];
    const float* const* rows = kept.rows.data() + first;
    const size_t n = of.coefficients.size(), place = of.k * kept.n_points + first;
    dots_of_rows(rows, of.coefficients.data(), n, products);
    by_score(products, of.descent.trial()[n], &kept.own[place], &kept.rest[place], slopes);
    for (size_t i = 0; i < eight; ++i) {
        of.by_constant[i] += slopes[i];
        factors[i] = static_cast<float>(slopes[i]);
    }
    add_rows(rows, factors, n, of.partial.data());
}

// The slopes of all classes that go on. Rows of features are read once for all of them.
REBEL_CLONES void find_slopes(const Kept& kept, std::vector<OfClass>& classes) {
    for (OfClass& of : classes) {
        std::fill(of.slope.begin(), of.slope.end(), 0.0);
        std::fill_n(of.by_constant, eight, 0.0);
    }
    for (size_t start = 0; start < kept.n_points; start += rows_at_once) {
        const size_t end = std::min(start + rows_at_once, kept.n_points);
        for (OfClass& of : classes)
            std::fill(of.partial.begin(), of.partial.end(), 0.0F);
        for (size_t first = start; first < end; first += eight)
            for (OfClass& of : classes)
                if (of.goes_on)
                    add_slopes(kept, first, of);
        for (OfClass& of : classes)
            for (size_t j = 0; j < of.partial.size(); ++j)
                of.slope[j] += double{of.partial[j]};
    }
}

// Coefficients from whitened ones: U·c = values, from the last unknown to the first.
REBEL_CLONES void take_off_whitening(const Triangle& backward, std::vector<OfClass>& classes) {
    for (OfClass& of : classes) {
        const size_t n = of.coefficients.size();
        for (size_t j = 0; j < n; ++j)
            of.scratch[n - 1 - j] = static_cast<float>(of.descent.trial()[j]);
    }
    backward.solve(classes);
    for (OfClass& of : classes)
        if (of.goes_on)
            std::reverse_copy(of.white.begin(), of.white.end(), of.coefficients.begin());
}

// The whitened slope, from that by the coefficients: Uᵀ·whitened = slope.
REBEL_CLONES void whiten(const Triangle& forward, double ridge, std::vector<OfClass>& classes) {
    for (OfClass& of : classes)
        for (size_t j = 0; j < of.coefficients.size(); ++j)
            of.scratch[j] = static_cast<float>(of.slope[j] + ridge * double{of.coefficients[j]});
    forward.solve(classes);
    for (OfClass& of : classes) {
        std::copy(of.white.begin(), of.white.end(), of.slope.begin());
        of.slope[of.coefficients.size()] = eight_together(of.by_constant);
    }
}

REBEL_CLONES void start_at(Matrix<const double> factor, Vector<const double> row, OfClass& of) {
    const size_t n = of.coefficients.size();
    for (size_t i = 0; i < n; ++i)
        of.descent.trial()[i] = dot(factor.data + i * factor.n_cols, row.data + 1, n);
    of.descent.trial()[n] = row[0];
}

} // namespace

void solve_logistic(Features features, Cube<const double> mass, Matrix<const double> factor,
                    const DescentOptions& options, Matrix<double> solved) {
    const size_t n = options.n_features, n_all = features.n_cols;
    require(mass.n_planes == 2 && mass.n_cols == features.n_rows && mass.n_rows == solved.n_rows &&
                factor.is(n_all, n_all) && solved.n_cols == 1 + n_all,
            "features, mass, factor and solved do not match");
    require(n % eight == 0 && n_all % eight == 0 && n <= n_all,
            "the number of features must be a multiple of 8, and at most that of the columns");
    const Triangle forward(n, [&](size_t i, size_t j) { return factor(j, i); });
    const Triangle backward(n, [&](size_t i, size_t j) { return factor(n - 1 - i, n - 1 - j); });
    const std::vector<float> nothing(n_all);
    const Kept kept(features, mass, nothing.data());
    std::vector<OfClass> classes;
    classes.reserve(solved.n_rows);
    for (size_t k = 0; k < solved.n_rows; ++k) {
        classes.emplace_back(k, n, options);
        start_at(factor, solved.row(k), classes[k]);
    }
    for (bool goes_on = !classes.empty(); goes_on;) {
        take_off_whitening(backward, classes);
        find_slopes(kept, classes);
        whiten(forward, options.ridge, classes);
        goes_on = false;
        for (OfClass& of : classes) {
            of.goes_on = of.goes_on && of.descent.take(of.slope);
            goes_on = goes_on || of.goes_on;
        }
    }
    for (const OfClass& of : classes) {
        const Vector<double> row = solved.row(of.k);
        row[0] = of.descent.trial()[n];
        std::copy(of.coefficients.begin(), of.coefficients.end(), row.data + 1);
    }
}

} // namespace rebel

// A hash of what each kernel computes from drawn inputs, for `benchmarks/everywhere.py --kernels`:
// the same lines on every processor. Outputs are hashed as integers, whatever the order of bytes.
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "binarization.hpp"
#include "bins.hpp"
#include "elementary.hpp"
#include "posterior.hpp"
#include "random.hpp"
#include "ridge.hpp"
#include "similarity.hpp"
#include "smooth_features.hpp"
#include "weights.hpp"

#ifdef __wasi__ // whose library has no exceptions: a refusal ends the program
extern "C" void* __cxa_allocate_exception(size_t) {
    std::abort();
}
extern "C" void __cxa_throw(void*, void*, void (*)(void*)) {
    std::abort();
}
#endif

namespace {

using namespace rebel;

constexpr size_t n = 700, n_features = 21, n_classes = 5, n_points = 24;
constexpr int n_threads = 3; // on systems without threads they run one after the other

uint64_t bits_of(double x) {
    return std::bit_cast<uint64_t>(x);
}
uint64_t bits_of(float x) {
    return std::bit_cast<uint32_t>(x);
}
uint64_t bits_of(std::integral auto x) {
    return static_cast<uint64_t>(x);
}

template <class T>
void tell(const char* kernel, const std::vector<T>& values) {
    uint64_t hash = 0xCBF29CE484222325;
    for (const T value : values)
        hash = (hash ^ bits_of(value)) * 0x100000001B3;
    std::printf("%s %016llx\n", kernel, static_cast<unsigned long long>(hash));
}

std::vector<double> normals(uint64_t key, size_t size, double scale = 1) {
    std::vector<double> found(size);
    random_normals(key, 0, {found.data(), size});
    for (double& x : found)
        x *= scale;
    return found;
}

std::vector<float> floats(const std::vector<double>& given) {
    return {given.begin(), given.end()};
}

template <class T>
Vector<const T> view(const std::vector<T>& given) {
    return {given.data(), given.size()};
}

template <class T>
Matrix<const T> view(const std::vector<T>& given, size_t n_cols) {
    return {given.data(), given.size() / n_cols, n_cols};
}

template <class T>
Matrix<T> out(std::vector<T>& given, size_t n_cols) {
    return {given.data(), given.size() / n_cols, n_cols};
}

void elementary() {
    std::vector<double> x = normals(1, n, 90), found(n);
    x[0] = std::numeric_limits<double>::infinity(), x[1] = -x[0], x[2] = 1e-310, x[3] = 0;
    exponentials(view(x), {found.data(), n});
    tell("exponentials", found);
    for (double& each : x)
        each = std::fabs(each);
    logarithms(view(x), {found.data(), n});
    tell("logarithms", found);
    std::vector<uint64_t> numbers(n);
    random_numbers(7, 3, {numbers.data(), n});
    tell("random_numbers", numbers);
    tell("random_normals", normals(8, n));
}

void posteriors() {
    const std::vector<double> doubled = normals(2, n * n_classes, 6), weight(n, 0.25);
    std::vector<double> found(n * n_classes);
    uniform_posteriors(view(doubled, n_classes), 1e-14, out(found, n_classes), n_threads);
    tell("uniform_posteriors", found);
    std::vector<int32_t> labels(n);
    for (size_t i = 0; i < n; ++i)
        labels[i] = static_cast<int32_t>(i * i % n_classes);
    const auto [loss, slope] = log_loss_and_slope(view(doubled, n_classes), 0.7, view(labels),
                                                  view(weight), 1e-6, n_threads);
    tell("log_loss_and_slope", std::vector<double>{loss, slope});
}

void bins() {
    const std::vector<double> X = normals(3, n * n_features);
    std::vector<double> edges;
    std::vector<int32_t> starts = {0}, offsets = {0};
    std::vector<uint8_t> missing, categorical(n_features, 0), allowed(n_features, 1);
    for (size_t f = 0; f < n_features; ++f) {
        for (int e = 0; e < 30; ++e)
            edges.push_back(-2 + e * 0.13 + 0.001 * static_cast<double>(f));
        starts.push_back(static_cast<int32_t>(edges.size()));
        missing.push_back(31);
        offsets.push_back(offsets.back() + 32);
    }
    const size_t n_blocks = blocks_for(n_features);
    std::vector<uint8_t> blocks(n_blocks * n * block_width);
    const Cube<uint8_t> cube{blocks.data(), n_blocks, n, block_width};
    bin_values(view(X, n_features), view(edges), view(starts), view(missing), cube, n_threads);
    tell("bin_values", blocks);
    const Bins binned{cube, view(offsets), view(categorical)};
    std::vector<uint32_t> order(n_features * n);
    sort_bins(binned, out(order, n), n_threads);
    tell("sort_bins", order);
}

void weights() {
    const std::vector<double> given = normals(4, n * n_classes, 0.01);
    const Cube<const double> planes{given.data(), 1, n, n_classes};
    const std::vector<double> direction = normals(5, n_classes), scales(n_classes, 0x1p30);
    std::vector<double> squares, totals(n_classes, 0), matrix(n_classes * n_classes), q(n_classes);
    for (const double d : direction)
        squares.push_back(d * d);
    std::vector<int64_t> values(n), sums(4 * 2 * n_classes);
    const Projection projection{view(direction), view(squares), 0x1p18, 0x1p18};
    project(planes, projection, {values.data(), n}, n_threads);
    tell("project", values);
    std::vector<uint16_t> regions(n);
    for (size_t i = 0; i < n; ++i)
        regions[i] = static_cast<uint16_t>(i % 4);
    region_sums(planes, view(regions), view(scales), {sums.data(), 4, 2, n_classes}, n_threads);
    tell("region_sums", sums);
    for (size_t i = 0; i < n * n_classes; ++i)
        totals[i % n_classes] += std::fabs(given[i]);
    for (size_t i = 0; i < n_classes; ++i)
        for (size_t j = 0; j < n_classes; ++j)
            for (size_t row = 0; row < n; ++row)
                matrix[i * n_classes + j] +=
                    given[row * n_classes + i] * given[row * n_classes + j];
    leading_eigenvector(view(matrix, n_classes), {q.data(), n_classes});
    tell("leading_eigenvector", q);
    binarize(planes, view(totals), {values.data(), n}, n_threads);
    tell("binarize", values);
}

void similarities() {
    constexpr size_t width = 16, n_blocks = (n + width - 1) / width;
    const std::vector<float> points = floats(normals(6, n_points * n_features));
    const std::vector<float> blocks = floats(normals(9, n_blocks * n_features * width));
    const Cube<const float> cube{blocks.data(), n_blocks, n_features, width};
    std::vector<float> distances(n_points * n);
    squared_distances(cube, view(points, n_features), out(distances, n), n_threads);
    tell("squared_distances", distances);
    std::vector<uint16_t> levels(n);
    const Matrix<const float> measured = view(distances, n);
    compare(measured.row(0), measured.row(1), two_points, 9.0, {levels.data(), n}, n_threads);
    tell("compare", levels);
    const std::vector<double> outputs = normals(10, n_points * n_classes);
    const std::vector<double> offset = normals(11, n_classes);
    std::vector<double> scores(n * n_classes, 0);
    add_similarities(measured, 12.0, view(outputs, n_classes), view(offset), out(scores, n_classes),
                     n_threads);
    tell("add_similarities", scores);

    std::vector<double> factor(n_points * n_points, 0), centre(n_points), gram(factor.size());
    std::vector<int32_t> chosen(n_points);
    std::vector<float> among(n_points * n_points), features(n * n_points);
    for (size_t i = 0; i < n_points; ++i)
        for (size_t j = 0; j < n_points; ++j)
            for (size_t f = 0; f < n_features; ++f) {
                const float apart = points[i * n_features + f] - points[j * n_features + f];
                among[i * n_points + j] += apart * apart;
            }
    chosen.resize(static_cast<size_t>(choose_examples(
        view(among, n_points), 20.0, 1e-9, {chosen.data(), n_points}, out(factor, n_points))));
    tell("choose_examples", factor);
    place_features(measured, 20.0, view(chosen), view(factor, n_points),
                   {centre.data(), centre.size()}, out(features, n_points));
    tell("place_features", features);
    const std::vector<double> weight(n, 0.3);
    weighted_gram(view(features, n_points), view(weight), out(gram, n_points));
    tell("weighted_gram", gram);
    ridge_factor(view(gram, n_points), 0.01, out(factor, n_points));
    std::vector<double> solved = normals(12, n_points * n_classes);
    solve_lower(view(factor, n_points), out(solved, n_classes));
    solve_upper(view(factor, n_points), out(solved, n_classes));
    tell("solve_upper", solved);
}

} // namespace

int main() {
    elementary();
    posteriors();
    bins();
    weights();
    similarities();
}

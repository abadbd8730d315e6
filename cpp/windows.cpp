#include "windows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "parallel.hpp"

namespace rebel {
namespace {

constexpr size_t n_rectangles = 3, n_orientations = 6;

// floor(4·√(gx² + gy²)): exact, because the root of a perfect square is.
uint32_t magnitude(int gx, int gy) {
    return static_cast<uint32_t>(std::sqrt(static_cast<double>(16 * (gx * gx + gy * gy))));
}

// The nearest of the directions 0°, 30°, …, 150°: tan 15° ≈ 268/1000, tan 75° ≈ 3732/1000.
size_t orientation(int gx, int gy) {
    const int x = std::abs(gx), y = std::abs(gy);
    const size_t steep = 1000 * y < 268 * x ? 0 : y < x ? 1 : 1000 * y < 3732 * x ? 2 : 3;
    const bool falls = (gx < 0) != (gy < 0);
    return falls ? (n_orientations - steep) % n_orientations : steep;
}

// One pass over the image; each row of a plane is the row above plus the sums along this row.
void integrate_image(Matrix<const uint8_t> image, uint32_t* sums, size_t n_planes) {
    const size_t height = image.n_rows, width = image.n_cols, stride = width + 1;
    const size_t area = (height + 1) * stride;
    for (size_t p = 0; p < n_planes; ++p)
        std::fill_n(sums + p * area, stride, 0u);
    for (size_t y = 0; y < height; ++y) {
        const uint8_t* row = image.data + y * width;
        const uint8_t* up = image.data + (y > 0 ? y - 1 : y) * width;
        const uint8_t* down = image.data + (y + 1 < height ? y + 1 : y) * width;
        uint32_t* out = sums + (y + 1) * stride;
        uint32_t squares = 0, grey = 0;
        for (size_t p = 0; p < n_planes; ++p)
            out[p * area] = 0;
        for (size_t x = 0; x < width; ++x) {
            const uint32_t pixel = row[x];
            squares += pixel * pixel;
            grey += pixel;
            out[x + 1] = out[x + 1 - stride] + squares;
            out[area + x + 1] = out[area + x + 1 - stride] + grey;
        }
        if (n_planes == n_grey_planes)
            continue;
        std::array<uint32_t, 1 + n_orientations> along{};
        for (size_t x = 0; x < width; ++x) {
            const int gx = row[x + 1 < width ? x + 1 : x] - row[x > 0 ? x - 1 : x];
            const int gy = down[x] - up[x];
            const uint32_t size = magnitude(gx, gy);
            along[0] += size;
            along[1 + orientation(gx, gy)] += size;
            uint32_t* at = out + n_grey_planes * area + x + 1;
            for (size_t p = 0; p < along.size(); ++p, at += area)
                *at = *(at - stride) + along[p];
        }
    }
}

uint32_t sum_over(const uint32_t* sums, size_t stride, size_t top, size_t left, size_t bottom,
                  size_t right) {
    return sums[bottom * stride + right] - sums[bottom * stride + left] -
           sums[top * stride + right] + sums[top * stride + left];
}

struct Factors {
    double grey;
    double gradient;
};

// `sums` points at the top left corner of the window in the first plane; planes are `area` apart.
Factors factors_of(const uint32_t* sums, size_t n_planes, size_t stride, size_t area, size_t height,
                   size_t width) {
    const auto inner = [&](size_t plane) -> int64_t {
        return sum_over(sums + plane * area, stride, 1, 1, height - 1, width - 1);
    };
    const auto pixels = static_cast<int64_t>((height - 2) * (width - 2));
    const int64_t sum = inner(1), spread = pixels * inner(0) - sum * sum;
    const int64_t gradient = n_planes > n_grey_planes ? inner(n_grey_planes) : 0;
    return {spread > 0 ? 1 / std::sqrt(static_cast<double>(spread)) : 0.0,
            gradient > 0 ? 1 / static_cast<double>(gradient) : 0.0};
}

// A feature with the places of its corners relative to the window's in memory.
struct Placed {
    std::array<std::array<size_t, 4>, n_rectangles> corners{};
    std::array<int64_t, n_rectangles> weights{};
    size_t n = 0;
    bool of_gradient = false;

    double value(const uint32_t* window, const Factors& factors) const {
        int64_t sum = 0;
        for (size_t r = 0; r < n; ++r) {
            const auto& [tl, tr, bl, br] = corners[r];
            sum += weights[r] *
                   static_cast<int64_t>(window[br] - window[bl] - window[tr] + window[tl]);
        }
        return static_cast<double>(sum) * (of_gradient ? factors.gradient : factors.grey);
    }
};

Placed place(const Rectangles& rectangles, size_t feature, size_t stride, size_t area) {
    Placed placed;
    const auto plane = static_cast<size_t>(rectangles.planes[feature]);
    placed.of_gradient = plane >= n_grey_planes;
    for (size_t r = 0; r < n_rectangles; ++r) {
        const int32_t weight = rectangles.weights(feature, r);
        if (weight == 0)
            continue;
        const auto at = [&](size_t y, size_t x) {
            return plane * area +
                   static_cast<size_t>(rectangles.corners(feature, 4 * r + y)) * stride +
                   static_cast<size_t>(rectangles.corners(feature, 4 * r + x));
        };
        placed.corners[placed.n] = {at(0, 1), at(0, 3), at(2, 1), at(2, 3)};
        placed.weights[placed.n++] = weight;
    }
    return placed;
}

void check_planes(size_t n_planes) {
    require(n_planes == n_grey_planes || n_planes == n_channel_planes,
            "the planes of an image must be 2 or 9");
}

void check(const Rectangles& rectangles, size_t n_planes, size_t height, size_t width) {
    const size_t n = rectangles.size();
    require(rectangles.corners.is(n, 4 * n_rectangles) && rectangles.weights.is(n, n_rectangles),
            "the arrays of the rectangles do not match");
    require(height > 2 && width > 2 && height * width <= most_window_pixels,
            "a window must have more than 2 pixels a side, and at most 2^15");
    for (const int32_t plane : rectangles.planes)
        require(plane >= 1 && static_cast<size_t>(plane) < n_planes,
                "the planes of the rectangles do not match the image");
    for (size_t i = 0; i < n; ++i)
        for (size_t r = 0; r < n_rectangles; ++r) {
            const int32_t* corner = &rectangles.corners(i, 4 * r);
            require(0 <= corner[0] && corner[0] <= corner[2] && 0 <= corner[1] &&
                        corner[1] <= corner[3] && static_cast<size_t>(corner[2]) <= height &&
                        static_cast<size_t>(corner[3]) <= width,
                    "the corners of the rectangles do not match the window");
        }
}

// A node of a tree, with its feature.
struct Test {
    Placed feature;
    double threshold;
};

std::vector<Test> tests_of(const Trees& trees, const Rectangles& rectangles, size_t stride,
                           size_t area) {
    std::vector<Test> tests;
    tests.reserve(trees.features.size);
    for (size_t i = 0; i < trees.features.size; ++i)
        tests.push_back({place(rectangles, static_cast<size_t>(trees.features[i]), stride, area),
                         trees.thresholds[i]});
    return tests;
}

void check(const Trees& trees, const Rectangles& rectangles, size_t n_floors) {
    trees.check();
    require(n_floors == trees.depths.size, "trees and floors do not match");
    require(trees.outputs.n_cols == 1, "the trees of a detector must have one output");
    for (const int32_t category : trees.category)
        require(category < 0, "the features of a detector must not be categories");
    size_t nodes = 0;
    for (size_t t = 0; t < trees.depths.size; ++t) {
        const int depth = trees.depths[t];
        require(depth >= 0 && depth <= 15 && trees.node_offsets[t] == static_cast<int64_t>(nodes) &&
                    trees.leaf_offsets[t] == static_cast<int64_t>(nodes + t),
                "the offsets of the trees do not match their depths");
        nodes += (size_t{1} << depth) - 1;
    }
    require(nodes == trees.features.size && trees.outputs.n_rows == nodes + trees.depths.size,
            "the nodes of the trees do not match their depths");
    for (const int32_t feature : trees.features)
        require(feature >= 0 && static_cast<size_t>(feature) < rectangles.size(),
                "the trees and the rectangles do not match");
}

} // namespace

void integrate(Cube<const uint8_t> images, Cube<uint32_t> sums, int n_threads) {
    const size_t n_images = images.n_planes;
    require(n_images > 0, "there must be an image");
    const size_t n_planes = sums.n_planes / n_images;
    check_planes(n_planes);
    require(sums.is(n_images * n_planes, images.n_rows + 1, images.n_cols + 1),
            "images and sums do not match");
    const size_t size = n_planes * sums.n_rows * sums.n_cols;
    parallel_each(n_images, grain_for(n_images, 2 * n_images * size), n_threads, [&](size_t i) {
        integrate_image(images.plane(i), sums.data + i * size, n_planes);
    });
}

void window_scales(Cube<const uint32_t> sums, Matrix<double> scales, int n_threads) {
    const size_t n_windows = scales.n_rows;
    require(n_windows > 0 && scales.n_cols == 2 && sums.n_planes % n_windows == 0,
            "sums and scales do not match");
    const size_t n_planes = sums.n_planes / n_windows, area = sums.n_rows * sums.n_cols;
    check_planes(n_planes);
    require(sums.n_rows > 3 && sums.n_cols > 3, "a window must have more than 2 pixels a side");
    parallel_each(n_windows, 1000, n_threads, [&](size_t i) {
        const Factors factors = factors_of(sums.data + i * n_planes * area, n_planes, sums.n_cols,
                                           area, sums.n_rows - 1, sums.n_cols - 1);
        scales(i, 0) = factors.grey;
        scales(i, 1) = factors.gradient;
    });
}

void window_values(Cube<const uint32_t> sums, Matrix<const double> scales,
                   const Rectangles& rectangles, Matrix<double> values, int n_threads) {
    const size_t n_windows = scales.n_rows, n_features = rectangles.size();
    require(n_windows > 0 && scales.n_cols == 2 && sums.n_planes % n_windows == 0 &&
                values.is(n_windows, n_features),
            "sums, scales and values do not match");
    const size_t n_planes = sums.n_planes / n_windows, area = sums.n_rows * sums.n_cols;
    check_planes(n_planes);
    check(rectangles, n_planes, sums.n_rows - 1, sums.n_cols - 1);
    std::vector<Placed> features;
    features.reserve(n_features);
    for (size_t f = 0; f < n_features; ++f)
        features.push_back(place(rectangles, f, sums.n_cols, area));
    parallel_each(n_windows, grain_for(n_windows, 5 * n_windows * n_features), n_threads,
                  [&](size_t i) {
                      const uint32_t* window = sums.data + i * n_planes * area;
                      const Factors factors{scales(i, 0), scales(i, 1)};
                      double* value = values.data + i * n_features;
                      for (size_t f = 0; f < n_features; ++f)
                          value[f] = features[f].value(window, factors);
                  });
}

void scan_windows(Cube<const uint32_t> sums, const WindowGrid& grid, const Rectangles& rectangles,
                  const Trees& trees, Vector<const double> floors, Matrix<double> scores,
                  Matrix<int32_t> used, int n_threads) {
    const size_t n_planes = sums.n_planes, stride = sums.n_cols, area = sums.n_rows * stride;
    check_planes(n_planes);
    check(rectangles, n_planes, grid.height, grid.width);
    check(trees, rectangles, floors.size);
    require(grid.step > 0 && sums.n_rows > grid.height && sums.n_cols > grid.width,
            "the window must fit into the image");
    const size_t n_rows = (sums.n_rows - 1 - grid.height) / grid.step + 1;
    const size_t n_cols = (sums.n_cols - 1 - grid.width) / grid.step + 1;
    require(scores.is(n_rows, n_cols) && used.is(n_rows, n_cols),
            "scores and terms used do not match the windows");
    const std::vector<Test> tests = tests_of(trees, rectangles, stride, area);
    const size_t n_trees = trees.depths.size;
    const auto scan_row = [&](size_t i) {
        for (size_t j = 0; j < n_cols; ++j) {
            const uint32_t* window = sums.data + i * grid.step * stride + j * grid.step;
            const Factors factors =
                factors_of(window, n_planes, stride, area, grid.height, grid.width);
            double score = 0;
            size_t t = 0, base = 0;
            while (t < n_trees) {
                size_t node = 0; // node and, at last, leaf within its layer
                for (int layer = 0; layer < trees.depths.data[t]; ++layer) {
                    const Test& test = tests[base + node];
                    node = 2 * node + (test.feature.value(window, factors) > test.threshold);
                    base += size_t{1} << layer;
                }
                score += trees.outputs.data[static_cast<size_t>(trees.leaf_offsets.data[t]) + node];
                if (score < floors.data[t++])
                    break;
            }
            scores(i, j) = score;
            used(i, j) = static_cast<int32_t>(t);
        }
    };
    parallel_each(n_rows, grain_for(n_rows, 300 * n_rows * n_cols), n_threads, scan_row);
}

} // namespace rebel

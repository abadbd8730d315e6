// Sums over rectangles in the windows of images, and detection.
//
// An image has several planes of integers: the squares of its pixels, its pixels (grey) and, if
// asked for, the magnitude of their gradient, undivided and divided among six orientations. Sums
// over rectangles come from integral images modulo 2³², which is exact for windows of up to 2¹⁵
// pixels.
#pragma once

#include "prediction.hpp"

namespace rebel {

inline constexpr size_t n_grey_planes = 2;    // squares, grey
inline constexpr size_t n_channel_planes = 9; // and magnitude, six orientations
inline constexpr size_t most_window_pixels = size_t{1} << 15;

// Feature i is the sum over its three rectangles r of weights(i, r) times the sum of plane
// planes[i] over the rectangle with corners top, left, bottom, right at corners(i, 4r …).
// Rectangles of weight 0 are not read.
struct Rectangles {
    Vector<const int32_t> planes;
    Matrix<const int32_t> corners;
    Matrix<const int32_t> weights;

    size_t size() const { return planes.size; }
};

// Where the windows of a scan lie: `height` × `width` pixels each, `step` pixels apart.
struct WindowGrid {
    size_t height;
    size_t width;
    size_t step;
};

// Integral images of the planes of each (H, W) image: sums (images · planes, H + 1, W + 1).
void integrate(Cube<const uint8_t> images, Cube<uint32_t> sums, int n_threads);

// The factors of each window of `sums` that make features independent of contrast, (windows, 2):
// for grey, 1/√(A·Σp² − (Σp)²); for gradients, 1/Σ magnitude. The outermost pixels do not count,
// since the gradient there depends on pixels outside. 0 if the window is constant.
void window_scales(Cube<const uint32_t> sums, Matrix<double> scales, int n_threads);

// Features of windows, times the factor of their plane.
void window_values(Cube<const uint32_t> sums, Matrix<const double> scales,
                   const Rectangles& rectangles, Matrix<double> values, int n_threads);

// The score of each window of an image: the sum of the trees' outputs, in order. A window is left
// as soon as the sum after tree t is below floors[t]; `used` has the number of trees until then.
void scan_windows(Cube<const uint32_t> sums, const WindowGrid& grid, const Rectangles& rectangles,
                  const Trees& trees, Vector<const double> floors, Matrix<double> scores,
                  Matrix<int32_t> used, int n_threads);

} // namespace rebel

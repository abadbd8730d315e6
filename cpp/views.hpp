// Non-owning views of row-major arrays. Indices are checked in builds without NDEBUG only.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

namespace rebel {

using std::int32_t, std::int64_t, std::size_t;
using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;

// Kernels check the sizes of their arguments; Python sees a ValueError.
inline void require(bool condition, const char* message) {
    if (!condition)
        throw std::invalid_argument(message);
}

template <class T>
struct Vector {
    T* data = nullptr;
    size_t size = 0;

    // Any integer type, because indices of samples, features and nodes are stored as int32.
    T& operator[](std::integral auto i) const {
        assert(static_cast<size_t>(i) < size);
        return data[static_cast<size_t>(i)];
    }

    Vector slice(std::integral auto from, std::integral auto to) const {
        const auto first = static_cast<size_t>(from), last = static_cast<size_t>(to);
        assert(first <= last && last <= size);
        return {data + first, last - first};
    }

    T* begin() const { return data; }
    T* end() const { return data + size; }

    operator Vector<const T>() const { return {data, size}; }
};

template <class T>
struct Matrix {
    T* data = nullptr;
    size_t n_rows = 0;
    size_t n_cols = 0;

    T& operator()(std::integral auto i, std::integral auto j) const { return row(i)[j]; }

    Vector<T> row(std::integral auto i) const {
        assert(static_cast<size_t>(i) < n_rows);
        return {data + static_cast<size_t>(i) * n_cols, n_cols};
    }

    Matrix rows(size_t from, size_t to) const {
        assert(from <= to && to <= n_rows);
        return {data + from * n_cols, to - from, n_cols};
    }

    bool is(size_t rows, size_t cols) const { return n_rows == rows && n_cols == cols; }

    operator Matrix<const T>() const { return {data, n_rows, n_cols}; }
};

// A stack of matrices, for example weights: (planes, samples, classes).
template <class T>
struct Cube {
    T* data = nullptr;
    size_t n_planes = 0;
    size_t n_rows = 0;
    size_t n_cols = 0;

    T& operator()(size_t i, size_t j, size_t k) const { return plane(i)(j, k); }

    Matrix<T> plane(size_t i) const {
        assert(i < n_planes);
        return {data + i * n_rows * n_cols, n_rows, n_cols};
    }

    Vector<T> flat() const { return {data, n_planes * n_rows * n_cols}; }

    bool is(size_t planes, size_t rows, size_t cols) const {
        return n_planes == planes && n_rows == rows && n_cols == cols;
    }

    operator Cube<const T>() const { return {data, n_planes, n_rows, n_cols}; }
};

} // namespace rebel

// Views of arrays that someone else owns: a pointer and the sizes, row-major.
// Indices are checked where NDEBUG is not defined (developer and sanitizer builds).
#pragma once

#include <cassert>
#include <cstddef>
#include <type_traits>

namespace rebel {

template <class T>
struct Vector {
    T* data = nullptr;
    std::size_t size = 0;

    T& operator[](std::size_t i) const {
        assert(i < size);
        return data[i];
    }

    Vector slice(std::size_t from, std::size_t to) const {
        assert(from <= to && to <= size);
        return {data + from, to - from};
    }

    T* begin() const { return data; }
    T* end() const { return data + size; }

    operator Vector<const T>() const
        requires(!std::is_const_v<T>)
    {
        return {data, size};
    }
};

// Rows may be further apart than they are long: `stride` counts elements from row to row.
template <class T>
struct Matrix {
    T* data = nullptr;
    std::size_t n_rows = 0;
    std::size_t n_cols = 0;
    std::size_t stride = 0;

    Matrix() = default;
    Matrix(T* first, std::size_t rows, std::size_t cols) : Matrix(first, rows, cols, cols) {}
    Matrix(T* first, std::size_t rows, std::size_t cols, std::size_t row_stride)
        : data(first), n_rows(rows), n_cols(cols), stride(row_stride) {}

    T& operator()(std::size_t row, std::size_t col) const {
        assert(row < n_rows && col < n_cols);
        return data[row * stride + col];
    }

    Vector<T> row(std::size_t i) const {
        assert(i < n_rows);
        return {data + i * stride, n_cols};
    }

    operator Matrix<const T>() const
        requires(!std::is_const_v<T>)
    {
        return {data, n_rows, n_cols, stride};
    }
};

// A stack of matrices, for example class sums: (features, bins, classes).
template <class T>
struct Cube {
    T* data = nullptr;
    std::size_t n_planes = 0;
    std::size_t n_rows = 0;
    std::size_t n_cols = 0;

    T& operator()(std::size_t plane, std::size_t row, std::size_t col) const {
        assert(plane < n_planes && row < n_rows && col < n_cols);
        return data[(plane * n_rows + row) * n_cols + col];
    }

    Matrix<T> plane(std::size_t i) const {
        assert(i < n_planes);
        return {data + i * n_rows * n_cols, n_rows, n_cols};
    }

    operator Cube<const T>() const
        requires(!std::is_const_v<T>)
    {
        return {data, n_planes, n_rows, n_cols};
    }
};

} // namespace rebel

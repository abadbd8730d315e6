#include "similarity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "multiversion.hpp"
#include "parallel.hpp"

namespace rebel {
namespace {

constexpr std::size_t abreast = samples_abreast;
constexpr std::size_t points_at_once = 4;
constexpr std::size_t work_grain = 1 << 19; // subtractions worth a block

#if defined(__GNUC__)
// Told in so many words: left to itself, GCC keeps the sums in memory, at half the speed.
typedef float Lanes __attribute__((vector_size(32)));
#else
struct Lanes {
    float lane[8];
    friend Lanes operator-(Lanes a, float b) {
        for (float& x : a.lane)
            x -= b;
        return a;
    }
    friend Lanes operator*(Lanes a, const Lanes& b) {
        for (int i = 0; i < 8; ++i)
            a.lane[i] *= b.lane[i];
        return a;
    }
    Lanes& operator+=(const Lanes& b) {
        for (int i = 0; i < 8; ++i)
            lane[i] += b.lane[i];
        return *this;
    }
};
#endif

// `n_points` rows of 16 sums; features of the points lie side by side. The order of additions is
// that of the features, whatever the vector width; several points keep the adders busy.
template <std::size_t n_points>
inline void add_squares(const float* __restrict block, const float* __restrict points,
                        std::size_t n_features, float (*__restrict sums)[abreast]) {
    Lanes low[n_points] = {}, high[n_points] = {};
    for (std::size_t f = 0; f < n_features; ++f) {
        Lanes first, second;
        std::memcpy(&first, block + f * abreast, sizeof first);
        std::memcpy(&second, block + f * abreast + 8, sizeof second);
        for (std::size_t p = 0; p < n_points; ++p) {
            const Lanes apart = first - points[f * n_points + p];
            const Lanes beyond = second - points[f * n_points + p];
            low[p] += apart * apart;
            high[p] += beyond * beyond;
        }
    }
    for (std::size_t p = 0; p < n_points; ++p) {
        std::memcpy(sums[p], &low[p], sizeof low[p]);
        std::memcpy(sums[p] + 8, &high[p], sizeof high[p]);
    }
}

// Points in groups of `points_at_once`, feature by feature; what is left over, one by one.
std::vector<float> packed(Matrix<const float> points) {
    std::vector<float> out(points.n_rows * points.n_cols);
    const std::size_t n_grouped = points.n_rows - points.n_rows % points_at_once;
    for (std::size_t i = 0; i < points.n_rows; ++i) {
        const std::size_t group = i < n_grouped ? i - i % points_at_once : i;
        const std::size_t width = i < n_grouped ? points_at_once : 1;
        for (std::size_t f = 0; f < points.n_cols; ++f)
            out[group * points.n_cols + f * width + (i - group)] = points(i, f);
    }
    return out;
}

REBEL_CLONES void distances_of_blocks(Cube<const float> blocks, const float* points,
                                      Matrix<float> out, std::size_t begin, std::size_t end) {
    float sums[points_at_once][abreast];
    const std::size_t n_features = blocks.n_rows;
    const std::size_t n_grouped = out.n_rows - out.n_rows % points_at_once;
    for (std::size_t b = begin; b < end; ++b) {
        const float* block = blocks.data + b * n_features * abreast;
        const std::size_t n_here = std::min(abreast, out.n_cols - b * abreast);
        for (std::size_t i = 0; i < out.n_rows;) {
            const std::size_t n_points = i < n_grouped ? points_at_once : 1;
            if (n_points == points_at_once)
                add_squares<points_at_once>(block, points + i * n_features, n_features, sums);
            else
                add_squares<1>(block, points + i * n_features, n_features, sums);
            for (std::size_t p = 0; p < n_points; ++p, ++i)
                std::copy(sums[p], sums[p] + n_here, out.data + i * out.n_cols + b * abreast);
        }
    }
}

// 4(4/3)^¾, with which the largest response is 1.
constexpr double peak = 4.963225915211198;

// The level below |f|, by the bits of a float: its exponent, and 4 of its mantissa.
inline int level(double f) {
    static_assert(level_steps == 16, "4 bits of the mantissa");
    constexpr std::int32_t lowest = (127 - level_octaves) * level_steps;
    const auto bits = std::bit_cast<std::int32_t>(static_cast<float>(std::fabs(f))) >> 19;
    const int size = std::clamp(bits - lowest + 1, 0, zero_level);
    return f < 0 ? zero_level - size : zero_level + size;
}

// [LOCAL, Sec. 5]: r_i and r_j are the squared distances from the anchor and the rival.
inline double respond(double r_i, double r_j, int kind, double apart) {
    switch (kind) {
    case two_points: {
        const double quarter = apart * 0.25;
        const double from_middle = std::max((r_i + r_j) * 0.5 - quarter, 0.0);
        return (peak * quarter) * ((r_j - r_i) * 0.25) /
               (4.0 * quarter * quarter + from_middle * from_middle);
    }
    case nearer:
        return r_j > r_i ? 1.0 : -1.0;
    case one_point:
        return (apart - r_i) / (apart + r_i);
    default:
        return r_i < apart ? 1.0 : -1.0;
    }
}

template <int kind>
inline void levels_of(const float* __restrict anchor, const float* __restrict rival, double apart,
                      std::size_t n, std::uint16_t* __restrict levels) {
    for (std::size_t i = 0; i < n; ++i)
        levels[i] = static_cast<std::uint16_t>(level(
            respond(static_cast<double>(anchor[i]), static_cast<double>(rival[i]), kind, apart)));
}

inline void find_levels(const float* anchor, const float* rival, int kind, double apart,
                        std::size_t n, std::uint16_t* levels) {
    switch (kind) {
    case two_points:
        return levels_of<two_points>(anchor, rival, apart, n, levels);
    case nearer:
        return levels_of<nearer>(anchor, rival, apart, n, levels);
    case one_point:
        return levels_of<one_point>(anchor, rival, apart, n, levels);
    default:
        return levels_of<inside>(anchor, rival, apart, n, levels);
    }
}

REBEL_CLONES void compare_rows(const float* anchor, const float* rival, int kind, double apart,
                               std::size_t n, std::uint16_t* levels) {
    find_levels(anchor, rival, kind, apart, n, levels);
}

REBEL_CLONES void add_rows(Matrix<const float> distances, const Comparisons& all,
                           const double* __restrict values, std::size_t first, std::size_t last,
                           Matrix<double> scores, std::size_t begin, std::size_t end) {
    std::uint16_t levels[abreast];
    const std::size_t n_classes = scores.n_cols;
    for (std::size_t n = begin; n < end; n += abreast) {
        const std::size_t n_here = std::min(abreast, end - n);
        for (std::size_t t = first; t < last; ++t) {
            const auto anchor = static_cast<std::size_t>(all.anchors.data[t]);
            const auto rival = static_cast<std::size_t>(all.rivals.data[t]);
            find_levels(distances.data + anchor * distances.n_cols + n,
                        distances.data + rival * distances.n_cols + n, all.kinds.data[t],
                        all.apart.data[t], n_here, levels);
            const double* __restrict output = all.outputs.data + t * n_classes;
            const double* __restrict offset = all.offsets.data + t * n_classes;
            for (std::size_t i = 0; i < n_here; ++i) {
                double* __restrict row = scores.data + (n + i) * n_classes;
                const double value = values[levels[i]];
                for (std::size_t k = 0; k < n_classes; ++k)
                    row[k] += value * output[k] + offset[k];
            }
        }
    }
}

constexpr std::size_t lanes = 4;
constexpr double round_magic = 0x1.8p52; // x + it − it rounds to an integer

template <int kind>
inline void round_responses(const float* __restrict anchor, const float* __restrict rival,
                            double apart, std::size_t n, double* __restrict rounded) {
    constexpr double unit = 1 << response_bits;
    for (std::size_t i = 0; i < n; ++i) {
        const double f =
            respond(static_cast<double>(anchor[i]), static_cast<double>(rival[i]), kind, apart);
        rounded[i] = (f * unit + round_magic) - round_magic;
    }
}

REBEL_CLONES void sums_of_pair(const float* anchor, const float* rival, int kind, double apart,
                               Matrix<const double> signed_values, Matrix<const double> mass,
                               double* __restrict f, Matrix<double> sums) {
    const std::size_t n = signed_values.n_cols;
    if (kind == two_points)
        round_responses<two_points>(anchor, rival, apart, n, f);
    else
        round_responses<nearer>(anchor, rival, apart, n, f);
    for (std::size_t k = 0; k < signed_values.n_rows; ++k) {
        const double* __restrict g = signed_values.data + k * n;
        const double* __restrict w = mass.data + k * n;
        double first[lanes] = {}, second[lanes] = {}, third[lanes] = {};
        std::size_t i = 0;
        for (; i + lanes <= n; i += lanes)
            for (std::size_t j = 0; j < lanes; ++j) {
                const double weighted = f[i + j] * w[i + j];
                first[j] += f[i + j] * g[i + j];
                second[j] += weighted;
                third[j] += f[i + j] * weighted;
            }
        for (; i < n; ++i) {
            first[0] += f[i] * g[i];
            second[0] += f[i] * w[i];
            third[0] += f[i] * f[i] * w[i];
        }
        sums(0, k) = (first[0] + first[1]) + (first[2] + first[3]);
        sums(1, k) = (second[0] + second[1]) + (second[2] + second[3]);
        sums(2, k) = (third[0] + third[1]) + (third[2] + third[3]);
    }
}

} // namespace

void squared_distances(Cube<const float> blocks, Matrix<const float> points, Matrix<float> out,
                       int n_threads) {
    const std::size_t work = std::max<std::size_t>(1, points.n_rows * points.n_cols * abreast);
    const std::size_t grain = std::max<std::size_t>(1, work_grain / work);
    const std::vector<float> together = packed(points);
    parallel_for(blocks.n_planes, grain, n_threads, [&](std::size_t begin, std::size_t end) {
        distances_of_blocks(blocks, together.data(), out, begin, end);
    });
}

void compare(Vector<const float> anchor, Vector<const float> rival, int kind, double apart,
             Vector<std::uint16_t> levels, int n_threads) {
    parallel_for(levels.size, 8192, n_threads, [&](std::size_t begin, std::size_t end) {
        compare_rows(anchor.data + begin, rival.data + begin, kind, apart, end - begin,
                     levels.data + begin);
    });
}

void pair_sums(Matrix<const float> from_anchors, Matrix<const float> from_rivals,
               const PairList& pairs, int kind, Matrix<const double> signed_values,
               Matrix<const double> mass, Cube<double> sums, int n_threads) {
    parallel_for(pairs.apart.size, 1, n_threads, [&](std::size_t begin, std::size_t end) {
        std::vector<double> f(signed_values.n_cols);
        for (std::size_t i = begin; i < end; ++i)
            sums_of_pair(from_anchors.row(static_cast<std::size_t>(pairs.anchors[i])).data,
                         from_rivals.row(static_cast<std::size_t>(pairs.rivals[i])).data, kind,
                         pairs.apart[i], signed_values, mass, f.data(), sums.plane(i));
    });
}

void add_comparisons(Matrix<const float> distances, const Comparisons& comparisons,
                     Vector<const double> values, std::size_t first, std::size_t last,
                     Matrix<double> scores, int n_threads) {
    constexpr std::size_t rows = 4 * abreast;
    parallel_for(scores.n_rows, rows, n_threads, [&](std::size_t begin, std::size_t end) {
        add_rows(distances, comparisons, values.data, first, last, scores, begin, end);
    });
}

} // namespace rebel

// Passes over the weights of two classes, both at once; the same for more classes is in
// weights.cpp.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>

#include "arithmetic.hpp"
#include "weights.hpp"

namespace rebel {

using Two [[gnu::vector_size(16)]] = double;
using TwoInts [[gnu::vector_size(16)]] = int64_t;
using TwoClasses = std::integral_constant<size_t, 2>;
template <class Vector>
REBEL_INLINE inline Vector read(const void* from) {
    Vector vector;
    std::memcpy(&vector, from, sizeof vector);
    return vector;
}
REBEL_INLINE inline TwoInts both_rounded(Two x) {
    const Two magic = {round_magic, round_magic};
    return std::bit_cast<TwoInts>(x + magic) - std::bit_cast<TwoInts>(magic);
}

REBEL_INLINE inline void add_rows(Matrix<const double> weights, Regions regions,
                                  const double* scales, int64_t* sums, TwoClasses) {
    const Two scale = read<Two>(scales);
    for (size_t n = 0; n < regions.size; ++n) {
        int64_t* own = sums + regions.data[n] * size_t{4};
        const TwoInts w = both_rounded(read<Two>(weights.data + 2 * n) * scale);
        const TwoInts signed_sums = read<TwoInts>(own) + w;
        const TwoInts masses = read<TwoInts>(own + 2) + (w < 0 ? -w : w);
        std::memcpy(own, &signed_sums, sizeof signed_sums);
        std::memcpy(own + 2, &masses, sizeof masses);
    }
}

REBEL_INLINE inline void advance_rows(double* weights, Regions regions, const Step& step,
                                      int64_t* totals, TwoClasses) {
    const Two scale = read<Two>(step.scales.data);
    TwoInts sums = read<TwoInts>(totals);
    for (size_t n = 0; n < regions.size; ++n) {
        const size_t place = regions.data[n] * size_t{2};
        const Two before = read<Two>(weights + 2 * n);
        const Two up = read<Two>(step.up.data + place), down = read<Two>(step.down.data + place);
        const Two w = before * (before > 0 ? up : down);
        const Two size = w < 0 ? -w : w;
        const Two after = size < tiny ? Two{} : w;
        std::memcpy(weights + 2 * n, &after, sizeof after);
        sums += both_rounded(size * scale);
    }
    std::memcpy(totals, &sums, sizeof sums);
}

} // namespace rebel

// Sums of counts, which are exact in any order: whole numbers of a unit, below 2⁵³ in all.
#pragma once

#include <array>

#include "views.hpp"

namespace rebel {

// Adds counts[n] to sums[place_of(n)], for n items. With few places, each has several sums, because
// an addition to the sum just written has to wait for it.
template <class PlaceOf>
void add_counts(size_t n_items, PlaceOf place_of, Vector<const double> counts,
                Vector<double> sums) {
    constexpr size_t few = 64, n_apart = 4;
    size_t n = 0;
    if (sums.size <= few) {
        std::array<std::array<double, few>, n_apart> apart{};
        for (; n + n_apart <= n_items; n += n_apart)
            for (size_t i = 0; i < n_apart; ++i)
                apart[i][place_of(n + i)] += counts.data[n + i];
        for (size_t place = 0; place < sums.size; ++place)
            for (size_t i = 0; i < n_apart; ++i)
                sums.data[place] += apart[i][place];
    }
    for (; n < n_items; ++n)
        sums[place_of(n)] += counts.data[n];
}

} // namespace rebel

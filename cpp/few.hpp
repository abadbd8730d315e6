// Loops over a few classes.
#pragma once

#include <cstddef>
#include <type_traits>

#include "multiversion.hpp"

namespace rebel {

// Calls body(n), with a constant if n is 2, 3 or 4: a loop over so few classes then unrolls, and
// its sums stay in registers. With a variable n, it costs more than its body.
template <class Body>
REBEL_INLINE inline void constant_if_few(std::size_t n, Body body) {
    switch (n) {
    case 2:
        return body(std::integral_constant<std::size_t, 2>{});
    case 3:
        return body(std::integral_constant<std::size_t, 3>{});
    case 4:
        return body(std::integral_constant<std::size_t, 4>{});
    default:
        return body(n);
    }
}

} // namespace rebel

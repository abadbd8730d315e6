#include "elementary.hpp"

#include <cstring>

namespace rebel {
namespace {

REBEL_CLONES void all_exponentials(const double* __restrict x, double* __restrict out, size_t n) {
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        Doubles some;
        std::memcpy(&some, x + i, sizeof some);
        exponentiate(some);
        std::memcpy(out + i, &some, sizeof some);
    }
    for (; i < n; ++i)
        out[i] = exponential(x[i]);
}

REBEL_CLONES void all_logarithms(const double* __restrict x, double* __restrict out, size_t n) {
    for (size_t i = 0; i < n; ++i)
        out[i] = logarithm(x[i]);
}

} // namespace

void exponentials(Vector<const double> x, Vector<double> out) {
    require(x.size == out.size, "x and out differ in length");
    all_exponentials(x.data, out.data, x.size);
}

void logarithms(Vector<const double> x, Vector<double> out) {
    require(x.size == out.size, "x and out differ in length");
    all_logarithms(x.data, out.data, x.size);
}

} // namespace rebel

#include "random.hpp"

namespace rebel {

void random_numbers(uint64_t key, uint64_t first, Vector<uint64_t> out) {
    for (size_t i = 0; i < out.size; ++i)
        out[i] = random_number(key, first + i);
}

void random_normals(uint64_t key, uint64_t first, Vector<double> out) {
    for (size_t i = 0; i < out.size; ++i)
        out[i] = random_normal(key, first + i);
}

} // namespace rebel

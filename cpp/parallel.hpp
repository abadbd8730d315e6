// Threads for the kernels.
//
// parallel_for(n_items, grain, n_threads, work) calls work(begin, end) for the blocks
// [0, grain), [grain, 2·grain), … of [0, n_items), each once, in any order, at most `n_threads` at
// a time. The blocks do not depend on the number of threads. Choose a grain worth 20 µs or more.
//
// One block or one thread: runs in the caller, without a lock. An exception of `work` stops the
// hand-out of blocks and is rethrown in the caller. Any number of threads may call at once, and
// `work` may call it again: one caller has the helpers, the others run alone, so that there are
// never more busy threads than callers and helpers. Works after fork.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <memory>
#include <type_traits>

namespace rebel {

namespace detail {

struct Blocks {
    std::size_t n_items;
    std::size_t grain;
    void (*call)(void* work, std::size_t begin, std::size_t end);
    void* work;
};

void run_on_threads(const Blocks& blocks, std::size_t n_threads);

} // namespace detail

template <class Work>
void parallel_for(std::size_t n_items, std::size_t grain, int n_threads, Work&& work) {
    assert(grain > 0);
    if (n_threads <= 1 || n_items <= grain) {
        for (std::size_t begin = 0; begin < n_items; begin += grain)
            work(begin, std::min(begin + grain, n_items));
        return;
    }
    using Callable = std::remove_reference_t<Work>;
    const auto call = [](void* callable, std::size_t begin, std::size_t end) {
        (*static_cast<Callable*>(callable))(begin, end);
    };
    void* callable = const_cast<void*>(static_cast<const void*>(std::addressof(work)));
    detail::run_on_threads({n_items, grain, call, callable}, static_cast<std::size_t>(n_threads));
}

} // namespace rebel

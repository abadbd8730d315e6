// Threads for the kernels.
//
// parallel_for(n_items, grain, n_threads, work) calls work(begin, end) once for each of the blocks
// [0, grain), [grain, 2·grain), … of [0, n_items), in any order, on at most `n_threads` threads.
// The blocks do not depend on the number of threads. Choose a grain worth 20 µs or more.
//
// A single block or thread runs in the caller, without a lock. If `work` throws, no further blocks
// are started, and the exception is rethrown in the caller. Concurrent and nested calls are
// allowed: one caller gets the helper threads, the others run alone, so that there are never more
// busy threads than callers and helpers. It works after fork.
#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "views.hpp"

namespace rebel {

#ifdef __wasi__ // which has no threads: everything runs in the caller
struct Mutex {
    void lock() {}
    void unlock() {}
};
#else
using Mutex = std::mutex;
#endif

using Blocks = std::function<void(size_t begin, size_t end)>;
void run_on_threads(size_t n_items, size_t grain, size_t n_threads, const Blocks& work);

template <class Work>
void parallel_for(size_t n_items, size_t grain, int n_threads, Work&& work) {
    assert(grain > 0);
    if (n_threads <= 1 || n_items <= grain) {
        for (size_t begin = 0; begin < n_items; begin += grain)
            work(begin, begin + grain < n_items ? begin + grain : n_items);
        return;
    }
    run_on_threads(n_items, grain, static_cast<size_t>(n_threads),
                   [&work](size_t begin, size_t end) { work(begin, end); });
}

// Calls work(i) for each item.
template <class Work>
void parallel_each(size_t n_items, size_t grain, int n_threads, Work&& work) {
    parallel_for(n_items, grain, n_threads, [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; ++i)
            work(i);
    });
}

// A grain of about 20 µs, for items that together take `work` ns or so.
inline size_t grain_for(size_t n_items, size_t work) {
    const size_t grain = n_items * 20000 / (work + 1);
    return grain > 0 ? grain : 1;
}

// Calls work(begin, end, partial), which adds to its own `partial` sums, and adds these to `sums`.
// The sums are integers, so that the order of the blocks does not matter.
template <class Work>
void parallel_sum(size_t n_items, size_t grain, int n_threads, Vector<int64_t> sums, Work&& work) {
    if (n_threads <= 1 || n_items <= grain) {
        parallel_for(n_items, grain, 1,
                     [&](size_t begin, size_t end) { work(begin, end, sums.data); });
        return;
    }
    Mutex merging;
    parallel_for(n_items, grain, n_threads, [&](size_t begin, size_t end) {
        std::vector<int64_t> partial(sums.size, 0);
        work(begin, end, partial.data());
        const std::lock_guard lock(merging);
        for (size_t i = 0; i < sums.size; ++i)
            sums.data[i] += partial[i];
    });
}

} // namespace rebel

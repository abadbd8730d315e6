// A thread pool, because a boosting round calls several kernels of about 50 µs each. Measured:
// starting and joining one std::thread takes 25–75 µs (the most when cores have to wake up),
// handing a job to a helper that is still spinning takes 1 µs, and waking a sleeping one 30 µs.
#include "parallel.hpp"

#ifdef __wasi__

namespace rebel {

void run_on_threads(size_t n_items, size_t grain, size_t, const Blocks& work) {
    for (size_t begin = 0; begin < n_items; begin += grain)
        work(begin, begin + grain < n_items ? begin + grain : n_items);
}

} // namespace rebel

#else

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <thread>

#include <pthread.h>

namespace rebel {
namespace {

constexpr size_t most_helpers = 255;
constexpr std::chrono::microseconds spin_time{50};

void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// Spins for a while before the caller goes to sleep: sleeping and waking cost more than most jobs.
// Yields, because on a busy machine the awaited thread may need this core. Measured on two threads
// with all cores busy: calls of 50 µs took 107 µs without yielding and 51 µs with it.
template <class Condition>
void spin_until(Condition condition) {
    const auto give_up = std::chrono::steady_clock::now() + spin_time;
    do {
        for (int i = 0; i < 32; ++i) {
            if (condition())
                return;
            pause();
        }
        std::this_thread::yield();
    } while (std::chrono::steady_clock::now() < give_up);
}

struct Job {
    const size_t n_items;
    const size_t grain;
    const Blocks& work;
    std::atomic<size_t> next{0};
    std::mutex failure_mutex{};
    std::exception_ptr failure{};

    // Runs blocks until none is left. Several threads call this at once.
    void take_part() noexcept {
        for (;;) {
            const size_t begin = next.fetch_add(grain, std::memory_order_relaxed);
            if (begin >= n_items)
                return;
            try {
                work(begin, std::min(begin + grain, n_items));
            } catch (...) {
                const std::lock_guard lock(failure_mutex);
                failure = std::current_exception();
                next.store(n_items, std::memory_order_relaxed);
            }
        }
    }
};

// The owner opens a job and helpers that are awake enter. When no block is left, the owner closes
// the job and waits only for the helpers inside: one that slept through a short job delays nobody.
class Pool {
  public:
    // Returns false if another caller has the helpers.
    bool try_run(Job& job, size_t n_helpers) {
        if (owned_.exchange(true, std::memory_order_acquire))
            return false;
        grow(n_helpers);
        open(job, n_helpers);
        job.take_part();
        close();
        owned_.store(false, std::memory_order_release);
        return true;
    }

  private:
    void grow(size_t n_helpers) {
        try {
            for (; n_helpers_ < std::min(n_helpers, most_helpers); ++n_helpers_)
                std::thread([this] { help_forever(); }).detach();
        } catch (const std::exception&) {
            // The system has no more threads, or no memory for one: continue with those we have.
        }
    }

    void open(Job& job, size_t n_helpers) {
        size_t n_to_wake = 0;
        {
            const std::lock_guard lock(mutex_);
            job_ = &job;
            n_places_ = n_helpers;
            n_to_wake = std::min(n_helpers, n_asleep_);
            n_opened_.fetch_add(1, std::memory_order_release);
        }
        for (; n_to_wake > 0; --n_to_wake)
            opened_.notify_one();
    }

    void close() {
        {
            const std::lock_guard lock(mutex_);
            job_ = nullptr;
        }
        spin_until([this] { return n_inside_.load(std::memory_order_acquire) == 0; });
        std::unique_lock lock(mutex_);
        left_.wait(lock, [this] { return n_inside_.load(std::memory_order_relaxed) == 0; });
    }

    void help_forever() {
        uint64_t n_seen = 0;
        const auto is_new = [&] { return n_opened_.load(std::memory_order_acquire) != n_seen; };
        for (;;) {
            spin_until(is_new);
            std::unique_lock lock(mutex_);
            ++n_asleep_;
            opened_.wait(lock, is_new);
            --n_asleep_;
            n_seen = n_opened_.load(std::memory_order_relaxed);
            if (job_ == nullptr || n_places_ == 0)
                continue;
            Job& job = *job_;
            --n_places_;
            n_inside_.fetch_add(1, std::memory_order_relaxed);
            lock.unlock();
            job.take_part();
            lock.lock();
            n_inside_.fetch_sub(1, std::memory_order_release);
            left_.notify_one();
        }
    }

    std::atomic<bool> owned_{false};
    size_t n_helpers_ = 0; // accessed by the owner only

    // Written under the mutex; atomic if also read without it.
    std::mutex mutex_;
    std::condition_variable opened_;
    std::condition_variable left_;
    Job* job_ = nullptr;
    size_t n_places_ = 0;
    size_t n_asleep_ = 0;
    std::atomic<uint64_t> n_opened_{0};
    std::atomic<size_t> n_inside_{0};
};

// Never destroyed: at exit, helpers may still be waiting on it. The child of a fork has no helpers,
// and perhaps a locked mutex: it starts a new pool.
Pool* the_pool = new Pool;
[[maybe_unused]] const int fork_handler =
    pthread_atfork(nullptr, nullptr, [] { the_pool = new Pool; });

} // namespace

void run_on_threads(size_t n_items, size_t grain, size_t n_threads, const Blocks& work) {
    const size_t n_blocks = (n_items - 1) / grain + 1;
    Job job{n_items, grain, work};
    if (!the_pool->try_run(job, std::min(n_threads, n_blocks) - 1))
        job.take_part();
    if (job.failure)
        std::rethrow_exception(job.failure);
}

} // namespace rebel

#endif

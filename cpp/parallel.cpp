// A pool, because a boosting round calls several kernels of some 50 µs each. Measured: starting and
// joining one std::thread takes 25–75 µs (most when cores have to wake up), handing a job to a
// helper that still looks out for one takes 1 µs, waking one that fell asleep 30 µs.
#include "parallel.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#if __has_include(<pthread.h>)
#include <pthread.h>
#endif

namespace rebel::detail {
namespace {

constexpr std::size_t most_helpers = 255;
constexpr std::chrono::microseconds spin_time{50};

void pause() {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) && defined(__GNUC__)
    asm volatile("yield");
#endif
}

// Looks for a while before the caller goes to sleep: sleeping and waking cost more than most jobs.
// Yields, because on a busy machine the thread waited for may want this very core: without it,
// calls of 50 µs were measured to take 107 µs on two threads when all cores had other work; with
// it, 51.
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

class Job {
  public:
    explicit Job(const Blocks& blocks) : blocks_(blocks) {}

    // Runs blocks until none is left; several threads do this at once.
    void take_part() noexcept {
        for (;;) {
            const std::size_t begin = next_.fetch_add(blocks_.grain, std::memory_order_relaxed);
            if (begin >= blocks_.n_items)
                return;
            try {
                blocks_.call(blocks_.work, begin, std::min(begin + blocks_.grain, blocks_.n_items));
            } catch (...) {
                const std::lock_guard lock(failure_mutex_);
                failure_ = std::current_exception();
                next_.store(blocks_.n_items, std::memory_order_relaxed);
            }
        }
    }

    void rethrow_failure() const {
        if (failure_)
            std::rethrow_exception(failure_);
    }

  private:
    const Blocks blocks_;
    std::atomic<std::size_t> next_{0};
    std::mutex failure_mutex_;
    std::exception_ptr failure_;
};

// The owner opens a job, helpers that are awake enter, the owner closes it when no block is left
// and waits for those inside only: a helper that slept through a short job delays nobody.
class Pool {
  public:
    // False if another caller has the helpers.
    bool try_run(Job& job, std::size_t n_helpers) {
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
    void grow(std::size_t n_helpers) {
        try {
            for (; n_helpers_ < std::min(n_helpers, most_helpers); ++n_helpers_)
                std::thread([this] { help_forever(); }).detach();
        } catch (const std::system_error&) {
            // The system grants no more threads: the work gets done by those we have.
        }
    }

    void open(Job& job, std::size_t n_helpers) {
        std::size_t n_to_wake = 0;
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
        std::uint64_t n_seen = 0;
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
    std::size_t n_helpers_ = 0; // touched by the owner only

    // Changed under the mutex; atomic where they are also looked at without it.
    std::mutex mutex_;
    std::condition_variable opened_;
    std::condition_variable left_;
    Job* job_ = nullptr;
    std::size_t n_places_ = 0;
    std::size_t n_asleep_ = 0;
    std::atomic<std::uint64_t> n_opened_{0};
    std::atomic<std::size_t> n_inside_{0};
};

// Never destroyed: at exit, helpers may still be waiting on it.
std::atomic<Pool*> the_pool{nullptr};

#if __has_include(<pthread.h>)
// The child of a fork has none of the helpers, and perhaps a locked mutex: it starts a new pool.
[[maybe_unused]] const int fork_handler =
    pthread_atfork(nullptr, nullptr, [] { the_pool.store(nullptr, std::memory_order_relaxed); });
#endif

Pool& pool() {
    Pool* present = the_pool.load(std::memory_order_acquire);
    if (present != nullptr)
        return *present;
    auto fresh = std::make_unique<Pool>();
    if (the_pool.compare_exchange_strong(present, fresh.get(), std::memory_order_acq_rel))
        return *fresh.release();
    return *present;
}

} // namespace

void run_on_threads(const Blocks& blocks, std::size_t n_threads) {
    const std::size_t n_blocks = (blocks.n_items - 1) / blocks.grain + 1;
    Job job(blocks);
    if (!pool().try_run(job, std::min(n_threads, n_blocks) - 1))
        job.take_part();
    job.rethrow_failure();
}

} // namespace rebel::detail

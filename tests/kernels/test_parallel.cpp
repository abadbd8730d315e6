// parallel_for by itself: `make sanitize` runs this under AddressSanitizer and ThreadSanitizer.
#include "parallel.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

using rebel::parallel_for;

void check(bool condition, const char* statement) {
    if (!condition) {
        std::fprintf(stderr, "FAILED: %s\n", statement);
        std::_Exit(1);
    }
}

bool covers_each_item_once(std::size_t n_items, std::size_t grain, int n_threads) {
    std::vector<int> visits(n_items); // not atomic: ThreadSanitizer shall see every hand-over
    parallel_for(n_items, grain, n_threads, [&](std::size_t begin, std::size_t end) {
        if (begin % grain != 0 || end - begin > grain)
            throw std::logic_error("not one of the fixed blocks");
        for (std::size_t i = begin; i < end; ++i)
            ++visits[i];
    });
    for (const int n : visits)
        if (n != 1)
            return false;
    return true;
}

void each_item_is_visited_once() {
    for (const int n_threads : {1, 2, 3, 7})
        for (const std::size_t n_items : {0UL, 1UL, 63UL, 64UL, 65UL, 1000UL})
            for (const std::size_t grain : {1UL, 64UL, 4096UL})
                check(covers_each_item_once(n_items, grain, n_threads), __func__);
}

void helpers_that_fell_asleep_wake_up() {
    for (int i = 0; i < 20; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        check(covers_each_item_once(1000, 10, 3), __func__);
    }
}

void an_exception_reaches_the_caller_and_the_pool_survives() {
    for (int i = 0; i < 50; ++i) {
        bool caught = false;
        try {
            parallel_for(1000, 10, 3, [](std::size_t begin, std::size_t) {
                if (begin >= 500)
                    throw std::runtime_error("expected");
            });
        } catch (const std::runtime_error&) {
            caught = true;
        }
        check(caught, __func__);
    }
    check(covers_each_item_once(1000, 10, 3), __func__);
}

void calls_may_be_nested() {
    std::atomic<int> sum{0};
    parallel_for(20, 1, 3, [&](std::size_t, std::size_t) {
        parallel_for(20, 1, 3, [&](std::size_t, std::size_t) { ++sum; });
    });
    check(sum == 400, __func__);
}

void four_threads_may_call_at_once() {
    std::atomic<int> n_wrong{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller)
        callers.emplace_back([&] {
            for (int i = 0; i < 300; ++i)
                n_wrong += !covers_each_item_once(500, 10, 3);
        });
    for (std::thread& caller : callers)
        caller.join();
    check(n_wrong == 0, __func__);
}

#ifndef _WIN32
void a_forked_child_has_threads_of_its_own() {
    for (int i = 0; i < 5; ++i) {
        const pid_t child = fork();
        if (child == 0)
            std::_Exit(covers_each_item_once(1000, 10, 3) ? 0 : 1);
        int status = -1;
        waitpid(child, &status, 0);
        check(WIFEXITED(status) && WEXITSTATUS(status) == 0, __func__);
        check(covers_each_item_once(1000, 10, 3), __func__);
    }
}
#endif

// A call of two blocks that do nothing: what the hand-over costs.
double microseconds_per_call() {
    constexpr int n_calls = 20000;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < n_calls; ++i)
        parallel_for(2, 1, 2, [](std::size_t, std::size_t) {});
    const std::chrono::duration<double, std::micro> spent =
        std::chrono::steady_clock::now() - start;
    return spent.count() / n_calls;
}

} // namespace

int main() {
    each_item_is_visited_once();
    helpers_that_fell_asleep_wake_up();
    an_exception_reaches_the_caller_and_the_pool_survives();
    calls_may_be_nested();
    four_threads_may_call_at_once();
#ifndef _WIN32
    a_forked_child_has_threads_of_its_own();
#endif
    std::printf("parallel_for: all properties hold; %.1f µs a call\n", microseconds_per_call());
}

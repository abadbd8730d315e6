// Releases Python's lock while a kernel runs.
#pragma once

#include <chrono>
#include <thread>

#include <nanobind/nanobind.h>

namespace rebel {

// When the interpreter exits while another thread runs a kernel, Python (before 3.14) ends that
// thread where it asks for the lock again, by unwinding its stack. Unwinding through a destructor
// would abort the process, so the thread sleeps instead until the process has ended.
class ReleasedGil {
  public:
    ReleasedGil() = default;
    ReleasedGil(const ReleasedGil&) = delete;
    ReleasedGil& operator=(const ReleasedGil&) = delete;

    ~ReleasedGil() {
        try {
            PyEval_RestoreThread(state_);
        } catch (...) {
            for (;;)
                std::this_thread::sleep_for(std::chrono::hours(1));
        }
    }

  private:
    PyThreadState* state_ = PyEval_SaveThread();
};

} // namespace rebel

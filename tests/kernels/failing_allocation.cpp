// Operators new that fail when they are told to, preloaded before the compiled kernels.
#include <atomic>
#include <cstdlib>
#include <new>

static std::atomic<long> n_left{-1};
static std::atomic<long> n_failed{0};

extern "C" void fail_after(long n) {
    n_left = n;
}
extern "C" long failed() {
    return n_failed.exchange(0);
}

static void* allocate(std::size_t size, std::size_t alignment) {
    if (n_left.load() >= 0 && n_left.fetch_sub(1) == 0) {
        ++n_failed;
        throw std::bad_alloc();
    }
    void* found =
        alignment ? std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                  : std::malloc(size ? size : 1);
    if (!found)
        throw std::bad_alloc();
    return found;
}

void* operator new(std::size_t size) {
    return allocate(size, 0);
}
void* operator new[](std::size_t size) {
    return allocate(size, 0);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
    return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* pointer) noexcept {
    std::free(pointer);
}
void operator delete[](void* pointer) noexcept {
    std::free(pointer);
}
void operator delete(void* pointer, std::size_t) noexcept {
    std::free(pointer);
}
void operator delete[](void* pointer, std::size_t) noexcept {
    std::free(pointer);
}
void operator delete(void* pointer, std::align_val_t) noexcept {
    std::free(pointer);
}
void operator delete[](void* pointer, std::align_val_t) noexcept {
    std::free(pointer);
}
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept {
    std::free(pointer);
}
void operator delete[](void* pointer, std::size_t, std::align_val_t) noexcept {
    std::free(pointer);
}

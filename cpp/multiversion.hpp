// REBEL_CLONES before a function compiles it twice, for any x86-64 and for x86-64-v3 (AVX2, BMI);
// the loader takes what the machine has. All clones give the same bits, because the kernels are
// compiled with -ffp-contract=off: v3 has FMA, and a contracted a * b + c rounds differently.
//
// It reaches neither lambdas nor functions that are called but not inlined: give the hot loop a
// name, mark it, and let the lambda of `parallel_for` call it.
// No v4 clone (AVX-512): it would be code that our own machines never ran.
#pragma once

#include <cstdlib> // defines __GLIBC__, whose loader resolves ifuncs; musl's does not

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REBEL_SANITIZED
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REBEL_SANITIZED // resolvers run before the sanitizers are ready
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(REBEL_SANITIZED) && \
    (!defined(__clang__) || __clang_major__ >= 17)
#define REBEL_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#else
#define REBEL_CLONES
#endif

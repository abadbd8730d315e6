// REBEL_CLONES before a function compiles it twice, for any x86-64 and for x86-64-v3 (AVX2, BMI);
// the loader picks the version for the machine. Both give the same bits because the kernels are
// compiled with -ffp-contract=off: v3 has FMA, and a contracted a * b + c rounds differently.
//
// The attribute does not apply to templates, nor to lambdas or functions that are not inlined. Put
// the hot loop into a named function, mark it, and call it from the lambda of `parallel_for`. What
// it calls in turn is marked REBEL_INLINE.
//
// There is no v4 clone (AVX-512), because we have no machine to test it on, and no clone at all in
// sanitized builds (CMakeLists.txt), because resolvers run before the sanitizers are ready.
#pragma once

#include <cstdlib> // defines __GLIBC__, whose loader resolves ifuncs; musl's does not

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(REBEL_SANITIZED) &&                      \
    (!defined(__clang__) || __clang_major__ >= 17)
#if defined(__clang__) || __GNUC__ >= 12
#define REBEL_CLONES __attribute__((target_clones("default", "arch=x86-64-v3")))
#else // GCC 11 cannot choose by level
#define REBEL_CLONES __attribute__((target_clones("default", "avx2")))
#endif
#else
#define REBEL_CLONES
#endif

#define REBEL_INLINE __attribute__((always_inline))

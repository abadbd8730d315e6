#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* The same bits everywhere need IEEE 754 arithmetic, each operation rounded by itself. */
#if defined(__FAST_MATH__)
#error "compile without -ffast-math"
#endif
#if FLT_EVAL_METHOD != 0
#error "floating point has excess precision: add -msse2 -mfpmath=sse"
#endif
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__) && !defined(__STRICT_ANSI__)
#pragma GCC optimize("fp-contract=off")
#elif defined(_MSC_VER)
#pragma fp_contract(off)
#endif

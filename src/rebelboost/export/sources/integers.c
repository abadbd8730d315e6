#include <stdint.h>
#include <string.h>

/* A model in integers: no floating point is needed, unless MODEL_READS_DOUBLES is defined. A sample
   is a bin for each feature: how many thresholds of the feature its value exceeds (see model_bins),
   or the code of a category, or MODEL_MISSING. Scores are multiples of 2 to the power of
   MODEL_EXPONENT. */
enum { MODEL_MISSING = 65535 };
void model_scores(const uint16_t* bins, int64_t* scores);
int model_decide(const uint16_t* bins);
#ifdef MODEL_READS_DOUBLES
#include <math.h>
void model_bins(const double* x, uint16_t* bins);
#endif

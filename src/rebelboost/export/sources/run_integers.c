/* Reads rows of numbers, and writes the scores and the decision of each. */
#define MODEL_READS_DOUBLES
#include <stdio.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

#include "model.c"

int main(void) {
    double x[MODEL_N_FEATURES], out[MODEL_N_CLASSES + 1];
    uint16_t bins[MODEL_N_FEATURES];
    int64_t scores[MODEL_N_CLASSES];
    double unit = 1;
    for (int e = MODEL_EXPONENT; e != 0; e += e < 0 ? 1 : -1)
        unit *= e < 0 ? 0.5 : 2;
#ifdef _WIN32
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    while (fread(x, sizeof x, 1, stdin) == 1) {
        model_bins(x, bins);
        model_scores(bins, scores);
        for (int k = 0; k < MODEL_N_CLASSES; ++k)
            out[k] = (double)scores[k] * unit;
        out[MODEL_N_CLASSES] = model_decide(bins);
        if (fwrite(out, sizeof out, 1, stdout) != 1)
            return 1;
    }
    return 0;
}

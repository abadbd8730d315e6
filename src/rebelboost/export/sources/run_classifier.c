/* Reads rows of numbers, and writes scores, probabilities and the decision of each. Fails if those
   that are computed together differ from those that are computed row by row. */
#include <stdio.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

#include "model.c"

enum { AT_ONCE = 150 };

int main(void) {
    static double x[AT_ONCE][MODEL_N_FEATURES], out[2 * MODEL_N_CLASSES + 3];
    static double scores[AT_ONCE][MODEL_N_CLASSES], P[AT_ONCE][MODEL_N_CLASSES];
    static int decisions[AT_ONCE];
    size_t n;
#ifdef _WIN32
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    while ((n = fread(x, sizeof x[0], AT_ONCE, stdin)) > 0) {
        model_scores_many(x[0], n, scores[0]);
        model_probabilities_many(x[0], n, P[0]);
        model_decide_many(x[0], n, 0, decisions);
        for (size_t i = 0; i < n; ++i) {
            model_scores(x[i], out);
            model_probabilities(x[i], out + MODEL_N_CLASSES);
            out[2 * MODEL_N_CLASSES] = model_decide(x[i], 0);
            if (memcmp(scores[i], out, sizeof scores[i]) ||
                memcmp(P[i], out + MODEL_N_CLASSES, sizeof P[i]) ||
                decisions[i] != (int)out[2 * MODEL_N_CLASSES]) {
                fputs("rows that are computed together differ from single rows\n", stderr);
                return 2;
            }
            size_t n_told = 2 * MODEL_N_CLASSES + 1;
#ifdef HAS_CASCADE
            int n_terms;
            out[n_told++] = model_decide_early(x[i], &n_terms);
            out[n_told++] = n_terms;
#endif
            if (fwrite(out, sizeof out[0], n_told, stdout) != n_told)
                return 1;
        }
    }
    return 0;
}

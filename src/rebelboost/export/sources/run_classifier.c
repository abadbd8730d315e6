/* Reads rows of numbers, and writes scores, probabilities and the decision of each. Fails if those
   that are computed together differ from those that are computed row by row. */
#include <stdio.h>

#include "model.c"

enum { AT_ONCE = 150 };

int main(void) {
    static double x[AT_ONCE][MODEL_N_FEATURES], out[2 * MODEL_N_CLASSES + 1];
    static double scores[AT_ONCE][MODEL_N_CLASSES], P[AT_ONCE][MODEL_N_CLASSES];
    static int decisions[AT_ONCE];
    size_t n;
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
            if (fwrite(out, sizeof out, 1, stdout) != 1)
                return 1;
        }
    }
    return 0;
}

/* Reads rows of numbers, and writes scores, probabilities and the decision of each. */
#include <stdio.h>

#include "model.c"

int main(void) {
    double x[MODEL_N_FEATURES], out[2 * MODEL_N_CLASSES + 1];
    while (fread(x, sizeof x, 1, stdin) == 1) {
        model_scores(x, out);
        model_probabilities(x, out + MODEL_N_CLASSES);
        out[2 * MODEL_N_CLASSES] = model_decide(x, 0);
        if (fwrite(out, sizeof out, 1, stdout) != 1)
            return 1;
    }
    return 0;
}

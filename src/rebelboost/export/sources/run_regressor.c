/* Reads rows of numbers, and writes the score and the prediction of each. */
#include <stdio.h>

#include "model.c"

int main(void) {
    double x[MODEL_N_FEATURES], out[2];
    while (fread(x, sizeof x, 1, stdin) == 1) {
        model_scores(x, out);
        out[1] = model_predict(x);
        if (fwrite(out, sizeof out, 1, stdout) != 1)
            return 1;
    }
    return 0;
}

/* Reads rows of numbers, and writes the score and the prediction of each. Fails if those that are
   computed together differ from those that are computed row by row. */
#include <stdio.h>
#ifdef _WIN32
#include <fcntl.h>
#include <io.h>
#endif

#include "model.c"

enum { AT_ONCE = 150 };

int main(void) {
    static double x[AT_ONCE][MODEL_N_FEATURES], predicted[AT_ONCE], out[2];
    size_t n;
#ifdef _WIN32
    _setmode(_fileno(stdin), _O_BINARY);
    _setmode(_fileno(stdout), _O_BINARY);
#endif
    while ((n = fread(x, sizeof x[0], AT_ONCE, stdin)) > 0) {
        model_predict_many(x[0], n, predicted);
        for (size_t i = 0; i < n; ++i) {
            model_scores(x[i], out);
            out[1] = model_predict(x[i]);
            if (memcmp(&predicted[i], &out[1], sizeof out[1])) {
                fputs("rows that are computed together differ from single rows\n", stderr);
                return 2;
            }
            if (fwrite(out, sizeof out, 1, stdout) != 1)
                return 1;
        }
    }
    return 0;
}

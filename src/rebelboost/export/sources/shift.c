/* Probabilities where classes are more or less frequent than in training. */
static void shifted_posterior(const double* x, double* P) {
    double sum = 0;
    DECODE(x, P);
    for (int k = 0; k < MODEL_N_CLASSES; ++k) {
        P[k] *= SHIFT[k];
        sum += P[k];
    }
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        P[k] /= sum;
}

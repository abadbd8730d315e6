static void uniform_posterior(const double* x, double* P) {
    double sum = 0;
    const double at = log_lambda_of(x);
    for (int k = 0; k < MODEL_N_CLASSES; ++k) {
        P[k] = 1 / (1 + exponential(-(x[k] - at)));
        sum += P[k];
    }
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        P[k] /= sum;
}

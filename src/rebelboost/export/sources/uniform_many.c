/* P_k = 1/(1 + exp(-(x_k - ln lambda))) with the lambda for which they sum to 1. */
static double larger(double a, double b) {
    return a > b ? a : b;
}

static double log_lambda_of(const double* x) {
    double top = x[0], second = x[1];
    if (second > top) {
        top = x[1];
        second = x[0];
    }
    for (int k = 2; k < MODEL_N_CLASSES; ++k) {
        const double least = x[k] < top ? x[k] : top;
        second = larger(second, least);
        top = larger(top, x[k]);
    }
    double low = larger(top + LOG_LEAST, (top + second) / 2), high = top + LOG_OTHERS, at = low;
    for (int s = 0; s < 100; ++s) {
        double sum = 0, slope = 0;
        for (int k = 0; k < MODEL_N_CLASSES; ++k) {
            const double P = 1 / (1 + exponential(-(x[k] - at)));
            sum += P;
            slope += P * (1 - P);
        }
        const double excess = sum - 1, now = at;
        if (excess > 0)
            low = now;
        else
            high = now;
        at = now + excess / larger(slope, 1e-300);
        if (!(at > low && at < high))
            at = (low + high) / 2;
        const double size = at < 0 ? -at : at, change = at < now ? now - at : at - now;
        if (change < 1e-14 * larger(1, size))
            break;
    }
    return at;
}

static double log_lambda_of(const double* x) {
    return (x[0] + x[1]) / 2;
}

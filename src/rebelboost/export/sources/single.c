static void posterior_of(const double* x, double* P) {
    (void)x;
    P[0] = 1;
}

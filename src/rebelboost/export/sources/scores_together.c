void model_scores_many(const double* x, size_t n, double* scores) {
    size_t done = 0;
    for (; n - done >= FEWEST; done += n - done < TOGETHER ? n - done : TOGETHER) {
        const int n_rows = n - done < TOGETHER ? (int)(n - done) : TOGETHER;
        sum_together(x + done * MODEL_N_FEATURES, n_rows, scores + done * MODEL_N_CLASSES);
    }
    for (; done < n; ++done)
        model_scores(x + done * MODEL_N_FEATURES, scores + done * MODEL_N_CLASSES);
}

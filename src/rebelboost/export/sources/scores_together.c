void model_scores_many(const double* x, size_t n, double* scores) {
    for (size_t done = 0; done < n; done += TOGETHER) {
        const int n_rows = n - done < TOGETHER ? (int)(n - done) : TOGETHER;
        sum_together(x + done * MODEL_N_FEATURES, n_rows, scores + done * MODEL_N_CLASSES);
    }
}

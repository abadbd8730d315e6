void model_scores_many(const double* x, size_t n, double* scores) {
    for (size_t i = 0; i < n; ++i)
        model_scores(x + i * MODEL_N_FEATURES, scores + i * MODEL_N_CLASSES);
}

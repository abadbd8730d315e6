void model_probabilities_many(const double* x, size_t n, double* P) {
    double scores[MODEL_N_CLASSES];
    model_scores_many(x, n, P);
    for (size_t i = 0; i < n; ++i) {
        memcpy(scores, P + i * MODEL_N_CLASSES, sizeof scores);
        probabilities_at(TEMPERATURE, scores, P + i * MODEL_N_CLASSES);
    }
}

void model_decide_many(const double* x, size_t n, const double* costs, int* decisions) {
    enum { AT_ONCE = 64 };
    double scores[AT_ONCE * MODEL_N_CLASSES];
    for (size_t done = 0; done < n; done += AT_ONCE) {
        const size_t n_rows = n - done < AT_ONCE ? n - done : AT_ONCE;
        model_scores_many(x + done * MODEL_N_FEATURES, n_rows, scores);
        for (size_t i = 0; i < n_rows; ++i)
            decisions[done + i] = decision_at(TEMPERATURE, x + (done + i) * MODEL_N_FEATURES,
                                              scores + i * MODEL_N_CLASSES, costs);
    }
}

double model_predict(const double* x) {
    double score;
    model_scores(x, &score);
    return BASELINE + score;
}

void model_predict_many(const double* x, size_t n, double* predictions) {
    model_scores_many(x, n, predictions);
    for (size_t i = 0; i < n; ++i)
        predictions[i] = BASELINE + predictions[i];
}

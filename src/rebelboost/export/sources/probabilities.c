static void probabilities_of(const double* scores, double* P) {
    double x[MODEL_N_CLASSES];
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        x[k] = log_ratio(TEMPERATURE * scores[k]);
    DECODE(x, P);
}

void model_probabilities(const double* x, double* P) {
    double scores[MODEL_N_CLASSES];
    model_scores(x, scores);
    probabilities_of(scores, P);
}

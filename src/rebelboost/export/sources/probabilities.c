static void probabilities_at(double temperature, const double* scores, double* P) {
    double x[MODEL_N_CLASSES];
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        x[k] = log_ratio(temperature * scores[k]);
    DECODE(x, P);
}

void model_probabilities(const double* x, double* P) {
    double scores[MODEL_N_CLASSES];
    model_scores(x, scores);
    probabilities_at(TEMPERATURE, scores, P);
}

int model_decide(const double* x, const double* costs) {
    double scores[MODEL_N_CLASSES];
    model_scores(x, scores);
    return decision_at(TEMPERATURE, x, scores, costs);
}

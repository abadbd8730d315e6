void model_scores(const double* x, double* scores) {
    sum_0(x, scores);
}

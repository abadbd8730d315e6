static int leaves(const double* x, const double* scores, int check, int* decision) {
    double second = -(double)INFINITY;
    (void)x;
    *decision = highest(scores);
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        if (k != *decision && scores[k] > second)
            second = scores[k];
    const double lead = scores[*decision] - second;
    return lead > CHECK_HIGH[check] || lead < CHECK_LOW[check];
}

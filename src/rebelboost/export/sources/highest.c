/* The class with the highest score, the first of equal ones. */
static int highest(const double* scores) {
    int best = 0;
    for (int k = 1; k < MODEL_N_CLASSES; ++k)
        if (scores[k] > scores[best])
            best = k;
    return best;
}

/* Whether all mistakes cost the same. */
static int are_uniform(const double* costs) {
    for (int i = 0; i < MODEL_N_CLASSES * MODEL_N_CLASSES; ++i)
        if (i / MODEL_N_CLASSES != i % MODEL_N_CLASSES && costs[i] != costs[1])
            return 0;
    return 1;
}

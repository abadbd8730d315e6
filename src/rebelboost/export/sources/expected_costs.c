/* Costs of the sample itself where the caller gives none; 0 if they cannot be known. */
static const double* costs_of(const double* x, const double* given, double* own) {
    if (given)
        return given;
    return own_costs(x, own) ? own : 0;
}

static void expected_costs(const double* P, const double* costs, double* risks) {
    for (int k = 0; k < MODEL_N_CLASSES; ++k) {
        risks[k] = 0;
        for (int y = 0; y < MODEL_N_CLASSES; ++y)
            risks[k] += P[y] * costs[y * MODEL_N_CLASSES + k];
    }
}

int model_expected_costs(const double* x, const double* costs, double* risks) {
    double own[MODEL_N_CLASSES * MODEL_N_CLASSES], P[MODEL_N_CLASSES];
    costs = costs_of(x, costs, own);
    if (!costs)
        return MODEL_NO_COSTS;
    model_probabilities(x, P);
    expected_costs(P, costs, risks);
    return 0;
}

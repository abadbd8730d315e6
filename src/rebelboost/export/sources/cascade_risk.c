static int leaves(const double* x, const double* scores, int check, int* decision) {
    double own[MODEL_N_CLASSES * MODEL_N_CLASSES], P[MODEL_N_CLASSES], risks[MODEL_N_CLASSES + 1];
    double least = REJECT_COST, second = (double)INFINITY;
    const double* costs = costs_of(x, 0, own);
    if (!costs)
        return 0;
    probabilities_at(CHECK_TEMPERATURE[check], scores, P);
    expected_costs(P, costs, risks);
    for (int k = 0; k < MODEL_N_CLASSES; ++k) {
        if (risks[k] < least) {
            second = least;
            least = risks[k];
        } else if (risks[k] < second) {
            second = risks[k];
        }
    }
    *decision = decision_at(CHECK_TEMPERATURE[check], x, scores, costs);
    return second - least > CHECK_HIGH[check] || second - least < CHECK_LOW[check];
}

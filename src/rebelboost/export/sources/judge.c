double own[MODEL_N_CLASSES * MODEL_N_CLASSES], P[MODEL_N_CLASSES], risks[MODEL_N_CLASSES];
costs = costs_of(x, costs, own);
if (!costs)
    return MODEL_NO_COSTS;
probabilities_at(temperature, scores, P);
expected_costs(P, costs, risks);

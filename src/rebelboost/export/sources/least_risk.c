static double lowest(const double* risks) {
    double least = risks[0];
    for (int k = 1; k < MODEL_N_CLASSES; ++k)
        least = risks[k] < least ? risks[k] : least;
    return least;
}

/* The class of least expected cost; of equal ones, that of the highest score. */
static int least_risk(const double* scores, const double* risks) {
    const double least = lowest(risks), most = least + 1e-12 * (least < 0 ? -least : least);
    int best = -1;
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        if (risks[k] <= most && (best < 0 || scores[k] > scores[best]))
            best = k;
    return best;
}

static double lowest(const double* risks) {
    double least = risks[0];
    for (int k = 1; k < MODEL_N_CLASSES; ++k)
        least = risks[k] < least ? risks[k] : least;
    return least;
}

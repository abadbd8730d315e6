static void add_constants(const double* outputs, int32_t first, int32_t last, int32_t n_outputs,
                          double* scores) {
    for (int32_t t = first; t < last; ++t)
        for (int32_t k = 0; k < n_outputs; ++k)
            scores[k] += outputs[(size_t)t * (size_t)n_outputs + (size_t)k];
}

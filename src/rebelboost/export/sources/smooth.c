/* Smooth functions of the similarity to training rows. */
struct smooth {
    int32_t n_points;
    double tau;
    const double* outputs;
    const double* offset;
    double unit; /* to which the sum is rounded; 0: not at all */
};

static void add_smooth(const struct smooth* function, const float* distances, int32_t n_outputs,
                       double* scores) {
    for (int32_t k = 0; k < n_outputs; ++k) {
        double sum = function->unit > 0 ? 0 : scores[k];
        for (int32_t e = 0; e < function->n_points; ++e) {
            const double r = distances[e];
            const double f = (function->tau - r) / (function->tau + r);
            sum += f * function->outputs[(size_t)e * (size_t)n_outputs + (size_t)k];
        }
        sum += function->offset[k];
        scores[k] =
            function->unit > 0 ? scores[k] + nearest(sum / function->unit) * function->unit : sum;
    }
}

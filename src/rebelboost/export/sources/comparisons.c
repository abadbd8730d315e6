/* Comparisons with training rows: more like this one than like that one. */
struct comparisons {
    const uint8_t* kinds; /* 0: two points, 1: nearer, 2: one point, 3: inside */
    const int32_t* anchors;
    const int32_t* rivals;
    const double* apart;
    const double* slopes;
    const double* offsets;
};

static double respond(int kind, double r_i, double r_j, double apart) {
    if (kind == 0) {
        const double quarter = apart * 0.25;
        double middle = (r_i + r_j) * 0.5 - quarter;
        middle = middle > 0 ? middle : 0;
        return (PEAK * quarter) * ((r_j - r_i) * 0.25) /
               (4.0 * quarter * quarter + middle * middle);
    }
    if (kind == 1)
        return r_j > r_i ? 1 : -1;
    if (kind == 2)
        return (apart - r_i) / (apart + r_i);
    return r_i < apart ? 1 : -1;
}

/* The level below |f|, from the bits of a float: its exponent and 4 bits of its mantissa. */
static int level_of(double f) {
    const float size = (float)(f < 0 ? -f : f);
    uint32_t bits;
    memcpy(&bits, &size, sizeof bits);
    int32_t level = (int32_t)(bits >> 19) - 119 * 16 + 1;
    level = level < 0 ? 0 : level > 129 ? 129 : level;
    return f < 0 ? 129 - level : 129 + level;
}

static void add_comparisons(const struct comparisons* all, const float* distances, int32_t first,
                            int32_t last, int32_t n_outputs, double* scores) {
    for (int32_t t = first; t < last; ++t) {
        const double r_i = distances[all->anchors[t]], r_j = distances[all->rivals[t]];
        const double f = LEVELS[level_of(respond(all->kinds[t], r_i, r_j, all->apart[t]))];
        const size_t output = (size_t)t * (size_t)n_outputs;
        for (int32_t k = 0; k < n_outputs; ++k)
            scores[k] += f * all->slopes[output + (size_t)k] + all->offsets[output + (size_t)k];
    }
}

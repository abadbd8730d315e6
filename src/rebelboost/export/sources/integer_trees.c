/* Of each split: feature, test, number of splits to its left, and kind (0: a bin to exceed, 1: the
   same, and missing values go right, 2: a set of categories). */
static int goes_right(const uint16_t* split, unsigned bin) {
    if (split[3] == 2) {
        const unsigned code = bin < 255 ? bin : 255;
        return sets[32 * (size_t)split[1] + code / 8] >> code % 8 & 1;
    }
    return bin == MODEL_MISSING ? split[3] : bin > split[1];
}

static void add_trees(const uint16_t* bins, int64_t* scores) {
    const uint16_t* split = nodes;
    size_t leaf = 0;
    for (int t = 0; t < N_TREES; ++t) {
        const uint16_t* next = split + 4 * (size_t)sizes[t];
        unsigned left = sizes[t];
        size_t at = leaf;
        while (left > 0) {
            const unsigned skip = split[2];
            if (goes_right(split, bins[split[0]])) {
                at += skip + 1;
                split += 4 * ((size_t)skip + 1);
                left -= skip + 1;
            } else {
                split += 4;
                left = skip;
            }
        }
        for (int k = 0; k < MODEL_N_CLASSES; ++k)
            scores[k] +=
                (int64_t)outputs[at * MODEL_N_CLASSES + (size_t)k] * ((int64_t)1 << shifts[t]);
        leaf += (size_t)sizes[t] + 1;
        split = next;
    }
}

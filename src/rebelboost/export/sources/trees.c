/* Trees test bytes: the code of a number is how many thresholds of its column it exceeds. */
struct trees {
    int32_t n_columns, n_numbers; /* columns of numbers come first, then those of categories */
    const int32_t* features;      /* feature of each column */
    const int32_t* starts;        /* where the thresholds of a column begin */
    const double* thresholds;
    const uint8_t* missing;       /* code of missing values in each column */
    const int32_t* mean_features; /* categories that stand for numbers */
    const int32_t* mean_starts;
    const double* mean_values; /* of each code, of other codes, and of missing values */
    const int32_t* mean_pairs; /* pairs of categories that have numbers instead, or -1; or none */
    const int32_t* pair_features; /* the second feature of pairs */
    const int32_t* pair_starts;
    const uint32_t* pair_keys; /* sorted: 65536 times the first code, plus the second */
    const uint16_t* sizes;     /* number of splits of each tree */
    const uint16_t* nodes;     /* of each split: column, test, number of splits to its left, and
                                  number of leaves of its tree before it */
    const uint8_t* sets;       /* 32 bytes each, a bit for each code */
    const double* units;       /* of the outputs of each tree */
    const int16_t* integers;   /* outputs in these units, or none */
    const double* numbers;     /* outputs, if there are no integers */
};

/* The place of a pair of categories among those that have numbers of their own; or the place after
 * them. */
static int32_t place_of_pair(const struct trees* trees, int32_t pair, double a, double b) {
    const int32_t first = trees->pair_starts[pair], end = trees->pair_starts[pair + 1];
    int32_t low = first, high = end;
    uint32_t key;
    if (!(a >= 0 && a < 65536 && b >= 0 && b < 65536))
        return end - first;
    key = (uint32_t)a * 65536u + (uint32_t)b;
    while (low < high) {
        const int32_t middle = low + (high - low) / 2;
        if (trees->pair_keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return (low < end && trees->pair_keys[low] == key ? low : end) - first;
}

/* The number that a category, or a pair of categories, stands for. */
static double mean_of(const struct trees* trees, int32_t i, const double* x) {
    const double code = x[trees->mean_features[i]];
    const int32_t first = trees->mean_starts[i], n = trees->mean_starts[i + 1] - first - 2;
    const int32_t pair = trees->mean_pairs ? trees->mean_pairs[i] : -1;
    if (pair >= 0)
        return trees
            ->mean_values[first + place_of_pair(trees, pair, code, x[trees->pair_features[pair]])];
    if (code != code)
        return trees->mean_values[first + n + 1];
    return trees->mean_values[first + (code >= 0 && code < n ? (int32_t)code : n)];
}

static void code_columns(const struct trees* trees, const double* x, uint8_t* codes) {
    for (int32_t c = 0; c < trees->n_columns; ++c) {
        const int32_t f = trees->features[c];
        const double value = f < MODEL_N_FEATURES ? x[f] : mean_of(trees, f - MODEL_N_FEATURES, x);
        if (c >= trees->n_numbers) {
            codes[c] = value >= 0 && value < 255 ? (uint8_t)value : trees->missing[c];
        } else if (value != value) {
            codes[c] = trees->missing[c];
        } else {
            const int32_t first = trees->starts[c];
            int32_t low = first, high = trees->starts[c + 1];
            while (low < high) {
                const int32_t middle = low + (high - low) / 2;
                if (value > trees->thresholds[middle])
                    low = middle + 1;
                else
                    high = middle;
            }
            codes[c] = (uint8_t)(low - first);
        }
    }
}

static void add_leaf(const struct trees* trees, int32_t t, size_t leaf, int32_t n_outputs,
                     double* scores) {
    leaf *= (size_t)n_outputs;
    if (trees->integers) {
        for (int32_t k = 0; k < n_outputs; ++k)
            scores[k] += trees->units[t] * trees->integers[leaf + (size_t)k];
    } else {
        for (int32_t k = 0; k < n_outputs; ++k)
            scores[k] += trees->numbers[leaf + (size_t)k];
    }
}

/* Whether a code goes right: the test is a code to exceed, or 256 + a set of codes. */
static unsigned goes_right(const struct trees* trees, unsigned code, unsigned test) {
    const uint8_t* set = trees->sets + 32 * (size_t)(test < 256 ? 0 : test - 256);
    return test < 256 ? code > test : (unsigned)set[code / 8] >> code % 8 & 1;
}

/* Adds trees [first, last); `node` is the first split of the first of them. A split is followed by
   those to its left, then those to its right. There are no branches: they would be mispredicted. */
static void add_trees(const struct trees* trees, const uint8_t* codes, int32_t first, int32_t last,
                      int32_t node, int32_t n_outputs, double* scores) {
    const uint16_t* tree = trees->nodes + 4 * (size_t)node;
    size_t leaf = (size_t)node + (size_t)first;
    for (int32_t t = first; t < last; ++t) {
        const uint16_t* split = tree;
        unsigned at = 0, left = trees->sizes[t]; /* splits that may still come */
        while (left > 0) {
            const unsigned skip = split[2];
            const unsigned right = goes_right(trees, codes[split[0]], split[1]);
            const unsigned jump = (0u - right) & (skip + 1);
            at += jump;
            split += 4 * (size_t)(jump + 1 - right);
            left = skip ^ ((skip ^ (left - jump)) & (0u - right));
        }
        add_leaf(trees, t, leaf + at, n_outputs, scores);
        tree += 4 * (size_t)trees->sizes[t];
        leaf += (size_t)trees->sizes[t] + 1;
    }
}

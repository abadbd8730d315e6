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
                                  number of leaves of its tree before it; then zeros */
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
            const double* thresholds = trees->thresholds + trees->starts[c];
            int32_t n = trees->starts[c + 1] - trees->starts[c], count = 0;
            while (n > 0) { /* without branches, which would be mispredicted */
                const int32_t half = (n + 1) / 2;
                count += value > thresholds[count + half - 1] ? half : 0;
                n -= half;
            }
            codes[c] = (uint8_t)count;
        }
    }
}

static void add_leaf(const struct trees* trees, int32_t t, size_t leaf, int32_t n_outputs,
                     double* restrict scores) {
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
    if (!ANY_SETS)
        return code > test;
    return test < 256 ? code > test : (unsigned)set[code / 8] >> code % 8 & 1;
}

/* A sample on its way through a tree: a split is followed by those to its left, then those to its
   right. */
struct walk {
    const uint16_t* split;
    unsigned at, left; /* leaves passed by, and splits that may still come */
};

static struct walk begin_at(const uint16_t* split, unsigned n_splits) {
    struct walk walk;
    walk.split = split;
    walk.at = 0;
    walk.left = n_splits;
    return walk;
}

/* There are no branches: they would be mispredicted. At its leaf, a sample stays there. */
static struct walk step(const struct trees* trees, const uint8_t* codes, struct walk walk) {
    const unsigned on = 0u - (unsigned)(walk.left > 0), skip = walk.split[2];
    const unsigned right = goes_right(trees, codes[walk.split[0]], walk.split[1]) & on;
    const unsigned jump = (0u - right) & (skip + 1);
    walk.at += jump;
    walk.split += 4 * (size_t)((jump + 1 - right) & on);
    walk.left = (skip ^ ((skip ^ (walk.left - jump)) & (0u - right))) & on;
    return walk;
}

/* Adds trees [first, last); `node` is the first split of the first of them. Four trees are walked
   side by side, so that what each waits for overlaps. */
static void add_trees(const struct trees* trees, const uint8_t* codes, int32_t first, int32_t last,
                      int32_t node, int32_t n_outputs, double* scores) {
    const uint16_t *split = trees->nodes + 4 * (size_t)node, *sizes = trees->sizes;
    size_t leaf = (size_t)node + (size_t)first;
    int32_t t = first;
    for (; last - t >= 4; t += 4) {
        const size_t n[] = {sizes[t], sizes[t + 1], sizes[t + 2], sizes[t + 3]};
        const uint16_t *b = split + 4 * n[0], *c = b + 4 * n[1], *d = c + 4 * n[2];
        struct walk w0 = begin_at(split, (unsigned)n[0]), w1 = begin_at(b, (unsigned)n[1]);
        struct walk w2 = begin_at(c, (unsigned)n[2]), w3 = begin_at(d, (unsigned)n[3]);
        while ((w0.left | w1.left | w2.left | w3.left) > 0) {
            w0 = step(trees, codes, w0);
            w1 = step(trees, codes, w1);
            w2 = step(trees, codes, w2);
            w3 = step(trees, codes, w3);
        }
        add_leaf(trees, t, leaf + w0.at, n_outputs, scores);
        leaf += n[0] + 1;
        add_leaf(trees, t + 1, leaf + w1.at, n_outputs, scores);
        leaf += n[1] + 1;
        add_leaf(trees, t + 2, leaf + w2.at, n_outputs, scores);
        leaf += n[2] + 1;
        add_leaf(trees, t + 3, leaf + w3.at, n_outputs, scores);
        leaf += n[3] + 1;
        split = d + 4 * n[3];
    }
    for (; t < last; ++t) {
        struct walk walk = begin_at(split, sizes[t]);
        while (walk.left > 0)
            walk = step(trees, codes, walk);
        add_leaf(trees, t, leaf + walk.at, n_outputs, scores);
        split += 4 * (size_t)sizes[t];
        leaf += (size_t)sizes[t] + 1;
    }
}

/* Rows that go through a tree together: every split is tested for all of them, which compilers
   turn into few instructions. A row is at a split if it is at the leaf where its branch begins. */
enum {
    CHUNK = 32,  /* rows that compilers put into one or two registers */
    FEWEST = 24, /* fewer rows are faster one by one */
    MOST_SPLITS = 256,
    FOUR = 4 /* trees whose outputs are added together */
};

/* A split and those below it, on its left and on its right: where there is none, nothing moves. */
struct fork {
    const uint8_t* codes[3];
    uint8_t tests[3], jumps[3], start;
};

static void follow(const struct fork* fork, int n_rows, uint8_t* restrict at) {
    const uint8_t test0 = fork->tests[0], test1 = fork->tests[1], test2 = fork->tests[2];
    const uint8_t jump0 = fork->jumps[0], jump1 = fork->jumps[1], jump2 = fork->jumps[2];
    const uint8_t start = fork->start;
    const uint8_t *code0 = fork->codes[0], *code1 = fork->codes[1], *code2 = fork->codes[2];
    for (int done = 0; done < n_rows; done += CHUNK, at += CHUNK) {
        for (int r = 0; r < CHUNK; ++r) {
            const uint8_t right0 = code0[r] > test0 ? 255 : 0, right1 = code1[r] > test1 ? 255 : 0;
            const uint8_t right2 = code2[r] > test2 ? 255 : 0, here = at[r] == start ? 255 : 0;
            const uint8_t on_left = (uint8_t)(right1 & jump1);
            const uint8_t on_right = (uint8_t)(jump0 + (right2 & jump2));
            const uint8_t jump = (uint8_t)(on_left ^ ((on_left ^ on_right) & right0));
            at[r] = (uint8_t)(at[r] + (jump & here));
        }
        code0 += CHUNK;
        code1 += CHUNK;
        code2 += CHUNK;
    }
}

/* The same for a split alone whose test may be a set. */
static void follow_one(const struct trees* trees, const uint8_t* codes, int n_rows,
                       const uint16_t* split, uint8_t* at) {
    const uint8_t* code = codes + (size_t)TOGETHER * split[0];
    for (int r = 0; r < n_rows; ++r)
        if (at[r] == split[3] && goes_right(trees, code[r], split[1]))
            at[r] = (uint8_t)(at[r] + split[2] + 1);
}

static void add_below(struct fork* fork, int side, const uint8_t* codes, const uint16_t* split) {
    fork->codes[side] = codes + (size_t)TOGETHER * split[0];
    fork->tests[side] = (uint8_t)split[1];
    fork->jumps[side] = (uint8_t)(split[2] + 1);
}

static void find_leaves(const struct trees* trees, const uint8_t* codes, int n_rows,
                        const uint16_t* tree, unsigned n_splits, uint8_t* at) {
    uint8_t first[MOST_SPLITS], sizes[MOST_SPLITS]; /* branches to follow */
    unsigned n = n_splits > 0;
    first[0] = 0;
    sizes[0] = (uint8_t)n_splits;
    while (n > 0) {
        const unsigned place = first[--n], size = sizes[n];
        const uint16_t* split = tree + 4 * (size_t)place;
        const unsigned below[] = {split[2], size - 1 - split[2]};
        const unsigned begins[] = {place + 1, place + 1 + split[2]};
        struct fork fork = {{0, 0, 0}, {0, 255, 255}, {0, 0, 0}, 0};
        int is_number = split[1] < 256;
        add_below(&fork, 0, codes, split);
        fork.start = (uint8_t)split[3];
        fork.codes[1] = fork.codes[2] = fork.codes[0];
        for (int side = 0; side < 2; ++side) {
            if (below[side] == 0)
                continue;
            is_number &= tree[4 * (size_t)begins[side] + 1] < 256;
            add_below(&fork, side + 1, codes, tree + 4 * (size_t)begins[side]);
        }
        if (is_number)
            follow(&fork, n_rows, at);
        else
            follow_one(trees, codes, n_rows, split, at);
        for (int side = 0; side < 2; ++side) {
            const unsigned next = begins[side], on_left = tree[4 * (size_t)next + 2];
            if (below[side] == 0)
                continue;
            if (!is_number) {
                first[n] = (uint8_t)next;
                sizes[n++] = (uint8_t)below[side];
                continue;
            }
            if (on_left > 0) {
                first[n] = (uint8_t)(next + 1);
                sizes[n++] = (uint8_t)on_left;
            }
            if (below[side] - 1 > on_left) {
                first[n] = (uint8_t)(next + 1 + on_left);
                sizes[n++] = (uint8_t)(below[side] - 1 - on_left);
            }
        }
    }
}

static void code_together(const struct trees* trees, const double* x, int n_rows, uint8_t* one,
                          uint8_t* codes) {
    for (int r = 0; r < n_rows; ++r) {
        code_columns(trees, x + (size_t)r * MODEL_N_FEATURES, one);
        for (int32_t c = 0; c < trees->n_columns; ++c)
            codes[(size_t)c * TOGETHER + (size_t)r] = one[c];
    }
}

static void add_four(const double* restrict a, const double* restrict b, const double* restrict c,
                     const double* restrict d, double* restrict scores) {
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        scores[k] = scores[k] + a[k] + b[k] + c[k] + d[k];
}

static void add_trees_together(const struct trees* trees, const uint8_t* codes, int n_rows,
                               int32_t first, int32_t last, int32_t node, double* scores) {
    const uint16_t* split = trees->nodes + 4 * (size_t)node;
    size_t leaf = (size_t)node + (size_t)first;
    for (int32_t t = first; t < last;) {
        uint8_t at[FOUR][TOGETHER];
        size_t leaves[FOUR];
        const int n_trees = trees->numbers && last - t >= FOUR ? FOUR : 1;
        for (int i = 0; i < n_trees; ++i) {
            const uint16_t size = trees->sizes[t + i];
            memset(at[i], 0, sizeof at[i]);
            find_leaves(trees, codes, n_rows, split, size, at[i]);
            split += 4 * (size_t)size;
            leaves[i] = leaf;
            leaf += (size_t)size + 1;
        }
        for (int r = 0; r < n_rows; ++r) {
            double* own = scores + (size_t)r * MODEL_N_CLASSES;
            if (n_trees == 1)
                add_leaf(trees, t, leaves[0] + at[0][r], MODEL_N_CLASSES, own);
            else
                add_four(trees->numbers + (leaves[0] + at[0][r]) * MODEL_N_CLASSES,
                         trees->numbers + (leaves[1] + at[1][r]) * MODEL_N_CLASSES,
                         trees->numbers + (leaves[2] + at[2][r]) * MODEL_N_CLASSES,
                         trees->numbers + (leaves[3] + at[3][r]) * MODEL_N_CLASSES, own);
        }
        t += n_trees;
    }
}

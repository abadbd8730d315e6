/* Rows that go through a tree together: every split is tested for all of them, which compilers
   turn into few instructions. A row is at a split if it is at the leaf where its branch begins. */
enum { TOGETHER = 64, FEWEST = 24 }; /* fewer rows are faster one by one */

static void move_right(uint8_t* restrict at, const uint8_t* restrict code, uint8_t start,
                       uint8_t test, uint8_t jump) {
    for (int r = 0; r < TOGETHER; ++r) {
        const uint8_t here = at[r] == start ? jump : 0, right = code[r] > test ? 255 : 0;
        at[r] = (uint8_t)(at[r] + (uint8_t)(here & right));
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

static void add_trees_together(const struct trees* trees, const uint8_t* codes, int n_rows,
                               int32_t first, int32_t last, int32_t node, int32_t n_outputs,
                               double* scores) {
    const uint16_t* split = trees->nodes + 4 * (size_t)node;
    size_t leaf = (size_t)node + (size_t)first;
    for (int32_t t = first; t < last; ++t) {
        uint8_t at[TOGETHER] = {0};
        for (int i = 0; i < trees->sizes[t]; ++i, split += 4) {
            const uint8_t* code = codes + (size_t)TOGETHER * split[0];
            const uint8_t jump = (uint8_t)(split[2] + 1), start = (uint8_t)split[3];
            if (split[1] < 256) {
                move_right(at, code, start, (uint8_t)split[1], jump);
                continue;
            }
            for (int r = 0; r < n_rows; ++r)
                if (at[r] == start && goes_right(trees, code[r], split[1]))
                    at[r] = (uint8_t)(at[r] + jump);
        }
        for (int r = 0; r < n_rows; ++r)
            add_leaf(trees, t, leaf + at[r], n_outputs, scores + (size_t)r * (size_t)n_outputs);
        leaf += (size_t)trees->sizes[t] + 1;
    }
}

/* Code of a category; NaN if there is none. Kinds of categories: 0 texts, 1 numbers, 2 true or
 * false. */
static double read_category(struct text cell, const struct text* levels, int n, int kind) {
    char lower[6];
    if (IS_AMONG(cell, missing_texts))
        return NAN;
    if (kind == 1 && memchr(cell.start, '.', cell.length)) { /* 3.0 is 3 */
        struct text whole = cell;
        while (whole.length > 1 && whole.start[whole.length - 1] == '0')
            --whole.length;
        if (whole.length > 1 && whole.length < cell.length && whole.start[whole.length - 1] == '.')
            cell.length = whole.length - 1;
    }
    if (kind == 2 && cell.length < sizeof lower) {
        for (size_t i = 0; i < cell.length; ++i)
            lower[i] = (char)(cell.start[i] >= 'A' && cell.start[i] <= 'Z' ? cell.start[i] | 32
                                                                           : cell.start[i]);
        cell.start = lower;
    }
    for (int i = 0; i < n; ++i)
        if (equal(cell, levels[i]))
            return i;
    return NAN;
}

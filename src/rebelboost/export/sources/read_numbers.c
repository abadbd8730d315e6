static int begins(struct text cell, struct text with) {
    return cell.length >= with.length && memcmp(cell.start, with.start, with.length) == 0;
}

/* How the numbers of a column are written. */
struct form {
    const char* thousands; /* separators of thousands, each ended by a newline */
    const char* decimals;  /* decimal marks */
    int has_power;         /* whether a power of ten may follow */
    int has_limits;        /* whether <5 counts as 5 */
    struct text before;    /* currency */
    struct text after;     /* unit */
};

static struct text without_affixes(struct text cell, const struct form* form) {
    static const char limits[] = "<\0>\0~\0\342\211\244\0\342\211\245\0\342\211\210";
    for (const char* limit = limits; form->has_limits && limit < limits + sizeof limits;
         limit += strlen(limit) + 1) {
        const struct text mark = {limit, strlen(limit)};
        if (begins(cell, mark)) {
            cell = from(cell, mark.length);
            cell = trimmed(cell.length && *cell.start == '=' ? from(cell, 1) : cell);
            break;
        }
    }
    if (form->after.length && cell.length >= form->after.length &&
        equal(from(cell, cell.length - form->after.length), form->after)) {
        cell.length -= form->after.length;
        cell = trimmed(cell);
    }
    return cell;
}

static int is_digit(struct text cell, size_t i) {
    return i < cell.length && cell.start[i] >= '0' && cell.start[i] <= '9';
}

/* Length of the separator of thousands at i; 0 if there is none. */
static size_t separator(struct text cell, size_t i, const char* all) {
    while (*all) {
        const size_t length = (size_t)(strchr(all, '\n') - all);
        const struct text mark = {all, length};
        if (begins(from(cell, i), mark))
            return length;
        all += length + 1;
    }
    return 0;
}

/* The number of a cell; NaN if it has none. */
static double read_number(struct text cell, const struct form* form) {
    char digits[1024];
    size_t n = 0, i = 0, n_whole = 0, n_digits = 0;
    cell = without_affixes(cell, form);
    if (cell.length + 2 > sizeof digits)
        return NAN;
    if (cell.length && (*cell.start == '-' || *cell.start == '+'))
        digits[n++] = cell.start[i++];
    if (form->before.length && begins(from(cell, i), form->before)) {
        cell = trimmed(from(cell, i + form->before.length));
        i = 0;
        if (!n && cell.length && (*cell.start == '-' || *cell.start == '+'))
            digits[n++] = cell.start[i++];
    }
    for (; is_digit(cell, i); ++n_whole)
        digits[n++] = cell.start[i++];
    for (size_t gap; n_whole > 0 && n_whole <= 3 && (gap = separator(cell, i, form->thousands)) > 0;
         i += gap + 3) {
        if (!(is_digit(cell, i + gap) && is_digit(cell, i + gap + 1) &&
              is_digit(cell, i + gap + 2)) ||
            is_digit(cell, i + gap + 3))
            return NAN;
        memcpy(digits + n, cell.start + i + gap, 3);
        n += 3;
    }
    n_digits = n_whole;
    if (i < cell.length && strchr(form->decimals, cell.start[i])) {
        digits[n++] = '.';
        for (++i; is_digit(cell, i); ++n_digits)
            digits[n++] = cell.start[i++];
    }
    if (form->has_power && i < cell.length && (cell.start[i] == 'e' || cell.start[i] == 'E')) {
        digits[n++] = cell.start[i++];
        if (i < cell.length && (cell.start[i] == '-' || cell.start[i] == '+'))
            digits[n++] = cell.start[i++];
        if (!is_digit(cell, i))
            return NAN;
        while (is_digit(cell, i))
            digits[n++] = cell.start[i++];
    }
    digits[n] = 0;
    return i == cell.length && n_digits > 0 && (form->has_power || n_whole) ? strtod(digits, 0)
                                                                            : NAN;
}

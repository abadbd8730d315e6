/* The first and the last of two numbers with a slash between them. */
static struct text first_of(struct text cell) {
    size_t i = 0;
    while (i < cell.length && cell.start[i] != '/')
        ++i;
    cell.length = i < cell.length ? i : 0;
    return trimmed(cell);
}

static struct text second_of(struct text cell) {
    size_t i = cell.length;
    while (i > 0 && cell.start[i - 1] != '/')
        --i;
    return trimmed(from(cell, i > 0 ? i : cell.length));
}

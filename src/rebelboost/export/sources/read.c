/* Reading cells of text. A cell is a span of bytes without white space around it. */
#include <stdlib.h>

struct text {
    const char* start;
    size_t length;
};

static int equal(struct text a, struct text b) {
    return a.length == b.length && memcmp(a.start, b.start, a.length) == 0;
}

static int is_among(struct text cell, const struct text* all, size_t n) {
    for (size_t i = 0; i < n; ++i)
        if (equal(cell, all[i]))
            return 1;
    return 0;
}

#define IS_AMONG(cell, all) is_among(cell, all, sizeof all / sizeof *all)

/* Bytes of white space, or of a no-break space, at the start. */
static size_t blank(struct text cell) {
    if (cell.length && memchr(" \t\r\n\f\v", *cell.start, 6))
        return 1;
    if (cell.length > 1 && memcmp(cell.start, "\302\240", 2) == 0)
        return 2;
    return cell.length > 2 && memcmp(cell.start, "\342\200\257", 3) == 0 ? 3 : 0;
}

static struct text from(struct text cell, size_t skipped) {
    const struct text rest = {cell.start + skipped, cell.length - skipped};
    return rest;
}

static struct text trimmed(struct text cell) {
    size_t end = 0;
    while (blank(cell))
        cell = from(cell, blank(cell));
    for (size_t i = 0; i < cell.length;) {
        const size_t n = blank(from(cell, i));
        i += n ? n : 1;
        end = n ? end : i;
    }
    cell.length = end;
    return cell;
}

static struct text cell_of(const char* cell) {
    const struct text whole = {cell ? cell : "", cell ? strlen(cell) : 0};
    return whole;
}

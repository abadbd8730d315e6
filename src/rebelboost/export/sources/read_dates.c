/* Dates and times: microseconds since 1970, or since midnight. */
static int read_digits(struct text* cell, size_t least, size_t most, int* value) {
    size_t n = 0;
    for (*value = 0;
         n < most && n < cell->length && cell->start[n] >= '0' && cell->start[n] <= '9';)
        *value = 10 * *value + (cell->start[n++] - '0');
    *cell = from(*cell, n);
    return n >= least;
}

static int read_month_name(struct text* cell, int* month) {
    static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";
    for (*month = 1; *month <= 12; ++*month) {
        int same = cell->length >= 3;
        for (int i = 0; same && i < 3; ++i)
            same = (cell->start[i] | 32) == names[3 * (*month - 1) + i];
        if (same) {
            *cell = from(*cell, 3);
            return 1;
        }
    }
    return 0;
}

static int64_t days_of(int year, int month, int day) {
    const int64_t y = year - (month <= 2), era = y / 400, of_era = y - era * 400;
    const int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

/* Letters of the form: YmdHMS numbers, b a month's name, f a fraction, z a zone; others stand for
   themselves. Returns whether the cell has the form. */
static int read_moment(struct text cell, const char* form, int64_t* days, int64_t* micros) {
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0, sign, zone_hour = 0;
    int zone_minute = 0;
    int64_t fraction = 0, zone = 0;
    for (; *form; ++form) {
        int fits = 1;
        switch (*form) {
        case 'Y':
            fits = read_digits(&cell, 1, 4, &year);
            break;
        case 'm':
            fits = read_digits(&cell, 1, 2, &month);
            break;
        case 'd':
            fits = read_digits(&cell, 1, 2, &day);
            break;
        case 'H':
            fits = read_digits(&cell, 1, 2, &hour);
            break;
        case 'M':
            fits = read_digits(&cell, 1, 2, &minute);
            break;
        case 'S':
            fits = read_digits(&cell, 1, 2, &second);
            break;
        case 'b':
            fits = read_month_name(&cell, &month);
            break;
        case 'f':
            if (cell.length && *cell.start == '.') {
                int64_t unit = 100000;
                cell = from(cell, 1);
                fits = cell.length && *cell.start >= '0' && *cell.start <= '9';
                for (; cell.length && *cell.start >= '0' && *cell.start <= '9'; unit /= 10) {
                    fraction += unit * (*cell.start - '0');
                    cell = from(cell, 1);
                }
            }
            break;
        case 'z':
            if (cell.length == 1 && (*cell.start == 'Z' || *cell.start == 'z')) {
                cell = from(cell, 1);
                break;
            }
            fits = cell.length > 0 && (*cell.start == '+' || *cell.start == '-');
            if (!fits)
                break;
            sign = *cell.start == '-' ? -1 : 1;
            cell = from(cell, 1);
            fits = read_digits(&cell, 2, 2, &zone_hour);
            if (cell.length && *cell.start == ':')
                cell = from(cell, 1);
            if (cell.length)
                fits &= read_digits(&cell, 2, 2, &zone_minute);
            zone = sign * (zone_hour * 60 + zone_minute) * INT64_C(60000000);
            break;
        default:
            fits = cell.length > 0 && *cell.start == *form;
            cell = fits ? from(cell, 1) : cell;
        }
        if (!fits)
            return 0;
    }
    const int is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    if (cell.length || month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 ||
        second > 59 || day > lengths[month - 1] + (month == 2 && is_leap))
        return 0;
    *days = days_of(year, month, day);
    *micros = ((hour * 60 + minute) * 60 + second) * INT64_C(1000000) + fraction - zone;
    while (*micros < 0) {
        *micros += INT64_C(86400000000);
        --*days;
    }
    while (*micros >= INT64_C(86400000000)) {
        *micros -= INT64_C(86400000000);
        ++*days;
    }
    return 1;
}

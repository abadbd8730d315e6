static struct text weekday_of(int64_t days) {
    static const struct text names[] = {{"Monday", 6},   {"Tuesday", 7}, {"Wednesday", 9},
                                        {"Thursday", 8}, {"Friday", 6},  {"Saturday", 8},
                                        {"Sunday", 6}};
    return names[((days + 3) % 7 + 7) % 7];
}

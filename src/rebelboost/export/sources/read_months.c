static int month_of(int64_t days) {
    for (int year = 0; year < 10000; ++year)
        for (int month = 1; month <= 12; ++month)
            if (days < (month < 12 ? days_of(year, month + 1, 1) : days_of(year + 1, 1, 1)))
                return month;
    return 12;
}

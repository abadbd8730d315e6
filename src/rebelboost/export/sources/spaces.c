/* A space maps samples to points, whose squared distances to those of training rows are compared.
 */
struct space {
    int32_t n_columns, n_numeric, n_indicated, n_leveled, n_points;
    const int32_t* numeric;   /* features that are numbers */
    const int32_t* indicated; /* features with a column that says whether they are missing */
    const int32_t* leveled;   /* features that are categories, with a column for each of them */
    const int32_t* counts;    /* number of these columns */
    const double* fill;       /* values of the features that replace missing ones */
    const double* offset;
    const double* factor;
    const int32_t* turn; /* integers of the matrix that whitens, or none */
    double turn_unit;
    const float* points; /* of training rows */
};

static double clipped(double x, double most) {
    return x < -most ? -most : x > most ? most : x;
}

static void place(const struct space* space, const double* x, float* point) {
    double columns[MOST_COLUMNS];
    int32_t n = 0;
    for (int32_t i = 0; i < space->n_numeric; ++i) {
        const int32_t f = space->numeric[i];
        columns[n++] = x[f] != x[f] ? space->fill[f] : x[f];
    }
    for (int32_t i = 0; i < space->n_indicated; ++i)
        columns[n++] = x[space->indicated[i]] != x[space->indicated[i]];
    for (int32_t i = 0; i < space->n_leveled; ++i)
        for (int32_t level = 0; level < space->counts[i]; ++level)
            columns[n++] = x[space->leveled[i]] == level;
    for (int32_t i = 0; i < n; ++i)
        columns[i] = clipped((columns[i] - space->offset[i]) * space->factor[i], 1e100);
    for (int32_t i = 0; i < n; ++i) {
        double placed = columns[i];
        if (space->turn) {
            placed = 0;
            for (int32_t j = 0; j < n; ++j)
                placed +=
                    nearest(columns[j] * 16384) * space->turn[(size_t)j * (size_t)n + (size_t)i];
            placed *= space->turn_unit;
        }
        point[i] = (float)clipped(nearest(placed * 1073741824) / 1073741824, 1e15);
    }
}

static void measure(const struct space* space, const float* point, float* distances) {
    const float* example = space->points;
    for (int32_t e = 0; e < space->n_points; ++e, example += space->n_columns) {
        float sum = 0;
        for (int32_t i = 0; i < space->n_columns; ++i) {
            const float apart = point[i] - example[i];
            sum += apart * apart;
        }
        distances[e] = sum;
    }
}

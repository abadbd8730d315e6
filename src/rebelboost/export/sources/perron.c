/* Probabilities as the eigenvector of A_ky = half_k * B_yk * half_y, as P = half * Q. */
static void finish(const double* half, double* Q) {
    double A[MODEL_N_CLASSES][MODEL_N_CLASSES], left[MODEL_N_CLASSES][MODEL_N_CLASSES];
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        for (int y = 0; y < MODEL_N_CLASSES; ++y)
            A[k][y] = half[k] * B[y * MODEL_N_CLASSES + k] * half[y];
    for (int s = 0; s < 30; ++s) {
        double found[MODEL_N_CLASSES], most = 0, least = DBL_MAX, size = 0;
        for (int k = 0; k < MODEL_N_CLASSES; ++k) {
            double ratio = 0;
            for (int y = 0; y < MODEL_N_CLASSES; ++y)
                ratio += A[k][y] * Q[y];
            ratio /= Q[k];
            if (!(ratio <= DBL_MAX))
                return; /* out of range, now and in all further steps */
            most = ratio > most ? ratio : most;
            least = ratio < least ? ratio : least;
        }
        if (most - least <= 1e-13 * most)
            return;
        const double above = most * (1 + 1e-14);
        for (int k = 0; k < MODEL_N_CLASSES; ++k) {
            for (int y = 0; y < MODEL_N_CLASSES; ++y)
                left[k][y] = above * (k == y) - A[k][y];
            found[k] = Q[k];
        }
        for (int k = 0; k < MODEL_N_CLASSES; ++k)
            for (int i = k + 1; i < MODEL_N_CLASSES; ++i) {
                const double share = left[i][k] / left[k][k];
                for (int y = k + 1; y < MODEL_N_CLASSES; ++y)
                    left[i][y] -= share * left[k][y];
                found[i] -= share * found[k];
            }
        int fine = 1;
        for (int k = MODEL_N_CLASSES; k-- > 0;) {
            found[k] /= left[k][k];
            for (int i = 0; i < k; ++i)
                found[i] -= left[i][k] * found[k];
            fine &= found[k] > 0 && found[k] <= DBL_MAX;
        }
        for (int k = 0; k < MODEL_N_CLASSES; ++k)
            size += half[k] * found[k];
        if (!(fine && size > 0))
            return; /* the same would happen again */
        for (int k = 0; k < MODEL_N_CLASSES; ++k)
            Q[k] = found[k] / size;
    }
}

static void iterate(const double* log_d, double* P) {
    double half[MODEL_N_CLASSES], Q[MODEL_N_CLASSES], top = log_d[0], sum = 0;
    int converged = 0, positive = 1;
    for (int k = 1; k < MODEL_N_CLASSES; ++k)
        top = log_d[k] > top ? log_d[k] : top;
    for (int k = 0; k < MODEL_N_CLASSES; ++k) {
        half[k] = exponential((log_d[k] - top) / 2);
        sum += half[k];
    }
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        Q[k] = 1 / sum;
    for (int s = 0; s < 60 && !converged; ++s) {
        double next[MODEL_N_CLASSES], size = 0, total = 0, moved = 0;
        for (int k = 0; k < MODEL_N_CLASSES; ++k) {
            next[k] = 0;
            for (int y = 0; y < MODEL_N_CLASSES; ++y)
                next[k] += half[y] * Q[y] * B[y * MODEL_N_CLASSES + k];
            next[k] *= half[k];
            size += half[k] * next[k];
        }
        for (int k = 0; k < MODEL_N_CLASSES; ++k) {
            next[k] = 0.5 * Q[k] + (size > 0 ? next[k] / size : 0);
            total += half[k] * next[k];
        }
        for (int k = 0; k < MODEL_N_CLASSES; ++k) {
            next[k] /= total;
            const double change = half[k] * (next[k] - Q[k]);
            moved = change > moved ? change : -change > moved ? -change : moved;
            Q[k] = next[k];
        }
        converged = !(moved >= 1e-12);
    }
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        positive &= Q[k] > 0;
    if (!converged && positive)
        finish(half, Q);
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        P[k] = half[k] * Q[k];
}

static double log_sum(const double* x, int n) {
    double top = x[0], sum = 0;
    for (int k = 1; k < n; ++k)
        top = x[k] > top ? x[k] : top;
    top = top >= -DBL_MAX && top <= DBL_MAX ? top : 0;
    for (int k = 0; k < n; ++k)
        sum += exponential(x[k] - top);
    return top + logarithm(sum);
}

static void iterate_logs(const double* log_d, double* P) {
    double log_P[MODEL_N_CLASSES], terms[MODEL_N_CLASSES], shift;
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        log_P[k] = log_d[k] / 2;
    shift = log_sum(log_P, MODEL_N_CLASSES);
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        log_P[k] -= shift;
    for (int s = 0; s < 500; ++s) {
        double next[MODEL_N_CLASSES], moved = 0;
        for (int k = 0; k < MODEL_N_CLASSES; ++k) {
            for (int y = 0; y < MODEL_N_CLASSES; ++y)
                terms[y] = log_P[y] + LOGS[y * MODEL_N_CLASSES + k];
            next[k] = log_d[k] + log_sum(terms, MODEL_N_CLASSES);
        }
        shift = log_sum(next, MODEL_N_CLASSES);
        for (int k = 0; k < MODEL_N_CLASSES; ++k) {
            const double both[2] = {next[k] - shift, log_P[k] + LOG_HALF};
            next[k] = log_sum(both, 2);
        }
        shift = log_sum(next, MODEL_N_CLASSES);
        for (int k = 0; k < MODEL_N_CLASSES; ++k) {
            next[k] -= shift;
            P[k] = exponential(next[k]);
            const double change = P[k] - exponential(log_P[k]);
            moved = change > moved ? change : -change > moved ? -change : moved;
            log_P[k] = next[k];
        }
        if (!(moved >= 1e-12))
            break;
    }
}

static void posterior_of(const double* x, double* P) {
    double log_d[MODEL_N_CLASSES], top = -DBL_MAX, bottom = DBL_MAX;
    for (int k = 0; k < MODEL_N_CLASSES; ++k) {
        log_d[k] = x[k] - LOG_THETA[k];
        top = log_d[k] > top ? log_d[k] : top;
        bottom = log_d[k] < bottom ? log_d[k] : bottom;
    }
    if (top - bottom > 600)
        iterate_logs(log_d, P);
    else
        iterate(log_d, P);
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        P[k] = P[k] < 1 ? P[k] : 1;
}

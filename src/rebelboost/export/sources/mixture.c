/* Probabilities as the weights of a mixture: q = D'u. */
static void likeliest(const double* q, double* u) {
    for (int m = 0; m < N_MIXED; ++m)
        u[m] = 1.0 / N_MIXED;
    for (int s = 0; s < 500; ++s) {
        double parts[N_MIXED], ratio[MODEL_N_CLASSES], sum = 0, moved = 0;
        for (int k = 0; k < MODEL_N_CLASSES; ++k) {
            double mixed = 0;
            for (int m = 0; m < N_MIXED; ++m)
                mixed += u[m] * D[m * MODEL_N_CLASSES + k];
            ratio[k] = q[k] / (mixed > DBL_MIN ? mixed : DBL_MIN);
        }
        for (int m = 0; m < N_MIXED; ++m) {
            double part = 0;
            for (int k = 0; k < MODEL_N_CLASSES; ++k)
                part += ratio[k] * D[m * MODEL_N_CLASSES + k];
            parts[m] = u[m] * part;
            sum += parts[m];
        }
        for (int m = 0; m < N_MIXED; ++m) {
            const double following = (parts[m] + 1e-3 / N_MIXED) / (sum + 1e-3);
            const double change = following < u[m] ? u[m] - following : following - u[m];
            moved = change > moved ? change : moved;
            u[m] = following;
        }
        if (!(moved > 1e-12))
            break;
    }
}

static void posterior_of(const double* x, double* P) {
    double q[MODEL_N_CLASSES], u[N_MIXED], sum = 0;
    int far = 0;
    uniform_posterior(x, q);
    for (int m = 0; m < N_MIXED; ++m) {
        u[m] = 0;
        for (int k = 0; k < MODEL_N_CLASSES; ++k)
            u[m] += q[k] * INVERSE[k * N_MIXED + m];
        far |= u[m] < 0;
    }
    for (int k = 0; k < MODEL_N_CLASSES; ++k) {
        double mixed = 0;
        for (int m = 0; m < N_MIXED; ++m)
            mixed += u[m] * D[m * MODEL_N_CLASSES + k];
        far |= mixed - q[k] > 1e-9 || q[k] - mixed > 1e-9;
        P[k] = 0;
    }
    if (far)
        likeliest(q, u);
    for (int m = 0; m < N_MIXED; ++m)
        P[MATTERS[m]] = u[m] / Z[m];
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        sum += P[k];
    for (int k = 0; k < MODEL_N_CLASSES; ++k)
        P[k] /= sum;
}

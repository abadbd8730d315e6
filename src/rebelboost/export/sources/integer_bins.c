#ifdef MODEL_READS_DOUBLES
void model_bins(const double* x, uint16_t* bins) {
    for (int f = 0; f < MODEL_N_FEATURES; ++f) {
        int32_t low = starts[f];
        int32_t high = starts[f + 1];
        if (is_category[f]) {
            bins[f] = x[f] >= 0 && x[f] < 65535 ? (uint16_t)x[f] : MODEL_MISSING;
            continue;
        }
        if (x[f] != x[f]) {
            bins[f] = MODEL_MISSING;
            continue;
        }
        while (low < high) {
            const int32_t middle = low + (high - low) / 2;
            if (x[f] > thresholds[middle])
                low = middle + 1;
            else
                high = middle;
        }
        bins[f] = (uint16_t)(low - starts[f]);
    }
}
#endif

static double log_ratio(double score) {
    return 2 * score;
}

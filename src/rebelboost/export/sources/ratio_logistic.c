static double log_ratio(double score) {
    return score;
}

static double log_ratio(double score) {
    const double most = 1 - 1e-6, inside = score < -most ? -most : score > most ? most : score;
    return logarithm(1 + inside) - logarithm(1 - inside);
}

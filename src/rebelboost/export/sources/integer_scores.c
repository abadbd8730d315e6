void model_scores(const uint16_t* bins, int64_t* scores) {
    memset(scores, 0, MODEL_N_CLASSES * sizeof *scores);
    add_trees(bins, scores);
}

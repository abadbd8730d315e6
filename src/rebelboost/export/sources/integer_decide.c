int model_decide(const uint16_t* bins) {
    int64_t scores[MODEL_N_CLASSES];
    model_scores(bins, scores);
    return highest(scores);
}

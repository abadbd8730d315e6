/* With two classes, expected costs are a matter of how far the scores are apart. */
static int highest(const int64_t* scores) {
    return scores[1] - scores[0] >= INT64_C(THRESHOLD);
}

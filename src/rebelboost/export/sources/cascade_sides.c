static int leaves(const double* x, const double* scores, int check, int* decision) {
    const double difference = scores[1] - scores[0];
    (void)x;
    *decision = difference > CHECK_HIGH[check];
    return *decision || difference < CHECK_LOW[check];
}

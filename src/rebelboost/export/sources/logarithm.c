static double logarithm(double x) {
    const uint64_t root_half = 0x3FE6A09E667F3BCD, one = 0x3FF0000000000000;
    const int is_small = x < 0x1p-1000;
    const uint64_t bits = bits_of(is_small ? x * 0x1p100 : x) + (one - root_half);
    const double n = (double)((int64_t)(bits >> 52) - 1023) - (is_small ? 100 : 0);
    const double f = of_bits((bits & 0x000FFFFFFFFFFFFF) + root_half) - 1;
    const double s = f / (2 + f);
    const double z = s * s;
    double series = 2.0 / 23;
    for (int k = 10; k > 0; --k)
        series = series * z + 2.0 / (2 * k + 1);
    const double y = n * ln2_high + (f - (s * (f - z * series) - n * ln2_low));
    if (x > 0 && x <= DBL_MAX)
        return y;
    return x > 0 ? x : x < 0 || x != x ? of_bits(0x7FF8000000000000) : of_bits(0xFFF0000000000000);
}

static const double round_magic = 6755399441055744.0; /* 1.5 * 2^52 */
static const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

static double exponential(double x) {
    const double inside = x < -800 ? -800 : x > 800 ? 800 : x;
    const double shifted = inside * 0x1.71547652b82fep0 + round_magic;
    const double n = shifted - round_magic;
    const double r = (inside - n * ln2_high) - n * ln2_low;
    double series = INVERSE_FACTORIALS[11];
    for (int i = 11; i-- > 0;)
        series = series * r + INVERSE_FACTORIALS[i];
    const double y = 1 + (r + (r * r) * series);
    const uint64_t exponent = bits_of(shifted) - bits_of(round_magic);
    const uint64_t half = bits_of(n * 0.5 + round_magic) - bits_of(round_magic);
    return y * of_bits((half + 1023) << 52) * of_bits((exponent - half + 1023) << 52);
}

/* The nearest integer, the even one of two. */
static double nearest(double x) {
    const double big = 4503599627370496.0; /* 2^52: larger numbers are integers */
    if (x >= 0)
        return x < big ? (x + big) - big : x;
    return x > -big ? (x - big) + big : x;
}

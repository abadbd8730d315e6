"""The soft cascade, written from [THESIS 2.2]; it shares nothing with the package."""


def decide(terms, lower, upper, every=1):
    """The side of one sample, −1 or 1, and the number of terms that were evaluated.

    `terms` are f_t(x)·α_t; `lower` and `upper` hold the thresholds of each check.
    """
    t, h = 0, 0.0
    while True:
        t, h = t + 1, h + terms[t]
        if t == len(terms):
            return (1 if h > 0 else -1), t
        if t % every == 0:
            check = t // every - 1
            if h <= lower[check]:
                return -1, t
            if h >= upper[check]:
                return 1, t

"""Notice when mistakes become more frequent than they were on left-out rows.

With every result, the likelihood ratios of higher rates are multiplied, from each possible beginning of a
change, and added up: an e-detector [Shin, Ramdas and Rinaldo 2024]. If nothing changes, an alarm comes at most
once in `PATIENCE` results on average. The beginning is where the ratio of the best rate was lowest [Page
1954].
"""

import math

import numpy as np

PATIENCE = 10_000
RATES = (1.25, 1.5, 2.0, 3.0, 5.0)
"""Higher rates, as multiples of the one that is allowed."""
TOLERATED = 0.02
"""Mistakes that are not counted as a change."""


class Watch:
    """Bets that mistakes have become more frequent than expected.

    Parameters
    ----------
    expected : float
        Share of mistakes on left-out rows.
    n : int
        Number of these rows; two standard errors are allowed.
    """

    def __init__(self, expected: float, n: int) -> None:
        self.expected = expected
        error = math.sqrt(max(expected * (1 - expected), 1 / n) / n)
        self.allowed = min(max(expected + 2 * error + TOLERATED, 1e-3), 0.95)
        self._higher = np.minimum(self.allowed * np.array(RATES), (1 + self.allowed) / 2)
        self._wealth = np.zeros(len(RATES))
        """Sum over all possible beginnings of the product of likelihood ratios since then."""
        self._score = np.zeros(len(RATES))
        self._since = np.zeros(len(RATES), dtype=np.int64)
        self._n = 0

    def add(self, *, wrong: bool) -> int | None:
        """Take a result; return how many results ago a change began, if there was one."""
        ratio = self._higher / self.allowed if wrong else (1 - self._higher) / (1 - self.allowed)
        self._wealth = (1 + self._wealth) * ratio
        self._score += np.log(ratio)
        self._n += 1
        restarted = self._score <= 0
        self._since[restarted] = self._n
        self._score[restarted] = 0.0
        if self._wealth.mean() < PATIENCE:
            return None
        return int(self._n - self._since[int(np.argmax(self._score))])

"""A table like people's own, for the tests of the command."""

import numpy as np

CITIES = ["Bern", "Köln", "Łódź", ""]
N_ROWS = 150


def loan_lines(separator=",", decimal=".", n_rows=N_ROWS, seed=0):
    """Loans: an id, numbers, a category with gaps, a date, a constant, and whether they were repaid."""
    rng = np.random.default_rng(seed)
    lines = [separator.join(["loan", "amount", "rate", "city", "since", "branch", "repaid"])]
    for i in range(n_rows):
        amount = rng.integers(1, 100)
        rate = "NA" if i % 10 == 3 else f"{rng.uniform(1, 9):.2f}".replace(".", decimal)
        city = CITIES[rng.integers(4)]
        since = f"20{rng.integers(10, 24)}-{rng.integers(1, 13):02d}-{rng.integers(1, 29):02d}"
        repaid = "yes" if amount + rng.normal(scale=10) + 20 * (city == "Bern") < 60 else "no"
        cells = [f"L{i:04d}", str(amount), rate, city, since, "main", repaid]
        lines.append(separator.join(cells))
    return lines

"""A small table of shops: numbers, a category, a date and missing cells; labels follow from them."""

import numpy as np

TOWNS = ("Bern", "Genf", "Chur")


def shop_rows(n=80, seed=0, *, labelled=True):
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        size, town = float(rng.normal(10, 3)), str(rng.choice(TOWNS))
        row = {
            "size": None if rng.random() < 0.05 else round(size, 3),
            "town": town,
            "opened": f"2024-0{1 + i % 9}-1{i % 10}",
            "noise": round(float(rng.normal()), 4),
        }
        if labelled:
            row["kind"] = "big" if size + (town == "Bern") > 11 else "small"
        rows.append(row)
    return rows

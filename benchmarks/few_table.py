"""The table of `few.py`, from its figures."""

from typing import Any

import measuring


def few_samples(found: dict[str, Any]) -> str:
    """The table of `few.py`: the default and a single fit, with very few samples."""
    told = {"race": "default", "one fit": "`Tree()` fitted once"}
    by_rows = found["by_rows"]
    lines = [
        [f"{measure}, {told[way]}", *(form(each["means"][way][i]) for each in by_rows.values())]
        for i, (measure, form) in enumerate(
            [("test error", "{:.1f} %".format), ("log-loss", "{:.2f}".format)]
        )
        for way in told
    ]
    lower = [f"{each['lower']} of {found['sets']}" for each in by_rows.values()]
    lines.append(["data sets on which the default has the lower error", *lower])
    table = measuring.markdown(["training samples", *by_rows], lines)
    return f"{table}\n\nMeans over {found['sets']} data sets and {found['seeds']} splits of each."

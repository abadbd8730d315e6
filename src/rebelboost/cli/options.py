"""Options that several commands share."""

from typing import Annotated

import typer

Positive = Annotated[
    str | None,
    typer.Option(
        metavar="CLASS",
        help="Of two classes, the one whose sensitivity, predictive value and calibration are given. "
        "Default: the class that costs more to miss or, if both cost the same, the rarer one.",
    ),
]

"""Storage of a cross-fit in a model file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.checks import Shelf, require
from rebelboost.boosting.rounds import History
from rebelboost.files.terms import LARGEST_NUMBER, LARGEST_SCORE
from rebelboost.files.texts import take_texts, text_arrays
from rebelboost.model.fitted import FittedClassifier, FittedRegressor
from rebelboost.selection.average import CrossFit
from rebelboost.selection.runner import Standing

STANDING = ("rounds", "share", "log_loss", "cost", "n_parts", "shrinkage")
"""Numbers stored for each candidate."""


def cross_fit_arrays(found: CrossFit) -> dict[str, NDArray[Any]]:
    """Arrays of a cross-fit: results of the candidates, and scores of the held-out samples."""
    numbers = [[getattr(each, name) for name in STANDING] for each in found.standings]
    return {
        "cross_fit.standings": np.array(numbers, dtype=np.float64).reshape(-1, len(STANDING)),
        "cross_fit.runs": np.array(found.runs, dtype=np.int64),
        "cross_fit.found": np.array([found.log_loss, found.cost], dtype=np.float64),
        "cross_fit.left_out": found.left_out,
        "cross_fit.rows": found.rows.astype(np.int64),
        **text_arrays("cross_fit.names", [each.name for each in found.standings]),
    }


def take_cross_fit(
    shelf: Shelf, model: FittedClassifier | FittedRegressor, history: History
) -> CrossFit:
    """Read the cross-fit of a model."""
    numbers = shelf.take("cross_fit.standings", np.float64, None, len(STANDING))
    names = take_texts(shelf, "cross_fit.names", len(numbers))
    runs = shelf.take("cross_fit.runs", np.int64, None)
    known = len(numbers) > 0 and ((runs >= 0) & (runs < len(numbers))).all()
    require(known, "fits of candidates that do not exist")
    log_loss, cost = shelf.take("cross_fit.found", np.float64, 2).tolist()
    left_out = shelf.numbers("cross_fit.left_out", None, model.ensemble.n_classes)
    most = LARGEST_SCORE if isinstance(model, FittedClassifier) else LARGEST_NUMBER
    require((np.abs(left_out) <= most).all(), "huge scores of held-out samples")
    rows = shelf.take("cross_fit.rows", np.int64, len(left_out))
    require((rows >= 0).all(), "negative row numbers of held-out samples")
    return CrossFit(
        model.ensemble,
        model.decoder.temperature if isinstance(model, FittedClassifier) else 1.0,
        history,
        tuple(map(_standing, names, numbers.tolist())),
        tuple(runs.tolist()),
        log_loss,
        cost,
        left_out,
        rows,
    )


def _standing(name: str, numbers: list[float]) -> Standing:
    rounds, share, log_loss, cost, n_parts, shrinkage = numbers
    counted = all(0 <= n < 2**31 and n.is_integer() for n in (rounds, n_parts))
    require(counted and 0 <= share <= 1, "a cross-fit with invalid counts or shares")
    require(0 < shrinkage <= 1, "a cross-fit with an invalid shrinkage")
    return Standing(name, int(rounds), share, log_loss, cost, int(n_parts), shrinkage)

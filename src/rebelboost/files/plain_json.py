"""Models as plain JSON data, for programs in other languages. docs/files.md describes the schema."""

from collections.abc import Mapping
from typing import Any

from rebelboost.base.names import plain
from rebelboost.files.terms import KINDS, located, stored_kind
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import FittedClassifier, FittedRegressor
from rebelboost.model.terms import Placed

FORMAT, VERSION = "rebelboost-json", 1


def as_plain(model: FittedClassifier | FittedRegressor, estimator: str) -> dict[str, Any]:
    """Everything needed for scores and decisions, as numbers, strings, lists and dicts."""
    n_levels = {f: len(levels) for f, levels in model.encoder.levels.items()}
    terms, spaces = _terms(model.ensemble, n_levels)
    names = model.feature_names
    found = {
        "format": FORMAT,
        "version": VERSION,
        "estimator": estimator,
        "n_features": int(model.n_features),
        "feature_names": None if names is None else names.tolist(),
        "categories": {
            str(f): list(map(plain, levels)) for f, levels in model.encoder.levels.items()
        },
        "spaces": spaces,
        "terms": terms,
    }
    if isinstance(model, FittedRegressor):
        return found | {"baseline": float(model.baseline)}
    return found | _decisions(model) | _sample_costs(model, n_levels)


def _decisions(model: FittedClassifier) -> dict[str, Any]:
    decoder, rule = model.decoder, model.rule
    classes: list[Any] = model.classes.tolist()
    return {
        "classes": [c if isinstance(c, bool | int | float) else str(c) for c in classes],
        "costs": model.costs.tolist(),
        "decision": rule.name,
        "decoder": {
            "costs": decoder.costs.tolist(),
            "temperature": float(decoder.temperature),
            "loss": decoder.loss,
            "subcosts": model.subcosts,
            "shift": None if decoder.shift is None else list(decoder.shift),
        },
        "reject": None
        if rule.reject_cost is None
        else {"cost": float(rule.reject_cost), "label": plain(rule.reject_label)},
    }


def _sample_costs(model: FittedClassifier, n_levels: Mapping[int, int]) -> dict[str, Any]:
    """Cells of the cost matrix that differ from sample to sample; nothing where none does."""
    found: dict[str, Any] = {}
    if model.columns is not None:
        found["cost_columns"] = [cell._asdict() for cell in model.columns.cells]
    if model.learned is not None:
        found["learned_costs"] = [
            {
                "true": cell.true,
                "decided": None if cell.decided < 0 else cell.decided,
                "baseline": float(cell.baseline),
                "terms": _terms(cell.ensemble, n_levels)[0],
            }
            for cell in model.learned.cells
        ]
    return found


def _terms(
    ensemble: Ensemble, n_levels: Mapping[int, int]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """All terms in order, and the spaces of comparisons."""
    for group in ensemble.groups:
        stored_kind(group.terms)  # raises an error for kinds that cannot be stored
    found: dict[int, dict[str, Any]] = {}
    first_space = 0
    for kind in KINDS:
        for positions, terms in ensemble.of_kind(kind):
            found |= dict(zip(positions.tolist(), terms.plain(first_space, n_levels), strict=True))
            first_space += len(terms.placed)
    return [found[t] for t in range(len(ensemble))], list(map(_space, located(ensemble)))


def _space(placed: Placed) -> dict[str, Any]:
    """A space and its examples, with the same names as in model files."""
    tensors, found = placed.space.to_tensors(placed.points)
    found = {key: value for key, value in found.items() if key not in {"type", "turned"}}
    found["rows"] = placed.rows.tolist()
    lists = {name: array.tolist() for name, array in tensors.items()}
    if "fill" in lists:
        counted = zip(lists.pop("level_features"), lists.pop("level_counts"), strict=True)
        lists["levels"] = [[feature, n] for feature, n in counted]
        lists.setdefault("turn", None)
    return found | lists

"""Models as plain JSON data, for programs in other languages. docs/files.md describes the schema."""

import math
from typing import Any

import numpy as np

from rebelboost.base.names import plain
from rebelboost.files.terms import term_arrays
from rebelboost.model.comparisons import KINDS, NONE, Comparisons
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import FittedClassifier, FittedRegressor
from rebelboost.model.smooth import SmoothFunction, SmoothSimilarities
from rebelboost.model.trees import Trees

FORMAT, VERSION = "rebelboost-json", 1


def as_plain(model: FittedClassifier | FittedRegressor, estimator: str) -> dict[str, Any]:
    """Everything needed for scores and decisions, as numbers, strings, lists and dicts."""
    terms, spaces = _terms(model.ensemble)
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
    return found | _decisions(model) | _sample_costs(model)


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
        },
        "reject": None
        if rule.reject_cost is None
        else {"cost": float(rule.reject_cost), "label": plain(rule.reject_label)},
    }


def _sample_costs(model: FittedClassifier) -> dict[str, Any]:
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
                "terms": _terms(cell.ensemble)[0],
            }
            for cell in model.learned.cells
        ]
    return found


def _terms(ensemble: Ensemble) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """All terms in order, and the spaces of comparisons."""
    found: dict[int, dict[str, Any]] = {}
    spaces: list[dict[str, Any]] = []
    for positions, trees in ensemble.of_kind(Trees):
        found |= dict(
            zip(
                positions.tolist(),
                (_tree(trees.take(np.array([t]))) for t in range(len(trees))),
                strict=True,
            )
        )
    for positions, table in ensemble.of_kind(Comparisons):
        found |= dict(zip(positions.tolist(), _comparisons(table, len(spaces)), strict=True))
        spaces += [_space(table)] if table.space is not None else []
    for positions, smooth in ensemble.of_kind(SmoothSimilarities):
        for position, function in zip(positions.tolist(), smooth.functions, strict=True):
            found[position] = _smooth(function, len(spaces))
            spaces.append(_space(function))
    if len(found) < len(ensemble):
        term_arrays(ensemble)  # raises an error that names the kind that cannot be stored
    return [found[t] for t in range(len(ensemble))], spaces


def _tree(tree: Trees) -> dict[str, Any]:
    return {
        "kind": "tree",
        "depth": tree.depth,
        "features": tree.features.tolist(),
        "thresholds": [_finite(x) for x in tree.thresholds.tolist()],
        "missing_right": [bool(flag) for flag in tree.missing_right],
        "categories_right": {
            str(node): np.flatnonzero(tree.right[row]).tolist()
            for node, row in enumerate(tree.category.tolist())
            if row >= 0
        },
        "outputs": tree.outputs.tolist(),
    }


def _finite(threshold: float) -> float | None:
    """None for an infinite threshold, which JSON cannot represent: no number exceeds it."""
    return threshold if math.isfinite(threshold) else None


def _comparisons(table: Comparisons, space: int) -> list[dict[str, Any]]:
    columns = (table.kinds, table.anchors, table.rivals, table.apart, table.outputs)
    terms = zip(*(column.tolist() for column in columns), strict=True)
    if table.space is None:
        return [{"kind": KINDS[kind], "a": a, "b": b} for kind, *_, (a, b) in terms]
    return [
        {
            "kind": KINDS[kind],
            "space": space,
            "anchor": anchor,
            "rival": None if rival == NONE else rival,
            "apart": apart,
            "a": a,
            "b": b,
        }
        for kind, anchor, rival, apart, (a, b) in terms
    ]


def _smooth(function: SmoothFunction, space: int) -> dict[str, Any]:
    return {
        "kind": "smooth",
        "space": space,
        "tau": function.tau,
        "a": function.a.tolist(),
        "b": function.b.tolist(),
    }


def _space(table: Comparisons | SmoothFunction) -> dict[str, Any]:
    """A space and its examples, with the same names as in model files."""
    assert table.space is not None
    tensors, found = table.space.to_tensors(table.points)
    found = {key: value for key, value in found.items() if key not in {"type", "turned"}}
    found["rows"] = table.rows.tolist()
    lists = {name: array.tolist() for name, array in tensors.items()}
    if "fill" in lists:
        counted = zip(lists.pop("level_features"), lists.pop("level_counts"), strict=True)
        lists["levels"] = [[feature, n] for feature, n in counted]
        lists.setdefault("turn", None)
    return found | lists

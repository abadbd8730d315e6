"""Models as plain JSON, for programs in other languages; docs/files.md has its schema and how to use it."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.names import plain
from rebelboost.data.spaces import Embedding, Precomputed
from rebelboost.files.model_file import VERSION
from rebelboost.files.terms import space_fields
from rebelboost.model.fitted import FittedClassifier, FittedRegressor
from rebelboost.model.flattening import (
    KINDS,
    NONE,
    TREE,
    Examples,
    FlatSimilarities,
    FlatTerms,
    flatten,
)

FORMAT = "rebelboost-json"


def as_plain(model: FittedClassifier | FittedRegressor, estimator: str) -> dict[str, Any]:
    """All that scores and decisions follow from: numbers, texts, lists and dicts."""
    flat = flatten(model.ensemble)
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
        "spaces": [_space(examples) for examples in flat.spaces],
        "terms": _terms(flat),
    }
    if isinstance(model, FittedRegressor):
        return found | {"baseline": float(model.baseline)}
    return found | _decisions(model)


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


def _terms(flat: FlatTerms) -> list[dict[str, Any]]:
    trees, compared = iter(_trees(flat)), iter(_similarities(flat.similarities))
    return [next(trees if kind == TREE else compared) for kind in flat.kinds]


def _trees(flat: FlatTerms) -> list[dict[str, Any]]:
    trees = flat.trees
    goes_right = {
        node: np.flatnonzero(row).tolist()
        for node, row in zip(trees.table_nodes.tolist(), trees.right, strict=True)
    }
    found, first = [], 0
    for t, n in enumerate(trees.nodes.tolist()):
        nodes = range(first, first + n)
        found.append(
            {
                "kind": "tree",
                "depth": int(trees.depths[t]),
                "features": trees.features[first : first + n].tolist(),
                "thresholds": [_finite(x) for x in trees.thresholds[first : first + n].tolist()],
                "missing_right": [bool(flag) for flag in trees.missing_right[first : first + n]],
                "categories_right": {
                    str(node - first): goes_right[node] for node in nodes if node in goes_right
                },
                "outputs": trees.outputs[first + t : first + t + n + 1].tolist(),
            }
        )
        first += n
    return found


def _finite(threshold: float) -> float | None:
    """JSON has no infinity: None, which no number exceeds."""
    return threshold if math.isfinite(threshold) else None


def _similarities(flat: FlatSimilarities) -> list[dict[str, Any]]:
    columns = (column.tolist() for column in flat)
    return [
        {"kind": KINDS[kind], "a": a, "b": b}
        if space == NONE
        else {
            "kind": KINDS[kind],
            "space": space,
            "anchor": anchor,
            "rival": None if rival == NONE else rival,
            "apart": apart,
            "a": a,
            "b": b,
        }
        for kind, space, anchor, rival, apart, (a, b) in zip(*columns, strict=True)
    ]


def _space(examples: Examples) -> dict[str, Any]:
    space = examples.space
    found = {**space_fields(examples), "rows": examples.rows.tolist()}
    found.pop("type", None)
    found.pop("turned", None)
    if not isinstance(space, Precomputed):
        found["points"] = _numbers(examples.points)
    if isinstance(space, Embedding):
        found |= {
            "fill": space.fill.tolist(),
            "indicated": space.indicated.tolist(),
            "levels": [[f, n] for f, n in space.levels.items()],
            "offset": space.offset.tolist(),
            "factor": space.factor.tolist(),
            "turn": None if space.turn is None else space.turn.tolist(),
        }
    return found


def _numbers(points: NDArray[Any]) -> list[Any]:
    found: list[Any] = points.tolist()
    return found

"""Models as programs in other languages, which compute the same bits."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rebelboost.base.names import listed
from rebelboost.base.writing import write_text_whole, write_whole
from rebelboost.cascade.plan import CascadePlan
from rebelboost.exceptions import ExportError
from rebelboost.export.c import as_c
from rebelboost.export.evaluator import Evaluator, evaluator_of
from rebelboost.export.integers import as_integers
from rebelboost.export.javascript import as_javascript
from rebelboost.export.onnx.model import as_onnx
from rebelboost.files.packed_schema import unpacked_schema
from rebelboost.files.plain_json import as_plain
from rebelboost.model.fitted import FittedTerms

LANGUAGES: dict[str, Callable[[Evaluator], str | bytes]] = {
    ".c": as_c,
    ".js": as_javascript,
    ".mjs": as_javascript,
    ".onnx": as_onnx,
}
"""Suffix of a file → what writes its contents."""
DATA = ".json"


def export_model(
    model: FittedTerms,
    path: str | os.PathLike[str],
    estimator: str,
    metadata: Mapping[str, Any],
    *,
    bins: bool = False,
    plan: CascadePlan | None = None,
) -> None:
    """Write a model in the language that the suffix of the file names, with the plan of its cascade.

    `bins`: C with integers only.
    """
    suffix = Path(path).suffix.lower()
    if bins:
        if suffix != ".c":
            raise ExportError(
                f"{os.fspath(path)} is no file of C, but only C computes with integers: use the suffix .c"
            )
        write_text_whole(path, as_integers(evaluator_of(model), model))
        return
    if suffix == DATA:
        write_text_whole(path, json.dumps(as_plain(model, estimator)))  # type: ignore[arg-type]
        return
    if suffix not in LANGUAGES:
        known = listed([*LANGUAGES, DATA])
        raise ExportError(f"{os.fspath(path)} names no language by its suffix: use one of {known}")
    contents = LANGUAGES[suffix](evaluator_of(model, columns_of(metadata), plan=plan))
    write_whole(path, [contents.encode() if isinstance(contents, str) else contents])


def columns_of(metadata: Mapping[str, Any]) -> Any:
    """The columns of the table that the command trained a model on; None without the command."""
    told = metadata.get("table")
    return None if told is None else unpacked_schema(told)["columns"]

"""A model as one ES module, for Node and browsers: its arrays as JSON, and the functions that read them."""

import json
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.cells import MISSING
from rebelboost.base.kernel_arrays import LEVELS
from rebelboost.costs.amounts import LARGEST_COST, LEAST_COST
from rebelboost.costs.posterior import SHIFT
from rebelboost.export.cascading import Checks
from rebelboost.export.decoding import DecoderArrays, MixtureArrays
from rebelboost.export.evaluator import Deciding, Evaluator
from rebelboost.export.explaining import Explaining
from rebelboost.export.reading import Reading
from rebelboost.export.sources import source
from rebelboost.export.terms import (
    ComparisonTable,
    ConstantTable,
    SmoothTable,
    SpaceTable,
    Sum,
    Table,
    TreeTable,
)
from rebelboost.kernels.elementary import log_of
from rebelboost.kernels.reference.elementary import INVERSE_FACTORIALS
from rebelboost.kernels.reference.posterior import LEAST
from rebelboost.kernels.reference.similarity import PEAK

KINDS: dict[type, str] = {
    TreeTable: "trees",
    ComparisonTable: "comparisons",
    SmoothTable: "smooth",
    ConstantTable: "constants",
}
"""Names of the kinds of tables."""


def as_javascript(evaluator: Evaluator) -> str:
    """The text of the module."""
    deciding = evaluator.deciding
    model: dict[str, Any] = {
        "names": list(evaluator.names),
        "features": [_feature(reading) for reading in evaluator.readings],
        "sums": [_sum(each) for each in evaluator.sums],
    }
    if deciding is None:
        model["baseline"] = evaluator.baseline
    else:
        model |= _deciding(deciding, evaluator.n_scores)
    if evaluator.checks is not None:
        model["cascade"] = _cascade(evaluator.checks)
    constants = {
        "MODEL": model,
        "LEVELS": _list(LEVELS),
        "PEAK": PEAK,
        "INVERSE_FACTORIALS": INVERSE_FACTORIALS,
        "EXPLAINED": _explaining(evaluator.explaining),
    }
    lines = [f"const {name} = {literal(value)};" for name, value in constants.items()]
    lines.append(f"const MISSING = new Set({literal(list(MISSING))});")
    lines.append(f"export const N_FEATURES = {len(evaluator.names)};\n")
    kind = "regressor" if deciding is None else "classifier"
    parts = ["model.mjs", f"{kind}.mjs", "encode.mjs", "explain.mjs", f"explain_{kind}.mjs"]
    if evaluator.checks is not None:
        parts.append("cascade.mjs")
    return "\n".join(lines) + "\n" + "".join(map(source, parts))


EXPORTED = re.compile(r"^export (?:function|const) (\w+)", re.MULTILINE)
EXPORT = re.compile(r"^export (?=(function|const) )", re.MULTILINE)


def as_page_script(evaluator: Evaluator, options: dict[str, Any], element: str) -> str:
    """A script for a page that shows the model in the element with this id; `options` are those of `mount`."""
    model = as_javascript(evaluator)
    names = [found[1] for found in EXPORTED.finditer(model)]
    page = EXPORT.sub("", source("page.mjs"))
    return (
        f"const model = (() => {{\n{EXPORT.sub('', model)}\nreturn {{ {', '.join(names)} }};\n}})();\n"
        f"const mount = (() => {{\n{page}\nreturn mount;\n}})();\n"
        f"mount(document.getElementById({literal(element)}), model, {literal(options)});\n"
    )


def literal(value: Any) -> str:
    """A value as it stands in a script, also in one that is part of an HTML page."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c").replace("/", "\\u002f")


def _feature(reading: Reading) -> dict[str, Any]:
    return reading._asdict() | {"numbers": reading.numbers._asdict()}


def _sum(each: Sum) -> dict[str, Any]:
    return {
        "n_outputs": each.n_outputs,
        "tables": [_table(table) for table in each.tables],
        "steps": [list(step) for step in each.steps],
    }


def _table(table: Table) -> dict[str, Any]:
    fields = table._asdict()
    if "space" in fields:
        space: SpaceTable = fields["space"]
        fields["space"] = {name: _plain(part) for name, part in space._asdict().items()}
    return {"kind": KINDS[type(table)]} | {name: _plain(part) for name, part in fields.items()}


def _plain(value: Any) -> Any:
    return _list(value) if isinstance(value, np.ndarray) else value


def _list(values: NDArray[Any]) -> list[Any]:
    """All numbers in one list; whole ones without a decimal point, single precision with few digits."""
    flat = values.ravel()
    if flat.dtype == np.float32:
        flat = np.array(flat.astype(str).tolist(), dtype=np.float64)
    if flat.dtype == np.float64 and (np.abs(flat) < 2**31).all() and (np.rint(flat) == flat).all():
        flat = flat.astype(np.int64)
    found: list[Any] = flat.tolist()
    return found


def _cascade(checks: Checks) -> dict[str, Any]:
    told = {name: getattr(checks, name).tolist() for name in ("low", "high", "temperatures")}
    return {
        "kind": checks.kind,
        "steps": [[list(step) for step in steps] for steps in checks.steps],
        "terms": checks.n_terms.tolist(),
        **told,
    }


def _explaining(explaining: Explaining) -> dict[str, Any]:
    told = {name: _plain(value) for name, value in explaining._asdict().items()}
    tables = [{name: _list(part) for name, part in table.items()} for table in explaining.tables]
    rows = {row: each._asdict() for row, each in explaining.rows.items()}
    return told | {"tables": tables, "rows": rows}


def _deciding(deciding: Deciding, n_classes: int) -> dict[str, Any]:
    return {
        "classes": list(deciding.classes),
        "decoder": _decoder(deciding.decoder),
        "costs": _list(deciding.costs),
        "sources": [list(source) for source in deciding.sources],
        "by_cost": deciding.by_cost,
        "reject_cost": deciding.reject_cost,
        "reject_label": deciding.reject_label,
        "least_cost": LEAST_COST,
        "largest_cost": LARGEST_COST,
        "log_least": log_of(LEAST),
        "log_others": log_of(max(1.0, n_classes - 1.0)),
        "log_half": log_of(SHIFT),
    }


def _decoder(decoder: DecoderArrays) -> dict[str, Any]:
    told: dict[str, Any] = {"temperature": decoder.temperature, "loss": decoder.loss}
    told["shift"] = None if decoder.shift is None else _list(decoder.shift)
    if decoder.rest is None:
        return told
    name = "mixture" if isinstance(decoder.rest, MixtureArrays) else "perron"
    return told | {name: {key: _list(part) for key, part in decoder.rest._asdict().items()}}

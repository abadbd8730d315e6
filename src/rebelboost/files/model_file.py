"""Saving and loading of fitted models: arrays and JSON in the safetensors format.

A file stores everything needed to predict, decide, explain and continue training, as data: nothing in it is
ever executed. On loading, everything is checked; an invalid file raises `ModelFileError`.
"""

import json
import os
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats
from rebelboost.base.checks import Fields, TensorReader, require, room
from rebelboost.boosting.rounds import History
from rebelboost.cascade.plan import CascadePlan
from rebelboost.costs.decision import DecisionRule, budgeted
from rebelboost.costs.matrix import cost_cells, cost_matrix
from rebelboost.costs.posterior import Decoder
from rebelboost.data.encoder import MOST_CODES, FeatureEncoder, as_frame
from rebelboost.exceptions import ModelFileError
from rebelboost.files.held_out import (
    cascade_arrays,
    cross_fit_arrays,
    take_cascade,
    take_cross_fit,
)
from rebelboost.files.history import history_arrays, take_history
from rebelboost.files.packing import packed, unpacked
from rebelboost.files.parameters import ParameterDecoder, ParameterEncoder, check_together
from rebelboost.files.safetensors import CHECKSUM, Contents, check_version, parse_json, write
from rebelboost.files.side_models import (
    check_factors,
    interval_arrays,
    sample_cost_arrays,
    take_intervals,
    take_sample_costs,
)
from rebelboost.files.terms import (
    LARGEST_NUMBER,
    LARGEST_SCORE,
    Features,
    check_storable,
    located,
    reach,
    take_terms,
    term_arrays,
)
from rebelboost.files.texts import (
    class_arrays,
    scalar_arrays,
    take_classes,
    take_scalars,
    take_texts,
    text_arrays,
)
from rebelboost.files.training_rows import (
    StoredRows,
    provenance_arrays,
    take_provenance,
    without_points,
)
from rebelboost.losses.classes import CLASS_LOSSES
from rebelboost.losses.exponential import SUBCOSTS
from rebelboost.model.ensemble import Ensemble
from rebelboost.model.fitted import FittedClassifier, FittedRegressor
from rebelboost.selection.result import CrossFit

FORMAT, VERSION = "rebelboost", 1
"""A layout that this version cannot hold gets the next number, and files of all versions stay readable."""
DECIDING = {"decision": "name", "reject_cost": "reject_cost", "reject_label": "reject_label"}
"""Parameters that decisions depend on → fields of the decision rule. Every classifier file has them. Other
parameters may be missing if they were introduced after the file was written.
"""
LARGEST = 1e300
"""Upper limit of costs and weights."""

Parts = tuple[dict[str, NDArray[Any]], dict[str, Any]]
"""Arrays, and a JSON object."""


class StoredModel(NamedTuple):
    """The contents of a model file."""

    estimator: str
    """Name of the estimator class."""
    parameters: dict[str, Any]
    model: FittedClassifier | FittedRegressor
    history: History
    cross_fit: CrossFit | None
    metadata: dict[str, Any]
    """The user's `metadata_`."""
    plan: CascadePlan | None = None
    """The classifier's cascade."""


# ---- writing


def write_model(
    stored: StoredModel, path: str | os.PathLike[str], read: Callable[[Contents], object]
) -> None:
    """Write a model to a file. What `read` cannot read is not written."""
    fitted = stored.model
    is_classifier = isinstance(fitted, FittedClassifier)
    check_storable(fitted.ensemble, LARGEST_SCORE if is_classifier else LARGEST_NUMBER)
    arrays, model = _parameters(stored)
    tensors, spaces = term_arrays(fitted.ensemble)
    arrays |= tensors
    arrays |= history_arrays(stored.history)
    model["spaces"] = spaces
    model["n_classes"] = fitted.ensemble.n_classes
    model["unavoidable_cost"] = float(fitted.ensemble.unavoidable_cost)
    model["metadata"] = stored.metadata
    if fitted.monotone:
        model["monotone"] = [list(each) for each in fitted.monotone]
    staged = None if stored.cross_fit is None else stored.cross_fit.staged
    own = _own(fitted, stored.cross_fit)
    for more, fields in (_features(fitted), own, cascade_arrays(stored.plan, staged)):
        arrays |= more
        model |= fields
    arrays |= provenance_arrays(fitted.provenance)
    implied = without_points(arrays, located(fitted.ensemble), fitted.provenance)

    def is_readable(small: dict[str, NDArray[Any]], said: dict[str, Any]) -> bool:
        try:
            read(_contents(small, model | {"packed": said}))
        except ModelFileError:
            return False
        return True

    small, said = packed(implied, arrays, is_readable)
    contents = _contents(small, model if said is None else model | {"packed": said})
    if said is None:
        try:
            read(contents)
        except ModelFileError as fault:
            raise ModelFileError(f"cannot write {os.fspath(path)}, a file that {fault}") from None
    write(path, *contents)


def _contents(arrays: dict[str, NDArray[Any]], model: dict[str, Any]) -> Contents:
    return Contents(arrays, {"format": FORMAT, "version": str(VERSION), "model": _json(model)})


def _json(model: dict[str, Any]) -> str:
    try:
        text = json.dumps(model, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
        parse_json(text)  # what cannot be read is not written
    except ModelFileError as fault:
        raise ModelFileError(f"cannot write a file that {fault}") from None
    except (TypeError, ValueError, RecursionError) as error:
        raise ModelFileError(
            f"metadata_ cannot be written as JSON ({error}): use strings, finite numbers, lists and "
            "dicts"
        ) from None
    return text


def _parameters(stored: StoredModel) -> Parts:
    encoder = ParameterEncoder()
    given, model = dict(stored.parameters), stored.model
    try:
        check_together(given)
    except ModelFileError as fault:
        raise ModelFileError(f"the model {fault}") from None
    if isinstance(model, FittedClassifier) and as_frame(given.get("costs")) is not None:
        # The same costs without the names of their table.
        given["costs"] = (
            cost_cells(given["costs"])
            if model.columns is not None
            else cost_matrix(given["costs"], list(model.classes), model.class_weight)
        )
    parameters = encoder.encode_all(given)
    return encoder.arrays, {"estimator": stored.estimator, "parameters": parameters}


def _features(model: FittedClassifier | FittedRegressor) -> Parts:
    levels, names = model.encoder.levels, model.feature_names
    flat = [level for f in sorted(levels) for level in levels[f]]
    arrays: dict[str, NDArray[Any]] = {
        "categorical": model.encoder.categorical,
        "categories.counts": np.array([len(levels[f]) for f in sorted(levels)], dtype=np.int32),
    }
    arrays |= scalar_arrays("categories", flat, "convert the column to text first")
    if names is not None:
        arrays |= text_arrays("feature_names", names.tolist())
    return arrays, {"n_features": int(model.n_features), "named": names is not None}


def _own(model: FittedClassifier | FittedRegressor, cross_fit: CrossFit | None) -> Parts:
    """The parts that only classifiers, or only regressors, have."""
    if isinstance(model, FittedRegressor):
        found: dict[str, Any] = {"baseline": float(model.baseline)}
        if cross_fit is None:
            return {}, found
        more, fields = interval_arrays(model.intervals)
        return cross_fit_arrays(cross_fit) | more, found | fields
    arrays, kind = class_arrays(model.classes)
    decoder = model.decoder
    arrays |= {
        "costs": model.costs,
        "class_weight": model.class_weight,
        "decoder.costs": decoder.costs,
    }
    if decoder.shift is not None:
        arrays["decoder.shift"] = np.array(decoder.shift)
    if cross_fit is not None:
        arrays |= cross_fit_arrays(cross_fit)
    more, fields = sample_cost_arrays(model)
    return arrays | more, fields | {
        "classes": kind,
        "subcosts": model.subcosts,
        "decoder": {
            "temperature": float(decoder.temperature),
            "precision": float(decoder.precision),
            "loss": decoder.loss,
            **({} if decoder.shift is None else {"shifted": True}),
        },
        "cross_fit": cross_fit is not None,
        **({} if model.reject_level is None else {"reject_level": model.reject_level}),
    }


# ---- reading


def unpack_model(
    contents: Contents, known: Mapping[str, AbstractSet[str]], *, all_known: bool = True
) -> StoredModel:
    """Check the contents of a file, and create the model.

    `known` has the parameter names of each estimator; all of them, or those that decisions depend on.
    """
    _check_format(contents.texts)
    fields = Fields(parse_json(contents.texts["model"]), "the model")
    arrays, left = contents.arrays, room(contents.n_bytes)
    if fields.has("packed"):
        arrays = unpacked(arrays, fields.fields("packed"), left)
    reader = TensorReader(arrays, left)
    kind = fields.word("estimator", known)
    parameters = _take_parameters(reader, fields, known[kind], all_known=all_known)
    encoder, names = _take_features(reader, fields)
    n_classes = fields.whole("n_classes", 1, 2**20)
    features = Features(encoder.n_features, {f: len(own) for f, own in encoder.levels.items()})
    lost = fields.number("unavoidable_cost", 0.0)
    kept = take_provenance(reader, encoder, n_classes)
    examples = StoredRows(kept, left)
    ensemble = take_terms(reader, fields.list("spaces"), features, examples, n_classes, lost)
    require(examples.has(ensemble.example_rows), "examples whose class is unknown")
    history = take_history(reader, ensemble)
    monotone = _take_monotone(fields, features, ensemble)
    model: FittedClassifier | FittedRegressor
    cross_fit, plan = None, None
    if DECIDING.keys() <= known[kind]:  # a classifier
        require(reach(ensemble) <= LARGEST_SCORE, "terms with huge outputs")
        model = _take_classifier(reader, fields, _rule(parameters), encoder, names, ensemble)
        model = _with_budget(model, fields, parameters)
        if fields.has("sample_costs"):
            columns, learned = take_sample_costs(reader, fields, features, n_classes)
            check_factors(learned, model.costs)
            model = replace(model, columns=columns, learned=learned)
        crossed = fields.any("cross_fit")
        require(isinstance(crossed, bool), "a field 'cross_fit' that is not true or false")
        cross_fit = take_cross_fit(reader, model, history) if crossed else None
        if fields.has("cascade"):
            plan, staged = take_cascade(reader, fields, model)
            require(staged is None or cross_fit is not None, "held-out scores without a cross-fit")
            cross_fit = None if cross_fit is None else replace(cross_fit, staged=staged)
    else:
        require(n_classes == 1, "a regression with several outputs")
        require(reach(ensemble) <= LARGEST_NUMBER, "terms with huge outputs")
        baseline = fields.number("baseline", -LARGEST_NUMBER, LARGEST_NUMBER)
        model = FittedRegressor(
            encoder=encoder, feature_names=names, ensemble=ensemble, baseline=baseline
        )
        if fields.has("intervals"):
            model = replace(model, intervals=take_intervals(reader, fields, features))
            cross_fit = take_cross_fit(reader, model, history)
    metadata = fields.any("metadata")
    require(isinstance(metadata, dict), "user metadata that is not an object")
    fields.end()
    reader.end()
    model = replace(model, provenance=kept, monotone=monotone)
    return StoredModel(kind, parameters, model, history, cross_fit, metadata, plan)


def _check_format(texts: dict[str, str]) -> None:
    require(texts.get("format") == FORMAT, "no rebelboost model in it")
    check_version(texts, VERSION)
    expected = {"format", "version", "model"}
    require(texts.keys() - {CHECKSUM} == expected, "metadata that does not belong to a model")


def _take_parameters(
    reader: TensorReader, fields: Fields, known: AbstractSet[str], *, all_known: bool
) -> dict[str, Any]:
    given = ParameterDecoder(reader).decode_all(fields.any("parameters"))
    odd = given.keys() - known if all_known else ()
    require(not odd, f"unknown parameters: {sorted(odd)[:3]}")
    lacks = (DECIDING.keys() & known) - given.keys()
    require(not lacks, f"no parameters {sorted(lacks)}")
    check_together(given)
    return given


def _rule(parameters: dict[str, Any]) -> DecisionRule:
    return DecisionRule(**{field: parameters[name] for name, field in DECIDING.items()})


def _take_features(
    reader: TensorReader, fields: Fields
) -> tuple[FeatureEncoder, NDArray[Any] | None]:
    n = fields.whole("n_features", 0, 2**31 - 1)
    chosen = np.flatnonzero(reader.flags("categorical", n)).tolist()
    counts = reader.indices("categories.counts", MOST_CODES + 1, len(chosen)).tolist()
    flat = iter(take_scalars(reader, "categories", sum(counts)))
    levels = {f: tuple(next(flat) for _ in range(n)) for f, n in zip(chosen, counts, strict=True)}
    distinct = all(len(set(own)) == len(own) for own in levels.values())
    require(distinct, "a category twice")
    named = fields.any("named")
    require(isinstance(named, bool), "a field 'named' that is not true or false")
    names = None
    if named:
        names = np.array([*take_texts(reader, "feature_names", n), None], dtype=object)[:-1]
        require(len(set(names.tolist())) == n, "a feature name twice")
    return FeatureEncoder(n, levels), names


def _with_budget(
    model: FittedClassifier, fields: Fields, parameters: dict[str, Any]
) -> FittedClassifier:
    if not fields.has("reject_level"):
        return model
    level, given = fields.number("reject_level", 0.0, LARGEST), parameters.get("reject_budget")
    good = isinstance(given, int | float) and 0 <= given <= 1
    require(good, "a level of a budget, without a budget")
    return replace(model, reject_level=level, rule=budgeted(model.rule, level))


def _take_monotone(
    fields: Fields, features: Features, ensemble: Ensemble
) -> tuple[tuple[int, int], ...]:
    """Features with which scores rise or fall, which is proved again."""
    if not fields.has("monotone"):
        return ()
    from rebelboost.model.monotone import trees_of, violations

    found = fields.list("monotone")
    good = all(
        isinstance(each, list)
        and len(each) == 2
        and type(each[0]) is type(each[1]) is int
        and 0 <= each[0] < features.n
        and each[0] not in features.levels
        and each[1] in {1, -1}
        for each in found
    )
    require(
        good and len({each[0] for each in found}) == len(found), "'monotone' that names no features"
    )
    trees = trees_of(ensemble)
    holds = trees is not None and not any(violations(trees, dict(found)))
    require(holds, "scores that do not rise or fall with the features that it names as monotone")
    return tuple((f, sign) for f, sign in found)


def _take_classifier(
    reader: TensorReader,
    fields: Fields,
    rule: DecisionRule,
    encoder: FeatureEncoder,
    names: NDArray[Any] | None,
    ensemble: Ensemble,
) -> FittedClassifier:
    n = ensemble.n_classes
    of_decoder = fields.fields("decoder")
    model = FittedClassifier(
        encoder=encoder,
        feature_names=names,
        ensemble=ensemble,
        classes=take_classes(reader, fields.fields("classes"), n),
        class_weight=_amounts(reader, "class_weight", n).copy(),
        costs=_costs(reader, "costs", n),
        decoder=Decoder(
            _costs(reader, "decoder.costs", n),
            of_decoder.number("temperature", 1e-6, 1e6),
            of_decoder.number("precision", 1e-300, 1.0),
            of_decoder.word("loss", CLASS_LOSSES),
            fields.word("subcosts", SUBCOSTS),
            _shift(reader, of_decoder, n),
        ),
        rule=rule,
    )
    of_decoder.end()
    require(float(model.class_weight.sum()) > 0, "classes without any weight")
    return model


def _shift(reader: TensorReader, fields: Fields, n: int) -> tuple[float, ...] | None:
    if not fields.has("shifted"):
        return None
    require(fields.any("shifted") is True, "'shifted' in the decoder that is not true")
    shift = _amounts(reader, "decoder.shift", n)
    require((shift > 0).all(), "a class whose frequency is said to be 0 now")
    return tuple(shift.tolist())


def _amounts(reader: TensorReader, name: str, *shape: int) -> Floats:
    array = reader.numbers(name, *shape)
    inside = (array >= 0).all() and (array < LARGEST).all()
    require(inside, f"{name!r} with negative or huge numbers")
    return array


def _costs(reader: TensorReader, name: str, n: int) -> Floats:
    costs = _amounts(reader, name, n, n)
    require(not costs.diagonal().any(), f"{name!r} with costs of correct decisions")
    return costs.copy()

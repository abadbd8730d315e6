"""Model files → estimators. Every rule is checked: a file that breaks one is refused, with its fault."""

import os

import numpy as np

from rebelboost.base.arrays import Floats
from rebelboost.base.checks import Fields, Shelf, require
from rebelboost.boosting.objectives import LOSSES
from rebelboost.costs.posterior import Decoder
from rebelboost.data.encoder import MOST_LEVELS, FeatureEncoder
from rebelboost.estimators.classifier import RebelClassifier
from rebelboost.estimators.regressor import RebelRegressor
from rebelboost.exceptions import ModelFileError
from rebelboost.files.history import take_history
from rebelboost.files.labels import take_classes
from rebelboost.files.model_file import FORMAT, STANDING, VERSION
from rebelboost.files.parameters import ParameterDecoder, check_together
from rebelboost.files.remembered import take_reasons
from rebelboost.files.safetensors import Contents, parse_json, read
from rebelboost.files.terms import Features, take_terms
from rebelboost.files.texts import take_scalars, take_texts
from rebelboost.losses.exponential import SUBCOSTS
from rebelboost.selection.blend import CrossFit
from rebelboost.selection.runner import Standing

Model = RebelClassifier | RebelRegressor
ESTIMATORS: dict[str, type[Model]] = {
    "RebelClassifier": RebelClassifier,
    "RebelRegressor": RebelRegressor,
}
DECISIVE = {"decision", "reject_cost", "reject_label"}
"""Parameters that predictions depend on: no file is without. Others that it lacks are younger than it."""
LARGEST = 1e300


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model that was written by `save`: it predicts the same, bit for bit.

    Nothing in the file is executed. A file that is not sound raises `ModelFileError`.
    """
    try:
        return restore(read(path))
    except ModelFileError as fault:
        raise ModelFileError(f"{os.fspath(path)} {fault}") from None
    except RecursionError:
        raise ModelFileError(f"{os.fspath(path)} has metadata nested too deeply") from None


def restore(contents: Contents) -> Model:
    """Make an estimator of what a file holds."""
    _check_format(contents.texts)
    shelf = Shelf(contents.arrays)
    model = Fields(parse_json(contents.texts["model"]), "the model")
    estimator = _estimator(shelf, model)
    features = _take_features(shelf, model, estimator)
    n_classes = model.whole("n_classes", 1, 2**20)
    lost = model.number("unavoidable_cost", 0.0)
    estimator.ensemble_ = take_terms(shelf, model.list("spaces"), features, n_classes, lost)
    estimator.history_ = take_history(shelf, estimator.ensemble_)
    if isinstance(estimator, RebelClassifier):
        _take_decisions(shelf, model, estimator, n_classes)
    else:
        require(n_classes == 1, "a regression with several outputs")
        estimator.baseline_ = model.number("baseline")
    _take_rest(shelf, model, estimator)
    return estimator


def _check_format(texts: dict[str, str]) -> None:
    require(texts.get("format") == FORMAT, "no rebelboost model in it")
    version = texts.get("version", "")
    whole = version.isascii() and version.isdigit() and len(version) < 6
    require(whole, f"the format version {version[:20]!r}, which is no number")
    if int(version) > VERSION:
        raise ModelFileError(
            f"has format version {version}, but this rebelboost reads versions up to {VERSION}: "
            "install a newer rebelboost"
        )
    require(int(version) == VERSION, f"the format version {version}, which there never was")
    require(texts.keys() == {"format", "version", "model", "sha256"}, "other metadata than a model")


def _estimator(shelf: Shelf, model: Fields) -> Model:
    """An estimator with its parameters, as yet unfitted."""
    kind = ESTIMATORS[model.word("estimator", ESTIMATORS)]
    given = ParameterDecoder(shelf).decode_all(model.any("parameters"))
    known = set(kind._get_param_names())
    require(given.keys() <= known, f"unknown parameters: {sorted(given.keys() - known)[:3]}")
    lacks = (DECISIVE & known) - given.keys()
    require(not lacks, f"no parameters {sorted(lacks)}")
    try:
        estimator = kind(**given)
        estimator._validate_params()
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelFileError(f"has parameters that cannot be ({error})") from None
    check_together(given)
    return estimator


def _take_features(shelf: Shelf, model: Fields, estimator: Model) -> Features:
    n = model.whole("n_features", 0, 2**31 - 1)
    chosen = np.flatnonzero(shelf.flags("categorical", n)).tolist()
    counts = shelf.indices("categories.counts", MOST_LEVELS + 1, len(chosen)).tolist()
    flat = iter(take_scalars(shelf, "categories", sum(counts)))
    levels = {f: tuple(next(flat) for _ in range(n)) for f, n in zip(chosen, counts, strict=True)}
    distinct = all(len(set(own)) == len(own) for own in levels.values())
    require(distinct, "a category twice")
    estimator._encoder = FeatureEncoder(n, levels)
    estimator.n_features_in_ = n
    named = model.any("named")
    require(isinstance(named, bool), "features that are neither named nor not")
    if named:
        names = take_texts(shelf, "feature_names", n)
        estimator.feature_names_in_ = np.array([*names, None], dtype=object)[:-1]
    return Features(n, {f: len(own) for f, own in levels.items()})


def _take_decisions(shelf: Shelf, model: Fields, estimator: RebelClassifier, n: int) -> None:
    estimator.classes_ = take_classes(shelf, model.fields("classes"), n)
    estimator.costs_ = _costs(shelf, "costs", n)
    estimator.class_weight_ = _amounts(shelf, "class_weight", n).copy()
    estimator.subcosts_ = model.word("subcosts", SUBCOSTS)
    fields = model.fields("decoder")
    estimator.decoder_ = Decoder(
        _costs(shelf, "decoder.costs", n),
        fields.number("temperature", 1e-6, 1e6),
        fields.number("precision", 1e-300, 1.0),
        fields.word("loss", LOSSES),
    )
    fields.end()
    crossed = model.any("cross_fit")
    require(isinstance(crossed, bool), "a cross-fit that is neither there nor not")
    estimator.cross_fit_ = _take_cross_fit(shelf, estimator) if crossed else None


def _amounts(shelf: Shelf, name: str, *shape: int) -> Floats:
    array = shelf.numbers(name, *shape)
    require((array >= 0).all() and (array < LARGEST).all(), f"{name!r} that are negative, or huge")
    return array


def _costs(shelf: Shelf, name: str, n: int) -> Floats:
    costs = _amounts(shelf, name, n, n)
    require(not costs.diagonal().any(), f"{name!r} of right decisions")
    return costs.copy()


def _take_cross_fit(shelf: Shelf, estimator: RebelClassifier) -> CrossFit:
    numbers = shelf.take("cross_fit.standings", np.float64, None, len(STANDING))
    names = take_texts(shelf, "cross_fit.names", len(numbers))
    runs = shelf.take("cross_fit.runs", np.int64, None)
    known = len(numbers) > 0 and ((runs >= 0) & (runs < len(numbers))).all()
    require(known, "fits of candidates that there are not")
    log_loss, cost = shelf.take("cross_fit.found", np.float64, 2).tolist()
    left_out = shelf.numbers("cross_fit.left_out", None, len(estimator.classes_))
    rows = shelf.take("cross_fit.rows", np.int64, len(left_out))
    require((rows >= 0).all(), "rows of left-out samples that are none")
    return CrossFit(
        estimator.ensemble_,
        estimator.decoder_,
        estimator.history_,
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
    require(counted and 0 <= share <= 1, "a cross-fit with odd shares")
    require(0 < shrinkage <= 1, "a cross-fit with odd shrinkage")
    return Standing(name, int(rounds), share, log_loss, cost, int(n_parts), shrinkage)


def _take_rest(shelf: Shelf, model: Fields, estimator: Model) -> None:
    rows = shelf.take("rows.numbers", np.int64, None)
    require((rows >= 0).all() and len(np.unique(rows)) == len(rows), "names of rows that are none")
    labels = take_scalars(shelf, "rows", len(rows))
    estimator.row_labels_ = dict(zip(rows.tolist(), labels, strict=True))
    take_reasons(shelf, estimator, estimator.ensemble_.n_classes)
    kept = model.any("metadata")
    require(isinstance(kept, dict), "metadata of the user that are no object")
    estimator.metadata_ = kept
    model.end()
    shelf.end()

"""No bit of a model depends on functions that math libraries, BLAS and LAPACK round differently."""

import math

import numpy as np
import pytest

from determinism.models import COSTS, MODELS, parts_of
from determinism.tables import amounts, images, mixed, numbers
from rebelboost import RebelClassifier, RebelRegressor, Taxonomy, Tree
from rebelboost.vision import Detector

OF_ARRAYS = """exp exp2 expm1 log log2 log10 log1p logaddexp power float_power sin cos tan tanh arctan cbrt
hypot dot vdot inner matmul einsum tensordot cov interp"""
OF_MATRICES = "solve inv pinv eigh eigvalsh svd lstsq det cholesky qr"
OF_NUMBERS = "exp expm1 log log2 log10 log1p pow sin cos tan tanh hypot lgamma gamma erf"


def _fitted(estimator, X, y):
    return estimator.fit(X, y), X


def _haar():
    crops, streets = images()
    detector = Detector((12, 12), "haar", n_terms=12, n_features=200, n_windows=500, copies=1)
    return detector.fit(crops, streets), streets[0]


MORE = {
    "default": lambda: _fitted(RebelClassifier(random_state=0), *numbers()),
    "early stopping": lambda: _fitted(
        RebelClassifier(Tree(2), early_stopping=True, n_rounds_no_change=5, random_state=0),
        *mixed(),
    ),
    "subcosts of REBEL": lambda: _fitted(
        RebelClassifier(Tree(2), n_rounds=30, costs=COSTS, subcosts="rebel", cross_fit=2),
        *numbers(),
    ),
    "taxonomy": lambda: _fitted(
        RebelClassifier(Tree(2), n_rounds=30, costs=Taxonomy({0: "a/b", 1: "a/c", 2: "d"})),
        *numbers(),
    ),
    "squared loss": lambda: _fitted(
        RebelClassifier(Tree(2), n_rounds=30, loss="squared", cross_fit=2), *numbers()
    ),
    "default for numbers": lambda: _fitted(RebelRegressor(random_state=0), *amounts()),
    "huber": lambda: _fitted(RebelRegressor(loss="huber", n_rounds=30, cross_fit=2), *amounts()),
    "absolute": lambda: _fitted(RebelRegressor(loss="absolute", n_rounds=30), *amounts()),
    "Haar features": _haar,
}


class Otherwise:
    """A function whose results are one unit in the last place larger, if they are not whole numbers."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *given, **options):
        if isinstance(given[0], int) and given == (2,):  # ln 2, which nobody rounds otherwise
            return self.function(*given, **options)
        return _larger(self.function(*given, **options), options.get("out"))

    def __getattr__(self, name):
        return getattr(self.function, name)


def _larger(found, out=None):
    if isinstance(found, tuple):
        return (
            type(found)(*map(_larger, found))
            if hasattr(found, "_fields")
            else tuple(map(_larger, found))
        )
    if (
        not isinstance(found, float | np.floating | np.ndarray)
        or np.asarray(found).dtype.kind != "f"
    ):
        return found
    with np.errstate(all="ignore"):
        is_exact = (found == np.rint(found)) | ~np.isfinite(found)
        larger = np.where(is_exact, found, np.nextafter(found, np.inf))
    if out is not None:
        out[...] = larger
        return out
    return larger if isinstance(found, np.ndarray) else type(found)(larger)


@pytest.fixture
def otherwise(monkeypatch):
    def replace():
        for module, names in ((np, OF_ARRAYS), (np.linalg, OF_MATRICES), (math, OF_NUMBERS)):
            for name in names.split():
                monkeypatch.setattr(module, name, Otherwise(getattr(module, name)))

    return replace


@pytest.mark.parametrize("name", [*MODELS, *MORE])
@pytest.mark.filterwarnings("ignore")
def test_math_libraries_that_round_otherwise_change_no_bit(name, otherwise):
    make = (MODELS | MORE)[name]
    here = parts_of(*make())
    otherwise()
    assert parts_of(*make()) == here


def test_the_replaced_functions_do_round_otherwise(otherwise):
    x, A = np.array([0.3, 1.7]), np.array([[2.0, 1.0], [1.0, 3.0]])
    here = [np.exp(x), np.linalg.solve(A, x), math.log(0.3)]
    otherwise()
    there = [np.exp(x), np.linalg.solve(A, x), math.log(0.3)]
    assert not any(np.array_equal(a, b) for a, b in zip(here, there, strict=True))
    assert (np.exp(np.zeros(2)) == 1).all()

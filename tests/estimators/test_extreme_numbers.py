"""Numbers at the ends of floating point, and cells that are no numbers: served, or refused by name."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest

from rebelboost import RebelClassifier, RebelRegressor, Similarity, Stump, Tree

N = 60
RNG = np.random.default_rng(0)
Y = RNG.integers(3, size=N)
X = RNG.normal(size=(3, 3))[Y] + 0.5 * RNG.normal(size=(N, 3))
X /= np.abs(X).max()
ONE_HUGE, TWO_HUGE = X.copy(), X.copy()
ONE_HUGE[0, 0] = 1e200
TWO_HUGE[:2, 0] = 1e308, -1e308
TABLES = {
    "largest float32": (3.4e38 * X).astype(np.float32),
    "largest float64": 1.7e308 * X,
    "1e150": 1e150 * X,
    "1e20": 1e20 * X,
    "denormal float32": (1e-42 * X).astype(np.float32),
    "denormal float64": 1e-320 * X,
    "mixed": X * [1e300, 1.0, 1e-300],
    "far from 0": 1e-8 * X + 1e12,
    "far and huge": 1e290 * X + 1e307,
    "one huge": ONE_HUGE,
    "two huge": TWO_HUGE,
    "a huge constant": np.column_stack([X, np.full(N, 1e308)]),
    "wide integers": (9e18 * X).astype(np.int64),
}
LEARNERS = {
    "tree": "tree",
    "stump": "stump",
    "exact": Stump(binning="exact"),
    "even": Tree(2, binning="even"),
    "smooth": "smooth",
    "similarity": "similarity",
    **{scale: Similarity(scale=scale) for scale in ("none", "standard", "whitened")},
    "one point": Similarity(scale="standard", offset=False, modes="one"),
}
SEARCHED = ("auto", "auto_trees")


def is_distribution(P):
    return np.isfinite(P).all() and (P >= 0).all() and np.allclose(P.sum(axis=1), 1, atol=1e-9)


def names_a_column(error):
    return any(word in str(error) for word in ("feature ", "column "))


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("learner", [*LEARNERS, *SEARCHED])
def test_every_magnitude_is_learned_from_or_refused_with_its_column(learner, name):
    table = TABLES[name]
    model = RebelClassifier(LEARNERS.get(learner, learner), n_rounds=4, random_state=0)
    try:
        model.fit(table, Y)
    except ValueError as error:
        assert names_a_column(error)  # noqa: PT017  (served or refused)
        assert learner not in {"auto", "auto_trees", "tree", "stump", "exact", "even"}
        return
    assert is_distribution(model.predict_proba(table))
    for odd in (1e300, 1e-300, 0.0):
        asked = np.full_like(table, odd, dtype=np.float64)
        try:
            P = model.predict_proba(asked)
        except ValueError as error:
            assert names_a_column(error)  # noqa: PT017
        else:
            assert is_distribution(P)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("learner", ["auto", "tree", "stump"])
def test_regressions_serve_every_magnitude_of_the_features(learner, name):
    model = RebelRegressor(learner, n_rounds=4, random_state=0).fit(TABLES[name], X[:, 0])
    assert np.isfinite(model.predict(TABLES[name])).all()
    assert np.isfinite(model.predict(np.full_like(TABLES[name], 1e18, dtype=np.float64))).all()


@pytest.mark.parametrize("learner", ["auto", "tree"])
@pytest.mark.parametrize("size", [1e-99, 1e-38, 1e38, 1e149])
def test_targets_of_every_magnitude_are_learned(learner, size):
    model = RebelRegressor(learner, n_rounds=20, random_state=0).fit(X, size * X[:, 0])
    assert np.corrcoef(model.predict(X) / size, X[:, 0])[0, 1] > 0.9


@pytest.mark.parametrize(("size", "way"), [(1e200, "divide"), (1e-200, "multiply")])
def test_targets_whose_squares_leave_floating_point_are_refused(size, way):
    with pytest.raises(ValueError, match=f"{way} y by a power of ten"):
        RebelRegressor("tree").fit(X, size * X[:, 0])


# ---- cells that are no numbers

CELLS = {
    "dict": {"a": 1},
    "array": np.arange(3),
    "list": [1, 2],
    "set": {1},
    "bytes": b"a",
    "date": dt.date(2024, 1, 1),
    "complex": 1j,
    "object": object(),
    "text": "a",
    "huge integer": 10**400,
    "infinity": float("inf"),
    "missing date": pd.NaT,
}


def cells_with(cell):
    cells = X.astype(object)
    cells[7, 1] = cell
    return cells


def as_lists(cells):
    return [list(row) for row in cells]


@pytest.mark.parametrize("estimator", [RebelClassifier, RebelRegressor])
@pytest.mark.parametrize("form", [np.asarray, as_lists], ids=["array", "lists"])
@pytest.mark.parametrize("kind", CELLS)
def test_cells_of_arrays_that_are_no_numbers_are_named(estimator, form, kind):
    table = form(cells_with(CELLS[kind]))
    message = "column 1 of X .*row 7"
    with pytest.raises((ValueError, TypeError), match=message):
        estimator("stump", n_rounds=2).fit(table, Y)
    fitted = estimator("stump", n_rounds=2).fit(X, Y)
    with pytest.raises((ValueError, TypeError), match=message):
        fitted.predict(table)


@pytest.mark.parametrize("estimator", [RebelClassifier, RebelRegressor])
@pytest.mark.parametrize("kind", ["dict", "array", "list", "set", "infinity"])
def test_cells_of_frames_that_are_neither_numbers_nor_text_are_named(estimator, kind):
    table = pd.DataFrame(cells_with(CELLS[kind]), columns=["a", "b", "c"])
    if kind == "infinity":
        table = table.astype(float)
    with pytest.raises(ValueError, match="column 'b' h"):
        estimator("stump", n_rounds=2).fit(table, Y)


def test_text_mixed_with_missing_values_is_a_column_of_categories():
    text = pd.Series([None if i % 3 else "ab"[y % 2] for i, y in enumerate(Y)], dtype=object)
    table = pd.DataFrame({"v": X[:, 0], "t": text.where(text.notna(), np.nan)})
    model = RebelClassifier("stump", n_rounds=2).fit(table, Y)
    assert is_distribution(model.predict_proba(table))


def test_rows_of_different_lengths_are_named():
    rows = as_lists(X)
    rows[5] = rows[5][:2]
    with pytest.raises(ValueError, match="row 5 of X has 2 cells, but row 0 has 3"):
        RebelClassifier("stump").fit(rows, Y)

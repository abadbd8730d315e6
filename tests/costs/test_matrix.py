"""Cost matrices from arrays, tables, exceptions and words."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from rebelboost.costs.matrix import cost_matrix, cost_rows, named_classes, uniform
from rebelboost.costs.taxonomy import Taxonomy
from rebelboost.exceptions import CostDiagonalWarning, CostError

CLASSES = ["ant", "bee", "cat"]
MATRIX = [[0, 1, 2], [3, 0, 4], [5, 6, 0]]


def pandas_table(true, decided, cells):
    return pd.DataFrame(cells, index=true, columns=decided)


def pandas_without_index(true, decided, cells):
    table = pd.DataFrame(cells, columns=decided)
    table.insert(0, "true", true)
    return table


def polars_table(true, decided, cells):
    columns = {str(k): column for k, column in zip(decided, np.transpose(cells), strict=True)}
    return pl.DataFrame({"true": true, **columns})


def pyarrow_table(true, decided, cells):
    return polars_table(true, decided, cells).to_arrow()


LIBRARIES = [pandas_table, pandas_without_index, polars_table, pyarrow_table]
libraries = pytest.mark.parametrize("table", LIBRARIES)


@st.composite
def matrices(draw):
    """Costs of 1 to 5 classes, and an order of them."""
    n = draw(st.integers(1, 5))
    costs = draw(hnp.arrays(np.float64, (n, n), elements=st.just(0.0) | st.floats(1e-20, 1e9)))
    np.fill_diagonal(costs, 0)
    return costs, draw(st.permutations(range(n)))


# ---- any order, any library


@libraries
@given(matrices(), st.data())
def test_a_table_means_the_same_in_any_order_of_rows_and_columns(table, drawn, data):
    costs, rows = drawn
    columns = data.draw(st.permutations(rows))
    names = np.array(["ant", "bee", "cat", "dog", "elk"][: len(costs)])
    given_table = table(names[rows].tolist(), names[columns].tolist(), costs[np.ix_(rows, columns)])
    np.testing.assert_array_equal(cost_matrix(given_table, names), costs)


@libraries
@pytest.mark.parametrize("kind", [int, str, float, np.int64, np.str_])
@pytest.mark.parametrize("named", [int, str, float])
def test_names_are_found_whether_they_are_text_or_numbers(table, kind, named):
    classes = [kind(i) for i in range(3)]
    names = [named(i) for i in (2, 0, 1)]
    cells = np.array(MATRIX)[np.ix_([2, 0, 1], [2, 0, 1])]
    np.testing.assert_array_equal(cost_matrix(table(names, names, cells), classes), MATRIX)


def test_a_table_read_from_csv_serves_with_and_without_an_index(tmp_path):
    path = tmp_path / "costs.csv"
    path.write_text("true,2,1,10\n1,3,,4\n10,5,6,\n2,,1,2\n", encoding="utf-8")
    expected = [[0, 3, 4], [1, 0, 2], [6, 5, 0]]
    for table in (pd.read_csv(path), pd.read_csv(path, index_col=0), pl.read_csv(path)):
        assert cost_matrix(table, [1, 2, 10]).tolist() == expected


def test_one_and_the_text_one_are_two_classes_if_both_are_there():
    costs = cost_matrix({(1, "1"): 5}, [1, "1"])
    assert costs.tolist() == [[0, 5], [1, 0]]
    with pytest.raises(CostError, match=r"costs name 1\.5, which is not a class"):
        cost_matrix({(1.5, 1): 5}, [1, "1"])


@given(matrices(), st.integers(-3, 3).map(lambda power: 4.0**power))
def test_scaling_the_costs_scales_the_matrix_of_every_form(drawn, scale):
    costs, _ = drawn
    names = [f"c{k}" for k in range(len(costs))]
    # A power of two rounds nothing.
    np.testing.assert_array_equal(
        cost_matrix(costs * scale, names), cost_matrix(costs, names) * scale
    )
    table = pandas_table(names, names, costs * scale)
    np.testing.assert_array_equal(cost_matrix(table, names), costs * scale)


def permuted_forms(costs, names, counts):
    cells = {
        (y, k): costs[i, j] for i, y in enumerate(names) for j, k in enumerate(names) if i != j
    }
    return {
        "table": (pandas_table(names, names, costs), None),
        "exceptions": (cells, None),
        "uniform": (None, None),
        "balanced": ("balanced", counts),
        "taxonomy": (Taxonomy({name: f"{name < 'c2'}/{name}" for name in names}), None),
    }


@pytest.mark.parametrize("form", ["table", "exceptions", "uniform", "balanced", "taxonomy"])
@given(matrices(), st.data())
def test_permuting_the_classes_permutes_the_matrix(form, drawn, data):
    costs, order = drawn
    names = [f"c{k}" for k in range(len(costs))]
    counts = np.array(data.draw(st.lists(st.integers(1, 99), min_size=5, max_size=5)))[: len(costs)]
    given_costs, given_counts = permuted_forms(costs, names, counts)[form]
    straight = cost_matrix(given_costs, names, given_counts)
    permuted = cost_matrix(
        given_costs,
        [names[k] for k in order],
        None if given_counts is None else given_counts[list(order)],
    )
    np.testing.assert_array_equal(permuted, straight[np.ix_(order, order)])


# ---- exceptions and words


def test_a_dict_gives_exceptions_to_a_cost_of_one():
    costs = cost_matrix({("ant", "cat"): 7, ("cat", "bee"): 0}, CLASSES)
    assert costs.tolist() == [[0, 1, 7], [1, 0, 1], [1, 0, 0]]
    assert cost_matrix({}, CLASSES).tolist() == uniform(3).tolist()


def test_an_exception_on_the_diagonal_is_subtracted_with_the_usual_warning():
    with pytest.warns(CostDiagonalWarning, match="subtracted from their rows"):
        costs = cost_matrix({("ant", "ant"): 0.5}, CLASSES)
    assert costs.tolist() == [[0, 0.5, 0.5], [1, 0, 1], [1, 1, 0]]


def test_balanced_costs_give_every_class_the_same_weight():
    counts = np.array([6, 3, 1])
    costs = cost_matrix("balanced", CLASSES, counts)
    by_class = 10 / (3 * counts)
    np.testing.assert_allclose(costs, uniform(3) * by_class[:, np.newaxis], rtol=1e-15)
    # Always missing a class costs a K-th of N, whichever class it is.
    np.testing.assert_allclose(counts * costs.max(axis=1), 10 / 3, rtol=1e-15)


def test_balanced_costs_of_equal_classes_are_uniform():
    np.testing.assert_array_equal(cost_matrix("balanced", CLASSES, [4, 4, 4]), uniform(3))


# ---- errors


def table_of(cells, true=CLASSES, decided=CLASSES):
    return pandas_table(true, decided, cells)


REFUSED = {
    "unknown row": (
        table_of(MATRIX, true=["ant", "bee", "cta"]),
        r"has a row for 'cta', which is not a class: remove it, or use one of .* ant, bee, cat",
    ),
    "unknown column": (
        table_of(np.ones((3, 4)), decided=[*CLASSES, "dog"]),
        r"has a column for 'dog', which is not a class: .* ant, bee, cat",
    ),
    "no row": (
        table_of(MATRIX[:2], true=CLASSES[:2]),
        r"the table of costs has no row for class 'cat': add it",
    ),
    "no column": (
        table_of(np.ones((3, 2)), decided=["cat", "ant"]),
        r"the table of costs has no column for class 'bee': add it",
    ),
    "row twice": (
        table_of(MATRIX, true=["ant", "bee", "bee"]),
        r"two rows for class 'bee': remove one",
    ),
    "column twice": (
        table_of(MATRIX, decided=["ant", "ant", "bee"]),
        r"cannot read the table of costs: .*'ant' 2 times",
    ),
    "polars without names": (
        pl.DataFrame({"ant": [0, 1, 1], "bee": [1, 0, 1], "cat": [1, 1, 0]}),
        r"has a row for 0, which is not a class",
    ),
    "empty polars": (pl.DataFrame(), r"the table of costs has no row for class 'ant': add it"),
    "empty pandas": (pd.DataFrame(), r"the table of costs has no row for class 'ant': add it"),
    "text in a cell": (
        table_of([[0, "x", 1], [1, 0, 1], [1, 1, 0]]),
        r"the cost 'x' \(column 'bee'\) is not a number: give a finite number, 0 or more",
    ),
    "empty cell": (
        table_of([[0, None, 1], [1, 0, 1], [1, 1, 0]]),
        r"the cost of 'ant' decided as 'bee' at \(0, 1\) is nan: give a finite number",
    ),
    "negative cell": (
        table_of([[0, 1, 1], [1, 0, -2], [1, 1, 0]]),
        r"the cost of 'bee' decided as 'cat' at \(1, 2\) is -2: costs cannot be negative\. Sub",
    ),
    "cheap mistake": (
        table_of([[2, 1, 3], [1, 0, 1], [1, 1, 0]]),
        r"the correct decision costs 2, more than decision 1 \(1\), 'ant' decided as 'bee': a ",
    ),
    "unknown exception": (
        {("ant", "dog"): 2},
        r"costs name 'dog', which is not a class: .* ant, bee, cat",
    ),
    "no pair": ({"ant": 2}, r"costs have the key 'ant': use pairs as keys, \{\(true, decided\)"),
    "exception no number": (
        {("ant", "bee"): "much"},
        r"the cost 'much' \('ant' decided as 'bee'\) is not a number",
    ),
    "negative exception": (
        {("ant", "bee"): -1},
        r"the cost of 'ant' decided as 'bee' at \(0, 1\) is -1: costs cannot be negative",
    ),
    "infinite exception": (
        {("ant", "bee"): np.inf},
        r"the cost of 'ant' decided as 'bee' at \(0, 1\) is inf: give a finite number",
    ),
    "word": ("balancd", r'costs are \'balancd\': give "balanced", a matrix, a data frame'),
    "no counts": ("balanced", r'costs="balanced" needs the number of samples in each class'),
}


@pytest.mark.parametrize(("costs", "message"), REFUSED.values(), ids=REFUSED)
def test_costs_that_cannot_be_meant_are_refused(costs, message):
    with pytest.raises(CostError, match=message):
        cost_matrix(costs, CLASSES)


def test_an_exception_may_be_given_once_only():
    with pytest.raises(CostError, match=r"costs give '1' decided as '2' twice"):
        cost_matrix({(1, 2): 2, ("1", "2"): 3}, [1, 2, 3])


def test_a_class_without_samples_cannot_be_balanced():
    with pytest.raises(
        CostError, match=r"class 'bee' has no samples with weight.*remove the class"
    ):
        cost_matrix("balanced", CLASSES, [3, 0, 2])
    with pytest.raises(
        CostError, match=r"counts have shape \(2,\): give one count for each of 3 classes"
    ):
        cost_matrix("balanced", CLASSES, [3, 2])


# ---- a row for each sample


LABELS = np.array([0, 1, 2, 0], dtype=np.int32)
ROWS = np.array([[0, 1, 2], [3, 0, 4], [5, 6, 0], [0, 8, 9]], dtype=float)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_columns_of_cost_rows_are_found_by_name(library):
    shuffled = library({CLASSES[k]: ROWS[:, k] for k in (2, 0, 1)})
    np.testing.assert_array_equal(cost_rows(shuffled, LABELS, 3, CLASSES), ROWS)
    # Without classes to look for, the order is what counts.
    with pytest.raises(CostError, match="correct decision"):
        cost_rows(shuffled, LABELS, 3)


def test_cost_rows_that_cannot_be_meant_are_refused():
    with pytest.raises(CostError, match=r"no column for class 'cat': add it"):
        cost_rows(pd.DataFrame(ROWS[:, :2], columns=CLASSES[:2]), LABELS, 3, CLASSES)
    negative = ROWS.copy()
    negative[3, 1] = -1
    with pytest.raises(CostError, match=r"the cost of decision 1 for sample 3 at \(3, 1\) is -1"):
        cost_rows(negative, LABELS, 3)


def test_a_table_knows_its_classes():
    for table in LIBRARIES:
        assert named_classes(table(CLASSES, ["cat", "ant", "bee"], MATRIX)) == ("cat", "ant", "bee")
    assert named_classes(MATRIX) is None
    assert named_classes({}) is None

"""Cost matrices: row = true class, column = decided class; correct decisions cost nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import ArrayLike

from rebelboost.base.arrays import ByClass, Floats, Labels
from rebelboost.base.fixed_point import counting_unit, exact_totals
from rebelboost.base.names import ClassNames, plain, shown
from rebelboost.base.text import warn_caller
from rebelboost.costs.amounts import Where, checked_costs
from rebelboost.costs.taxonomy import Taxonomy
from rebelboost.data.encoder import as_frame
from rebelboost.data.samples import Samples
from rebelboost.exceptions import CostDiagonalWarning, CostError


def uniform(n_classes: int) -> Floats:
    """Cost matrix in which every mistake costs 1."""
    return 1.0 - np.eye(n_classes)


def is_uniform(costs: Floats) -> bool:
    """Whether all mistakes cost the same; costs by sample never count as such."""
    if costs.ndim == 3:
        return False
    mistakes = costs[~np.eye(len(costs), dtype=bool)]
    return len(mistakes) == 0 or bool(np.all(mistakes == mistakes[0]))


def costs_of_classes(costs: Any, class_weight: Any, classes: Sequence[Any]) -> Any:
    """Return `costs` or, if scikit-learn's `class_weight` is given instead, the costs that it stands for.

    A mistake on a sample of class k costs ``class_weight[k]``, and 1 for classes that are not named.
    """
    if class_weight is None:
        return costs
    if costs is not None:
        raise CostError("costs and class_weight both say what mistakes cost: give one of them")
    if isinstance(class_weight, str) and class_weight == "balanced":
        return "balanced"
    if not isinstance(class_weight, Mapping):
        raise CostError(
            f'class_weight is {class_weight!r}: give "balanced", or a dict {{class: weight}}'
        )
    names = ClassNames(classes)
    weights = np.ones(len(classes))
    for name, weight in class_weight.items():
        code = names.find(name)
        if code is None:
            raise CostError(f"class_weight names class {shown(name)}, but y has {names}")
        weights[code] = weight
    matrix: Floats = np.repeat(weights[:, np.newaxis], len(classes), axis=1)
    np.fill_diagonal(matrix, 0.0)
    return matrix


def balanced(counts: ArrayLike, classes: Sequence[Any]) -> Floats:
    """c_yk = N / (K N_y): every class has the same total weight."""
    mass: ByClass = np.asarray(counts, dtype=np.float64)
    if mass.shape != (len(classes),):
        raise CostError(
            f"counts have shape {mass.shape}: give one count for each of {len(classes)} classes"
        )
    if not (mass > 0).all():
        empty = classes[int(np.argmin(mass > 0))]
        raise CostError(
            f'class {shown(empty)} has no samples with weight, so costs="balanced" is undefined: '
            "remove the class, or give a matrix"
        )
    by_class: Floats = mass.sum() / (len(mass) * mass)
    return uniform(len(mass)) * by_class[:, np.newaxis]


def cost_matrix(costs: Any, classes: Sequence[Any], counts: ArrayLike | None = None) -> Floats:
    """Convert costs in any accepted form to a (K, K) matrix, and check them.

    Parameters
    ----------
    costs : object
        None: every mistake costs 1. An array of shape (K, K). A data frame with class names in any
        order: in pandas, true classes as index and decided classes as columns; in other libraries,
        true classes in the first column. Empty cells on the diagonal are 0. A dict of exceptions
        ``{(true, decided): cost}``: all other mistakes cost 1. "balanced". A `Taxonomy`.
    classes : sequence
        Classes, in the order of the rows and columns of the result.
    counts : array-like of shape (K,), default=None
        Number of samples of each class, or their weight. Needed for "balanced".

    Returns
    -------
    ndarray of shape (K, K)
        ``costs[true, decided]``.
    """
    if costs is None:
        return uniform(len(classes))
    names = ClassNames(classes)

    def where(true: int, decided: int) -> str:
        return f"{shown(names.classes[true])} decided as {shown(names.classes[decided])}"

    matrix = checked_costs(_read(costs, names, counts), where)
    return _without_diagonal(matrix, np.arange(len(names), dtype=np.int32), where)


def cost_rows(
    costs: Any, labels: Labels, n_classes: int, classes: Sequence[Any] | None = None
) -> Floats:
    """Check the costs of each decision for each sample, and return them as (N, K).

    If `classes` are given, the columns of a data frame are matched by name.
    """
    frame = _frame(costs)
    if frame is not None:
        costs = _rows(frame, frame.columns if classes is None else classes)
    rows = _numbers(costs)
    if rows.shape != (len(labels), n_classes):
        raise CostError(
            f"costs passed to fit have shape {rows.shape}: give a row for each of the "
            f"{len(labels)} samples and a column for each of the {n_classes} classes. "
            "Pass a matrix by class to RebelClassifier(costs=...) instead"
        )

    def where(sample: int, decided: int) -> str:
        return f"decision {decided} for sample {sample}"

    return _without_diagonal(checked_costs(rows, where), labels, where)


def row_table(
    costs: Any, n_samples: int, classes: Sequence[Any] | None = None
) -> tuple[Sequence[Any], Floats] | None:
    """Classes and (N, K) costs of a data frame with one row per sample; None for anything else.

    A data frame with as many rows as classes is a matrix by class.
    """
    frame = _frame(costs)
    if frame is None or len(frame) != n_samples:
        return None
    if len(frame) in (len(frame.columns), len(frame.columns) - 1):
        return None
    names = frame.columns if classes is None else classes
    return names, _rows(frame, names)


def named_classes(costs: Any) -> tuple[Any, ...] | None:
    """Class names in a cost table, in its order; None if `costs` is not a table."""
    frame = _frame(costs)
    return tuple(_table(frame)[1]) if frame is not None else None


def cost_cells(costs: Any) -> dict[tuple[Any, Any], Any] | None:
    """(true, decided) → what the cell of a dict or data frame says; None for costs of another form."""
    if isinstance(costs, Mapping):
        return dict(costs)
    frame = _frame(costs)
    if frame is None:
        return None
    columns = [column.to_list() for column in frame.iter_columns()]
    names, index = list(frame.columns), nw.maybe_get_index(frame)
    if columns and (index is None or _same_names(columns[0], names[1:])):
        rows, names, columns = columns[0], names[1:], columns[1:]
    else:
        rows = list(index) if index is not None else []
    return {
        (true, decided): _number_or_text(cell)
        for decided, column in zip(names, columns, strict=True)
        for true, cell in zip(rows, column, strict=True)
        if not (true == decided and _is_empty(cell))
    }


def _number_or_text(cell: Any) -> Any:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return cell


def _is_empty(cell: Any) -> bool:
    return cell is None or cell == "" or cell != cell  # NaN  # noqa: PLR0124


def cost_rows_of_frame(costs: Any, classes: Sequence[Any]) -> Floats:
    """Numbers of an array, or of a data frame whose columns are found by class name."""
    frame = _frame(costs)
    return _numbers(costs) if frame is None else _rows(frame, classes)


# ---- reading


def _read(costs: Any, names: ClassNames, counts: ArrayLike | None) -> Floats:
    if isinstance(costs, Taxonomy):
        return costs.matrix(names.classes)
    if isinstance(costs, str):
        return _by_word(costs, names, counts)
    if isinstance(costs, Mapping):
        return _exceptions(costs, names)
    frame = _frame(costs)
    if frame is not None:
        return _by_name(frame, names)
    matrix = _numbers(costs)
    if matrix.shape != (len(names), len(names)):
        raise CostError(
            f"costs have shape {matrix.shape}, but there are {len(names)} classes "
            f"({names}): give a {len(names)} × {len(names)} matrix, "
            "costs[true, decided], with classes in this order"
        )
    return matrix


def _by_word(word: str, names: ClassNames, counts: ArrayLike | None) -> Floats:
    if word != "balanced":
        raise CostError(
            f'costs are {word!r}: give "balanced", a matrix, a data frame with class names, '
            "{(true, decided): cost} or a Taxonomy"
        )
    if counts is None:
        raise CostError('costs="balanced" needs the number of samples in each class: give counts')
    return balanced(counts, names.classes)


def _exceptions(costs: Mapping[Any, Any], names: ClassNames) -> Floats:
    matrix = uniform(len(names))
    given = set()
    for pair, cost in costs.items():
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise CostError(
                f"costs have the key {shown(pair)}: use pairs as keys, {{(true, decided): cost}}"
            )
        cell = _known(pair[0], names, "costs name"), _known(pair[1], names, "costs name")
        if cell in given:
            raise CostError(f"costs give {shown(pair[0])} decided as {shown(pair[1])} twice")
        given.add(cell)
        matrix[cell] = _number(cost, f"{shown(pair[0])} decided as {shown(pair[1])}")
    return matrix


def _by_name(frame: nw.DataFrame[Any], names: ClassNames) -> Floats:
    true, decided, cells = _table(frame)
    rows, columns = _order(true, names, "row"), _order(decided, names, "column")
    matrix = cells[np.ix_(rows, columns)]
    right = np.diagonal(matrix)
    np.fill_diagonal(matrix, np.where(np.isnan(right), 0.0, right))
    return matrix


def _rows(frame: nw.DataFrame[Any], classes: Sequence[Any]) -> Floats:
    cells = [column.to_list() for column in frame.iter_columns()]
    order = _order(frame.columns, ClassNames(classes), "column")
    return _cells(cells, frame.columns)[:, order]


def _frame(costs: Any) -> nw.DataFrame[Any] | None:
    try:
        return as_frame(costs)
    except ValueError as error:
        told = " ".join(str(error).split())
        raise CostError(f"cannot read the table of costs: {told}") from error


def _table(frame: nw.DataFrame[Any]) -> tuple[list[Any], list[Any], Floats]:
    """(names of the rows, names of the columns, costs)."""
    columns: list[Any] = list(frame.columns)
    cells = [column.to_list() for column in frame.iter_columns()]
    index = nw.maybe_get_index(frame)
    # By default pandas.read_csv leaves the row names in the first column.
    if cells and (index is None or _same_names(cells[0], columns[1:])):
        return cells[0], columns[1:], _cells(cells[1:], columns[1:])
    return list(index) if index is not None else [], columns, _cells(cells, columns)


def _same_names(some: Sequence[Any], others: Sequence[Any]) -> bool:
    known = ClassNames(others)
    return {known.find(name) for name in some} == set(range(len(some))) == set(range(len(known)))


def _cells(cells: Sequence[Sequence[Any]], columns: Sequence[Any]) -> Floats:
    """(rows, columns) numbers; NaN for empty cells."""
    numbers = [
        [
            np.nan if cell is None or cell == "" else _number(cell, f"column {shown(name)}")
            for cell in column
        ]
        for name, column in zip(columns, cells, strict=True)
    ]
    return np.array(numbers, dtype=np.float64).T


def _order(given: Sequence[Any], names: ClassNames, kind: str) -> list[int]:
    """Position of each class among the `given` names."""
    position: dict[int, int] = {}
    for i, name in enumerate(given):
        code = _known(name, names, f"the table of costs has a {kind} for")
        if code in position:
            raise CostError(
                f"the table of costs has two {kind}s for class {shown(name)}: remove one"
            )
        position[code] = i
    for code, name in enumerate(names.classes):
        if code not in position:
            raise CostError(f"the table of costs has no {kind} for class {shown(name)}: add it")
    return [position[code] for code in range(len(names))]


def _known(name: Any, names: ClassNames, says: str) -> int:
    code = names.find(name)
    if code is None:
        raise CostError(
            f"{says} {shown(name)}, which is not a class: "
            f"remove it, or use one of the classes, {names}"
        )
    return code


def _number(cost: Any, where: str) -> float:
    try:
        return float(cost)
    except (TypeError, ValueError, OverflowError) as error:
        raise CostError(
            f"the cost {shown(plain(cost))} ({where}) is not a number: give a finite number, 0 or more"
        ) from error


def _numbers(costs: Any) -> Floats:
    try:
        return np.array(costs, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise CostError(f"costs must be numbers in rows of equal length: {error}") from error


# ---- checking


def _without_diagonal(rows: Floats, labels: Labels, where: Where) -> Floats:
    """Subtract the cost of the correct decision from its row."""
    right = rows[np.arange(len(rows)), labels][:, np.newaxis]
    if not right.any():
        return rows
    above = rows - right
    if (above < 0).any():
        n, k = map(int, np.argwhere(above < 0)[0])
        raise CostError(
            f"in row {n} of the costs, the correct decision costs {right[n, 0]:g}, more than "
            f"decision {k} ({rows[n, k]:g}), {where(n, k)}: a mistake must not be cheaper than "
            "the correct decision"
        )
    warn_caller(
        "correct decisions have costs; these were subtracted from their rows, "
        "which changes no decision",
        CostDiagonalWarning,
    )
    return above


def class_costs(samples: Samples) -> Floats:
    """(K, K) costs by class: as given, or the weighted mean row of each class's samples."""
    if not samples.by_sample:
        return samples.costs
    n_classes = samples.n_classes
    weight = np.ones(len(samples.labels)) if samples.weight is None else samples.weight
    paid = samples.costs * weight[:, np.newaxis]
    # Counted in units, so that the order of the samples changes no bit.
    units = np.array([counting_unit(most, len(paid)) for most in paid.max(axis=0, initial=0.0)])
    sums = np.zeros((n_classes, n_classes))
    np.add.at(sums, samples.labels, np.rint(paid / units))
    return mean_costs(sums * units, exact_totals(weight, samples.labels, n_classes))


def mean_costs(paid: Floats, weight: ByClass) -> Floats:
    """(K, K) mean costs by class, from weighted sums; mistakes on classes without samples cost 1."""
    costs = uniform(len(weight))
    there = weight > 0
    costs[there] = paid[there] / weight[there, np.newaxis]
    np.fill_diagonal(costs, 0.0)
    return costs

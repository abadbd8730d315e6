"""Storage of the small regressions beside a model: costs by sample, and the spread of prediction intervals."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.arrays import Floats
from rebelboost.base.checks import Fields, TensorReader, require
from rebelboost.costs.by_sample import CostCell, CostColumns
from rebelboost.files.terms import LARGEST_NUMBER, Features, reach
from rebelboost.model.ensemble import Ensemble, Group
from rebelboost.model.fitted import FittedClassifier, LearnedCell, LearnedCosts
from rebelboost.model.intervals import Intervals, Spread
from rebelboost.model.trees import Trees

LARGEST_COST = 1e300

Parts = tuple[dict[str, NDArray[Any]], dict[str, Any]]


def stored_trees(ensemble: Ensemble) -> Trees:
    """The trees of a small regression, which has no other terms."""
    tables = ensemble.of_kind(Trees)
    return tables[0][1] if tables else Trees.none(1)


def take_trees(reader: TensorReader, name: str, n_trees: int, features: Features) -> Ensemble:
    """Read the trees of a small regression."""
    trees = Trees.from_tensors(reader, n_trees, features.categorical, 1, name)
    ensemble = Ensemble((Group(np.arange(n_trees), trees),) if n_trees else (), 1)
    require(reach(ensemble) <= LARGEST_NUMBER, f"{name!r} with huge outputs")
    return ensemble


# ---- costs by sample


def sample_cost_arrays(model: FittedClassifier) -> Parts:
    """Arrays, and an object of JSON; nothing where costs are by class."""
    if not model.by_sample:
        return {}, {}
    arrays: dict[str, NDArray[Any]] = {}
    learned = []
    cells = () if model.learned is None else model.learned.cells
    for i, cell in enumerate(cells):
        trees = stored_trees(cell.ensemble)
        tensors = trees.to_tensors().items()
        arrays |= {f"learned_costs.{i}.trees.{name}": array for name, array in tensors}
        learned.append([cell.true, cell.decided, float(cell.baseline), len(trees)])
    columns = None if model.columns is None else [list(cell) for cell in model.columns.cells]
    has_learned = model.learned is not None
    return arrays, {
        "sample_costs": {"columns": columns, "learned": learned if has_learned else None}
    }


def take_sample_costs(
    reader: TensorReader, fields: Fields, features: Features, n_classes: int
) -> tuple[CostColumns | None, LearnedCosts | None]:
    """What a file says of them, checked."""
    found = fields.fields("sample_costs")
    columns, learned = found.any("columns"), found.any("learned")
    found.end()
    require(columns is None or isinstance(columns, list), "columns of costs that are no list")
    require(learned is None or isinstance(learned, list), "learned costs that are no list")
    return (
        None if columns is None else _columns(columns, features, n_classes),
        None if learned is None else _learned(reader, learned, features, n_classes),
    )


def check_factors(learned: LearnedCosts | None, costs: Floats) -> None:
    """Check that costs stay finite when they are multiplied by the factors of samples."""
    for cell in () if learned is None else learned.cells:
        if cell.decided < 0:
            largest = float(costs[cell.true].max()) * (abs(cell.baseline) + reach(cell.ensemble))
            require(largest < LARGEST_COST, "learned costs that are not finite")


def _columns(cells: list[Any], features: Features, n_classes: int) -> CostColumns:
    for cell in cells:
        whole = isinstance(cell, list) and len(cell) == 3 and all(type(n) is int for n in cell)
        require(whole, "a column of costs that is none")
        true, decided, feature = cell
        inside = 0 <= true < n_classes and 0 <= decided < n_classes and true != decided
        require(inside, "a column of costs for classes that are not there")
        number = 0 <= feature < features.n and feature not in features.levels
        require(number, "a column of costs that is not there, or holds categories")
    return CostColumns(tuple(CostCell(*cell) for cell in cells))


def _learned(
    reader: TensorReader, cells: list[Any], features: Features, n_classes: int
) -> LearnedCosts:
    found = []
    for i, cell in enumerate(cells):
        sound = isinstance(cell, list) and len(cell) == 4 and type(cell[3]) is int
        require(sound, "learned costs that are none")
        true, decided, baseline, n_trees = cell
        inside = type(true) is int and 0 <= true < n_classes and decided != true
        inside = inside and type(decided) is int and -1 <= decided < n_classes
        require(inside, "learned costs for classes that are not there")
        finite = (
            type(baseline) is float and np.isfinite(baseline) and abs(baseline) <= LARGEST_NUMBER
        )
        require(finite and 0 <= n_trees < 2**31, "learned costs that are not finite")
        ensemble = take_trees(reader, f"learned_costs.{i}.trees", n_trees, features)
        found.append(LearnedCell(true, decided, baseline, ensemble))
    return LearnedCosts(tuple(found))


# ---- prediction intervals


def interval_arrays(intervals: Intervals | None) -> Parts:
    """Arrays, and a JSON object."""
    if intervals is None:
        return {}, {"intervals": None}
    spread = intervals.spread
    trees = stored_trees(spread.ensemble)
    arrays: dict[str, NDArray[Any]] = {
        "intervals.residuals": intervals.residuals,
        "intervals.weight": intervals.weight,
    }
    arrays |= {f"intervals.trees.{name}": array for name, array in trees.to_tensors().items()}
    fields = {"level": float(spread.level), "power": float(spread.power), "n_trees": len(trees)}
    return arrays, {"intervals": fields}


def take_intervals(reader: TensorReader, fields: Fields, features: Features) -> Intervals | None:
    """Read the intervals of a regressor, and check them."""
    found = fields.any("intervals")
    if found is None:
        return None
    said = Fields(found, "'intervals'")
    level = said.number("level", 1 / LARGEST_NUMBER, LARGEST_NUMBER)
    power = said.number("power", 0.0, 1.0)
    ensemble = take_trees(reader, "intervals.trees", said.whole("n_trees", 0, 2**31 - 1), features)
    said.end()
    require(reach(ensemble) / level <= LARGEST_NUMBER, "'intervals' that are endless")
    residuals = reader.numbers("intervals.residuals", None)
    weight = reader.numbers("intervals.weight", len(residuals))
    sound = len(residuals) > 0 and (np.diff(residuals) >= 0).all() and (weight > 0).all()
    require(sound, "intervals from residuals that are not sorted, or have no weight")
    largest = max(float(np.abs(residuals).max()), float(weight.max()))
    require(largest <= LARGEST_NUMBER, "intervals from huge residuals or weights")
    return Intervals(Spread(level, ensemble, power), residuals.copy(), weight.copy())

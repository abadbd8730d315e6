"""A model as one file of C99: constant tables, and the functions that read them.

The functions stand in `sources/`, and a model gets those that it needs. They use no heap, and no library except
for copying bytes and, to read text, `strtod`.
"""

import math
from collections.abc import Iterable
from textwrap import indent
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rebelboost.base.kernel_arrays import LEVELS
from rebelboost.base.names import printed
from rebelboost.cascade.checks import LEAD, RISK
from rebelboost.costs.amounts import LARGEST_COST, LEAST_COST
from rebelboost.costs.posterior import SHIFT
from rebelboost.export.c_reading import c_reading
from rebelboost.export.cascading import Checks
from rebelboost.export.decoding import MixtureArrays, PerronArrays
from rebelboost.export.evaluator import Deciding, Evaluator
from rebelboost.export.literals import array, constant, enum, number, strings
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


def as_c(evaluator: Evaluator) -> str:
    """The text of the file."""
    writer = _Writer(evaluator)
    return writer.text()


class _Writer:
    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator
        self.parts: list[str] = []
        self.tables = [table for each in evaluator.sums for table in each.tables]

    def text(self) -> str:
        model = self.evaluator
        self.parts = [source("begin.c"), self._sizes()]
        self._functions_of_terms()
        for s, each in enumerate(model.sums):
            self._sum(s, each)
        self._scores(model.sums[0])
        if model.deciding is None:
            self.parts += [constant("BASELINE", model.baseline), source("predict.c")]
        else:
            self._decoder(model.deciding)
            self._decisions(model.deciding)
            if model.checks is not None:
                self._cascade(model.checks, model.deciding.reject_cost)
        self.parts.append(c_reading(model.readings))
        return "\n".join(self.parts)

    def _sizes(self) -> str:
        """Numbers of features and classes, their names, and the public functions."""
        model = self.evaluator
        names = [strings("model_features", model.names)]
        if model.deciding is not None:
            classes = list(map(printed, model.deciding.classes))
            names.append(strings("model_classes", classes))
        public = "public_classifier.c" if model.deciding else "public_regressor.c"
        sizes = {"MODEL_N_FEATURES": len(model.names), "MODEL_N_CLASSES": model.n_scores}
        return "\n".join([enum(sizes), source(public), *names])

    # ---- terms

    def _functions_of_terms(self) -> None:
        kinds = {type(table) for table in self.tables}
        spaces = [t.space for t in self.tables if isinstance(t, ComparisonTable | SmoothTable)]
        if spaces:
            widest = max(space.points.shape[1] for space in spaces)
            self.parts += [source("rounding.c"), enum({"MOST_COLUMNS": max(1, widest)})]
            self.parts.append(source("spaces.c"))
        if ComparisonTable in kinds:
            self.parts += [array("LEVELS", LEVELS), constant("PEAK", PEAK)]
        if TreeTable in kinds:
            trees = [table for table in self.tables if isinstance(table, TreeTable)]
            self.parts.append(enum({"ANY_SETS": int(any(len(each.sets) for each in trees))}))
        self.parts += [source(name) for kind, name in SOURCES.items() if kind in kinds]

    def _sum(self, s: int, each: Sum) -> None:
        """Tables of a sum, and the function that adds them up."""
        declared = (
            ["    (void)x;"] if all(isinstance(t, ConstantTable) for t in each.tables) else []
        )
        prepared = []
        for t, table in enumerate(each.tables):
            self._table(f"{s}_{t}", table)
            told, steps_before = _prepared(f"{s}_{t}", table)
            declared += [line for line in told if line not in declared]
            prepared += steps_before
        zero = f"    for (int k = 0; k < {each.n_outputs}; ++k)\n        scores[k] = 0;"
        steps = [self._step(s, each, step) for step in each.steps]
        body = "\n".join([*declared, *prepared, zero, *steps])
        self.parts.append(f"static void sum_{s}(const double* x, double* scores) {{\n{body}\n}}\n")

    def _scores(self, each: Sum) -> None:
        """The functions that compute scores: those of many rows at once if there are only trees."""
        self.parts.append(source("scores.c"))
        if not is_together(each):
            self.parts.append(source("scores_each.c"))
            return
        n = each.n_outputs
        lines = [f"    memset(scores, 0, (size_t)n_rows * {n} * sizeof *scores);"]
        n_columns = 0
        for t, table in enumerate(each.tables):
            width = max(1, len(table.features))  # type: ignore[union-attr]
            n_columns += width
            lines += [
                f"    uint8_t one_{t}[{width}], codes_{t}[{width} * TOGETHER] = {{0}};",
                f"    code_together(&table_0_{t}, x, n_rows, one_{t}, codes_{t});",
            ]
        for t, first, last in each.steps:
            node = int(each.tables[t].sizes[:first].sum())  # type: ignore[union-attr]
            terms = f"{first}, {last}, {node}, scores"
            lines.append(f"    add_trees_together(&table_0_{t}, codes_{t}, n_rows, {terms});")
        body = "\n".join(lines)
        self.parts += [
            enum({"TOGETHER": MANY if n_columns <= SOME_COLUMNS else FEW}),
            source("trees_together.c"),
            f"static void sum_together(const double* x, int n_rows, double* scores) {{\n{body}\n}}\n",
            source("scores_together.c"),
        ]

    def _step(self, s: int, each: Sum, step: Any) -> str:
        table, name = each.tables[step.table], f"{s}_{step.table}"
        terms, rest = f"{step.first}, {step.last}", f"{each.n_outputs}, scores"
        if isinstance(table, TreeTable):
            node = int(table.sizes[: step.first].sum())
            return f"    add_trees(&table_{name}, codes_{name}, {terms}, {node}, {rest});"
        if isinstance(table, ComparisonTable):
            return f"    add_comparisons(&table_{name}, distances_{name}, {terms}, {rest});"
        if isinstance(table, SmoothTable):
            return f"    add_smooth(&table_{name}, distances_{name}, {rest});"
        return f"    add_constants(outputs_{name}, {terms}, {rest});"

    def _table(self, name: str, table: Table) -> None:
        if isinstance(table, TreeTable):
            self._trees(name, table)
        elif isinstance(table, ConstantTable):
            self.parts.append(array(f"outputs_{name}", table.outputs))
        else:
            self._space(name, table.space)
            if isinstance(table, ComparisonTable):
                self._comparisons(name, table)
            else:
                self._struct(
                    "smooth",
                    f"table_{name}",
                    [
                        len(table.space.points),
                        table.tau,
                        (f"outputs_{name}", table.outputs),
                        (f"added_{name}", table.offset),
                        table.unit,
                    ],
                )

    def _trees(self, name: str, table: TreeTable) -> None:
        has_units = len(table.units) > 0
        self._struct(
            "trees",
            f"table_{name}",
            [
                len(table.features),
                len(table.starts) - 1,
                (f"features_{name}", table.features.astype(np.int32)),
                (f"starts_{name}", table.starts.astype(np.int32)),
                (f"thresholds_{name}", table.thresholds),
                (f"missing_{name}", table.missing.astype(np.uint8)),
                *self._means(name, table),
                (f"sizes_{name}", table.sizes.astype(np.uint16)),
                (f"nodes_{name}", _nodes(table)),
                (f"sets_{name}", table.sets),
                (f"units_{name}", table.units) if has_units else None,
                (f"integers_{name}", table.outputs.astype(np.int16)) if has_units else None,
                None if has_units else (f"numbers_{name}", table.outputs),
            ],
        )

    def _means(self, name: str, table: TreeTable) -> list[Any]:
        features: Any = table.mean_features
        starts: Any = table.mean_starts
        values = table.mean_values
        if (
            len(features) == 0
        ):  # never read, but compilers that inline functions warn of empty arrays
            features, starts, values = np.zeros(1), np.array([0, 2]), np.zeros(2)
        found: list[Any] = [
            (f"mean_features_{name}", features.astype(np.int32)),
            (f"mean_starts_{name}", starts.astype(np.int32)),
            (f"mean_values_{name}", values),
        ]
        if len(table.mean_pairs) == 0:
            return [*found, None, None, None, None]
        return [
            *found,
            (f"mean_pairs_{name}", table.mean_pairs.astype(np.int32)),
            (f"pair_features_{name}", table.pair_features.astype(np.int32)),
            (f"pair_starts_{name}", table.pair_starts.astype(np.int32)),
            (f"pair_keys_{name}", table.pair_keys.astype(np.uint32)),
        ]

    def _space(self, name: str, space: SpaceTable) -> None:
        integers = {
            f"{field}_{name}": getattr(space, field).astype(np.int32)
            for field in ("numeric", "indicated", "leveled", "counts")
        }
        sizes = [len(space.offset), *(len(part) for part in list(integers.values())[:3])]
        self._struct(
            "space",
            f"space_{name}",
            [
                *sizes,
                len(space.points),
                *integers.items(),
                *((f"{f}_{name}", getattr(space, f)) for f in ("fill", "offset", "factor")),
                (f"turn_{name}", space.turn.astype(np.int32)) if space.turn.size else None,
                space.turn_unit,
                (f"points_{name}", space.points),
            ],
        )

    def _comparisons(self, name: str, table: ComparisonTable) -> None:
        self._struct(
            "comparisons",
            f"table_{name}",
            [
                (f"kinds_{name}", table.kinds.astype(np.uint8)),
                (f"anchors_{name}", table.anchors.astype(np.int32)),
                (f"rivals_{name}", table.rivals.astype(np.int32)),
                (f"apart_{name}", table.apart),
                (f"slopes_{name}", table.slopes),
                (f"offsets_{name}", table.offsets),
            ],
        )

    def _struct(self, kind: str, name: str, fields: Iterable[Any]) -> None:
        """A constant of a struct, after the arrays that it points to; None is a null pointer."""
        values = []
        for field in fields:
            if isinstance(field, tuple):
                self.parts.append(array(*field))
                values.append(field[0])
            else:
                values.append("0" if field is None else number(field))
        self.parts.append(f"static const struct {kind} {name} = {{{', '.join(values)}}};\n")

    # ---- decisions

    def _decoder(self, deciding: Deciding) -> None:
        decoder, n_classes = deciding.decoder, self.evaluator.n_scores
        self.parts.append(constant("TEMPERATURE", decoder.temperature))
        rest = decoder.rest
        needs_log = decoder.loss == "squared" or isinstance(rest, PerronArrays)
        if n_classes > 1:
            self.parts += [array("INVERSE_FACTORIALS", np.array(INVERSE_FACTORIALS))]
            self.parts += [source("elementary.c"), source("exponential.c")]
            self.parts += [source("logarithm.c")] if needs_log else []
        if n_classes == 1:
            self.parts.append(source("single.c"))
        elif isinstance(rest, PerronArrays):
            self.parts += [array(name.upper(), value) for name, value in rest._asdict().items()]
            self.parts += [constant("LOG_HALF", log_of(SHIFT)), source("perron.c")]
        else:
            self.parts += (
                [
                    constant("LOG_LEAST", log_of(LEAST)),
                    constant("LOG_OTHERS", log_of(n_classes - 1.0)),
                ]
                if n_classes > 2
                else []
            )
            self.parts.append(source("uniform_two.c" if n_classes == 2 else "uniform_many.c"))
            self.parts.append(source("uniform.c"))
            if isinstance(rest, MixtureArrays):
                self.parts.append(enum({"N_MIXED": len(rest.Z)}))
                integers = rest._replace(matters=rest.matters.astype(np.int32))
                self.parts += [array(n.upper(), value) for n, value in integers._asdict().items()]
                self.parts.append(source("mixture.c"))
        name = "uniform_posterior" if rest is None and n_classes > 1 else "posterior_of"
        ratio = source(f"ratio_{decoder.loss}.c")
        if decoder.shift is not None:
            self.parts += [array("SHIFT", decoder.shift), source("shift.c").replace("DECODE", name)]
            name = "shifted_posterior"
        self.parts.append(f"{ratio}\n" + source("probabilities.c").replace("DECODE", name))

    def _decisions(self, deciding: Deciding) -> None:
        by_cost, reject_cost = deciding.by_cost, deciding.reject_cost
        decoder = deciding.decoder
        is_uniform = decoder.rest is None and decoder.shift is None and not deciding.sources
        self.parts.append(array("COSTS", deciding.costs))
        self.parts.append(self._own_costs(deciding))
        self.parts.append(source("expected_costs.c"))
        checks = self.evaluator.checks
        if not by_cost or is_uniform or (checks is not None and checks.kind == LEAD):
            self.parts.append(source("highest.c"))
        if by_cost:
            self.parts.append(source("least_risk.c"))
        if by_cost and is_uniform:
            self.parts.append(source("are_uniform.c"))
        lines = []
        if not by_cost and reject_cost is None:
            lines += [f"    (void){name};" for name in ("x", "costs", "temperature")]
            lines.append("    return highest(scores);")
        else:
            lines.append(indent(source("judge.c").rstrip(), "    "))
            if by_cost and is_uniform:
                choice = "are_uniform(costs) ? highest(scores) : least_risk(scores, risks)"
            else:
                choice = "least_risk(scores, risks)" if by_cost else "highest(scores)"
            if reject_cost is not None:
                reject = number(reject_cost)
                lines += [f"    if (lowest(risks) > {reject})", "        return MODEL_ABSTAINS;"]
            lines.append(f"    return {choice};")
        if reject_cost is not None and not by_cost:
            self.parts.append(source("lowest.c"))
        body = "\n".join(lines)
        self.parts.append(
            "static int decision_at(double temperature, const double* x, const double* scores,\n"
            f"                       const double* costs) {{\n{body}\n}}\n"
        )
        self.parts += [source("decide.c"), source("many.c")]

    def _cascade(self, checks: Checks, reject_cost: float | None) -> None:
        """`model_decide_early`: terms are added until a check lets the sample leave."""
        each, kind = self.evaluator.sums[0], checks.kind
        self.parts += [
            source("public_cascade.c"),
            array("CHECK_LOW", checks.low),
            array("CHECK_HIGH", checks.high),
        ]
        if kind == RISK:
            self.parts.append(array("CHECK_TEMPERATURE", checks.temperatures))
            self.parts.append(
                constant("REJECT_COST", math.inf if reject_cost is None else reject_cost)
            )
        self.parts.append(source(f"cascade_{kind}.c"))
        declared, lines = ["    double scores[MODEL_N_CLASSES] = {0};", "    int decision;"], []
        known: set[int] = set()
        for i, steps in enumerate(checks.steps):
            for step in steps:
                if step.table not in known:
                    known.add(step.table)
                    told, prepared = _prepared(f"0_{step.table}", each.tables[step.table])
                    declared += [line for line in told if line not in declared]
                    lines += prepared
                lines.append(self._step(0, each, step))
            lines += [
                f"    *n_terms = {checks.n_terms[i]};",
                f"    if (leaves(x, scores, {i}, &decision))",
                "        return decision;",
            ]
        lines += [f"    *n_terms = {checks.n_terms[-1]};", "    return model_decide(x, 0);"]
        body = "\n".join([*declared, *lines])
        self.parts.append(f"int model_decide_early(const double* x, int* n_terms) {{\n{body}\n}}\n")

    def _own_costs(self, deciding: Deciding) -> str:
        """The function that gives the costs of a sample."""
        n = self.evaluator.n_scores
        lines = []
        for true, decided, feature, s, baseline in deciding.sources:
            if feature >= 0:
                range_ = f"amount >= {number(LEAST_COST)} && amount <= {number(LARGEST_COST)}"
                lines += [
                    f"    amount = x[{feature}];",
                    f"    if (!(amount == 0 || ({range_})))",
                    "        return 0;",
                ]
            else:
                lines += [
                    f"    sum_{s}(x, &amount);",
                    f"    amount = {number(baseline)} + amount;",
                    "    amount = amount > 0 ? amount : 0;",
                ]
            if decided < 0:
                lines += [
                    f"    for (int k = 0; k < {n}; ++k)",
                    f"        own[{true * n} + k] *= amount;",
                ]
            else:
                lines.append(f"    own[{true * n + decided}] = amount;")
        before = [
            "    memcpy(own, COSTS, sizeof COSTS);",
            *(["    double amount;"] if lines else []),
        ]
        unused = [] if lines else ["    (void)x;"]
        body = "\n".join([*unused, *before, *lines, "    return 1;"])
        return f"static int own_costs(const double* x, double* own) {{\n{body}\n}}\n"


def _prepared(name: str, table: Table) -> tuple[list[str], list[str]]:
    """Variables of a sample for a table, and the lines that compute them."""
    if isinstance(table, TreeTable):
        told = f"    uint8_t codes_{name}[{max(1, len(table.features))}] = {{0}};"
        return [told], [f"    code_columns(&table_{name}, x, codes_{name});"]
    if isinstance(table, ConstantTable):
        return [], []
    told = f"    float distances_{name}[{len(table.space.points)}];"
    return ["    float point[MOST_COLUMNS];", told], [
        f"    place(&space_{name}, x, point);",
        f"    measure(&space_{name}, point, distances_{name});",
    ]


def is_together(each: Sum) -> bool:
    """Whether rows can go through all terms together: trees with small numbers of leaves and columns."""
    return len(each.tables) > 0 and all(
        isinstance(table, TreeTable)
        and table.sizes.max(initial=0) < MOST_SPLITS
        and len(table.features) <= MOST_COLUMNS
        for table in each.tables
    )


def _nodes(table: TreeTable) -> NDArray[np.uint16]:
    """(splits + 1, 4) the nodes, and the number of leaves of the tree before the first of each branch.

    The last is read, but never used.
    """
    nodes = table.nodes.reshape(-1, 3).astype(np.int64)
    n = len(nodes)
    place, skips = np.arange(n), nodes[:, 2]
    opened = np.bincount(place + 1, minlength=n + 1) - np.bincount(
        place + 1 + skips, minlength=n + 1
    )
    on_left = np.cumsum(opened)[:n]  # splits that have this one to their left
    first = np.repeat(np.cumsum(table.sizes) - table.sizes, table.sizes)
    found = np.column_stack([nodes, place - first - on_left])
    return np.concatenate([found, np.zeros((1, 4))]).astype(np.uint16)


MOST_SPLITS, MOST_COLUMNS = 256, 512
"""More splits of a tree have no place in a byte, and the codes of more columns none on a small stack."""
MANY, FEW, SOME_COLUMNS = 256, 64, 128
"""Rows that go through the trees together: many, if their codes for so many columns fit on a small stack."""
SOURCES: dict[type, str] = {
    TreeTable: "trees.c",
    ComparisonTable: "comparisons.c",
    SmoothTable: "smooth.c",
    ConstantTable: "constants.c",
}
"""Functions that each kind of table needs."""

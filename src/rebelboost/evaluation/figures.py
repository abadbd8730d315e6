"""Figures of an evaluation: estimates with their intervals, beside what simple rules would reach."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from rebelboost.base.findings import GAP, Cell, Column, Document, Sentence, Table
from rebelboost.base.names import printed, shown
from rebelboost.base.text import amount, percent
from rebelboost.evaluation.headlines import PER_CASES, cost_of_many
from rebelboost.evaluation.intervals import Estimate

if TYPE_CHECKING:
    from rebelboost.evaluation.result import Evaluation

LEFT_OUT = "left-out samples"
"""The `source` of held-out training samples; stored in model files."""
RATES = {
    "sensitivity": "recall of {yes}",
    "specificity": "recall of {no}",
    "positive predictive value": "precision of {yes}",
    "negative predictive value": "precision of {no}",
}
"""Figures of tests for two classes, and what else they are called."""
HELD_OUT = "held-out training samples, each evaluated by fits that did not see it"


@dataclass(frozen=True)
class Figure:
    """A figure, or a baseline that the figure above it is compared with."""

    label: str
    value: float | Estimate
    show: Callable[[float], str]
    is_baseline: bool = False
    scale: float = 1.0
    """End of the scale that starts at 0 and on which the figure can be drawn."""
    mark: tuple[float, str] | None = None
    """A value to mark on this scale, and its name."""
    is_drawn: bool = True
    """Whether it lies on the scale."""

    @property
    def shown(self) -> str:
        """The value as text."""
        return self.show(self.value.value if isinstance(self.value, Estimate) else self.value)

    @property
    def interval(self) -> str:
        """Its 95 % interval as text, if it has one."""
        if not isinstance(self.value, Estimate):
            return ""
        return f"{self.show(self.value.low)} to {self.show(self.value.high)}"


def figure_columns(figures: Sequence[Figure]) -> list[Column]:
    """Name, value and interval of each figure."""
    return [
        Column("figure", figures, lambda each: Cell(each.label, is_inset=each.is_baseline), ""),
        Column("value", figures, lambda each: each.shown, "", "number"),
        Column("interval", figures, lambda each: each.interval, "95 % interval", "number"),
    ]


def figure_table(figures: Sequence[Figure]) -> Table:
    """The figures as a table."""
    return Table(figure_columns(figures))


def about_test(n: int, source: str) -> str:
    """Say that figures are of a test table."""
    return (
        f"{n:,} samples: {source}. The figures are valid only if the model was trained and selected without "
        "them."
    )


MOST_PRICES = 6
"""Prices that people see."""


def price_document(found: "Evaluation") -> Document:
    """How many decisions change if a single price is halved or doubled."""
    names = [printed(each) for each in found.confusion.classes]
    changes = [each for each in found.price_changes if each.price > 0]
    if not changes:
        return []
    moved = [each for each in changes if max(each.halved, each.doubled) > 0]
    if not moved:
        none = Sentence("No decision changes if a single price is halved or doubled.")
        return (GAP, none)
    columns = [
        Column("true", [names[each.true] for each in moved], head="true class"),
        Column("decided", [names[each.decided] for each in moved], head="decided as"),
        Column("price", [each.price for each in moved], amount, kind="number"),
        Column("halved", [each.halved for each in moved], percent, "if halved", "number"),
        Column("doubled", [each.doubled for each in moved], percent, "if doubled", "number"),
    ]
    title = "Decisions that change with a price"
    return (GAP, Table(columns, title=title, n_shown=MOST_PRICES))


# ---- of decisions


def decision_figures(found: "Evaluation", *, of_many: bool) -> list[Figure]:
    """All figures with their baselines; `of_many` gives the cost of 1,000 decisions instead of one."""
    figures = _costs(found, of_many=of_many) if found.has_costs else []
    decided = ", without abstentions" if found.n_rejected else ""
    most_common = f"always {shown(found.commonest)} (most common class)"
    figures += [
        Figure(
            f"accuracy{decided}",
            found.accuracy,
            percent,
            mark=(found.commonest_share, "most common class"),
        ),
        Figure(most_common, found.commonest_share, percent, is_baseline=True),
        *_rates(found),
    ]
    if found.n_rejected:
        figures.append(Figure("abstained", found.rejected, percent))
    if found.log_loss is not None and found.shares_log_loss is not None:
        only = Figure("class frequencies only", found.shares_log_loss, _log_loss, is_baseline=True)
        figures += [Figure("log-loss (lower is better)", found.log_loss, _log_loss), only]
    if found.calibration is not None:
        of = found.calibration.of_class
        of_class = "" if of is None else f" (probability of {shown(of)})"
        figures.append(Figure(f"calibration error{of_class}", found.calibration.error, percent))
    return [*figures, *_fit(found)]


def _costs(found: "Evaluation", *, of_many: bool) -> list[Figure]:
    constant = found.confusion.constant
    show = partial(cost_of_many, found) if of_many else amount
    others: list[tuple[str, float | None]] = [
        (f"always {shown(constant)} (best constant decision)", found.constant_cost),
        ("most probable class (ignores the costs)", found.probable_cost),
    ]
    if found.commonest != constant:
        others.append(
            (f"always {shown(found.commonest)} (most common class)", found.commonest_cost)
        )
    return [
        Figure(
            f"cost of {PER_CASES:,} decisions" if of_many else "mean cost",
            found.cost,
            show,
            scale=found.largest_cost,
            mark=(found.constant_cost, "best constant decision"),
        ),
        *(
            Figure(label, cost, show, is_baseline=True)
            for label, cost in others
            if cost is not None
        ),
    ]


def _rates(found: "Evaluation") -> list[Figure]:
    """What is asked of tests for two classes."""
    yes = found.positive
    if yes is None:
        return []
    (no,) = (each for each in found.confusion.classes if each != yes)
    names = {"yes": shown(yes), "no": shown(no)}
    figures = [
        Figure(f"{title} ({RATES[title].format(**names)})", each, percent)
        for title, each in found.two_class.items()
    ]
    if found.binary is None:
        return figures
    label = f"AUC, area under the ROC curve ({names['yes']} is positive)"
    auc = Figure(label, found.binary.auc, "{:.3f}".format)
    ks = Figure("KS, largest gap between the two classes", found.binary.ks, "{:.3f}".format)
    return [auc, *figures, ks]


def _fit(found: "Evaluation") -> list[Figure]:
    """Calibration in the large, and the slope."""
    if found.binary is None:
        return []
    slope = found.binary.slope
    intercept = Figure(
        "calibration intercept (0 is right)", found.binary.intercept, _two_digits, is_drawn=False
    )
    if slope is None:
        return [intercept]
    label = "calibration slope (1 is right, below 1 is overconfident)"
    return [intercept, Figure(label, slope, _two_digits, is_drawn=False)]


def _two_digits(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _log_loss(value: float) -> str:
    return f"{value:.4f}"

"""What `rebel train` tells: the table as it was understood, then the model."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebelboost.base.arrays import Floats
from rebelboost.base.names import listed, printed
from rebelboost.base.text import amount, counted, percent
from rebelboost.cli.costs import told
from rebelboost.cli.render import Line, Output
from rebelboost.tables.columns import DATE_MEANING, TIME_MEANING
from rebelboost.tables.schema import Understanding

if TYPE_CHECKING:
    from rebelboost.cli.train import Trained
    from rebelboost.evaluation.result import Evaluation
    from rebelboost.theory.guarantee import Guarantee

MOST_CLASSES, MOST_COLUMNS = 12, 6
KINDS = (
    ("number", "numbers", ""),
    ("category", "categories", ""),
    ("date", "dates", f", as {DATE_MEANING}"),
    ("time", "times", f", as {TIME_MEANING}"),
)
"""Of columns: name, word in the summary, what the numbers are."""


def show_table(
    understanding: Understanding, costs: Floats | None, path: Path | None, output: Output
) -> None:
    """The summary before training starts."""
    classes = list(understanding.counts)
    output.record("table", {**understanding.to_dict(), "costs": costs})
    output.heading(
        f"Read {understanding.source}: {counted(understanding.n_rows, 'row')} to learn "
        f"{understanding.target!r} from {counted(len(understanding.columns), 'column')}"
    )
    lines = [
        ("file", understanding.form),
        ("classes", _classes(understanding)),
        *_columns(understanding),
    ]
    lines.append(("missing", _missing(understanding)))
    if costs is not None:
        lines.append(("costs", f"{path}: {told(costs, classes)}"))
    lines += [("ignored", _ignored(name, why)) for name, why in understanding.ignored.items()]
    if understanding.n_unlabelled:
        left = counted(understanding.n_unlabelled, "row")
        lines.append(("left out", f"{left} without a class"))
    lines += [("note", note) for note in understanding.notes]
    output.lines(lines)


def _classes(understanding: Understanding) -> str:
    counts = understanding.counts
    frequent = sorted(counts, key=lambda name: -counts[name])
    shown = frequent if len(counts) > MOST_CLASSES else list(counts)
    some = ", ".join(f"{name} ({counts[name]:,})" for name in shown[:MOST_CLASSES])
    more = len(counts) - MOST_CLASSES
    few = min(counts.values())
    tail = f", and {more} more with {few:,} rows or more" if more > 0 else ""
    return f"{len(counts)}: {some}{tail}"


def _ignored(name: str, why: str) -> str:
    undoing = "" if why.startswith("by") else f" (--keep {shlex.quote(name)} undoes this)"
    return f"{name}: {why}{undoing}"


def _columns(understanding: Understanding) -> list[Line]:
    named = [(word, understanding.of_kind(kind), meaning) for kind, word, meaning in KINDS]
    return [
        (word, f"{counted(len(names), 'column')}: {listed(names, MOST_COLUMNS)}{meaning}")
        for word, names, meaning in named
        if names
    ]


def _missing(understanding: Understanding) -> str:
    missing = understanding.missing
    if not missing:
        return "no cell"
    n_cells = sum(missing.values())
    share = n_cells / (understanding.n_rows * len(understanding.columns))
    most = sorted(missing, key=lambda name: -missing[name])
    some = ", ".join(f"{name} ({missing[name]:,})" for name in most[:MOST_COLUMNS])
    tail = ", …" if len(most) > MOST_COLUMNS else ""
    return f"{counted(n_cells, 'cell')}, {percent(share)}: {some}{tail}"


# ---- the model


def show_model(trained: "Trained", output: Output, paths: tuple[Path, Path]) -> None:
    """What was learned, how good it is, what it promises, where it is, what next."""
    data, path = paths
    model, evaluation = trained.model, trained.evaluation
    selection = getattr(model, "selection_", None)
    chosen = None if selection is None else str(selection)
    guarantee = model.guarantee_
    leaning = strongest(model)
    output.record(
        "model",
        {
            "path": str(path),
            "seconds": trained.seconds,
            "chosen": chosen,
            "terms": len(model.ensemble_),
            "evaluation": None if evaluation is None else evaluation.to_dict(),
            "guarantee": guarantee.to_dict(),
            "strongest": leaning,
        },
    )
    output.text("")
    output.heading(f"Trained in {trained.seconds:.1f} s: {counted(len(model.ensemble_), 'term')}")
    lines: list[Line] = []
    if chosen:
        lines.append(("chosen", chosen))
    lines += figures(evaluation)
    lines.append(("guarantee", guaranteed(guarantee)))
    if leaning:
        lines.append(("leans on", ", ".join(map(_reason, leaning)) + ", …"))
    size = path.stat().st_size / 1e6
    lines.append(("model", f"{path} ({size:.1f} MB)"))
    output.lines(lines)
    output.text("")
    output.heading("Next")
    output.text(f"  rebel predict {_q(path)} new.csv -o decisions.csv")
    output.text(f"  rebel explain {_q(path)} {_q(data)} --rows 1,2,3")
    output.text(f"  rebel report {_q(path)} {_q(data)} -o {_q(path.with_suffix('.html').name)}")


def figures(evaluation: "Evaluation | None") -> list[Line]:
    """Honest accuracy and cost."""
    if evaluation is None:
        return [("accuracy", "not known: there are too few rows to hold some out")]
    right, low, high = map(percent, evaluation.accuracy)
    share = evaluation.commonest_share
    rival = f"always deciding {printed(evaluation.commonest)}: {percent(share)}"
    accuracy = f"{right}, {low} to {high} at 95 % confidence ({rival})"
    if not evaluation.has_costs:
        lines = [("accuracy", accuracy)]
    else:
        cost, low, high = map(amount, evaluation.cost)
        constant = printed(evaluation.confusion.constant)
        rival = f"always deciding {constant}: {amount(evaluation.constant_cost)}"
        if evaluation.accuracy.value < share:
            accuracy += "; lower, since decisions go by cost"
        told = f"{cost} a decision, {low} to {high} at 95 % confidence ({rival})"
        lines = [("cost", told), ("accuracy", accuracy)]
    if _says_little(evaluation):
        lines.append(("mind", "that is not clearly better than always deciding the same"))
    by = "each by fits that had not seen it" if evaluation.is_left_out else evaluation.source
    lines.append(("judged by", f"{counted(evaluation.n, 'row')}, {by}"))
    return lines


def _says_little(evaluation: "Evaluation") -> bool:
    """Whether a constant decision may be as good, for all that the rows tell."""
    if evaluation.has_costs:
        return evaluation.cost.high >= evaluation.constant_cost
    return evaluation.accuracy.low <= evaluation.commonest_share


def guaranteed(guarantee: "Guarantee") -> str:
    """The guarantee in a sentence; `rebel explain MODEL` tells all of it."""
    if not guarantee.fits or not guarantee.applies:
        return "none is proven for such training"
    n_fits = len(guarantee.fits)
    whose = (
        "on the rows it learned from" if n_fits == 1 else f"for each of {n_fits} fits on its rows"
    )
    if guarantee.certified:
        return f"no mistake {whose}, deciding for the highest score: the loss proves it"
    if guarantee.of_errors and guarantee.bound >= 1:
        return f"none that says anything {whose}; its share of mistakes is {amount(guarantee.achieved)}"
    what = "share of mistakes" if guarantee.of_errors else "mean cost"
    return (
        f"{what} {whose}, deciding for the highest score: at most {amount(guarantee.bound)}, "
        f"achieved {amount(guarantee.achieved)}"
    )


def strongest(model: Any, most: int = 3) -> list[dict[str, Any]]:
    """What the model leans on most: features of trees with their shares, or training rows."""
    summary = model.summary()
    features = [{"feature": f.name, "share": f.importance} for f in summary.features[:most]]
    examples = [{"row": e.label, "class": e.of_class} for e in summary.examples[:most]]
    return features + (examples[:1] if features else examples)


def _reason(each: Mapping[str, Any]) -> str:
    if "feature" in each:
        return f"{each['feature']} ({percent(each['share'])})"
    return f"likeness to row {each['row']} ({printed(each['class'])})"


def _q(path: Path | str) -> str:
    return shlex.quote(str(path))

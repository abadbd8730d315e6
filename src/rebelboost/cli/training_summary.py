"""The texts of `rebel train`: a summary of the table, then the results."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rebelboost.base.names import listed, printed
from rebelboost.base.text import counted, number, percent, signed
from rebelboost.cli.costs import CostTable, costs_text
from rebelboost.cli.output import Line, Output
from rebelboost.cli.papers import told_of_paper
from rebelboost.evaluation.headlines import tested_on
from rebelboost.tables.columns import DATE_MEANING, TIME_MEANING, as_word
from rebelboost.tables.feature_selection import TEXT
from rebelboost.tables.files import Source
from rebelboost.tables.leaks import Leak, decides_alone
from rebelboost.tables.schema import TableSchema
from rebelboost.tables.schema_inference import UNSUPPORTED
from rebelboost.theory.monotone import promises

if TYPE_CHECKING:
    from rebelboost.evaluation.evaluate import AnyEvaluation
    from rebelboost.evaluation.importance import HeldOutImportance
    from rebelboost.explain.summary import ModelSummary

MOST_CLASSES, MOST_COLUMNS = 12, 6
HEAVY = 0.2
"""Share of the importance from which a date column is worth a note."""
MUCH = 0.05
"""Share of the use from which a column that does not help is worth a note."""
KINDS = (
    ("number", "numbers", ""),
    ("category", "categories", ""),
    ("date", "dates", f", as {DATE_MEANING}, month and weekday"),
    ("time", "times", f", as {TIME_MEANING}"),
)
"""Kinds of columns: internal name, label in the summary, meaning of the numbers."""


class Trained(NamedTuple):
    """A trained model, its evaluation and its training time."""

    model: Any
    evaluation: "AnyEvaluation | None"
    seconds: float
    importance: "Sequence[HeldOutImportance] | None" = None
    """Which features help on held-out rows; None if this is unknown."""
    alone: tuple[Leak, ...] = ()
    """The columns that decide the most rows rightly, each alone; empty if that is not known."""


def show_table(
    schema: TableSchema, costs: CostTable | None, path: Path | None, output: Output
) -> None:
    """Print how the table was interpreted."""
    matrix = None if costs is None else costs.cells()
    output.record("table", {**schema.to_dict(), "costs": matrix})
    output.heading(
        f"Read {schema.source}: {counted(schema.n_rows, 'row')}, "
        f"{counted(schema.n_columns, 'column')} to predict {schema.target!r}"
    )
    lines = [
        ("file", schema.form),
        _target(schema),
        *_columns(schema),
    ]
    lines += [("read as", text) for text in _readings(schema)]
    lines.append(("missing", _missing(schema)))
    if costs is not None:
        lines.append(("costs", f"{path}: {costs_text(costs)}"))
    lines += [("ignored", _ignored(name, why)) for name, why in schema.ignored.items()]
    if schema.n_unlabelled:
        skipped = counted(schema.n_unlabelled, "row")
        lines.append(("skipped", f"{skipped} without a value of {schema.target!r}"))
    lines += [("note", note) for note in schema.notes]
    lines += [("WARNING", warning) for warning in schema.warnings]
    output.lines(lines)


def _target(schema: TableSchema) -> Line:
    if not schema.predicts_numbers:
        return "classes", _classes(schema)
    least, median, most = map(number, schema.spread)
    said = f"numbers from {least} to {most}, median {median}"
    return "predicts", f"{said} (--cut-at NUMBER predicts which are lower and higher instead)"


def _classes(schema: TableSchema) -> str:
    counts = schema.counts
    frequent = sorted(counts, key=lambda name: -counts[name])
    shown = frequent if len(counts) > MOST_CLASSES else list(counts)
    some = ", ".join(f"{name} ({counts[name]:,})" for name in shown[:MOST_CLASSES])
    more = len(counts) - MOST_CLASSES
    few = min(counts.values())
    tail = f", and {more} more with at least {counted(few, 'row')} each" if more > 0 else ""
    return f"{len(counts)}: {some}{tail}"


def _ignored(name: str, why: str) -> str:
    if why == TEXT:
        return f"{name}: {why} (--text {as_word(name)} uses its words)"
    final = why.startswith(("by", "groups the rows", UNSUPPORTED))
    return f"{name}: {why}" + ("" if final else f" (--keep {shlex.quote(name)} includes it)")


def _columns(schema: TableSchema) -> list[Line]:
    named = [(word, schema.of_kind(kind), meaning) for kind, word, meaning in KINDS]
    lines = [
        (word, f"{counted(len(names), 'column')}: {listed(names, MOST_COLUMNS)}{meaning}")
        for word, names, meaning in named
        if names
    ]
    if texts := schema.texts:
        told = [f"{name} as {counted(n, 'word')}" for name, n in texts.items()]
        lines.append(("text", f"{counted(len(texts), 'column')}: {listed(told, MOST_COLUMNS)}"))
    return lines


def _readings(schema: TableSchema) -> list[str]:
    readings = schema.readings.items()
    return [f"{name}: {written!r} is read as {read}" for name, (written, read) in readings]


def _missing(schema: TableSchema) -> str:
    missing = schema.missing
    if not missing:
        return "none"
    n_cells = sum(missing.values())
    most = sorted(missing, key=lambda name: -missing[name])
    some = ", ".join(f"{name} ({missing[name]:,})" for name in most[:MOST_COLUMNS])
    tail = ", …" if len(most) > MOST_COLUMNS else ""
    return f"{counted(n_cells, 'cell')}, {percent(schema.missing_share)}: {some}{tail}"


# ---- the model


def show_model(
    trained: Trained,
    schema: TableSchema,
    output: Output,
    *,
    paths: tuple[Source, Path],
    holds: str,
) -> None:
    """Print the selected models, accuracy and cost, file and next steps."""
    data, path = paths
    model, evaluation = trained.model, trained.evaluation
    selection = getattr(model, "selection_", None)
    chosen = None if selection is None else str(selection)
    guarantee = None if schema.predicts_numbers else model.guarantee_.to_dict()
    summary = model.summary()
    most_used = strongest(summary)
    paper = told_of_paper(model)
    proven = promises(model.model_)
    output.record(
        "model",
        {
            **{label.replace(" ", "_"): text for label, text in paper},
            "path": str(path),
            "holds": holds,
            "seconds": trained.seconds,
            "chosen": chosen,
            "terms": len(model.ensemble_),
            "evaluation": None if evaluation is None else evaluation.to_dict(),
            "guarantee": guarantee,
            "proven": proven,
            "strongest": most_used,
            "importance": [{**i._asdict(), "helps": i.helps} for i in trained.importance or ()],
        },
    )
    output.text("")
    output.heading(f"Trained in {trained.seconds:.1f} s")
    n_terms = f"{len(model.ensemble_):,}"
    lines = [("terms", f"{n_terms}: {summary.heading}")]
    if chosen:
        lines.append(("selected", chosen))
    lines += paper
    lines += figures(evaluation, how_judged(schema.group, schema.time))
    lines += helping(trained.importance, summary)
    if most_used and trained.importance is None:
        lines.append(("most used", ", ".join(map(_reason, most_used)) + ", …"))
    lines += [("note", text) for text in heavy_dates(summary, schema)]
    cautions = decided_alone(trained, schema) or too_good(evaluation, summary, schema)
    lines += [("caution", text) for text in cautions]
    lines += [("proven", text) for text in proven]
    size = path.stat().st_size / 1e6
    lines += [("saved to", f"{path} ({size:.1f} MB)"), ("it holds", holds)]
    output.lines(lines)
    output.text("")
    output.heading("Next steps")
    output.text(f"  rebel predict {_q(path)} new.csv -o decisions.csv")
    output.text(f"  rebel explain {_q(path)} {shlex.join(data.words)} --rows 1,2,3")
    report = _q(path.with_suffix(".html").name)
    output.text(f"  rebel report {_q(path)} {shlex.join(data.words)} -o {report}")


def how_judged(group: str, time: str) -> str:
    """How rows were left out in cross-validation, or an empty text if one by one."""
    if time:
        return f"each with fits to rows that are earlier by {time}"
    return f"each with fits that saw no row with the same {group}" if group else ""


def figures(evaluation: "AnyEvaluation | None", how: str = "") -> list[Line]:
    """Accuracy and cost, or errors, on rows that were not used in training."""
    if evaluation is None:
        return [("accuracy", "unknown: too few rows to hold some out for testing")]
    return [*evaluation.lines(), tested_on(evaluation, how)]


def helping(
    found: "Sequence[HeldOutImportance] | None", summary: "ModelSummary", most: int = 4
) -> list[Line]:
    """The features that help most on held-out rows, and much used ones that do not help."""
    if not found:
        return []
    of = "squared error" if summary.classes is None else "log-loss"
    helpful = [f"{each.name} ({signed(each.rise)})" for each in found if each.helps]
    told = ", ".join(helpful[:most]) + (", …" if len(helpful) > most else "")
    meaning = f": rise of the held-out {of} if the column is shuffled"
    lines = [("helps most", told + meaning if helpful else "no column clearly helps alone")]
    use = {f.name: f.importance for f in summary.features}
    idle = [
        f"{each.name} ({percent(use[each.name])} of the use)"
        for each in found
        if not each.helps and use.get(each.name, 0.0) >= MUCH
    ]
    if idle:
        lines.append(
            ("note", f"used much, but no clear help on held-out rows: {listed(idle, most)}")
        )
    return lines


def strongest(summary: "ModelSummary", most: int = 3) -> list[dict[str, Any]]:
    """The features with the largest importance and the training rows with the largest influence."""
    features = [{"feature": f.name, "share": f.importance} for f in summary.features[:most]]
    examples = [{"row": e.label, "class": e.of_class} for e in summary.examples[:most]]
    return features + (examples[:1] if features else examples)


def too_good(
    evaluation: "AnyEvaluation | None", summary: "ModelSummary", schema: TableSchema
) -> list[str]:
    """Ask whether columns are known in time if, together, they decide nearly every row."""
    if evaluation is None or not evaluation.is_too_good or len(summary.features) < 2:
        return []
    if schema.warnings:  # a leak has been named already
        return []
    first, second = (each.name for each in summary.features[:2])
    question = f"Are {first} and {second} known before {schema.target} is?"
    return [f"nearly every row is decided correctly. {question} If not, use --ignore"]


def decided_alone(trained: Trained, schema: TableSchema) -> list[str]:
    """Ask whether a column is known in time that decides as many rows alone as the model does with all."""
    rates = None if trained.evaluation is None else trained.evaluation.accuracy_and_baseline
    first = None if rates is None else decides_alone(trained.alone, *rates)
    if first is None or rates is None:
        return []
    if any(warning.startswith(f"{first.name} ") for warning in schema.warnings):
        return []
    alone, together = percent(first.accuracy), percent(rates[0])
    question = f"is it known before {schema.target} is? If not, use --ignore {as_word(first.name)}"
    return [
        f"{first.name} alone decides {alone} of the rows correctly, the model {together}: {question}"
    ]


def heavy_dates(summary: "ModelSummary", schema: TableSchema) -> list[str]:
    """Say which dates carry much of the model's decisions."""
    shares = {f.name: f.importance for f in summary.features}
    notes = []
    for name in schema.of_kind("date"):
        parts = [c.name for c in schema.columns if c.origin == name]
        share = sum(shares.get(part, 0.0) for part in parts)
        if share >= HEAVY:
            notes.append(
                f"{name} carries {percent(share)} of the decisions: later dates may differ from "
                f"those in this table; --time {shlex.quote(name)} evaluates on later rows"
            )
    return notes


def _reason(each: Mapping[str, Any]) -> str:
    if "feature" in each:
        return f"{each['feature']} ({percent(each['share'])})"
    return f"similarity to row {each['row']} ({printed(each['class'])})"


def _q(path: Path | str) -> str:
    return shlex.quote(str(path))

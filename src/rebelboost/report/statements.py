"""Facts about a model, as documents that guidelines refer to by name (`rebelboost.report.guidelines`)."""

import platform
from collections import Counter
from collections.abc import Callable

import numpy as np

from rebelboost.base.findings import Column, Document, Matrix, Sentence, Table
from rebelboost.base.names import printed
from rebelboost.base.text import amount, counted, percent
from rebelboost.costs.report import MOST_TABLED
from rebelboost.estimators.base import encode_table
from rebelboost.evaluation.figures import figure_table
from rebelboost.evaluation.result import Evaluation
from rebelboost.report.guidelines import REASONS
from rebelboost.report.reproduce import PACKAGES, package_version, written_call
from rebelboost.report.subject import Subject

MOST_COLUMNS = 40
FEW = 10
"""Rows of the rarest class per column, below which the page says so."""
UNKNOWN = "No evaluation was given: accuracy and cost on new cases are unknown."


def _found(subject: Subject) -> Evaluation | None:
    return subject.decisions


def identity(subject: Subject) -> Document:
    """What is predicted from what."""
    target = subject.data.get("target")
    what = f"“{target}”" if target else "the class"
    classes = ", ".join(subject.classes[:MOST_TABLED]) + (
        ", …" if len(subject.classes) > MOST_TABLED else ""
    )
    columns = counted(subject.clf.n_features_in_, "column")
    return [Sentence(f"A classifier of {what} ({classes}) from {columns} of a table.")]


def source(subject: Subject) -> Document:
    """The table of the page, and the training rows."""
    name = subject.data.get("source")
    rows = counted(len(subject.y), "row")
    whose = "training" if subject.is_of_training else "test"
    told = [f"The {whose} table{f' is {name}' if name else ''}, with {rows}."]
    seen = subject.clf.model_.provenance.seen
    if seen is not None:
        told.append(f"The model was trained on {counted(seen.n_rows, 'row')}.")
    if form := subject.data.get("form"):
        told.append(f"File format: {form}.")
    return [Sentence(" ".join(told))]


def preparation(subject: Subject) -> Document:
    """What was done to the columns."""
    ignored = subject.data.get("ignored") or {}
    notes = list(subject.data.get("notes") or ())
    document: Document = [
        Sentence(
            "Numbers are used as they are. Categories keep their values; those that training never saw "
            "count as missing values."
        )
    ]
    told = (
        [f"Ignored columns: {', '.join(f'{k} ({v})' for k, v in ignored.items())}."]
        if ignored
        else []
    )
    return [*document, *map(Sentence, [*told, *notes])]


def classes(subject: Subject) -> Document:
    """Number of rows by class, here and in training."""
    by_name = Counter(printed(label) for label in subject.y.tolist())
    weight = np.asarray(subject.clf.class_weight_, dtype=np.float64)
    n = [by_name.get(name, 0) for name in subject.classes]
    here = "training rows" if subject.is_of_training else "test rows"
    columns = [
        Column("class", subject.classes),
        Column("n", n, "{:,}".format, here, "number"),
        Column("share", [each / len(subject.y) for each in n], percent, "share", "number"),
        Column("trained", (weight / weight.sum()).tolist(), percent, "share in training", "number"),
    ]
    return [Table(columns)]


def sizes(subject: Subject) -> Document:
    """Numbers of rows, columns and rows of the rarest class."""
    seen = subject.clf.model_.provenance.seen
    weight = np.asarray(subject.clf.class_weight_, dtype=np.float64)
    rarest, d = float(weight.min()), subject.clf.n_features_in_
    told = f"{counted(seen.n_rows, 'training row')}; " if seen is not None else ""
    told += (
        f"{amount(rarest)} of the rarest class ({subject.classes[int(weight.argmin())]}), which is "
        f"{rarest / max(d, 1):.3g} for each of {counted(d, 'column')}."
    )
    if rarest < FEW * d:
        told += (
            f" That is fewer than {FEW} for each column: the intervals say what this means here."
        )
    return [Sentence(told)]


def columns(subject: Subject) -> Document:
    """The columns, the most used first."""
    levels, shares = subject.clf.model_.encoder.levels, subject.clf.feature_importances_
    order = np.argsort(-shares, kind="stable").tolist()
    kinds = ["category" if f in levels else "number" for f in order]
    table = [
        Column("column", [subject.columns[f] for f in order]),
        Column("kind", kinds),
        Column("use", [float(shares[f]) for f in order], percent, "use by the model", "number"),
    ]
    return [Table(table, n_shown=MOST_COLUMNS, noun="column")]


def missing(subject: Subject) -> Document:
    """Missing values, and what the model does with them."""
    share = np.isnan(encode_table(subject.clf, subject.X)).mean(axis=0)
    some = [f for f in np.argsort(-share, kind="stable").tolist() if share[f] > 0]
    how = (
        "Missing values are not imputed: trees learn to which side they go; in comparisons of rows they have a "
        "fixed value and, if training saw any, an indicator."
    )
    if not some:
        return [Sentence(f"No cell of this table is missing. {how}")]
    table = [
        Column("column", [subject.columns[f] for f in some]),
        Column("missing", [float(share[f]) for f in some], percent, kind="number"),
    ]
    return [Sentence(how), Table(table, n_shown=MOST_COLUMNS, noun="column")]


def balance(subject: Subject) -> Document:
    """How unequal classes and costs are handled."""
    told = (
        "No rows were resampled or synthesised. Probabilities follow the class frequencies of training; "
        "decisions minimise the expected cost."
        if subject.clf.model_.rule.by_cost
        else "No rows were resampled or synthesised. The class with the highest score is decided."
    )
    return [Sentence(told), *classes(subject)]


def training(subject: Subject) -> Document:
    """How the model was trained."""
    clf = subject.clf
    n_terms = len(clf.model_.ensemble)
    told = [
        f"Boosting of weak learners (rebelboost): {written_call(clf)}. It has {counted(n_terms, 'term')}."
    ]
    if clf.cross_fit_ is not None:
        told.append(
            "Candidates were compared, and the number of rounds and the scale of the probabilities chosen, by "
            "cross-validation; the model is an average of the fits."
        )
        members = [each for each in clf.cross_fit_.standings if each.share]
        named = ", ".join(f"{each.name} ({each.share:.0%})" for each in members)
        told += [f"In the average: {named}."] if len(members) > 1 else []
    return [Sentence(" ".join(told))]


def evaluation_data(subject: Subject) -> Document:
    """The rows of the figures."""
    found = _found(subject)
    return [Sentence(UNKNOWN if found is None else found.about_source())]


def measures(subject: Subject) -> Document:
    """Which measures are given."""
    del subject
    told = (
        "Accuracy and mean cost with 95 % intervals, beside constant decisions; log-loss and "
        "calibration; of two classes also AUC, sensitivity, specificity, predictive values, calibration "
        "intercept and slope, net benefit. Intervals: Wilson (shares), Gaffke (costs), Newcombe (AUC)."
    )
    return [Sentence(told)]


def performance(subject: Subject) -> Document:
    """The figures."""
    found = _found(subject)
    return [Sentence(UNKNOWN)] if found is None else [figure_table(found.figures())]


def confusion(subject: Subject) -> Document:
    """Counts of decisions."""
    found = _found(subject)
    if found is None or len(found.confusion.decisions) > MOST_TABLED:
        return []
    names = [*map(printed, found.confusion.classes)], [*map(printed, found.confusion.decisions)]
    return [
        Sentence("Rows: true classes. Columns: decisions."),
        Matrix(*names, found.confusion.counts),
    ]


def groups(subject: Subject) -> Document:
    """Results by group of rows."""
    found = _found(subject)
    if found is None or found.parts is None:
        return [
            Sentence(
                "No results by group were asked for: rebel report --by COLUMN (or evaluate(..., by=)) "
                "adds accuracy, cost, abstentions, sensitivity, specificity and calibration for each "
                "value of a column."
            )
        ]
    return found.parts.document()


def prices(subject: Subject) -> Document:
    """Decisions that change with a price."""
    found = _found(subject)
    return [] if found is None else found.prices()


def costs(subject: Subject) -> Document:
    """The costs that decisions follow."""
    model = subject.clf.model_
    if model.by_sample:
        return [
            Sentence("Mistakes cost different amounts in different rows, by columns or as learned.")
        ]
    if len(subject.classes) > MOST_TABLED:
        return []
    head = Sentence("Costs (rows: true class, columns: decision):")
    return [head, Matrix(subject.classes, subject.classes, model.costs)]


def output(subject: Subject) -> Document:
    """What the model says of a case."""
    model = subject.clf.model_
    told = ["The model gives a probability of each class."]
    if model.rule.by_cost:
        told.append("It decides for the class with the lowest expected cost.")
        if len(subject.classes) == 2 and not model.by_sample and subject.positive is not None:
            yes, no = subject.positive, 1 - subject.positive
            missed, alarm = float(model.costs[yes, no]), float(model.costs[no, yes])
            if missed + alarm > 0:
                told.append(
                    f"With these costs, that is {subject.classes[yes]} from a probability of "
                    f"{percent(alarm / (missed + alarm))}."
                )
    else:
        told.append("It decides for the class with the highest score.")
    if model.rule.reject_cost is not None:
        told.append(
            f"It abstains where every decision is expected to cost more than {amount(model.rule.reject_cost)}."
        )
    return [Sentence(" ".join(told)), *costs(subject)]


def specification(subject: Subject) -> Document:
    """Where the whole model can be read."""
    told = (
        "The model file has every term, threshold and weight as plain arrays in the safetensors format; "
        "rebel export writes the same model as C or JavaScript, and rebel explain prints its rules. A "
        "decision is the exact sum of the contributions of its terms."
    )
    found = [
        f"{subject.columns[f]} ({'rising' if way > 0 else 'falling'})" for f, way in _ways(subject)
    ]
    if found:
        told += f" Scores are proved to be monotone in: {', '.join(found)}."
    return [Sentence(told)]


def _ways(subject: Subject) -> tuple[tuple[int, int], ...]:
    ways: tuple[tuple[int, int], ...] = subject.clf.model_.monotone
    return ways


def updating(subject: Subject) -> Document:
    """Whether frequencies were changed."""
    if subject.clf.model_.decoder.shift is None:
        return [Sentence("The probabilities are those of the class frequencies of training.")]
    return [
        Sentence("The probabilities were reweighted for other class frequencies (with_priors).")
    ]


def monitoring(subject: Subject) -> Document:
    """How new rows can be compared."""
    if subject.clf.model_.provenance.seen is None:
        return [
            Sentence("The model has no counts of its training rows: rebel monitor cannot be used.")
        ]
    told = (
        "The model file keeps counts of its training rows. rebel monitor compares new rows with them, "
        "at a stated rate of false alarms, and says whether a certified cost (rebel certify) still stands."
    )
    return [Sentence(told)]


def limits(subject: Subject) -> Document:
    """What the figures do not promise."""
    found = _found(subject)
    told = ["All figures hold for rows that are drawn as the evaluated ones were."]
    if found is not None:
        if found.is_unclear:
            told.append("The model is not clearly better than always making the same decision.")
        told += [found.about_unknown()] if found.unknown else []
        if found.is_left_out:
            told.append("No separate test table was used.")
    return [Sentence(" ".join(told))]


def reproduction(subject: Subject) -> Document:
    """Versions and the command."""
    versions = ", ".join(f"{package} {package_version(package)}" for package in PACKAGES)
    told = [f"{versions}; Python {platform.python_version()}."]
    told += [f"Command: {subject.command}."] if subject.command else []
    told.append(
        "The same data, versions and parameters give the same model, with any number of threads."
    )
    return [Sentence(" ".join(told))]


def software(subject: Subject) -> Document:
    """Versions only."""
    del subject
    versions = ", ".join(f"{package} {package_version(package)}" for package in PACKAGES)
    return [
        Sentence(
            f"{versions}; Python {platform.python_version()}. Licence of rebelboost: BSD-3-Clause."
        )
    ]


def forms(subject: Subject) -> Document:
    """How the model can be delivered."""
    del subject
    return [
        Sentence(
            "A model file (safetensors), a Python library, a command, or a program in C or JavaScript."
        )
    ]


def resources(subject: Subject) -> Document:
    """Seconds of training, if they are known."""
    seconds = (subject.clf.metadata_ or {}).get("seconds")
    told = (
        "unknown"
        if seconds is None
        else f"{seconds:,.1f} s on one machine, without a graphics card"
    )
    return [Sentence(f"Time of training: {told}.")]


def oversight(subject: Subject) -> Document:
    """What helps people to overrule the model."""
    told = (
        "Each decision can be explained by its exact contributions, with the prices at which it would change "
        "(rebel explain)."
    )
    if subject.clf.model_.rule.reject_cost is None:
        return [
            Sentence(
                f"{told} The model decides every case; with_abstentions leaves doubtful ones to a person."
            )
        ]
    return [Sentence(f"{told} The model leaves doubtful cases to a person.")]


def security(subject: Subject) -> Document:
    """What loading a model does."""
    del subject
    return [
        Sentence(
            "Loading a model file executes no code; every number in it is checked. Its checksum detects "
            "damage, but is not a signature."
        )
    ]


def reasons(subject: Subject) -> Document:
    """The columns that reasons come from."""
    levels, shares = subject.clf.model_.encoder.levels, subject.clf.feature_importances_
    order = [f for f in np.argsort(-shares, kind="stable").tolist() if shares[f] > 0]
    table = [
        Column("column", [subject.columns[f] for f in order]),
        Column("kind", ["category" if f in levels else "number" for f in order]),
        Column("use", [float(shares[f]) for f in order], percent, "use by the model", "number"),
        Column("reason", ["[to be filled in]"] * len(order), head="reason for the applicant"),
    ]
    told = (
        "Reasons must be specific and the principal ones; that an applicant failed to achieve a "
        "qualifying score is not sufficient. The contributions of the columns to a decision are exact "
        "(rebel explain). Each column needs a reason in words:"
    )
    return [Sentence(told), Table(table, n_shown=MOST_COLUMNS, noun="column")]


def form_c1(subject: Subject) -> Document:
    """The reasons of the sample form."""
    del subject
    return [Sentence(f"The sample form lists: {REASONS}")]


STATEMENTS: dict[str, Callable[[Subject], Document]] = {
    function.__name__: function
    for function in (
        identity,
        source,
        preparation,
        classes,
        sizes,
        columns,
        missing,
        balance,
        training,
        evaluation_data,
        measures,
        performance,
        confusion,
        groups,
        prices,
        output,
        specification,
        updating,
        monitoring,
        limits,
        reproduction,
        software,
        forms,
        resources,
        oversight,
        security,
        reasons,
        form_c1,
    )
}

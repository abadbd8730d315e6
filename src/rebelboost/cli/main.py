"""The commands and their options. Heavy imports are delayed, so that `rebel --help` is fast."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebelboost.cli.detect_commands import detect_app
from rebelboost.cli.options import (
    Agreement,
    Budget,
    By,
    Categorical,
    Costs,
    Data,
    Ignored,
    Json,
    Kept,
    Model,
    Positive,
    SheetName,
    SkipRows,
    Texts,
    Threads,
    Traceback,
    TrainingOptions,
    TrueColumn,
)
from rebelboost.cli.output import reported
from rebelboost.cli.project_commands import project_app, watch_command

if TYPE_CHECKING:
    from rebelboost.cli.output import Output
    from rebelboost.tables.files import Source

app = typer.Typer(
    name="rebel",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich's boxes would double the time of `rebel --help`
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Train and explain classifiers that take the costs of mistakes into account. "
    "Start with: rebel train data.csv --target COLUMN, or rebel demo.",
)
app.add_typer(detect_app, name="detect", short_help="Train detectors of objects in images.")
app.add_typer(project_app, name="project", short_help="Learn with people: add, label, ask, forget.")
app.command("watch", short_help="Follow a folder or a growing file, and learn from its labels.")(
    watch_command
)


def _source(data: list[Path], skip_rows: int | None, sheet: str) -> "Source":
    from rebelboost.tables.files import source_of
    from rebelboost.tables.layout import Layout

    return source_of(data, Layout(skip_rows, sheet))


def _output(*, as_json: bool = False) -> "Output":
    from rebelboost.cli.output import Output

    return Output(as_json=as_json)


def _version(wanted: bool) -> None:
    if wanted:
        from rebelboost import __version__

        typer.echo(f"rebelboost {__version__}")
        raise typer.Exit


@app.callback()
def rebel(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Train and explain classifiers that take the costs of mistakes into account."""


@app.command("train", short_help="Train a classifier on a table and write a model file.")
def train_command(  # noqa: PLR0913, PLR0917  (options)
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA",
            help="CSV, Excel or Parquet file; or several CSV or Parquet files or a folder of them, which "
            "may be larger than memory.",
        ),
    ],
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="Column to predict.")
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV file with the costs of mistakes: one row per true class, one column per "
            "predicted class.",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Model file to write. Default: the name of DATA with the suffix .safetensors, in "
            "the current folder.",
        ),
    ] = None,
    ignore: Ignored = None,
    keep: Kept = None,
    categorical: Categorical = None,
    text: Texts = None,
    decimal: Annotated[
        str,
        typer.Option(
            metavar=", | .",
            help="Decimal mark of numbers such as 1.423 or 1,423, if the file does not say. Default: "
            "detected.",
        ),
    ] = "",
    group: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            help="Rows with the same value in this column, such as the visits of a patient, are left "
            "out together when the model is evaluated. none: rows are independent. Default: detected.",
        ),
    ] = "",
    when: Annotated[
        str,
        typer.Option(
            "--time",
            metavar="COLUMN",
            help="Column of dates or numbers. The model is evaluated on later rows than those it is "
            "trained on.",
        ),
    ] = "",
    task: Annotated[
        str,
        typer.Option(
            metavar="classes | numbers",
            help="Whether the target consists of classes or of numbers. Default: detected.",
        ),
    ] = "",
    cut_at: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Divide a target of numbers into two classes, below this number and from it on.",
        ),
    ] = None,
    learner: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Kind of model: tree, stump, similarity, smooth or kernel; auto compares several by "
            "cross-validation and averages the best.",
        ),
    ] = "auto",
    papers: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Train a published method to the letter: local, local_sign, rebel, rebel_trees, "
            "quickboost, adaboost, logitboost or l2boost.",
        ),
    ] = None,
    depth: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="With --papers: depth of the trees.")
    ] = None,
    criterion: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --papers: criterion of the trees' splits."),
    ] = None,
    search: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --papers: pruned, exhaustive or auto."),
    ] = None,
    monotone: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMNS",
            help="Columns of numbers with which the prediction, or the probability of the second of two "
            "classes in sorted order, never falls (+1) or never rises (-1): income=+1,age=-1. Trees only.",
        ),
    ] = None,
    reject_budget: Budget = None,
    positive: Positive = None,
    rounds: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Maximum number of boosting rounds.")
    ] = None,
    time_budget: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0.0, help="Approximate time limit, in seconds."),
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Random seed.")] = None,
    threads: Threads = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace a model file of another table or target."),
    ] = False,
    rows: Annotated[
        str,
        typer.Option(
            metavar="none | ids | values",
            help="What the model file keeps of the training rows that cases are compared with. none: "
            "nothing (only trees are trained); ids: row numbers or names; values: all values too.",
        ),
    ] = "values",
    names: Annotated[
        bool,
        typer.Option("--names/--no-names", help="Whether it keeps the names of these rows."),
    ] = True,
    skip_rows: SkipRows = None,
    sheet: SheetName = "",
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Train a model on a table and write it to a file."""
    with reported(traced=traceback):
        from rebelboost.cli.model_files import KeptRows
        from rebelboost.cli.train import ModelFile, run_training
        from rebelboost.tables.columns import ColumnOptions

        run_training(
            _source(data, skip_rows, sheet),
            target,
            costs,
            ModelFile(model, force, KeptRows(rows, names)),
            columns=ColumnOptions(
                keep or (),
                ignore or (),
                categorical or (),
                group,
                when,
                decimal,
                task,
                cut_at,
                text or (),
            ),
            settings=TrainingOptions(
                learner,
                rounds,
                time_budget,
                seed,
                threads,
                positive,
                papers,
                depth,
                criterion,
                search,
                monotone,
                reject_budget,
            ),
            output=_output(as_json=as_json),
        )


@app.command("predict", short_help="Predict the class of each row of a table.")
def predict_command(  # noqa: PLR0913, PLR0917  (options)
    model: Model,
    data: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA",
            help="CSV, Excel or Parquet file; or several files or a folder of them; - reads CSV from "
            "standard input.",
        ),
    ],
    to: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="CSV or Parquet file to write. Default: CSV on stdout.",
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Copy this column, or several, to the output. Default: the identifier of rows, if one was "
            "detected in training.",
        ),
    ] = None,
    costs: Costs = None,
    batch: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of rows read at a time.")
    ] = 50_000,
    agreement: Agreement = None,
    reject_budget: Budget = None,
    skip_rows: SkipRows = None,
    sheet: SheetName = "",
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Write the decision, the probability of each class and the expected cost for each row.

    The decision is the class with the lowest expected cost.
    """
    with reported(traced=traceback):
        from rebelboost.cli.predict import PredictionOptions, run_prediction

        run_prediction(
            model,
            _source(data, skip_rows, sheet),
            to,
            options=PredictionOptions(costs, agreement, reject_budget),
            keep=keep or (),
            batch=batch,
            output=_output(as_json=as_json),
        )


@app.command("evaluate", short_help="Measure accuracy and cost on rows not used in training.")
def evaluate_command(  # noqa: PLR0913, PLR0917  (options)
    model: Model,
    data: Data,
    target: TrueColumn = "",
    costs: Costs = None,
    positive: Positive = None,
    by: By = "",
    agreement: Agreement = None,
    reject_budget: Budget = None,
    skip_rows: SkipRows = None,
    sheet: SheetName = "",
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Measure accuracy and cost on rows with known classes that were not used in training."""
    with reported(traced=traceback):
        from rebelboost.cli.evaluate import Shown, run_evaluation

        run_evaluation(
            model,
            _source(data, skip_rows, sheet),
            target=target,
            costs=costs,
            budget=reject_budget,
            shown=Shown(positive, by, agreement),
            output=_output(as_json=as_json),
        )


@app.command("certify", short_help="Bound the cost of decisions, by rows not used in training.")
def certify_command(  # noqa: PLR0913, PLR0917  (options)
    model: Model,
    data: Data,
    target: TrueColumn = "",
    costs: Costs = None,
    at_most: Annotated[
        float | None,
        typer.Option(metavar="COST", min=0.0, help="Mean cost that is to be proven."),
    ] = None,
    confidence: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Probability with which the bound holds."),
    ] = 0.95,
    largest: Annotated[
        float | None,
        typer.Option(
            "--largest-cost",
            metavar="COST",
            min=0.0,
            help="The greatest cost of a decision, where costs differ from row to row. Default: of these "
            "rows.",
        ),
    ] = None,
    by_left_out: Annotated[
        bool,
        typer.Option(
            "--left-out",
            help="Without rows to spare: find abstentions that limit the average cost to --at-most, by the "
            "rows of the training table that the fits left out.",
        ),
    ] = False,
    skip_rows: SkipRows = None,
    sheet: SheetName = "",
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """State what a decision costs at most on average, with a probability, for all rows and by class.

    The rows must be new: not used in training, nor for any choice. The exit code is 1 if --at-most is not
    proven.
    """
    with reported(traced=traceback):
        from rebelboost.cli.certify import Asked, run_certification

        proven = run_certification(
            model,
            _source(data, skip_rows, sheet),
            target=target,
            costs=costs,
            asked=Asked(at_most, confidence, largest, by_left_out),
            output=_output(as_json=as_json),
        )
    if not proven:
        raise typer.Exit(1)


@app.command("monitor", short_help="Compare new rows with those that the model was trained on.")
def monitor_command(
    model: Model,
    data: Data,
    alarm: Annotated[
        float,
        typer.Option(metavar="SHARE", help="Probability of an alarm if nothing has changed."),
    ] = 0.05,
    skip_rows: SkipRows = None,
    sheet: SheetName = "",
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Say whether columns, probabilities and class frequencies are as in training; no classes are needed.

    The model file knows its training rows as counts only. The exit code is 1 if something has changed.
    """
    with reported(traced=traceback):
        from rebelboost.cli.monitor import run_monitoring

        changed = run_monitoring(
            model, _source(data, skip_rows, sheet), alarm=alarm, output=_output(as_json=as_json)
        )
    if changed:
        raise typer.Exit(1)


@app.command("doubt", short_help="List labels of a table that a model doubts, to be checked.")
def doubt_command(  # noqa: PLR0913, PLR0917  (options)
    data: Data,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="Column with the labels.")
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV file with the costs of mistakes, as for `rebel train`: labels are sorted by what acting "
            "on a wrong one would cost.",
        ),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="CSV file to write: the list, or the table."
        ),
    ] = None,
    corrected: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A list that has been gone through: write the table with the labels in its column verdict.",
        ),
    ] = None,
    ignore: Ignored = None,
    learner: Annotated[
        str, typer.Option(metavar="NAME", help="Kind of model, as for `rebel train`.")
    ] = "auto",
    seed: Annotated[int | None, typer.Option(metavar="N", help="Random seed.")] = None,
    threads: Threads = None,
    skip_rows: SkipRows = None,
    sheet: SheetName = "",
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """List rows whose label is less probable than another class, by models that have not seen the row.

    Fill in the list's column verdict (a class, keep or drop), and give it back with --corrected.
    """
    with reported(traced=traceback):
        from rebelboost.cli.doubt import Checked, run_correction, run_doubt
        from rebelboost.tables.columns import ColumnOptions

        source, output = _source(data, skip_rows, sheet), _output(as_json=as_json)
        if corrected is not None:
            run_correction(source, Checked(corrected, target or ""), to, output=output)
            return
        run_doubt(
            source,
            target,
            costs,
            to,
            columns=ColumnOptions(ignore=ignore or ()),
            settings=TrainingOptions(learner, seed=seed, threads=threads),
            output=output,
        )


@app.command("explain", short_help="Explain decisions, or summarise the model.")
def explain_command(  # noqa: PLR0913, PLR0917  (options)
    model: Model,
    data: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="DATA",
            help="CSV, Excel or Parquet file; or several files or a folder of them. Without it, the "
            "model is summarised.",
        ),
    ] = None,
    rows: Annotated[
        str,
        typer.Option(metavar="ROWS", help="Rows to explain, numbered from 1, such as 3,17 or 5-8."),
    ] = "1-3",
    top: Annotated[int, typer.Option(metavar="N", min=1, help="Number of reasons per row.")] = 5,
    reasons: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Give reasons for the person concerned: the principal reasons against the decision that "
            "they want, and the smallest changes that would lead to it. The file has a code and a "
            "sentence for each column (CSV with the columns column, code and sentence, or JSON).",
        ),
    ] = None,
    wanted: Annotated[
        str | None,
        typer.Option(
            metavar="CLASS",
            help="The decision that people want; --reasons is not needed then. Default: the class that is "
            "not positive, or the next best.",
        ),
    ] = None,
    fixed: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column that cannot change, such as age. Can be given several times.",
        ),
    ] = None,
    together: Annotated[
        int,
        typer.Option(
            metavar="N",
            min=0,
            max=3,
            help="Number of columns that change together, at most; 0: no changes are searched for.",
        ),
    ] = 2,
    costs: Costs = None,
    skip_rows: SkipRows = None,
    sheet: SheetName = "",
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Print the reasons for the decisions on some rows, or a summary of the model."""
    with reported(traced=traceback):
        from rebelboost.cli.explain import Personal, run_explanation

        asks = reasons is not None or wanted is not None or fixed
        run_explanation(
            model,
            _source(data, skip_rows, sheet) if data else None,
            costs=costs,
            rows=rows,
            top=top,
            personal=Personal(reasons, wanted, tuple(fixed or ()), together) if asks else None,
            output=_output(as_json=as_json),
        )


@app.command("report", short_help="Write an HTML report on a model.")
def report_command(  # noqa: PLR0913, PLR0917  (options)
    model: Model,
    data: Data,
    to: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="HTML file to write; .md writes a model card."
        ),
    ] = Path("report.html"),
    target: TrueColumn = "",
    costs: Costs = None,
    positive: Positive = None,
    by: By = "",
    rows: Annotated[
        bool,
        typer.Option("--rows/--no-rows", help="Whether it shows single rows with their values."),
    ] = True,
    names: Annotated[
        bool,
        typer.Option("--names/--no-names", help="Whether it shows the names of rows."),
    ] = True,
    static: Annotated[
        bool,
        typer.Option("--static", help="Leave out the model, with which readers can try cases."),
    ] = False,
    guideline: Annotated[
        str,
        typer.Option(
            "--for",
            metavar="clinic | credit | eu | card",
            help="Write the facts under the items of TRIPOD+AI, of Regulation B and SR 26-2, of Annex IV of "
            "the EU AI Act, or as a model card; what only a person can say is marked.",
        ),
    ] = "",
    skip_rows: SkipRows = None,
    sheet: SheetName = "",
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Write an HTML report: accuracy and cost, mistakes, calibration, reasons, training."""
    with reported(traced=traceback):
        from rebelboost.cli.report import ShownRows, run_report

        shown = ShownRows(rows, names, positive, by, static, guideline)
        output = _output(as_json=as_json)
        run_report(
            model,
            _source(data, skip_rows, sheet),
            to,
            target=target,
            costs=costs,
            shown=shown,
            output=output,
        )


@app.command("serve", short_help="Answer requests for predictions over HTTP.")
def serve_command(  # noqa: PLR0913, PLR0917  (options)
    model: Model,
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Address to listen on; 0.0.0.0 for all of this machine."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(metavar="N", min=0, max=65535, help="Port; 0 chooses a free one.")
    ] = 8000,
    max_rows: Annotated[
        int, typer.Option(metavar="N", min=1, help="Maximum number of rows of a request.")
    ] = 1_000,
    max_bytes: Annotated[
        int, typer.Option(metavar="N", min=1, help="Maximum size of a request.")
    ] = 1_000_000,
    seconds: Annotated[
        float,
        typer.Option("--timeout", metavar="SECONDS", min=0.01, help="Maximum time of a request."),
    ] = 10.0,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Serve a model: POST rows as JSON to /predict or /explain.

    Rows are objects of column and cell, as they stand in the table. There is no encryption and no login: put
    a web server before it if others can reach it.
    """
    with reported(traced=traceback):
        from rebelboost.cli.serve import run_server

        run_server(
            model,
            host=host,
            port=port,
            max_rows=max_rows,
            max_bytes=max_bytes,
            seconds=seconds,
            output=_output(as_json=as_json),
        )


@app.command("export", short_help="Write a model as a program in C or JavaScript, or as ONNX.")
def export_command(
    model: Model,
    to: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="File to write; its suffix chooses the language: .c, .js, .mjs, .onnx or .json.",
        ),
    ],
    costs: Costs = None,
    bins: Annotated[
        bool,
        typer.Option("--bins", help="C with integers only, for machines without floating point."),
    ] = False,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Write a model as a program, which gives the same scores, probabilities and decisions."""
    with reported(traced=traceback):
        from rebelboost.cli.export import run_export

        run_export(model, to, costs=costs, bins=bins, output=_output(as_json=as_json))


@app.command("verify", short_help="Compare an exported model with the model, bit for bit.")
def verify_command(
    model: Model,
    exported: Annotated[
        Path, typer.Argument(metavar="EXPORTED", help="File written by `rebel export`.")
    ],
    costs: Costs = None,
    rows: Annotated[
        int, typer.Option(metavar="N", min=0, help="Number of random rows besides the others.")
    ] = 1000,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Run an exported model, and compare its scores, probabilities and decisions with the model's.

    The rows are computed from the model: both sides of every threshold, missing and extreme values, and
    random ones. C is compiled by cc, gcc, clang or zig, JavaScript is run by Node, and ONNX by onnxruntime.
    """
    with reported(traced=traceback):
        from rebelboost.cli.export import run_verification

        run_verification(model, exported, costs=costs, rows=rows, output=_output(as_json=as_json))


@app.command("demo", short_help="Run every command on an example data set.")
def demo_command(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="FOLDER", help="Folder for the files. Default: a new temporary folder."
        ),
    ] = None,
    traceback: Traceback = False,
) -> None:
    """Run every command on measurements of breast tumours, and print each command."""
    with reported(traced=traceback):
        from rebelboost.cli.demo import run_demo

        run_demo(folder, app, output=_output())

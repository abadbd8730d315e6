"""The commands and their options. Nothing heavy is imported here: `rebel --help` is there at once."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebelboost.cli.errors import reported

if TYPE_CHECKING:
    from rebelboost.cli.render import Output

app = typer.Typer(
    name="rebel",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # frames around the help would take as long again as all the rest
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Classifiers that know what mistakes cost, and tell their reasons. "
    "Begin with: rebel train data.csv --target COLUMN, or rebel demo.",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, one record a line, on stdout.")]
Traceback = Annotated[bool, typer.Option("--traceback", help="Show where an error arose.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="What `rebel train` wrote.")]
Data = Annotated[Path, typer.Argument(metavar="DATA", help="CSV or Parquet.")]


def _output(*, as_json: bool = False) -> "Output":
    from rebelboost.cli.render import Output

    return Output(as_json=as_json)


def _version(wanted: bool) -> None:
    if wanted:
        from rebelboost import __version__

        typer.echo(f"rebelboost {__version__}")
        raise typer.Exit


@app.callback()
def rebel(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")
    ] = False,
) -> None:
    """Classifiers that know what mistakes cost, and tell their reasons."""


@app.command("train", short_help="Learn a column of a table; write a model file.")
def train_command(  # noqa: PLR0913, PLR0917  (options)
    data: Data,
    target: Annotated[
        str | None, typer.Option("--target", "-t", metavar="COLUMN", help="The column to learn.")
    ] = None,
    costs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CSV of what mistakes cost: rows true, columns decided."),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The model's file; else DATA.safetensors, here."
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="Leave it out. Repeat for more.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="Use it though it looks useless. Repeat."),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="It holds codes, not numbers. Repeat."),
    ] = None,
    learner: Annotated[
        str, typer.Option(metavar="NAME", help="auto, tree, stump or similarity.")
    ] = "auto",
    rounds: Annotated[int | None, typer.Option(metavar="N", min=1, help="At most so many.")] = None,
    time_budget: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0.0, help="At most so long, about.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Of what is drawn at random.")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="All cores if not given.")
    ] = None,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Learn a column of a table, and write a model file."""
    with reported(traced=traceback):
        from rebelboost.cli.train import Choices, run_training
        from rebelboost.tables.schema import Wishes

        run_training(
            data,
            target,
            costs,
            model,
            wishes=Wishes(keep or (), ignore or (), categorical or ()),
            choices=Choices(learner, rounds, time_budget, seed, threads),
            output=_output(as_json=as_json),
        )


@app.command("predict", short_help="Decide on each row of a table.")
def predict_command(  # noqa: PLR0913, PLR0917  (options)
    model: Model,
    data: Data,
    to: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="CSV or Parquet; else CSV on stdout."),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option("--id", metavar="COLUMN", help="Copy it. Repeat for more."),
    ] = None,
    costs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Decide by these costs instead.")
    ] = None,
    batch: Annotated[
        int, typer.Option(metavar="N", min=1, help="Rows in memory at a time.")
    ] = 50_000,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Decide on each row: the decision, the probability of each class, the expected cost."""
    with reported(traced=traceback):
        from rebelboost.cli.predict import run_prediction

        run_prediction(
            model,
            data,
            to,
            costs=costs,
            keep=keep or (),
            batch=batch,
            output=_output(as_json=as_json),
        )


@app.command("evaluate", short_help="Judge a model by rows that it has not seen.")
def evaluate_command(
    model: Model,
    data: Data,
    costs: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Decide by these costs instead.")
    ] = None,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Judge a model by rows whose classes are known, and that it has not seen."""
    with reported(traced=traceback):
        from rebelboost.cli.evaluate import run_evaluation

        run_evaluation(model, data, costs=costs, output=_output(as_json=as_json))


@app.command("explain", short_help="Tell why a model decides as it does.")
def explain_command(
    model: Model,
    data: Annotated[
        Path | None,
        typer.Argument(metavar="DATA", help="CSV or Parquet; without it, the whole model."),
    ] = None,
    rows: Annotated[
        str, typer.Option(metavar="ROWS", help="Of the table, from 1, such as 3,17 or 5-8.")
    ] = "1-3",
    top: Annotated[int, typer.Option(metavar="N", min=1, help="Reasons for each row.")] = 5,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Tell why the model decides as it does on some rows, or what it consists of."""
    with reported(traced=traceback):
        from rebelboost.cli.explain import run_explanation

        run_explanation(model, data, rows=rows, top=top, output=_output(as_json=as_json))


@app.command("report", short_help="Write everything about a model on one page.")
def report_command(
    model: Model,
    data: Data,
    to: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The page.")] = Path(
        "report.html"
    ),
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Write one HTML page: figures with intervals, mistakes in counts and money, reasons."""
    with reported(traced=traceback):
        from rebelboost.cli.report import run_report

        run_report(model, data, to, output=_output(as_json=as_json))


@app.command("demo", short_help="Run the whole story, and show each command.")
def demo_command(
    folder: Annotated[
        Path | None, typer.Argument(metavar="FOLDER", help="For its files; else a temporary one.")
    ] = None,
    traceback: Traceback = False,
) -> None:
    """Run the whole story on a table of tumours, and show each command."""
    with reported(traced=traceback):
        from rebelboost.cli.demo import run_demo

        run_demo(folder, app, output=_output())

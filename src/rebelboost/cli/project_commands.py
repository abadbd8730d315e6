"""The commands `rebel project …` and their options."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rebelboost.cli.options import Categorical, Data, Ignored, Json, Kept, Traceback
from rebelboost.cli.output import reported

if TYPE_CHECKING:
    from rebelboost.cli.output import Output
    from rebelboost.tables.files import Source

project_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Learn with people: rows and labels that come, change and go, in one file.",
)

ProjectFile = Annotated[
    Path, typer.Argument(metavar="PROJECT", help="File written by `rebel project new`.")
]


def _output(as_json: bool) -> "Output":
    from rebelboost.cli.output import Output

    return Output(as_json=as_json)


def _source(data: list[Path]) -> "Source":
    from rebelboost.tables.files import source_of

    return source_of(data)


@project_app.command("new", short_help="Create a project from a table.")
def new_command(  # noqa: PLR0913, PLR0917  (options)
    project: Annotated[
        Path,
        typer.Argument(metavar="PROJECT", help="File to write, such as shops.rebel."),
    ],
    data: Data,
    target: Annotated[
        str, typer.Option("--target", "-t", metavar="COLUMN", help="Column with the labels.")
    ],
    identifier: Annotated[
        str, typer.Option("--id", metavar="COLUMN", help="Column whose values name the rows.")
    ] = "",
    task: Annotated[
        str,
        typer.Option(
            metavar="classes | numbers", help="What the target consists of. Default: detected."
        ),
    ] = "",
    costs: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="CSV file with the costs of mistakes by class, as for `rebel train`. Classes that come later "
            "cost 1.",
        ),
    ] = None,
    ignore: Ignored = None,
    keep: Kept = None,
    categorical: Categorical = None,
    learner: Annotated[
        str, typer.Option(metavar="NAME", help="Kind of model, as for `rebel train`.")
    ] = "auto",
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Create a project from a table. Rows without a value of the target have no label yet."""
    with reported(traced=traceback):
        from rebelboost.cli.project import NewProject, run_new
        from rebelboost.tables.columns import ColumnOptions

        columns = ColumnOptions(keep or (), ignore or (), categorical or ())
        given = NewProject(target, identifier, task, costs, columns, learner)
        run_new(project, _source(data), given, output=_output(as_json))


@project_app.command("add", short_help="Add the rows of a table.")
def add_command(
    project: ProjectFile, data: Data, as_json: Json = False, traceback: Traceback = False
) -> None:
    """Add the rows of a table, and fit the model anew if some have labels."""
    with reported(traced=traceback):
        from rebelboost.cli.project import run_add

        run_add(project, _source(data), output=_output(as_json))


@project_app.command("label", short_help="Give rows their labels, or correct them.")
def label_command(
    project: ProjectFile,
    answers: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ROW=LABEL", help="Row number or name, and its label: 12=yes 17=no."
        ),
    ] = None,
    listed: Annotated[
        Path | None,
        typer.Option(
            "--from",
            metavar="FILE",
            help="CSV file with the columns row and label, such as a list of `rebel project ask`.",
        ),
    ] = None,
    correct: Annotated[
        bool, typer.Option("--correct", help="Replace labels that were wrong.")
    ] = False,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Give rows their labels, and fit the model anew. What labels were before stays in the history."""
    with reported(traced=traceback):
        from rebelboost.cli.project import run_label

        run_label(project, answers or [], listed, corrects=correct, output=_output(as_json))


@project_app.command("ask", short_help="List the rows whose labels are worth most.")
def ask_command(
    project: ProjectFile,
    number: Annotated[
        int, typer.Option("--number", "-n", metavar="N", min=1, help="Number of rows.")
    ] = 5,
    to: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="CSV file to write, to be filled in."),
    ] = None,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """List the rows without a label whose labels would lower the costs of decisions most."""
    with reported(traced=traceback):
        from rebelboost.cli.project import run_ask

        run_ask(project, number, to, output=_output(as_json))


@project_app.command("forget", short_help="Erase rows from the project and its model.")
def forget_command(
    project: ProjectFile,
    rows: Annotated[list[str], typer.Argument(metavar="ROW", help="Numbers or names of rows.")],
    to: Annotated[
        Path | None,
        typer.Option("--receipt", metavar="FILE", help="Text file to write the receipt to."),
    ] = None,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Erase rows from the project and its model, and print a receipt."""
    with reported(traced=traceback):
        from rebelboost.cli.project import run_forget

        run_forget(project, rows, to, output=_output(as_json))


@project_app.command("status", short_help="Count rows, labels and fits.")
def status_command(
    project: ProjectFile, as_json: Json = False, traceback: Traceback = False
) -> None:
    """Print how many rows and labels there are, and the latest fits."""
    with reported(traced=traceback):
        from rebelboost.cli.project import run_status

        run_status(project, output=_output(as_json))


@project_app.command("save", short_help="Write the model to a file.")
def save_command(
    project: ProjectFile,
    to: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Model file to write.")
    ],
    rows: Annotated[
        str,
        typer.Option(
            metavar="values | ids | none",
            help="What is kept of the training rows, as in `rebel train`.",
        ),
    ] = "values",
    names: Annotated[
        bool,
        typer.Option("--names/--no-names", help="Whether rows are named by their identifiers."),
    ] = True,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Write the model to a file for `rebel predict`, `explain`, `report` and all other commands."""
    with reported(traced=traceback):
        from rebelboost.cli.project import run_save

        run_save(project, to, rows=rows, named=names, output=_output(as_json))


def watch_command(  # noqa: PLR0913, PLR0917  (options)
    project: ProjectFile,
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE", help="Folder into which files are put, or CSV file that grows."
        ),
    ],
    half_life: Annotated[
        float | None,
        typer.Option(metavar="N", help="Number of labels after which a row counts half."),
    ] = None,
    forget_after: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Number of labels after which a row is deleted."),
    ] = None,
    max_rows: Annotated[
        int, typer.Option(metavar="N", min=1, help="Maximum number of rows that are kept.")
    ] = 10_000,
    idle: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="End after so long without new rows. Default: go on until interrupted.",
        ),
    ] = None,
    as_json: Json = False,
    traceback: Traceback = False,
) -> None:
    """Predict the rows that come, learn from their labels, and say when the stream changes."""
    with reported(traced=traceback):
        from rebelboost.cli.project import Stream, run_watch

        stream = Stream(half_life, forget_after, max_rows, idle)
        run_watch(project, source, stream, output=_output(as_json))

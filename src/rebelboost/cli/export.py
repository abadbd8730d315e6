"""`rebel export` and `rebel verify`: a model as a program, and whether it answers alike."""

from pathlib import Path

import typer

from rebelboost.base.text import counted
from rebelboost.cli.inputs import with_costs
from rebelboost.cli.model_files import check_writable, load_model
from rebelboost.cli.output import Output
from rebelboost.exceptions import TableError

LARGE = 1e6
"""Bytes of a megabyte."""


def run_export(model: Path, to: Path, *, costs: Path | None, bins: bool, output: Output) -> None:
    """Write a model as a program."""
    check_writable(to, model, costs)
    estimator = with_costs(load_model(model), costs)
    estimator.export(to, bins=bins)
    size = to.stat().st_size
    output.record("export", {"path": str(to), "bytes": size})
    shown = f"{size / LARGE:.1f} MB" if size >= LARGE else f"{max(1, round(size / 1e3))} kB"
    output.text(f"Wrote {counted(len(estimator.ensemble_), 'term')} to {to} ({shown})")


def run_verification(
    model: Path, exported: Path, *, costs: Path | None, rows: int, output: Output
) -> None:
    """Compare an exported model with the model; exit with status 1 if they differ."""
    from rebelboost.export.vectors import samples_for
    from rebelboost.export.verify import verify

    if not exported.is_file():
        raise TableError(
            f"there is no file {exported}: `rebel export {model} -o {exported.name}` writes one"
        )
    estimator = with_costs(load_model(model), costs)
    fitted, plan = estimator.model_, getattr(estimator, "plan_", None)
    found = verify(fitted, exported, samples_for(fitted, rows), plan)
    first = None if found.first is None else found.first._asdict()
    record = {
        "rows": found.n_rows,
        "values": found.n_values,
        "differing": found.n_differing,
        "largest": found.largest,
        "first": first,
    }
    output.record("verification", record)
    output.text(str(found))
    if first is not None:
        raise typer.Exit(1)

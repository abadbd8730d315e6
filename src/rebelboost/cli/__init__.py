"""The command `rebel`. `main` defines its options; each command has a file; `render` prints."""

import sys
from importlib.util import find_spec

NEEDED = ("typer", "rich", "polars")


def run() -> None:
    """Start the command, or say what it lacks."""
    if not all(map(find_spec, NEEDED)):
        print('rebel needs more than the library: pip install "rebelboost[cli]"', file=sys.stderr)
        sys.exit(2)
    from rebelboost.cli.main import app

    app()

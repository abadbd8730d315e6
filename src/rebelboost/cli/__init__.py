"""The command `rebel`. `main` defines the options, each command has its own module, `output` prints."""

import sys
from importlib.util import find_spec

NEEDED = ("typer", "rich", "polars")


def run() -> None:
    """Run the command, or print which extra to install."""
    if not all(map(find_spec, NEEDED)):
        print('rebel needs extra packages: pip install "rebelboost[cli]"', file=sys.stderr)
        sys.exit(2)
    try:
        from rebelboost.cli.main import app

        app()
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(130)

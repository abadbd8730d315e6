"""The command `rebel`. `main` defines the options, each command has its own module, `output` prints."""

import gc
import sys
from importlib.util import find_spec

NEEDED = ("typer", "rich", "polars")


def run() -> None:
    """Run the command, or print which extra to install."""
    if not all(map(find_spec, NEEDED)):
        print('rebel needs extra packages: pip install "rebelboost[cli]"', file=sys.stderr)
        sys.exit(2)
    # Hundreds of modules are imported, and little of that is ever garbage.
    gc.set_threshold(100_000)
    try:
        from rebelboost.cli.main import app

        # Typer builds the options of every command that it knows.
        wanted = [each for each in app.registered_commands if each.name in sys.argv[1:2]]
        app.registered_commands = wanted or app.registered_commands
        app()
    except KeyboardInterrupt:  # before a command has begun
        sys.exit(130)

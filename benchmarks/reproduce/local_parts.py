"""What the experiments of `local.py` share: one of its parts run, and what it kept."""

import argparse
import json
from typing import Any

from reproduce import local
from reproduce.harness import FOLDER, log

NUMBERS = FOLDER / "local"  # its files have the names of our reports


def run_part(part: str, sets: list[str] | None) -> Any:
    """Run it, print its tables, and return the numbers behind them."""
    NUMBERS.mkdir(parents=True, exist_ok=True)
    options = argparse.Namespace(sets=sets, folder=NUMBERS)
    for text in local.PARTS[part](options):
        log(text)
    return json.loads((NUMBERS / f"local_{part}.json").read_text(encoding="utf-8"))

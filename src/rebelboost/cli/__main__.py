"""`python -m rebelboost.cli` is `rebel`."""

from rebelboost.cli import run

run()

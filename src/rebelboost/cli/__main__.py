"""Entry point of `python -m rebelboost.cli`, which is the same as `rebel`."""

from rebelboost.cli import run

run()

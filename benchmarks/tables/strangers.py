"""Tables of R and KEEL as strangers would give them, and what should be understood of each.

The kinds of columns are told by pandas: a column is one of numbers if all its cells are, but for marks of
missing values. What pandas cannot tell was written down by looking at the data.
"""

from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.tables.sources import of_keel, of_r

INDEX = "rownames"
MARKS = ["", ".", "?", "NA", "unknown"]
"""Cells that stand for missing values in these tables."""


class Stranger(NamedTuple):
    """A table, its target, and what pandas cannot tell of its columns."""

    package: str
    name: str
    target: str
    ignored: tuple[str, ...] = ()
    """Columns that should be ignored, besides the names of rows and the group."""
    group: str = ""
    dates: tuple[str, ...] = ()
    kinds: dict[str, str] = {}  # noqa: RUF012  (never changed)
    """Column → its kind, where pandas tells another."""
    leaks: tuple[str, ...] = ()
    """Columns that should be asked about: they decide the target alone, most of them because they are known
    only afterwards. They are ignored where claims are tested, as the command advises."""

    later: tuple[str, ...] = ()
    """Columns that are asked about after training only."""

    @property
    def title(self) -> str:
        return f"{self.package}/{self.name}"

    def write(self, to: Path) -> None:
        (of_keel(self.name) if self.package == "keel" else of_r(self.package, self.name))(to)


TABLES = [
    Stranger("medicaldata", "opt", "Preg.ended...37.wk", ("PID",), leaks=("GA.at.outcome",)),
    Stranger("medicaldata", "indo_rct", "outcome", ("id",)),
    Stranger("survival", "flchain", "death", leaks=("chapter",)),
    Stranger("medicaldata", "covid_testing", "result", group="subject_id", later=("ct_result",)),
    Stranger("survival", "pbcseq", "status", group="id"),
    Stranger("mosaicData", "HELPfull", "SATREAT", group="ID"),
    Stranger("openintro", "simpsons_paradox_covid", "outcome"),
    Stranger("modeldata", "credit_data", "Status"),
    Stranger("modeldata", "lending_club", "Class"),
    Stranger("openintro", "loans_full_schema", "loan_status"),
    Stranger("modeldata", "attrition", "Attrition"),
    Stranger("modeldata", "mlc_churn", "churn"),
    Stranger("modeldata", "wa_churn", "churn"),
    Stranger("modeldata", "stackoverflow", "Remote"),
    Stranger("modeldata", "cells", "class"),
    Stranger("modeldata", "hpc_data", "class"),
    Stranger("modeldata", "taxi", "tip"),
    Stranger("carData", "Arrests", "released"),
    Stranger("carData", "Chile", "vote"),
    Stranger("AER", "CreditCard", "card", leaks=("expenditure", "share")),
    Stranger("AER", "HMDA", "deny"),
    Stranger("AER", "HealthInsurance", "insurance"),
    Stranger("AER", "ResumeNames", "call", kinds={"minimum": "category"}),
    Stranger("openintro", "email", "spam", dates=("time",)),
    Stranger("openintro", "births14", "lowbirthweight", leaks=("weight",)),
    Stranger("ISLR", "OJ", "Purchase"),
    Stranger("ISLR", "Caravan", "Purchase"),
    Stranger("MASS", "biopsy", "class", group="ID"),
    Stranger("MASS", "Aids2", "status", leaks=("death",)),
    Stranger("survival", "retinopathy", "status", group="id"),
    Stranger("medicaldata", "blood_storage", "Recurrence", leaks=("Censor",)),
    Stranger("mlmRev", "Contraception", "use", ("woman",), kinds={"livch": "number"}),
    Stranger("geepack", "respiratory", "outcome", group="id"),
    Stranger("geepack", "muscatine", "obese", group="id", leaks=("numobese",)),
    Stranger("HSAUR", "respiratory", "status", group="subject"),
    Stranger("dslabs", "olive", "region", leaks=("area",)),
    Stranger(
        "mosaicData",
        "Gestation",
        "smoke",
        ("id", "plurality", "outcome", "sex"),
        dates=("date",),
        leaks=("time",),
    ),
    Stranger(
        "Ecdat",
        "HHSCyberSecurityBreaches",
        "Covered.Entity.Type",
        ("Name.of.Covered.Entity",),
        dates=("Breach.Submission.Date",),
    ),
    Stranger("wooldridge", "loanapp", "approve", ("msa",), leaks=("action", "reject")),
    Stranger("psych", "bfi", "gender"),
    Stranger("openintro", "resume", "received_callback", group="job_ad_id"),
    Stranger("keel", "german", "column_21"),
    Stranger("keel", "crx", "column_16"),
    Stranger("keel", "bands", "column_20"),
    Stranger("keel", "heart", "column_14"),
    Stranger("keel", "mammographic", "column_6"),
    # Not known afterwards, but one vote of 16 that decides the party: the question is right.
    Stranger("keel", "housevotes", "column_17", leaks=("column_4",)),
    Stranger("keel", "contraceptive", "column_10"),
    Stranger("keel", "saheart", "column_10"),
    Stranger("keel", "tic-tac-toe", "column_10"),
]


def told_by_pandas(path: Path, *, headed: bool) -> dict[str, str]:
    """Kind of each column of a file: "number" if all its cells are, else "category"."""
    import pandas as pd

    frame: Any = pd.read_csv(path, header=0 if headed else None, dtype=str, keep_default_na=True)
    if not headed:
        frame.columns = [f"column_{i + 1}" for i in range(frame.shape[1])]
    kinds = {}
    for name, column in frame.items():
        cells = column.str.strip()
        cells = cells[~cells.isin(MARKS) & cells.notna()]
        is_number = pd.to_numeric(cells, errors="coerce").notna().all()
        kinds[name] = "number" if is_number else "category"
    return kinds

"""Columns that identify rows, or groups of rows such as the visits of a patient, by their names."""

import re

_THINGS = (
    "patient|subject|participant|individual|person|customer|client|user|member|household|family|animal|"
    "machine|device|sensor"
)
_SHORT = "p|u|uu|gu|pt|pat|subj|case|hh|emp|cust|acct|stud|resp|record"
_GROUPS = re.compile(
    rf"(.*_)?({_THINGS}|({_THINGS}|{_SHORT})?_?id|key|nr|mrn|ssn)"
    r"(_?(id|nr|no|num|number|code|key|str))?_?"
)
_INDEX = r"index|idx|rownames?|row|row_(names?|numbers?|nr|no)|no|unnamed:_\d+|__index_level_\d+__"
_ROWS = re.compile(rf"{_GROUPS.pattern}|(.*_)?({_INDEX})_?")
_NO_NAME = re.compile(rf"{_INDEX}|column_\d+|id|nr")


def _words(name: str) -> str:
    """A name in lower case, its words separated by underscores: customerID becomes customer_id."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[ .-]", "_", apart).lower()


def names_groups(name: str) -> bool:
    """Whether a column is named as identifiers are whose values may repeat, such as PID or caseid."""
    return _GROUPS.fullmatch(_words(name)) is not None


def names_rows(name: str) -> bool:
    """Whether a column is named as identifiers or row numbers are."""
    return _ROWS.fullmatch(_words(name)) is not None


def is_nameless(name: str) -> bool:
    """Whether the name of an identifier, such as rownames, only says that it is one."""
    return _NO_NAME.fullmatch(_words(name)) is not None

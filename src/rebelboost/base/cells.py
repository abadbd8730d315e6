"""Cells of tables that stand for missing values."""

MISSING = ("", "?", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "null", "NULL", "Null")
"""Cells that count as missing in any column."""
_WORDS = ("none", "na", "n.a.", "missing", "unknown", "not available")
MISSING_NUMBERS = (
    *("-", "--", ".", ".."),
    *(form(word) for word in _WORDS for form in (str.lower, str.capitalize, str.upper)),
)
"""Cells that count as missing in columns of numbers and dates only; elsewhere they may be categories."""

"""What the numbers that a detector is trained with may be."""

from typing import Any


def check_parameters(given: Any) -> None:
    """Raise an error that names the parameter and what it may be."""
    rules: list[tuple[str, bool, str]] = [
        ("n_terms", 1 <= given.n_terms <= 100_000, "1 or more"),
        ("depth", 1 <= given.depth <= 6, "1 to 6"),
        ("outputs", given.outputs in ("leaf", "tree"), '"leaf" or "tree"'),
        ("price_of_a_miss", 0 < given.price_of_a_miss <= 1e6, "a number above 0, up to 10⁶"),
        ("detection_rate", 0 < given.detection_rate <= 1, "a share above 0, up to 1"),
        ("false_alarm_rate", 0 <= given.false_alarm_rate < 1, "a rate from 0 to below 1"),
        ("early_misses", 0 <= given.early_misses < 1, "a share from 0 to below 1"),
        ("copies", 0 <= given.copies <= 100, "0 to 100"),
        ("turn", 0 <= given.turn <= 180, "0 to 180 degrees"),
        ("n_windows", given.n_windows >= 100, "100 or more"),
        ("max_stages", given.max_stages >= 1, "1 or more"),
        ("step", given.step is None or given.step >= 1, "1 or more, or None"),
    ]
    for name, good, wanted in rules:
        if not good:
            raise ValueError(f"{name} is {getattr(given, name)!r}: give {wanted}")

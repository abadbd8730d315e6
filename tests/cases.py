"""How many cases a property is tried on."""

from hypothesis import settings


def cases(usual):
    """As many as usual; under another profile, in proportion to its number of cases.

    `pytest --hypothesis-profile=long` tries ten times as many. Hypothesis itself would let a number
    beside a test win over the profile's.
    """
    return settings(max_examples=max(1, usual * settings().max_examples // 100))

"""Numbers as text: few digits, none of them misleading."""

import math

import pytest

from rebelboost.base.text import (
    amount,
    calendar_date,
    counted,
    number,
    percent,
    percent_change,
    probability,
    signed,
    time_of_day,
    whole_percent,
)


def test_amounts_are_short():
    shown = {0: "0", 12: "12", 1234567: "1,234,567", 1234.5: "1,234", 83.204: "83.20"}
    shown |= {2.5: "2.50", 0.96701: "0.967", 0.00012: "0.00012"}
    assert {value: amount(value) for value in shown} == shown


def test_numbers_have_their_significant_digits_or_all_before_the_point():
    shown = {0: "0", 0.12349: "0.123", 83.204: "83.2", 999.7: "1,000", -1234.5: "-1,234"}
    shown |= {2.5e9: "2,500,000,000", 1.5e300: "1.5e+300", 1.2e-7: "1.2e-07", math.inf: "inf"}
    assert {value: number(value) for value in shown} == shown
    assert number(83.2049, 4) == "83.2"
    assert number(0.12349, 4) == "0.1235"


def test_what_is_added_has_a_sign():
    shown = {0: "+0.00", 1.254: "+1.25", -0.0342: "−0.034", -2e-5: "−2e-05", 1234.5: "+1,234"}
    assert {value: signed(value) for value in shown} == shown


def test_shares_are_percents():
    assert (percent(0.1234), whole_percent(0.1234), percent(1)) == ("12.3 %", "12 %", "100.0 %")
    assert percent(math.nan) == "–"


def test_a_share_that_is_not_0_or_1_is_not_printed_as_such():
    shares = (0.9998, 0.99996, 0.0004, 1 - 1e-9, 1e-9, 0.9994)
    told = ("99.98 %", "99.996 %", "0.04 %", "above 99.9999 %", "below 0.0001 %", "99.9 %")
    assert tuple(map(percent, shares)) == told
    assert (percent(0), percent(1)) == ("0.0 %", "100.0 %")


def test_changes_are_signed_percents():
    assert (percent_change(4, 5), percent_change(6, 1)) == ("+25 %", "-83 %")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "below 0.01 %"),
        (0.0081, "0.81 %"),
        (0.01, "1 %"),
        (0.5, "50 %"),
        (0.9919, "99.19 %"),
        (1.0, "above 99.99 %"),
    ],
)
def test_no_probability_looks_like_certainty(value, shown):
    assert probability(value) == shown


def test_one_thing_has_no_plural():
    shown = [counted(1, "row"), counted(0, "row"), counted(1234, "row"), counted(2, "class")]
    assert shown == ["1 row", "0 rows", "1,234 rows", "2 classes"]


def test_days_are_dates_and_hours_are_times():
    shown = {0: "1970-01-01", -1: "1969-12-31", 19724.5: "2024-01-02 12:00", 1e12: "1e+12"}
    shown |= {19724 + 13 / 24 + 1e-9: "2024-01-02 13:00", 19724 + 1e-7: "2024-01-02"}
    assert {days: calendar_date(days) for days in shown} == shown
    assert [time_of_day(hours) for hours in (0, 7.5, 13.999)] == ["00:00", "07:30", "14:00"]

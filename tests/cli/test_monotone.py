"""`rebel train --monotone`: what is asked for is proven, printed and kept."""

import pytest

from rebelboost import load

TRAIN = ("train", "loans.csv", "--target", "repaid", "--rounds", 6)


def test_what_is_proven_is_printed_recorded_and_kept(loans, rebel, records):
    done = rebel(*TRAIN, "--monotone", "amount=+1")
    assert done.exit_code == 0, done.stderr
    flat = " ".join(done.stdout.split())
    assert "proven The probability of yes never falls as amount rises" in flat
    clf = load(loans.with_name("loans.safetensors"))
    (feature, sign) = clf.model_.monotone[0]
    assert (clf.feature_names_in_[feature], sign) == ("amount", 1)
    _, model = records(*TRAIN, "--monotone", "amount=+1", "--force")
    assert len(model["proven"]) == 2
    _, model = records(*TRAIN, "--force")
    assert model["proven"] == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("amoun=+1", "amoun"),
        ("amount=2", "amount"),
        ("amount", "amount"),
        ("city=+1", "city"),
    ],
)
def test_columns_and_directions_that_cannot_be_are_refused_before_training(
    loans, rebel, given, told
):
    done = rebel(*TRAIN, "--monotone", given)
    assert done.exit_code == 2
    assert told in done.stderr
    assert not loans.with_name("loans.safetensors").exists()

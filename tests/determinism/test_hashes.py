"""A change of bits is a decision: record it, and write it in the changelog.

`python -m tests.determinism --record` stores new hashes.
"""

import json
from pathlib import Path

import pytest

from determinism.models import MODELS, hash_of

STORED = json.loads(Path(__file__).with_name("hashes.json").read_text())


def test_every_model_has_a_stored_hash():
    assert STORED.keys() == MODELS.keys()


@pytest.mark.parametrize("name", MODELS)
def test_a_model_has_its_stored_bits(name):
    assert hash_of(name) == STORED[name]

"""Models as plain JSON: by the schema of the docs, and enough to compute the scores."""

import json
import re
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from rebelboost.estimators.base import encode_table
from stored_models import MAKERS, make

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "files.md").read_text(encoding="utf-8")
SCHEMA = json.loads(re.search(r"```json\n(.*?)```", PAGE, flags=re.DOTALL)[1])
NOT_BY_HAND = {
    "metric",
    "precomputed",
    "similarity_table",
    "cross_fit_similarity",
    "blend",
    "compressed",
    "similarity_exact",
}
"""The page's example leaves out other metrics, spaces with a turn, and exact responses."""


@pytest.fixture(scope="module")
def by_hand():
    """The function `scores` of the docs."""
    (example,) = re.findall(r"```python\n(import json.*?)X, y = load_iris", PAGE, flags=re.DOTALL)
    names = {}
    exec(compile(example, "docs", "exec"), names)
    return names["scores"]


@pytest.mark.parametrize("kind", MAKERS)
def test_the_plain_form_is_json_and_keeps_to_the_schema(kind):
    plain = make(kind)[0].to_dict()
    told = json.loads(json.dumps(plain, allow_nan=False))
    assert told == plain
    jsonschema.validate(told, SCHEMA)


def test_the_schema_notices_what_is_wrong():
    plain = make("two_kinds")[0].to_dict()
    for part in ("terms", "classes", "costs", "decoder"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**plain, part: 3}, SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**plain, "more": 3}, SCHEMA)


@pytest.mark.parametrize("kind", sorted(MAKERS.keys() - NOT_BY_HAND - {"one_class"}))
def test_the_example_of_the_docs_computes_the_scores(kind, by_hand):
    model, X = make(kind)
    plain = json.loads(json.dumps(model.to_dict()))
    rows = X.astype(object).where(X.notna(), None).to_numpy() if hasattr(X, "columns") else X
    found = np.array([by_hand(plain, row) for row in rows.tolist()])
    # Sums of the same numbers in the same order, but for terms of two kinds.
    np.testing.assert_allclose(
        found, model.ensemble_.scores(encode_table(model, X)), rtol=0, atol=1e-12
    )

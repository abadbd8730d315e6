"""Values and thresholds in words: dates and times of day are numbers to the model only."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from rebelboost import RebelClassifier, Tree


def test_dates_and_times_are_told_as_such():
    days, hours = np.arange(19723.0, 19763.0), np.tile([8.25, 17.5], 20)
    model = RebelClassifier(Tree(depth=2), n_rounds=1).fit(
        pd.DataFrame({"since": days, "at": hours}), (days > 19742) & (hours > 12)
    )
    columns = [{"name": "since", "kind": "date"}, {"name": "at", "kind": "time"}]
    assert "since > 19743.5" in str(model.summary())
    model.metadata_ = {"table": {"columns": columns}}
    assert "since > 2024-01-21 12:00" in str(model.summary())
    why = str(model.explain(pd.DataFrame({"since": [19760.0], "at": [17.5]})))
    assert "since = 2024-02-07" in why
    assert "at = 17:30" in why
    assert "at > 12:52" in why


@pytest.mark.parametrize("table", ["loans.csv", {"columns": 3}, {"columns": [3, {"name": [1]}]}])
def test_the_users_own_metadata_do_no_harm(table):
    X, y = load_iris(return_X_y=True)
    model = RebelClassifier("stump", n_rounds=2, cross_fit=None).fit(X, y)
    told = str(model.summary())
    model.metadata_ = {"table": table}
    assert str(model.summary()) == told

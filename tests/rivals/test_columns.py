"""How libraries that know numbers alone are fed."""

import numpy as np
import pytest

from compare import load
from compare.columns import frame

NAN = np.nan
TABLE = np.array([[0, 1.0], [1, NAN], [2, 3.0], [NAN, 5.0]])


def test_frame_has_the_levels_as_text_and_keeps_what_is_missing():
    table = frame(TABLE, np.array([True, False]))
    assert table["x0"].cat.categories.tolist() == ["c000", "c001", "c002"]
    assert table.isna().sum().tolist() == [1, 1]


@pytest.mark.parametrize("rival", ["random_forest", "extra_trees", "svc", "mlp", "knn"])
def test_categories_become_columns_and_medians_fill(rival):
    table = frame(TABLE, np.array([True, False]))
    encoder = load(rival).make(1)[:-1]
    encoded = encoder.fit_transform(table)
    assert encoded[:, :4].tolist() == np.eye(4).tolist()
    assert np.isfinite(encoded).all()
    assert encoded[1, 4] == encoded[2, 4]  # 3 is the median


def test_arrays_are_numbers():
    model = load("random_forest").make(1).fit(np.arange(6.0).reshape(6, 1), [0, 0, 0, 1, 1, 1])
    assert model.predict([[0.0], [5.0]]).tolist() == [0, 1]

"""A project of shops."""

import pytest

from rebelboost.live import Project
from shops import shop_rows


@pytest.fixture
def rows():
    return shop_rows()


@pytest.fixture
def project(tmp_path, rows):
    with Project.create(tmp_path / "shops.rebel", rows, "kind", who="ada") as found:
        yield found

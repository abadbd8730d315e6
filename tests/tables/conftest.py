"""Tables to be read."""

import pytest

from loans import loan_lines
from written_tables import write


@pytest.fixture
def loans(tmp_path):
    return write(tmp_path / "loans.csv", "\n".join(loan_lines()) + "\n")

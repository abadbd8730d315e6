import pytest
from hypothesis import settings

from rebelboost import kernels

# Other work on the machine must not fail a test.
settings.register_profile("default", deadline=None)
# For a night, or after a change of kernels: see cases.py.
settings.register_profile("long", deadline=None, max_examples=1000)
settings.load_profile("default")


def pytest_report_header() -> str:
    return f"kernels: {kernels.active.__name__}"


@pytest.fixture(scope="session")
def compiled():
    if kernels.compiled is None:
        pytest.skip("no compiled kernels here")
    return kernels.compiled

from pathlib import Path

import pytest
from hypothesis import settings

from rebelboost import kernels, load
from rebelboost.files import model_file

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


@pytest.fixture(autouse=True, scope="session")
def every_saved_model_is_loaded():
    """Load each file of a model, as soon as a test has written it."""
    with pytest.MonkeyPatch.context() as patch:
        write = model_file.write

        def write_and_load(path, *contents):
            write(path, *contents)
            if Path(path).is_file():
                load(path)

        patch.setattr(model_file, "write", write_and_load)
        yield

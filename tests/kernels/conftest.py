import pytest
from hypothesis import settings

from rebelboost import kernels

# For .ci/sanitize: instrumented code is slow, and a few passes over each path show what they can.
settings.register_profile("sanitized", deadline=None, max_examples=12, database=None)


@pytest.fixture(scope="session", params=["reference", "compiled"])
def either(request):
    """Each of the two modules in turn, for properties that both have by themselves."""
    module = getattr(kernels, request.param)
    if module is None:
        pytest.skip("no compiled kernels here")
    return module

"""What holds for all tests."""

import pytest
from hypothesis import settings

# No deadline: a slow machine is no failure. For a longer search: pytest --hypothesis-profile=thorough.
settings.register_profile("kesoku", deadline=None, max_examples=60, print_blob=True)
settings.register_profile("thorough", deadline=None, max_examples=1_000, print_blob=True)
settings.load_profile("kesoku")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What random examples happen to reach is no coverage: the figure stays the same from run to run, and they do not
    pay for the tracer, which makes them two and a half times as slow. Long walks are marked so where they stand."""
    for item in items:
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.no_cover)


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback calls must not go through a proxy of the machine."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)

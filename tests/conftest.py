"""What holds for all tests."""

import asyncio
import gc
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import settings

from .forkserver import ForkServer
from .measured import Measured
from .patient import PatientLoop

# No deadline: a slow machine is no failure. The same examples each time: a change that breaks nothing passes. For a
# search: pytest --hypothesis-profile=thorough.
settings.register_profile("kesoku", deadline=None, max_examples=30, derandomize=True)
settings.register_profile("thorough", deadline=None, max_examples=1_000, print_blob=True)
settings.load_profile("kesoku")


WHOLE_PROGRAMS = [
    Path(__file__).parent / name
    for name in (
        *("adapters/cli/test_terminal.py", "crash", "degraded", "end_to_end"),
        *("stores/test_faulty_store.py", "stores/test_processes.py", "unit/adapter/test_kill.py"),
    )
]
"""Whole programs at work, most of them in processes of their own, which the tracer does not follow anyway."""

REACHED_ELSEWHERE = [
    Path(__file__).parent / name
    for name in (
        *(f"adapters/discord/test_{name}.py" for name in ("contract", "gate", "said", "who_may", "written")),
        *(f"spec/test_{name}.py" for name in ("lifecycle", "trajectories", "visibility")),
        *(f"stores/test_{name}.py" for name in ("cache", "group", "hooks", "plans", "scrub")),
        *("unit/adapter/test_contract.py", "unit/agent/test_over_the_wire.py", "unit/config/test_example.py"),
        *("unit/commands/test_any_talk.py", "unit/commands/test_masked.py", "unit/exchange/test_rest.py"),
        *(f"unit/docs/test_{name}.py" for name in ("bot", "letterbox", "pages")),
        *(f"unit/gateway/test_{name}.py" for name in ("claim", "crash", "intake", "recovery", "subscription", "turn")),
        *(f"unit/llm/gemini/test_{name}.py" for name in ("history", "scenario", "vertex")),
        *("unit/llm/test_contract.py", "unit/llm/test_limiter.py", "unit/test_reference.py"),
    )
]
"""Tests that take the longest and reach, but for a few lines, only what the others reach."""

UNMEASURED = [*WHOLE_PROGRAMS, *REACHED_ELSEWHERE]

KIT = Path(__file__).parent / "unit" / "testing"
"""Tests of `kesoku.testing`."""


def pytest_configure(config: pytest.Config) -> None:
    """Where coverage is measured, only tests pay for it."""
    if config.pluginmanager.hasplugin("_cov"):
        config.pluginmanager.register(Measured())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """To collect thousands of tests makes objects by the million that all stay: nothing is to be found among them, so
    they are left out of every search for garbage, which else takes seconds of each worker's time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The coverage figure says what tests of one part reach. What random examples or whole programs happen to reach
    is left out: so the figure stays the same from run to run, and they do not pay for the tracer, which makes them
    twice as slow. Other long walks are marked so where they stand."""
    paths = {item.path for item in items}
    unmeasured, whole = (
        {path for path in paths if any(path.is_relative_to(each) for each in several)}
        for several in (UNMEASURED, WHOLE_PROGRAMS)
    )
    for item in items:
        is_random = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if is_random or item.path in unmeasured or _is_of_the_kit(item):
            item.add_marker(pytest.mark.no_cover)
        if item.path in whole and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(300))  # many processes on a loaded machine


def _is_of_the_kit(item: pytest.Item) -> bool:
    """Whether a test runs over the store in memory, whose twin runs over SQLite, or is about the kit itself: neither is
    measured, and the twin reaches the same lines."""
    case = getattr(getattr(item, "callspec", None), "id", "")
    return item.path.is_relative_to(KIT) or "TestMemory" in item.nodeid or "memory" in case.split("-")


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """A limit in a test is one of work, not of what else this machine does."""
    return {"patient": PatientLoop}


@pytest.fixture(scope="session")
def forkserver() -> Iterator[ForkServer]:
    """The process of which most commands are forks."""
    with closing(ForkServer()) as made:
        yield made


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Loopback calls must not go through a proxy of the machine."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)

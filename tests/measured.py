"""Coverage follows what tests and their fixtures run, and not the machinery around them.

The tracer makes every line twice as slow, the ones of pytest and of the test files included, which nobody asks about:
for a test of a millisecond that is most of its time.
"""

import pkgutil
import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

PRODUCT = ("kesoku", "kesoku_cli", "kesoku_discord")
"""The packages that are measured."""

_Tracer = Any
"""What `sys.gettrace` returns: the C tracer of coverage, or nothing where the interpreter counts for itself."""


class Measured:
    """A plugin that turns the tracer of this thread on for tests and fixtures only. Other threads are followed from
    their start to their end: what a fixture has started goes on within the test."""

    def __init__(self) -> None:
        self._tracer: _Tracer = None

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self, session: pytest.Session) -> Generator[None, object, object]:
        """What modules do when they are imported is measured before the test files are read."""
        if session.config.getoption("dist", "no") == "no":  # where others do the work nothing is collected
            _import_product()
        self._pause()
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[object], request: pytest.FixtureRequest
    ) -> Generator[None, object, object]:
        """A fixture of ours, not one of pytest."""
        if fixturedef.func.__module__.startswith(("_pytest", "pytest")) or not _is_measured(request.node):
            return (yield)
        with self._on():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, object, object]:
        """The test."""
        if not _is_measured(pyfuncitem):
            return (yield)
        with self._on():
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        """pytest-cov stops for a test that is not measured, and begins again after it with a new tracer."""
        try:
            return (yield)
        finally:
            self._pause()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        """What fixtures do at their end."""
        if not _is_measured(item):
            return (yield)
        with self._on():
            return (yield)

    @contextmanager
    def _on(self) -> Generator[None]:
        before = sys.gettrace()  # a fixture may be asked for within a test
        sys.settrace(self._tracer)
        try:
            yield
        finally:
            sys.settrace(before)

    def _pause(self) -> None:
        if tracer := sys.gettrace():
            self._tracer = tracer
            sys.settrace(None)


def _is_measured(node: pytest.Item | pytest.Collector) -> bool:
    return node.get_closest_marker("no_cover") is None


def _import_product() -> None:
    for package in map(import_module, PRODUCT):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.startswith("kesoku.testing") and not module.name.endswith("__main__"):
                import_module(module.name)

"""The same suite over every store: the fake, the fake that runs each operation twice, and the database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kesoku.ports import Store
from kesoku.store import SqlStore
from kesoku.testing.gateway_harness import GatewayHarness
from kesoku.testing.memory import MemoryStore


@pytest.fixture(params=["memory", "rerun", "sql"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    opened: Store
    if request.param == "sql":
        opened = await SqlStore.open(tmp_path / "kesoku.db")
    else:
        opened = MemoryStore(rerun=request.param == "rerun")
    yield opened
    await opened.aclose()


@pytest.fixture
def bench(store: Store) -> GatewayHarness:
    return GatewayHarness(store)

"""What the tests of the SQL store share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kesoku.testing.sync_store import SyncStore

pytest.register_assert_rewrite(
    "kesoku.testing.store_contract",
    "kesoku.testing.message_contract",
    "kesoku.testing.turn_contract",
    "kesoku.testing.ledger_contract",
    "kesoku.testing.branch_contract",
    "kesoku.testing.hook_contract",
    "kesoku.testing.archive_contract",
    "kesoku.testing.mail_contract",
)


@pytest.fixture
def sync_store(tmp_path: Path) -> Iterator[SyncStore]:
    """A new database, without threads."""
    sync_store = SyncStore(tmp_path / "kesoku.db")
    yield sync_store
    sync_store.close()

"""What the tests of the SQL store share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kesoku.testing.desk import Desk

pytest.register_assert_rewrite(
    "kesoku.testing.store_contract",
    "kesoku.testing.message_contract",
    "kesoku.testing.turn_contract",
    "kesoku.testing.ledger_contract",
)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A new database, without threads."""
    desk = Desk(tmp_path / "kesoku.db")
    yield desk
    desk.close()

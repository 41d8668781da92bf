"""/why, /export and /redact in conversations of every shape."""

from pathlib import Path
from random import Random

import pytest

from kesoku.adapter.staging import Staging
from kesoku.agent.limits import TurnLimits
from kesoku.agent.view import Viewer
from kesoku.commands.export import Export
from kesoku.commands.redact import Redact
from kesoku.commands.registry import Registry
from kesoku.commands.why import Why
from kesoku.history.codec import reply_from_json
from kesoku.messages.record import Record
from kesoku.messages.redaction import is_redacted
from kesoku.ports import Transaction
from kesoku.testing.gateway_harness import ROOM
from kesoku.testing.grammar import violations
from kesoku.testing.random_talk import RandomTalk
from kesoku.testing.store_material import store_talk

from .desk import Desk, desk


async def talk_of(seed: int, folder: Path) -> tuple[Desk, Viewer, list[Record]]:
    """A desk with a random conversation."""
    talk = RandomTalk(seed)
    for _ in range(5):
        list(talk.turn())
    table = desk()
    store, staging = table.harness.store, Staging(folder)
    viewer = Viewer(assistants=table.harness.assistants, limits=TurnLimits())
    table.registry = Registry(
        [
            *Why(store=store).commands(),
            *Export(store=store, viewer=viewer, staging=staging).commands(),
            *Redact(store=store, clock=table.harness.clock, folder=staging.folder).commands(),
        ]
    )

    def operation(tx: Transaction) -> list[Record]:
        store_talk(tx, talk.talk, session="s1")
        tx.sessions.bind(ROOM, "s1")
        return tx.messages.session("s1")

    return table, viewer, await store.write(operation)


@pytest.mark.parametrize("seed", range(12))
async def test_every_message_has_a_story_and_loses_its_words(tmp_path: Path, seed: int) -> None:
    """C-16: whatever is redacted, in whatever order, the rest is read as before."""
    table, viewer, records = await talk_of(seed, tmp_path)
    store = table.harness.store

    async def look() -> list[str]:
        def operation(tx: Transaction) -> list[str]:
            session = tx.sessions.get("s1")
            assert session is not None
            steps = (step for each in records for step in tx.steps.of(each.turn_id or each.id))
            assert all(reply_from_json(step.reply) for step in steps if step.reply)
            return violations(viewer.view(tx, session, ROOM).request)

        return await store.read(operation)

    chosen = Random(seed).sample(records, min(8, len(records)))
    for record in chosen:
        assert f"#{record.session_n}: " in await table.give(f"/why {record.session_n}")
        await table.give(f"/redact {record.session_n}", admin=True)
        assert await look() == []
        assert "its words were redacted" in await table.give(f"/why {record.session_n}")
    for form in ("raw", "model"):
        assert await table.give(f"/export {form}")
    found = {each.id: each for each in await store.read(lambda tx: tx.messages.session("s1"))}
    assert all(is_redacted(found[each.id].message) for each in chosen)
    assert [each.id for each in records] == list(found)

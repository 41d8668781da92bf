"""A change of an old row shows in the next request, whoever made it and however often the row was read before."""

import asyncio
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from kesoku.messages.turn import CompiledRequest
from kesoku.store import SqlStore
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.model import ScriptedModel

REWRITE = textwrap.dedent(
    """
    import asyncio, sys
    from dataclasses import replace
    from kesoku.store import SqlStore

    async def main(path, message_id):
        def rewrite(tx):
            message = tx.messages.get(message_id).message
            content = replace(message.content, text="better words")
            tx.messages.rewrite(replace(message, content=content, version=message.version + 1), actor="me", at=1)
        async with await SqlStore.open(path) as store:
            await store.write(rewrite)

    asyncio.run(main(*sys.argv[1:]))
    """
)
UPDATE = textwrap.dedent(
    """
    import sqlite3, sys
    with sqlite3.connect(sys.argv[1]) as db:
        db.execute("UPDATE messages SET content = {} WHERE id = ?", sys.argv[2:])
    """
)
REDACT = UPDATE.format("replace(content, 'secret', 'better')")
SPOIL = UPDATE.format("substr(content, 2)")
MEND = UPDATE.format("'{' || content")


async def elsewhere(code: str, path: Path, message_id: str) -> None:
    """Run it in another process."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, str(path), message_id)
    assert await process.wait() == 0


def words(request: CompiledRequest) -> str:
    return str([turn.blocks for turn in request.turns])


@pytest.mark.parametrize("change", [REWRITE, REDACT], ids=["rewrite", "redact"])
async def test_another_process_changes_an_old_prompt(tmp_path: Path, change: str) -> None:
    path = tmp_path / "kesoku.db"
    async with await SqlStore.open(path) as store:
        model = ScriptedModel("one", "two", "three", "four")
        harness = AgentHarness(model, store=store, replays=change == REWRITE)  # the other one leaves no trace
        async with harness.at_work():
            first = await harness.say("secret words")
            await harness.answered(first)
            for _ in range(2):
                await harness.answered(await harness.say("and?"))
            await elsewhere(change, path, first.id)
            await harness.answered(await harness.say("again"))
    assert all("secret words" in words(request) for request in model.requests[:3])
    assert "secret" not in words(model.requests[3])
    assert "better words" in words(model.requests[3])


async def test_a_row_that_was_read_may_be_damaged_and_mended(tmp_path: Path) -> None:
    path = tmp_path / "kesoku.db"
    async with await SqlStore.open(path) as store:
        said = await AgentHarness(ScriptedModel(), store=store).say("hello")
        seen: list[Any] = []
        for change in ("", SPOIL, MEND):
            await elsewhere(change, path, said.id)
            seen.append(await store.read(lambda tx: tx.messages.get(said.id)))
    before, spoiled, mended = seen
    assert spoiled.is_damaged
    assert (mended, mended.message.rendered) == (before, "hello")

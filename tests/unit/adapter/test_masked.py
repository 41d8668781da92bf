"""No adapter is handed a call with a known secret in it, wherever it gets the call from."""

import asyncio
from typing import Any

import pytest

from kesoku.messages import make
from kesoku.messages.record import Record
from kesoku.render.mask import Mask
from kesoku.testing.clock import settle
from kesoku.testing.recording import LIVE, RecordingAdapter

TOKEN = "token-1234"
BAR = {"visibility": LIVE, "live": True, "edits": True, "deletes": True, "key_window": 300.0}


class Watching(RecordingAdapter):
    """Keeps every call and result that it is handed, by the way it came."""

    handed: dict[str, list[str]]

    def _see(self, way: str, item: Any) -> None:
        if isinstance(item, Record) and item.kind in {"tool_call", "tool_result"}:
            self.handed.setdefault(way, []).append(str(item.message.content.arguments))

    def render(self, record: Any, context: Any) -> Any:
        self._see("render", record)
        return super().render(record, context)

    def fold(self, state: Any, item: Any) -> Any:
        self._see("fold", item)
        return super().fold(state, item)

    async def delivered(self, record: Any, receipts: Any) -> None:
        self._see("delivered", record)
        await super().delivered(record, receipts)

    async def watch(self, inbox: Any, channel: Any) -> None:
        async with inbox.follow(channel) as records:
            async for record in records:
                self._see("follow", record)


@pytest.mark.parametrize(("facts", "ways"), [({}, {"render"}), (BAR, {"fold"})], ids=["messages", "live status"])
async def test_known_secrets_are_masked_on_every_way(world: Any, quiet: Any, facts: Any, ways: set[str]) -> None:
    """Complaint 168."""
    async with world.runner(kind=Watching, mask=Mask({TOKEN}), **facts) as runner:
        adapter = runner.adapter
        adapter.handed = {}
        watching = asyncio.create_task(adapter.watch(runner.inbox, runner.address("c")))
        world.platform.say("c", "go")
        await settle()
        claim = await runner.claim()
        asked = await runner.say(claim, make.tool_call("fetch", {"key": TOKEN}, provider="p", model="m"))
        await quiet(runner)
        result = await runner.respond(claim, asked)
        await quiet(runner)
        await world.clock.advance(2)
        watching.cancel()
    assert set(adapter.handed) == {*ways, "delivered", "follow"}
    for seen in adapter.handed.values():
        assert len(seen) >= 2
        assert set(seen) == {"{'key': '[secret]'}"}
    assert result.message.content.arguments == {"key": TOKEN}, "what is stored is what the model wrote"

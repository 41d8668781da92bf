"""Any script of failures and restarts: nothing is lost, nothing is out of order, doubles only where nobody can tell."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kesoku.adapter.sender import BLIND
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import Delivery, DeliveryState
from kesoku.messages.record import Record
from kesoku.testing.clock import settle
from kesoku.testing.memory import MemoryStore
from kesoku.testing.platform import Fault

from .conftest import World

CHANNELS = ("a", "b")
KINDS = ["none", "retry", "refuse", "lost", "arrived", "bug", "hang", "stuck", "stuck", "hold", "login"]
MOVES = ["answer a", "answer a", "answer b", "restart", "restart", "minute", "speak a", "well"]
faults = st.lists(st.sampled_from(KINDS), min_size=1, max_size=8)
steps = st.lists(st.sampled_from(MOVES), min_size=4, max_size=12)
able = st.sampled_from([{"key_window": 10**9}, {"find": True}, {}])


async def parts(world: World, record: Record) -> list[Delivery]:
    return await world.store.read(lambda tx: tx.deliveries.of(record.id))


async def scenario(folder: Path, script: dict[str, list[str]], moves: list[str], facts: Any) -> None:
    world = World(folder, MemoryStore())
    for channel, kinds in script.items():
        world.platform.script(channel, *[Fault(kind=kind) for kind in kinds])
    records = []
    runner = world.runner(max_text=20, **facts)
    await runner.__aenter__()
    for number, move in enumerate(moves):
        what, _, channel = move.partition(" ")
        if what == "answer":
            text = "\n\n".join(f"{number:03} part {part} of it" for part in range(3))
            records.append(await runner.answer(channel, text))
        elif what == "speak":
            world.platform.say(channel, "hello")
        elif what == "well":
            runner.inbox.report(True)
        elif what == "minute":
            await world.clock.advance(70)
        else:
            await runner.__aexit__(None, None, None)
            runner = world.runner(max_text=20, **facts)
            await runner.__aenter__()
        await settle()
    for _ in range(40):  # time passes, people speak, the login works: everything must come to rest
        runner.inbox.report(True)
        for channel in CHANNELS:
            world.platform.say(channel, "hello")
        await world.clock.advance(400)
    statuses = {record.id: await runner.status(record) for record in records}
    assert set(statuses.values()) <= {S.DELIVERED, S.ERROR}
    for record in records:
        rows = await parts(world, record)
        shown = [[each.key for each in world.platform.everything()].count(row.send_key) for row in rows]
        for row, times in zip(rows, shown, strict=True):
            blind = (row.error or "").startswith(BLIND)
            assert times <= (2 if blind else 1)
            assert times >= 1 or row.state is not DeliveryState.SENT
            assert not (blind and facts)
        if statuses[record.id] is S.DELIVERED:
            assert all(row.state is DeliveryState.SENT for row in rows)
        else:
            bad = {DeliveryState.REFUSED, DeliveryState.AMBIGUOUS}
            assert any(row.state in bad for row in rows)
    for channel in CHANNELS:
        first = list(dict.fromkeys(each.text for each in world.platform.everything(channel)))
        assert first == sorted(first)
    await runner.__aexit__(None, None, None)


@settings(max_examples=35)
@given(st.fixed_dictionaries({"a": faults, "b": faults}), steps, able)
def test_every_script_of_failures_comes_to_rest(script: dict[str, list[str]], moves: list[str], facts: Any) -> None:
    # K-152, N-01, N-02
    with TemporaryDirectory() as folder:
        asyncio.run(scenario(Path(folder), script, moves, facts))

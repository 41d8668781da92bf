"""The wall clock jumps by an hour: nothing is lost, nothing runs twice, and nothing waits for an hour."""

from pathlib import Path

import pytest

from kesoku.adapter.question import Approvals
from kesoku.agent.limits import TurnLimits
from kesoku.gateway import FloodBounds, Presence, StoreGateway
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.record import Address
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.clock import settle
from kesoku.testing.gateway_harness import GatewayHarness
from kesoku.testing.memory import MemoryStore
from kesoku.testing.model import Held, ScriptedModel, call, reply
from kesoku.testing.platform import Fault
from kesoku.tools.tool import Effect, tool

from .conftest import ROOM, bot_at_work

HOUR = 3600.0
HALL_OF_OTHERS = Address(chatbot_id="telegram", channel_id="hall")
jumps = pytest.mark.parametrize("jump", [HOUR, -HOUR], ids=["forward", "back"])


@jumps
async def test_a_turn_that_runs_is_left_to_its_living_owner(jump: float) -> None:
    held = Held()
    harness = AgentHarness(ScriptedModel(held))
    harness.presence.alive |= {"one", "two"}
    said = await harness.say()
    async with harness.at_work("one"):
        await settle()
        async with harness.at_work("two"):
            for _ in range(3):
                harness.clock.jump(jump)
                await harness.clock.advance(12.0)
            held.release.set()
            assert (await harness.answered(said)).message.rendered == "late"
    assert [each.reason for each in await harness.events() if each.after is S.PROCESSING] == ["claim"]


async def test_an_owner_that_stands_still_is_not_waited_for_in_any_case() -> None:
    bench = GatewayHarness(MemoryStore())
    bench.presence.alive.add("stopped")
    said = await bench.say()
    await bench.claim("stopped")
    for _ in range(29):
        bench.clock.jump(-HOUR)
        assert not await bench.gateway.recover()
        await bench.clock.advance(1.0)
    await bench.clock.advance(2.0)
    assert await bench.gateway.recover() == 1
    assert await bench.status(said) is S.PENDING_AGENT


async def test_a_lease_from_the_future_of_an_unknown_process_ends_in_half_a_minute() -> None:
    harness = AgentHarness(ScriptedModel("hello again"))
    said = await harness.say()
    await harness.claim("of another host")
    harness.clock.jump(-HOUR)
    async with harness.at_work():
        await harness.clock.advance(35.0)
        assert (await harness.answered(said)).message.rendered == "hello again"


@jumps
async def test_files_tell_the_living_from_the_dead_whatever_the_clock_says(tmp_path: Path, jump: float) -> None:
    bench = GatewayHarness(MemoryStore())
    with Presence(tmp_path) as mine, Presence(tmp_path) as other:
        gateway = StoreGateway(bench.store, bench.clock, bench.policy, mine)
        said = await bench.say()
        await bench.claim(other.owner)
        bench.clock.jump(jump)
        assert not await gateway.recover()
        other.close()
        assert await gateway.recover() == 1
        assert await bench.status(said) is S.PENDING_AGENT


@jumps
async def test_a_part_that_waits_for_its_next_attempt_does_not_wait_for_an_hour(tmp_path: Path, jump: float) -> None:
    async with bot_at_work(MemoryStore(), tmp_path, "hello") as bot:
        bot.platform.script(ROOM, Fault(kind="retry", seconds=20.0))
        bot.platform.say(ROOM, "hi")
        await bot.clock.advance(5.0)
        assert not bot.platform.texts()
        bot.clock.jump(jump)
        async with bot.restarted():
            await bot.clock.advance(21.0)
            assert bot.platform.texts() == ["hello"]


@jumps
async def test_a_person_who_wrote_much_may_write_again_in_a_minute(jump: float) -> None:
    bench = GatewayHarness(MemoryStore(), bounds=FloodBounds(per_person_per_minute=3))
    for _ in range(4):
        last = await bench.say()
    assert last.kind == "notice"
    bench.clock.jump(jump)
    await bench.clock.advance(61.0)
    assert (await bench.say()).kind == "user_prompt"


@jumps
async def test_a_question_is_open_for_its_time_at_most(jump: float) -> None:
    @tool(effect=Effect.WRITE)
    async def sweep() -> str:
        """Never runs."""
        return "swept"

    harness = AgentHarness(ScriptedModel(reply(call("sweep")), "so be it"), tools=[sweep], store=MemoryStore())
    harness.approver = Approvals(harness.store, harness.clock)  # type: ignore[assignment]
    said = await harness.say()
    async with harness.at_work():
        await settle()
        for _ in range(3):
            harness.clock.jump(jump)
            await harness.say(at=HALL_OF_OTHERS)  # a commit wakes whoever waits
        await harness.clock.advance(TurnLimits().approval_seconds + 1.0)
        assert (await harness.answered(said)).message.rendered == "so be it"

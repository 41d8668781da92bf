"""Prompts, interruptions, crashes and restarts at random moments: every prompt ends, and with at most one answer."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import suppress
from random import Random

import pytest

from kesoku.agent.dispatcher import Dispatcher, DispatchLimits
from kesoku.agent.limits import TurnLimits
from kesoku.errors import ModelUnavailable
from kesoku.gateway import Busy, BusyPolicy
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Address, Record
from kesoku.messages.turn import CompiledRequest, Finish, StreamItem
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.model import Line, ScriptedModel, call, reply, thought
from kesoku.tools.tool import Effect, Tool, tool

ENDED = {MessageStatus.PROCESSED, MessageStatus.INTERRUPTED, MessageStatus.ERROR}


class Chaos:
    """An harness in which nothing is reliable but the dice; time is virtual, so a seed is a history."""

    def __init__(self, seed: int) -> None:
        self.dice = Random(seed)
        self.harness = AgentHarness(
            _Moody(self),
            tools=[self._tool()],
            policy=BusyPolicy(busy=self.dice.choice(list(Busy))),
            limits=TurnLimits(steps=6, seconds=self.dice.choice([20, 600])),
            dispatch=DispatchLimits(turns=3, drain=2),
        )
        self.prompts: list[Record] = []
        self.processes: dict[str, tuple[Dispatcher, asyncio.Task[None]]] = {}

    async def nap(self) -> None:
        """Up to two seconds."""
        await self.harness.clock.sleep(self.dice.random() * 2)

    def start(self) -> None:
        """One more process."""
        owner = f"p{self.dice.random()}"
        dispatcher = self.harness.dispatcher(owner, gateway=self.harness.process())
        self.processes[owner] = (dispatcher, asyncio.create_task(dispatcher.run()))

    async def end(self, owner: str) -> None:
        """A process goes, softly or hard."""
        dispatcher, task = self.processes.pop(owner)
        if self.dice.random() < 0.5:
            task.cancel()
        dispatcher.stop()
        while not task.done():
            await self.harness.clock.advance(1)
        with suppress(asyncio.CancelledError):
            await task
        self.harness.presence.dead.add(owner)

    async def event(self) -> None:
        """Something happens."""
        room = Address(chatbot_id="discord", channel_id=str(self.dice.randrange(3)))
        prompt = await self.harness.say(f"prompt {len(self.prompts)}", by=f"user {len(self.prompts)}", at=room)
        self.prompts.append(prompt)
        await self.harness.clock.advance(self.dice.random() * 5)
        if self.dice.random() < 0.1:
            await self.harness.gateway.interrupt(prompt.session_id, by="someone", reason="cancelled")
        if self.dice.random() < 0.1:
            await self.end(self.dice.choice(list(self.processes)))
            self.start()

    async def settled(self) -> bool:
        """Whether every prompt has ended."""
        return all([await self.harness.status(prompt) in ENDED for prompt in self.prompts])

    def _tool(self) -> Tool:
        @tool(effect=Effect.READ)
        async def work(n: int) -> int:
            """Work."""
            await self.nap()
            return 1 // n

        return work


class _Moody(ScriptedModel):
    """Answers, calls tools, says nothing, is away, or breaks."""

    def __init__(self, chaos: Chaos) -> None:
        super().__init__()
        self._chaos = chaos

    async def stream(self, request: CompiledRequest) -> AsyncGenerator[StreamItem, None]:
        dice = self._chaos.dice
        await self._chaos.nap()
        away = ModelUnavailable(model="m", status=503, message="away")
        calls = [call("work", n=dice.randrange(3)) for _ in range(dice.randrange(1, 4))]
        moods: list[tuple[Line, int]] = [
            (away, 1),
            (reply(finish=dice.choice(list(Finish))), 1),
            (reply(thought("t"), "beside", *calls), 4),
            ("answer", 4),
        ]
        self.lines = dice.choices([mood for mood, _ in moods], [weight for _, weight in moods])
        async for item in super().stream(request):
            yield item


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", range(6))
async def test_every_prompt_ends_once(seed: int) -> None:
    # K-128, K-129, K-136, K-166, K-224, K-248
    chaos = Chaos(seed)
    chaos.start()
    chaos.start()
    for _ in range(25):
        await chaos.event()
    for _ in range(1000):
        if await chaos.settled():
            break
        await chaos.harness.clock.advance(5)
    assert await chaos.settled(), f"seed {seed}"
    for owner in list(chaos.processes):
        await chaos.end(owner)
    records = {each.id: each for prompt in chaos.prompts for each in await chaos.harness.session(prompt)}.values()
    answers = Counter(each.turn_id for each in records if each.kind == "answer")
    status = {each.id: each.status for each in records}
    for turn_id, count in answers.items():
        assert count == 1
        assert status[turn_id or ""] in {MessageStatus.PROCESSED, MessageStatus.ERROR}, (
            "no answer after an interruption"
        )
    for prompt in chaos.prompts:
        now = await chaos.harness.record(prompt)
        assert now.status is MessageStatus.INTERRUPTED or answers[now.turn_id] == 1
    tools = Counter(each.parent_id for each in records if each.kind == "tool_result")
    assert max(tools.values()) == 1
    assert len({each.status for each in records if each.kind == "user_prompt"}) > 1, "the dice did something"

"""A whole bot at work over a store that fails: people, a platform, adapter, outbox, dispatcher, worker and model.

Time is virtual and goes on only while no operation of the store is under way, so that a run takes no time.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from kesoku.adapter.policy import DeliveryPolicy
from kesoku.errors import StoreError
from kesoku.history.codec import reply_to_json
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.freeze import EMPTY
from kesoku.messages.lifecycle import Change, ChangeKind, Step
from kesoku.messages.record import Address, Post, Record
from kesoku.messages.status import TRANSITIONS
from kesoku.messages.turn import CallBlock, CompiledRequest, ResultBlock, StreamItem, TextBlock
from kesoku.ports import Store
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.clock import VirtualClock, settle
from kesoku.testing.faulty_store import FaultyStore
from kesoku.testing.gateway_harness import GatewayHarness, prompt
from kesoku.testing.model import PROVIDER, Held, ScriptedModel, call, reply, thought
from kesoku.testing.platform import RecordedPlatform
from kesoku.testing.recording import LIVE, recording_manifest
from kesoku.tools.tool import Effect, Tool, tool

T = TypeVar("T")

BOT = "discord"
ROOM, HALL, ATTIC = (Address(chatbot_id=BOT, channel_id=name) for name in ("room", "hall", "attic"))
OPEN = {S.PENDING_AGENT, S.PROCESSING, S.PENDING}
LOOKS = 600
"""How often a condition is looked at, half a second of virtual time apart, before the run has failed."""


class ReactiveModel(ScriptedModel):
    """Looks when it is asked to look, waits when it is asked to wait, and answers a greeting when it is nudged."""

    def __init__(self) -> None:
        super().__init__()
        self.held = Held()

    async def stream(self, request: CompiledRequest) -> AsyncGenerator[StreamItem, None]:
        *_, last = request.turns
        said = [block.text.splitlines()[-1] for block in last.blocks if isinstance(block, TextBlock)][-1:]
        if any(isinstance(block, ResultBlock) for block in last.blocks):
            self.lines = ["I have seen it"]
        elif said == ["look"]:
            self.lines = [reply(thought("let me see"), call("look"))]
        elif said == ["hello"]:
            self.lines = [reply()]
        else:
            self.lines = [self.held if said == ["wait"] else "hello"]
        async for item in super().stream(request):
            yield item


class Scenario:
    """One bot. `store` fails as its plan says; `bench` writes to `inner` itself, before the run and to look at it."""

    def __init__(self, inner: Store, folder: Path, **faults: object) -> None:
        self.clock, self.model, self.platform = VirtualClock(), ReactiveModel(), RecordedPlatform()
        self.store = FaultyStore(inner, self.clock, **faults)  # type: ignore[arg-type]
        self.looks: Counter[str] = Counter()
        self.workers: list[asyncio.Task[None]] = []
        self.harness = AgentHarness(self.model, tools=[self._tool()], store=self.store, clock=self.clock, poll=0.001)
        self.bench = GatewayHarness(inner, clock=self.clock)
        self.runner = AdapterRunner(
            manifest=recording_manifest(
                name=BOT, platform=self.platform, visibility=LIVE, live=True, edits=True, deletes=True
            ),
            store=self.store,
            gateway=self.harness.process(),
            clock=self.clock,
            folder=folder,
            policy=DeliveryPolicy(drain_seconds=0.0),
        )

    async def run(self) -> None:
        """A turn with a tool and a prompt that joins it; a turn that a crash cut off; one that is stopped, and one
        that a shutdown puts back."""
        await self._crash()
        first = self._worker("w1")
        async with self.runner:
            self.platform.say(ROOM.channel_id, "look")
            await self.until(lambda: self.answers(ROOM), 1)
            await self.until(lambda: self.answers(ATTIC), 1)
            await self._held(HALL)
            await insist(lambda: self.runner.inbox.interrupt(HALL, by="Ada"), self.rest)
            await self.until(self.running, 0)
            self.platform.say(HALL.channel_id, "hello")
            await self.until(lambda: self.answers(HALL), 1)
            await self._held(ROOM)
            first.cancel()
            await self.until(lambda: _undone(first), 0)
            self.harness.presence.dead.add("w1")
            self.model.held.release.set()
            last = self._worker("w2")
            await self.until(lambda: self.answers(ROOM), 2)
            await self.until(self.waiting, 0)
            last.cancel()
            await self.until(lambda: _undone(last), 0)

    def _worker(self, owner: str) -> "asyncio.Task[None]":
        """A dispatcher at work; if it ends by itself, the run fails at once."""
        worker = asyncio.create_task(self.harness.dispatcher(owner, gateway=self.harness.process()).run())
        self.workers.append(worker)
        return worker

    async def _crash(self) -> None:
        """A worker died before the run began, while a tool ran."""
        await self.bench.say("look", at=ATTIC)
        claim = await self.bench.claim("dead")
        asked = make.tool_call("look", {}, provider=PROVIDER, model="m")
        said = reply_to_json(reply(CallBlock(call_id=asked.id, name="look", arguments={})))
        step = Step(turn_id=claim.prompt.id, n=1, request=EMPTY, reply=said)
        post = Post(message=asked, address=ATTIC, parent_id=claim.prompt.id, turn_id=claim.prompt.id, round=1)
        await self.bench.gateway.step(claim.fence, step, [post])
        self.harness.presence.dead.add("dead")

    async def _held(self, where: Address) -> None:
        """A turn that goes on long enough for its lease to be renewed."""
        self.model.held.entered.clear()
        self.platform.say(where.channel_id, "wait")
        for _ in range(LOOKS):
            if self.model.held.entered.is_set():
                break
            await self.rest()
        for _ in range(12):
            await self.rest()

    def _tool(self) -> Tool:
        @tool(effect=Effect.READ)
        async def look() -> str:
            """Look."""
            self.looks["look"] += 1
            await self.clock.sleep(3)
            steered = prompt("what do you see?", at=ROOM, mode="steer")
            await insist(lambda: self.harness.gateway.accept([steered]), lambda: self.clock.sleep(1))
            return "a room"

        return look

    # Waiting

    async def rest(self) -> None:
        """Let everything happen that needs no time, then half a second."""
        await settle()
        while self.store.busy:  # noqa: ASYNC110 - by threads of the store
            await asyncio.sleep(0.0002)
        await self.clock.advance(0.5)

    async def until(self, count: Callable[[], Awaitable[int]], wanted: int) -> None:
        """Wait for a number."""
        for _ in range(LOOKS):
            if (now := await count()) == wanted:
                return
            for worker in self.workers:
                if worker.done() and not worker.cancelled():
                    worker.result()
            await self.rest()
        raise AssertionError(f"{now} instead of {wanted}")

    # Looking

    async def events(self) -> list[Change]:
        return await self.bench.events()

    async def records(self) -> list[Record]:
        return list({each.record.id: each.record for each in await self.events()}.values())

    async def answers(self, where: Address) -> int:
        found = [each for each in await self.records() if each.kind == "answer" and each.address == where]
        return sum(each.status is S.DELIVERED for each in found)

    async def running(self) -> int:
        return len(await self.bench.store.read(lambda tx: tx.leases.held()))

    async def waiting(self) -> int:
        return sum(each.status in OPEN for each in await self.records()) + await self.running()

    # Judging

    async def check(self) -> None:
        """Nothing is lost, nothing is there twice, and nobody was told of a failure."""
        records, events = await self.records(), await self.events()
        self._nothing_twice(records)
        _allowed(events)
        prompts = [each for each in records if each.kind == "user_prompt"]
        assert Counter(each.status for each in prompts) == {S.PROCESSED: 5, S.INTERRUPTED: 1}, prompts
        shown = {channel: self.platform.texts(channel) for channel in ("room", "hall", "attic")}
        assert shown == {"room": ["I have seen it", "late"], "hall": ["hello"], "attic": ["I have seen it"]}
        assert self.looks["look"] == 1
        assert set(Counter(self.runner.adapter.hooks).values()) == {1}
        for each in records:
            assert each.kind == "user_prompt" or each.status in {S.DELIVERED, S.INTERRUPTED, S.RESPONDED}, each

    def _nothing_twice(self, records: list[Record]) -> None:
        answers = Counter(each.turn_id for each in records if each.kind == "answer")
        asked = {each.turn_id for each in records if each.kind == "user_prompt" and each.status is S.PROCESSED}
        assert answers == dict.fromkeys(asked, 1), "one answer a turn"
        results = Counter(each.parent_id for each in records if each.kind == "tool_result")
        assert results == dict.fromkeys((each.id for each in records if each.kind == "tool_call"), 1)


def _allowed(events: list[Change]) -> None:
    assert [each.seq for each in events] == list(range(1, len(events) + 1))
    where: dict[str, S | None] = {}
    for each in events:
        if each.kind is ChangeKind.MOVED:
            assert each.before is not None
            assert each.before is where[each.record.id]
            assert each.after in TRANSITIONS[each.before]
        if each.kind is not ChangeKind.REPLACED:
            where[each.record.id] = each.after


async def _undone(task: "asyncio.Task[None]") -> int:
    return int(not task.done())


async def insist(work: Callable[[], Awaitable[T]], rest: Callable[[], Awaitable[None]]) -> T:
    """What a person does: try again."""
    while True:
        try:
            return await work()
        except StoreError:
            await rest()

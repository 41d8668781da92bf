"""A small recorded run in which everything happened once, made by hand with the real parts, to be checked."""

import asyncio
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from kesoku.adapter.policy import DeliveryPolicy
from kesoku.gateway import Busy, BusyPolicy, StoreGateway
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import EMPTY
from kesoku.messages.lifecycle import Claim, Serving, Step
from kesoku.messages.record import Address, Post, Record
from kesoku.messages.turn import MediaBlock
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import FastClock
from kesoku.testing.crash.actor import Actor, ProcessSpec, Role
from kesoku.testing.crash.audit import identify, install
from kesoku.testing.crash.layout import Layout
from kesoku.testing.crash.plan import Plan
from kesoku.testing.crash.platform import Platform, manifest
from kesoku.testing.crash.trace import Trace
from kesoku.testing.platform import Fault
from kesoku.testing.sync_store import SyncStore
from kesoku.testing.waiting import until

EVERYTHING = Serving(addresses=frozenset(Address(chatbot_id=bot, channel_id="*") for bot in Platform))
_COLUMNS = (
    "id, session_id, session_n, parent_id, turn_id, round, chatbot_id, channel_id, kind, role, type, status, mode,"
    " author, author_id, sender, recipient, mail_channel, source, source_kind, content, metadata, version,"
    " superseded_turn, superseded_by, response_id, created_at, accepted_at"
)
SPEED = 50.0


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """What happened: a layout, and the ids of the messages that tests ask for by name."""

    layout: Layout
    ids: dict[str, str]

    def copy(self, folder: Path) -> "RecordedRun":
        """One of its own, files included, to be spoiled."""
        shutil.copytree(self.layout.folder, folder, dirs_exist_ok=True)
        here, there = str(self.layout.folder), str(folder)
        copy = RecordedRun(Layout(folder), {name: value.replace(here, there) for name, value in self.ids.items()})
        copy.write(f"UPDATE messages SET content = replace(content, '{here}', '{there}')")
        return copy

    def write(self, *statements: str, who: str = "") -> None:
        """Write to the database as somebody; `:name` is the id of that message."""
        with closing(sqlite3.connect(self.layout.database, isolation_level=None)) as connection:
            identify(connection, who, lambda: 1_000_000_000)
            connection.execute("PRAGMA synchronous = OFF")
            for statement in statements:
                connection.execute(statement, self.ids)

    def again(self, name: str, *, who: str = "", **changes: str) -> None:
        """One more message like this one, with all that belongs to it; changes are SQL expressions."""
        columns = ", ".join(changes.get(each, each) for each in _COLUMNS.split(", "))
        columns = columns.replace("id, session_id, session_n", f"'more', session_id, {_NEXT}", 1)
        self.write(
            f"INSERT INTO messages ({_COLUMNS}) SELECT {columns} FROM messages WHERE id = :{name}",
            "UPDATE sessions SET last_n = last_n + 1 WHERE id = (SELECT session_id FROM messages WHERE id = 'more')",
            "INSERT INTO events (at, message_id, kind, after, actor, reason)"
            " SELECT 0, id, 'inserted', status, '', '' FROM messages WHERE id = 'more'",
            who=who,
        )

    def tell(self, actor: str, op: str, **facts: Any) -> None:
        """One more line in a trace; values that are names of messages stand for their ids."""
        trace = Trace(self.layout.traces / f"{actor}.jsonl")
        trace.write(op, **{name: self.ids.get(str(value), value) for name, value in facts.items()})
        trace.close()

    def edit(self, path: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
        """Rewrite a file of JSON lines."""
        lines = change([json.loads(line) for line in path.read_text().splitlines()])
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))


_NEXT = "(SELECT last_n + 1 FROM sessions WHERE id = session_id)"


def record_run(folder: Path) -> RecordedRun:
    """Play everything once: answers, a file, an interruption, a takeover, a failure, a prompt that joins, and a send
    that nobody knows of."""
    return asyncio.run(_Play(Layout(folder)).play())


class _Play:
    def __init__(self, layout: Layout) -> None:
        self.layout, self.clock, self.ids = layout, FastClock.from_now(SPEED), dict[str, str]()
        self.platform = Platform.KEYED.journal(layout.journal("keyed"))

    async def play(self) -> RecordedRun:
        self.layout.prepare()
        SyncStore(self.layout.database).close()
        install(self.layout.database)
        async with AsyncExitStack() as stack:
            self.poster, self.worker, self.follower = [
                await stack.enter_async_context(self.actor(role)) for role in (Role.POSTER, Role.WORKER, Role.FOLLOWER)
            ]
            keyed, plain = [await stack.enter_async_context(self.actor(Role.HOST, bot)) for bot in ("keyed", "plain")]
            runners = [self.runner(keyed), self.runner(plain)]
            runners[1].adapter.platform.script("c0", Fault(kind="arrived"))
            for runner in runners:
                await stack.enter_async_context(runner)
            await self.answered()
            await self.interrupted()
            await self.taken_over()
            await self.joined()
            for runner in runners:
                await until(partial(_delivered, runner), what="all is delivered")
                await runner.outbox.idle()
            await self.followed()
        return RecordedRun(self.layout, self.ids)

    def actor(self, role: Role, part: str = "") -> Any:
        name = part or role.value
        return Actor.open(
            ProcessSpec(name=name, part=name, role=role, layout=self.layout, plan=Plan(seed=0), clock=self.clock)
        )

    def runner(self, actor: Actor) -> AdapterRunner:
        bot = actor.spec.part
        return AdapterRunner(
            manifest=manifest(bot, self.layout.journal(bot), actor.watch),
            chatbot_id=bot,
            store=actor.store,
            gateway=actor.gateway,
            clock=self.clock,
            folder=self.layout.folder,
            policy=DeliveryPolicy(first_retry=0.1),
        )

    async def answered(self) -> None:
        """A person speaks on the platform; a call returns a file; the answer is delivered."""
        self.platform.say("c0", "hello", key="p-1")
        await until(self.queued, what="the prompt arrives")
        claim = await self.claim()
        self.ids["prompt"] = claim.prompt.id
        call = await self.step(claim, make.tool_call("draw", {}, provider="p", model="m"))
        drawing = self.layout.workspace / "drawing.txt"
        drawing.write_text("a drawing")
        kept = await self.worker.wiring.staging(self.layout.files).copy(
            call.session_id, MediaBlock(path=str(drawing), mime_type="text/plain", name="drawing.txt"), limit=1000
        )
        self.ids["file"] = kept.path
        next_call, result = make.respond(call.message, "drawn", attachments=[kept])  # type: ignore[arg-type]
        self.ids["result"] = (await self.worker.gateway.respond(claim.fence, call, result, next_call)).id
        self.ids["answer"] = await self.finish(claim)

    async def interrupted(self) -> None:
        """A prompt is handed in twice, and the next one interrupts it with a call open; that one fails."""
        self.ids["acked"] = await self.accept("x-1")
        await self.accept("x-1")
        claim = await self.claim()
        self.ids["interrupted"] = claim.prompt.id
        self.ids["call"] = (await self.step(claim, make.tool_call("look", {}, provider="p", model="m"))).id
        await self.accept("x-2")
        claim = await self.claim()
        self.ids["failed"] = claim.prompt.id
        self.ids["apology"] = await self.finish(claim, error=True)

    async def taken_over(self) -> None:
        """A worker dies in a turn, and another one finishes it."""
        self.ids["crashed"] = await self.accept("x-3")
        async with self.actor(Role.WORKER, "dead") as dead:
            claim = await self.claim(dead)
            thought = await self.step(claim, make.thought("hm", provider="p", model="m"), by=dead)
            self.ids["thought"] = thought.id
        await self.worker.gateway.recover()
        await self.finish(await self.claim())

    async def joined(self) -> None:
        """A second prompt joins the turn of the first one; the platform says nothing about the answer that it shows."""
        steering = StoreGateway(
            self.worker.store, self.clock, BusyPolicy(busy=Busy.STEER), self.worker.presence, poll=0.05
        )
        await self.accept("x-4", bot="plain", gateway=steering)
        claim = await self.claim()
        self.ids["joined"] = await self.accept("x-5", bot="plain", gateway=steering)
        await steering.join(claim.fence, claim.prompt.id, round=1)
        self.ids["blind"] = await self.finish(claim)

    async def followed(self) -> None:
        """Somebody reads the whole log, in two lives."""
        head = await self.worker.store.read(lambda tx: tx.events.head())
        for name, start, end in (("follower-1", 0, head // 2), ("follower-2", head // 2, head)):
            trace = Trace(self.layout.traces / f"{name}.jsonl")
            trace.write("following", cursor=start)
            async with self.follower.gateway.listen(lambda _: True, cursor=start) as changes:
                async for change in changes:
                    facts = {"kind": change.kind, "before": change.before, "after": change.after}
                    trace.write("seen", cursor=changes.cursor, seq=change.seq, message=change.record.id, **facts)
                    if change.seq == end:
                        break
            trace.close()

    async def queued(self) -> bool:
        return bool(await self.worker.store.read(lambda tx: tx.leases.next(EVERYTHING)))

    async def claim(self, actor: Actor | None = None) -> Claim:
        by = actor or self.worker
        claim = await by.gateway.claim(by.presence.owner, EVERYTHING)
        assert claim is not None
        return claim

    async def step(self, claim: Claim, message: Any, *, by: Actor | None = None) -> Record:
        turn = claim.prompt.id
        post = Post(message=message, address=claim.prompt.address, parent_id=turn, turn_id=turn, round=1)
        step = Step(turn_id=turn, n=1, request=EMPTY, reply=EMPTY)
        (record,) = await (by or self.worker).gateway.step(claim.fence, step, [post])
        return record

    async def finish(self, claim: Claim, *, error: bool = False) -> str:
        message = make.error_answer("no") if error else make.answer("yes", provider="p", model="m")
        status = MessageStatus.ERROR if error else MessageStatus.PROCESSED
        post = Post(message=message, address=claim.prompt.address)
        record = await self.worker.gateway.finish(claim.fence, post, status=status, metrics={})
        self.worker.trace.write("answered", turn=claim.prompt.id, answer=record.id)
        return str(record.id)

    async def accept(self, key: str, *, bot: str = "keyed", gateway: Any = None) -> str:
        post = Post(
            message=make.user_prompt("hello", author="Eve", user_id="eve"),
            address=Address(chatbot_id=bot, channel_id="c0"),
            keys=(key,),
        )
        (record,) = await (gateway or self.poster.gateway).accept([post])
        self.poster.trace.write("acked", id=record.id, key=key, bot=bot, channel="c0")
        return str(record.id)


async def _delivered(runner: AdapterRunner) -> bool:
    waiting = await runner.store.read(lambda tx: tx.messages.waiting(runner.serving))
    done = [each for each in waiting if each.turn_id and await _is_interrupted(runner, each.turn_id)]
    return len(waiting) == len(done)


async def _is_interrupted(runner: AdapterRunner, turn_id: str) -> bool:
    prompt = await runner.store.read(lambda tx: tx.messages.get(turn_id))
    return prompt is not None and prompt.status is MessageStatus.INTERRUPTED

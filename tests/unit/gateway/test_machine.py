"""Anything in any order: whatever people, workers, outboxes, crashes and clocks do, the invariants of the store hold.

A model of a few dicts says which claim of a session is valid; the gateway must refuse every write of any other one. At
any time an operation is done twice, as by a caller that did not see how the first one ended.
"""

import asyncio
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeVar, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from kesoku.adapter import Outgoing, Receipt
from kesoku.adapter.ledger import Ledger
from kesoku.adapter.part import rows
from kesoku.errors import Deposed
from kesoku.gateway import Busy, BusyPolicy, FloodBounds, InterruptBy
from kesoku.gateway.policy import LEASE
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import DELIVERY_TRANSITIONS, Change, ChangeKind, Claim, Delivery, DeliveryState
from kesoku.messages.record import Address, Mode, Post, Record
from kesoku.messages.status import TRANSITIONS
from kesoku.ports import Store, Transaction
from kesoku.testing.gateway_harness import EVERYTHING, GatewayHarness, prompt
from kesoku.testing.memory import MemoryStore
from kesoku.testing.sync_store import SyncStore

T = TypeVar("T")
CHANNELS = [Address(chatbot_id="discord", channel_id=name) for name in ("one", "two", "shared")]
POLICIES = [BusyPolicy(busy=busy, interrupt_by=by) for busy in Busy for by in InterruptBy]

SEEN: Counter[str] = Counter()
"""What happened over all runs: a harness that exercises nothing must fail (I14)."""

ACTIONS = [
    *["say"] * 6,
    *["claim"] * 4,
    *["call", "result", "join", "finish", "deliver"] * 2,
    *["claim", "note", "repair", "release", "cancel", "end", "wait", "wait", "renew", "crash", "recover", "recover"],
]
MODES: list[Mode] = ["followup", "followup", "followup", "steer", "inject"]
BOUNDS = FloodBounds(per_person_per_minute=20, queued_per_channel=8)
WANTED = (
    *("claimed", "written", "deposed", "finished", "interrupted", "recovered", "joined", "healed", "refused"),
    *("alone", "again", "delivered"),
)
ENDED = {S.PROCESSED, S.INTERRUPTED, S.ERROR, S.DELIVERED, S.RESPONDED}
STABLE = {"accept", "post", "step", "respond", "finish"}
"""Operations that return the same records again."""


class Twice:
    """A gateway whose next call is made twice once it is armed; `unseen` is then what the first one returned."""

    def __init__(self, gateway: object) -> None:
        self.gateway, self.armed, self.unseen = gateway, False, cast("Any", None)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.gateway, name)

        async def call(*args: Any, **facts: Any) -> Any:
            if not self.armed:
                return await method(*args, **facts)
            self.armed = False
            self.unseen = await method(*args, **facts)
            seen = await method(*args, **facts)
            SEEN["again"] += 1
            assert name not in STABLE or ids(seen) == ids(self.unseen), f"{name} is not idempotent"
            return seen

        return call


def ids(found: Record | list[Record]) -> list[str]:
    return [each.id for each in (found if isinstance(found, list) else [found])]


class DiskStore:
    """The Store port over a database file, without threads."""

    def __init__(self, folder: Path) -> None:
        self._sync_store = SyncStore(folder / "kesoku.db")

    async def write(self, operation: Callable[[Transaction], T]) -> T:
        return self._sync_store.run(operation)

    read = write

    async def scrub(self) -> None:
        raise NotImplementedError

    def on_commit(self, callback: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    async def aclose(self) -> None:
        self._sync_store.close()


class Lifecycle(RuleBasedStateMachine):
    """People talk, workers work, die and stall."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.claims: list[Claim] = []
        self.valid: dict[str, Claim] = {}
        self.until: dict[str, int] = {}
        self.said: set[str] = set()
        self.keys: dict[str, str] = {}
        self.failures: Counter[str] = Counter()
        self.births = 0
        self.steps: Counter[str] = Counter()
        self.calls: dict[str, list[Record]] = defaultdict(list)
        self.notes: dict[str, list[Post]] = defaultdict(list)
        self.begun: set[str] = set()
        self.latest: Counter[tuple[str, Address]] = Counter()
        self.generations: Counter[str] = Counter()
        self.events: list[Change] = []
        self.records: dict[str, Record] = {}
        self.statuses: dict[str, S | None] = {}
        self.parts: dict[tuple[str, int], DeliveryState] = {}
        self.delivered: set[str] = set()

    def do(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(coroutine)

    def open(self) -> Store:
        return MemoryStore(rerun=True)

    @initialize(policy=st.sampled_from(POLICIES))
    def begin(self, policy: BusyPolicy) -> None:
        self.bench = GatewayHarness(self.open(), policy=policy, bounds=BOUNDS)
        self.twice = Twice(self.bench.gateway)
        self.bench.gateway = cast("Any", self.twice)
        self.ledger = Ledger(self.bench.store, self.bench.clock)
        first = self.do(self.bench.say("first", at=CHANNELS[0]))
        self.do(self.bench.store.write(lambda tx: tx.sessions.bind(CHANNELS[2], first.session_id)))
        self.said.add(first.id)

    @rule(what=st.sampled_from(ACTIONS), chance=st.randoms(use_true_random=False))
    def step(self, what: str, chance: Random) -> None:
        """One rule with weights, so that every run has some of everything."""
        self.twice.armed, self.twice.unseen = chance.random() < 0.2, None
        getattr(self, what)(chance)
        self.twice.armed = False

    # What people do

    def say(self, chance: Random) -> None:
        key = chance.choice([*self.keys, *["new"] * len(self.keys) * 4, "new"])
        key = f"{len(self.keys)}" if key == "new" else key
        mode = chance.choice(MODES)
        post = prompt(by=chance.choice(["Ada", "Bob"]), at=chance.choice(CHANNELS), keys=[key], mode=mode)
        (record,) = self.do(self.bench.gateway.accept([post], catch_up=chance.random() < 0.2))
        if record.kind == "notice":
            SEEN["refused"] += 1
        else:
            self.said.add(record.id)
            assert self.keys.setdefault(key, record.id) == record.id, "I2: one message a key"
        self.forget_interrupted()

    def cancel(self, chance: Random) -> None:
        session = self.do(self.bench.bound(chance.choice(CHANNELS)))
        if session is not None:
            done = self.do(self.bench.gateway.interrupt(session.id, by="Ada", reason="cancelled"))
            first = self.twice.unseen or done
            assert bool(first.interrupted) == (session.id in self.valid)
            self.valid.pop(session.id, None)

    def end(self, chance: Random) -> None:
        session = self.do(self.bench.bound(chance.choice(CHANNELS)))
        if session is not None:
            self.do(self.bench.store.write(lambda tx: tx.sessions.end(session.id, at=self.bench.clock.now())))

    # What workers do

    def claim(self, chance: Random) -> None:
        claim = self.do(self.bench.gateway.claim(self.owner(chance), EVERYTHING))
        for each in (self.twice.unseen, claim):  # nobody will run the one that was not seen
            if each is not None:
                self.take(each)

    def take(self, claim: Claim) -> None:
        session_id = claim.fence.session_id
        assert session_id not in self.valid, "I6: one running turn a session"
        assert self.failures[claim.prompt.id] < 3, "I12: poison does not run"
        SEEN["claimed"] += 1
        self.suspects_run_alone(claim)
        self.in_order(claim.prompt)
        self.claims.append(claim)
        self.valid[session_id] = claim
        self.until[session_id] = self.bench.clock.now() + LEASE

    def in_order(self, opener: Record) -> None:
        """Prompts of a channel start in the order in which they came; one that starts again may be an older one."""
        where = opener.session_id, opener.address
        if opener.mode == "followup" and opener.id not in self.begun:
            assert opener.seq > self.latest[where]
            self.latest[where] = opener.seq
        self.begun.add(opener.id)

    def call(self, chance: Random) -> None:
        if claim := self.pick(chance):
            self.steps[claim.prompt.id] += 1
            called = self.attempt(claim, self.bench.call(claim, n=self.steps[claim.prompt.id]))
            self.calls[claim.prompt.id] += [] if called is None else [called]

    def result(self, chance: Random) -> None:
        claim = self.pick(chance)
        calls = self.calls[claim.prompt.id] if claim else []
        if claim and calls and self.do(self.bench.record(calls[-1])).message.version == 1:
            self.attempt(claim, self.bench.result(claim, calls[-1]))

    def join(self, chance: Random) -> None:
        if claim := self.pick(chance):
            turn_id = claim.prompt.id
            joined = self.attempt(claim, self.bench.gateway.join(claim.fence, turn_id, round=self.steps[turn_id] + 1))
            SEEN["joined"] += len(joined or [])

    def repair(self, chance: Random) -> None:
        if claim := self.pick(chance):
            healed = self.attempt(claim, self.bench.gateway.repair(claim.fence))
            SEEN["healed"] += len(healed or [])

    def finish(self, chance: Random) -> None:
        if (claim := self.pick(chance)) and self.attempt(claim, self.bench.finish(claim)):
            SEEN["finished"] += 1
            del self.valid[claim.fence.session_id]

    def note(self, chance: Random) -> None:
        if claim := self.pick(chance):
            notes = self.notes[claim.prompt.id]
            notes.append(chance.choice([*notes, Post(message=make.notice("x"), address=claim.prompt.address)]))
            if noted := self.attempt(claim, self.bench.gateway.post(notes[-1], fence=claim.fence)):
                assert noted.id == notes[-1].message.id

    def release(self, chance: Random) -> None:
        if claim := self.pick(chance):
            self.do(self.bench.gateway.release(claim.fence, requeue=True))
            if self.valid.get(claim.fence.session_id) is claim:
                del self.valid[claim.fence.session_id]

    # What an outbox does

    def deliver(self, chance: Random) -> None:
        """One message some steps on its way; the outbox may die after each of them, and goes on later."""
        waiting = [each for each in self.records.values() if each.status is S.PENDING]
        if waiting:
            self.do(self.carry(chance.choice(waiting), chance))

    async def carry(self, record: Record, chance: Random) -> None:
        planned = rows([Outgoing(text="one"), Outgoing(text="two")], message_id=record.id, address=record.address)
        parts = await self.ledger.plan(planned)
        for part in parts:
            assert part.state is self.parts.setdefault((record.id, part.part), DeliveryState.PLANNED)
        for part in parts:
            closes = record if part is parts[-1] else None
            while part.state is not DeliveryState.SENT:
                if chance.random() < 0.2:
                    return
                part = await self.move(part, chance, closes)
                self.parts[record.id, part.part] = part.state
        self.delivered.add(record.id)
        SEEN["delivered"] += 1

    async def move(self, part: Delivery, chance: Random, closes: Record | None) -> Delivery:
        """One step of a part, by chance."""
        to = chance.choice(sorted(DELIVERY_TRANSITIONS[part.state] - {DeliveryState.REFUSED}))
        if to is not DeliveryState.SENT:
            return await self.ledger.move(part, to)
        receipt = Receipt(platform_ids=(f"{part.message_id}-{part.part}",))
        sent = await self.ledger.sent(part, receipt, closes=closes)
        if self.twice.armed:
            assert await self.ledger.sent(part, receipt, closes=closes) == sent, "the receipt is noted already"
        return sent[0]

    # What goes wrong

    def wait(self, chance: Random) -> None:
        self.do(self.bench.clock.advance(chance.choice([1, 10, 29, 31, 61])))

    def renew(self, chance: Random) -> None:
        owner = self.owner(chance)
        mine = {claim.fence for claim in self.valid.values() if claim.fence.owner == owner}
        assert self.do(self.bench.gateway.renew(owner)) == mine
        for fence in mine:
            self.until[fence.session_id] = self.bench.clock.now() + LEASE

    def crash(self, _: Random) -> None:
        self.bench.presence.dead |= {f"{name}-{self.births}" for name in ("w1", "w2")}
        self.births += 1

    def recover(self, _: Random) -> None:
        dead, now = self.bench.presence.dead, self.bench.clock.now()
        late = {claim.fence.owner for key, claim in self.valid.items() if self.until[key] <= now}
        running = Counter(claim.fence.owner for claim in self.valid.values())
        lost = [key for key, claim in self.valid.items() if claim.fence.owner in dead | late]
        back = self.do(self.bench.gateway.recover())
        back = back if self.twice.unseen is None else self.twice.unseen
        assert back >= len(lost)
        assert bool(back) == bool(lost)
        for session_id in lost:
            claim = self.valid.pop(session_id)
            if running[claim.fence.owner] == 1 or self.failures[claim.prompt.id] < 2:
                self.failures[claim.prompt.id] += 1
            SEEN["recovered"] += 1

    # What always holds

    @invariant()
    def everything_holds(self) -> None:
        fresh = self.do(self.bench.store.read(lambda tx: tx.events.after(len(self.events), 100_000)))
        self.events += fresh
        self.records.update((each.record.id, each.record) for each in fresh)
        assert self.said <= self.records.keys(), "I1: what was acknowledged is there"
        self.allowed_moves(fresh)
        self.one_answer_a_turn(list(self.records.values()))
        self.one_running_turn(list(self.records.values()))
        self.dense(list(self.records.values()))
        self.leases_agree()
        assert [each.seq for each in self.events] == list(range(1, len(self.events) + 1)), "I11: no change is missed"
        assert all(count <= 3 for count in self.failures.values()), "I12"
        assert {self.records[each].status for each in self.delivered} <= {S.DELIVERED}, "I9: it stays delivered"

    def one_answer_a_turn(self, records: list[Record]) -> None:
        answers = Counter(each.turn_id for each in records if each.kind == "answer" and each.facts)
        assert all(count == 1 for count in answers.values()), "I3: one final answer a turn"
        for each in records:
            if each.status is S.PROCESSED:
                assert answers[each.turn_id] == 1, "I4: a processed prompt has its answer"
            elif each.id == each.turn_id:
                assert answers[each.id] == 0, "an interrupted or waiting turn has none"

    def allowed_moves(self, fresh: list[Change]) -> None:
        for each in fresh:
            if each.kind is ChangeKind.MOVED:
                assert each.before is self.statuses[each.record.id], "I5: no move is missing"
                assert each.before is not None
                assert each.after in TRANSITIONS[each.before], "I5: only moves of the diagram"
            if each.kind is not ChangeKind.REPLACED:
                self.statuses[each.record.id] = each.after

    def one_running_turn(self, records: list[Record]) -> None:
        running: dict[str, set[str | None]] = defaultdict(set)
        for each in records:
            if each.status is S.PROCESSING:
                running[each.session_id].add(each.turn_id)
        assert running == {session_id: {claim.prompt.id} for session_id, claim in self.valid.items()}, "I6"

    def leases_agree(self) -> None:
        sessions = {each.session_id for each in self.records.values()}
        leases = self.do(self.bench.store.read(lambda tx: [tx.leases.get(each) for each in sessions]))
        held = {(each.session_id, each.owner, each.generation) for each in leases if each and each.owner}
        valid = {claim.fence for claim in self.valid.values()}
        assert held == {(fence.session_id, fence.owner, fence.generation) for fence in valid}
        for lease in filter(None, leases):
            assert lease.generation >= self.generations[lease.session_id], "a generation only grows"
            self.generations[lease.session_id] = lease.generation

    def dense(self, records: list[Record]) -> None:
        numbers: dict[str, list[int]] = defaultdict(list)
        seq = {each.id: each.seq for each in records}
        for each in records:
            numbers[each.session_id].append(each.session_n)
            assert seq.get(each.parent_id or "", 0) < each.seq, "I10: a reply comes after its cause"
        for each_session in numbers.values():
            assert each_session == list(range(1, len(each_session) + 1)), "I10: dense and monotone"

    def teardown(self) -> None:
        if hasattr(self, "bench"):
            try:
                self.do(self.nothing_changed_in_silence())
                self.do(self.drain())
            finally:
                self.do(self.bench.store.aclose())
        self.runner.close()

    async def nothing_changed_in_silence(self) -> None:
        """What the log says is what is stored; so are the steps of deliveries."""
        assert {each.record.id: each.record for each in await self.bench.events()} == self.records
        for (message_id, number), state in self.parts.items():
            parts = await self.bench.store.read(partial(parts_of, message_id=message_id))
            assert parts[number].state is state

    async def drain(self) -> None:
        """I8: with a living worker everything that can run ends; only what wakes nobody may wait."""
        self.twice.armed = False
        self.bench.presence.dead |= {claim.fence.owner for claim in self.claims}
        await self.bench.gateway.recover()
        while (claim := await self.bench.gateway.claim("last", EVERYTHING)) is not None:
            await self.bench.finish(claim)
        for message_id in self.said:
            record = await self.bench.record(message_id)
            assert record.status in ENDED or record.mode == "inject"

    # Helpers

    def suspects_run_alone(self, claim: Claim) -> None:
        """I12: whoever has one crash left shares its process with nobody."""
        beside = [each for each in self.valid.values() if each.fence.owner == claim.fence.owner]
        suspects = [each for each in (claim, *beside) if self.failures[each.prompt.id] == 2]
        assert not (suspects and beside)
        SEEN["alone"] += len(suspects)

    def owner(self, chance: Random) -> str:
        """A worker of the processes that live now."""
        return f"{chance.choice(['w1', 'w2'])}-{self.births}"

    def pick(self, chance: Random) -> Claim | None:
        """Mostly a claim that is valid, sometimes one that was deposed long ago."""
        valid = list(self.valid.values())
        if valid and chance.random() < 0.8:
            return chance.choice(valid)
        return chance.choice(self.claims) if self.claims else None

    def attempt(self, claim: Claim, work: Coroutine[Any, Any, T]) -> T | None:
        """I7: a write succeeds exactly if the claim is valid; None if it was refused."""
        is_valid = self.valid.get(claim.fence.session_id) is claim
        try:
            done = self.do(work)
        except Deposed:
            assert not is_valid
            SEEN["deposed"] += 1
            return None
        assert is_valid, "a deposed owner wrote"
        SEEN["written"] += 1
        return done

    def forget_interrupted(self) -> None:
        for session_id, claim in tuple(self.valid.items()):
            if self.do(self.bench.status(claim.prompt)) is S.INTERRUPTED:
                SEEN["interrupted"] += 1
                del self.valid[session_id]


def parts_of(tx: Transaction, *, message_id: str) -> list[Delivery]:
    return tx.deliveries.of(message_id)


class OnDisk(Lifecycle):
    """The same over a database."""

    def open(self) -> Store:
        self.folder = tempfile.TemporaryDirectory()
        return DiskStore(Path(self.folder.name))

    def teardown(self) -> None:
        super().teardown()
        if hasattr(self, "folder"):
            self.folder.cleanup()


@pytest.mark.no_cover
@pytest.mark.parametrize(("machine", "share"), [(Lifecycle, 3), (OnDisk, 12)], ids=["memory", "sql"])
def test_the_rules_hold_through_any_lifecycle(machine: type[Lifecycle], share: int) -> None:
    # I1 to I12 of the store's design
    found = settings(max_examples=settings().max_examples // share, stateful_step_count=50, deadline=None)
    run_state_machine_as_test(machine, settings=found)


@pytest.mark.no_cover
def test_long_walks_see_everything() -> None:
    # the same, and I14: a harness that exercises nothing must fail
    SEEN.clear()
    for seed, policy in enumerate(POLICIES):
        machine, chance = Lifecycle(), Random(seed)
        machine.begin(policy)
        for n in range(400):
            machine.step(chance.choice(ACTIONS), chance)
            if n % 10 == 0:
                machine.everything_holds()
        machine.everything_holds()
        machine.teardown()
    assert [name for name in WANTED if SEEN[name] < 3] == [], "these walks proved too little"

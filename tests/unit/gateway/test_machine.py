"""Anything in any order: whatever people, workers, crashes and clocks do, the invariants of the store hold.

A model of a few dicts says which claim of a session is valid; the gateway must refuse every write of any other one.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Coroutine
from random import Random
from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from kesoku.errors import Deposed
from kesoku.gateway import Busy, BusyPolicy, FloodBounds, InterruptBy
from kesoku.gateway.policy import LEASE
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import Change, ChangeKind, Claim
from kesoku.messages.record import Address, Mode, Record
from kesoku.messages.status import TRANSITIONS
from kesoku.testing.bench import EVERYTHING, Bench, prompt
from kesoku.testing.memory import MemoryStore

T = TypeVar("T")
CHANNELS = [Address(chatbot_id="discord", channel_id=name) for name in ("one", "two", "shared")]
POLICIES = [BusyPolicy(busy=busy, interrupt_by=by) for busy in Busy for by in InterruptBy]

SEEN: Counter[str] = Counter()
"""What happened over all runs: a harness that exercises nothing must fail (I14)."""

ACTIONS = [
    *["say"] * 6,
    *["claim"] * 4,
    *["call", "result", "join", "finish"] * 2,
    *["claim", "repair", "release", "cancel", "end", "wait", "wait", "renew", "crash", "recover", "recover"],
]
MODES: list[Mode] = ["followup", "followup", "followup", "steer", "inject"]
BOUNDS = FloodBounds(per_person_per_minute=20, queued_per_channel=8)
ENDED = {S.PROCESSED, S.INTERRUPTED, S.ERROR, S.DELIVERED, S.RESPONDED}


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

    def do(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(coroutine)

    @initialize(policy=st.sampled_from(POLICIES))
    def begin(self, policy: BusyPolicy) -> None:
        self.bench = Bench(MemoryStore(rerun=True), policy=policy, bounds=BOUNDS)
        first = self.do(self.bench.say("first", at=CHANNELS[0]))
        self.do(self.bench.store.write(lambda tx: tx.sessions.bind(CHANNELS[2], first.session_id)))
        self.said.add(first.id)

    @rule(what=st.sampled_from(ACTIONS), chance=st.randoms(use_true_random=False))
    def step(self, what: str, chance: Random) -> None:
        """One rule with weights, so that every run has some of everything."""
        getattr(self, what)(chance)

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
            assert bool(done.interrupted) == (session.id in self.valid)
            self.valid.pop(session.id, None)

    def end(self, chance: Random) -> None:
        session = self.do(self.bench.bound(chance.choice(CHANNELS)))
        if session is not None:
            self.do(self.bench.store.write(lambda tx: tx.sessions.end(session.id, at=self.bench.clock.now())))

    # What workers do

    def claim(self, chance: Random) -> None:
        claim = self.do(self.bench.gateway.claim(self.owner(chance), EVERYTHING))
        if claim is not None:
            session_id = claim.fence.session_id
            assert session_id not in self.valid, "I6: one running turn a session"
            assert self.failures[claim.prompt.id] < 3, "I12: poison does not run"
            SEEN["claimed"] += 1
            self.claims.append(claim)
            self.valid[session_id] = claim
            self.until[session_id] = self.bench.clock.now() + LEASE

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

    def release(self, chance: Random) -> None:
        if claim := self.pick(chance):
            self.do(self.bench.gateway.release(claim.fence, requeue=True))
            if self.valid.get(claim.fence.session_id) is claim:
                del self.valid[claim.fence.session_id]

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
        lost = [key for key, claim in self.valid.items() if claim.fence.owner in dead or self.until[key] <= now]
        back = self.do(self.bench.gateway.recover())
        assert back >= len(lost)
        assert bool(back) == bool(lost)
        for session_id in lost:
            prompt_id = self.valid.pop(session_id).prompt.id
            self.failures[prompt_id] += 1
            SEEN["recovered"] += 1

    # What always holds

    @invariant()
    def everything_holds(self) -> None:
        events = self.do(self.bench.events())
        records = {each.record.id: each.record for each in events}
        assert self.said <= records.keys(), "I1: what was acknowledged is there"
        self.one_answer_a_turn(list(records.values()))
        self.allowed_moves(events)
        self.one_running_turn(list(records.values()))
        self.dense(list(records.values()))
        assert [each.seq for each in events] == list(range(1, len(events) + 1)), "I11: no change is missed"
        assert all(count <= 3 for count in self.failures.values()), "I12"

    def one_answer_a_turn(self, records: list[Record]) -> None:
        answers = Counter(each.turn_id for each in records if each.kind == "answer" and each.facts)
        assert all(count == 1 for count in answers.values()), "I3: one final answer a turn"
        for each in records:
            if each.status is S.PROCESSED:
                assert answers[each.turn_id] == 1, "I4: a processed prompt has its answer"
            elif each.id == each.turn_id:
                assert answers[each.id] == 0, "an interrupted or waiting turn has none"

    def allowed_moves(self, events: list[Change]) -> None:
        where: dict[str, S | None] = {}
        for each in events:
            if each.kind is ChangeKind.MOVED:
                assert each.before is where[each.record.id], "I5: no move is missing"
                assert each.before is not None
                assert each.after in TRANSITIONS[each.before], "I5: only moves of the diagram"
            if each.kind is not ChangeKind.REPLACED:
                where[each.record.id] = each.after

    def one_running_turn(self, records: list[Record]) -> None:
        running: dict[str, set[str | None]] = defaultdict(set)
        for each in records:
            if each.status is S.PROCESSING:
                running[each.session_id].add(each.turn_id)
        assert running == {session_id: {claim.prompt.id} for session_id, claim in self.valid.items()}, "I6"

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
            self.do(self.drain())
        self.runner.close()

    async def drain(self) -> None:
        """I8: with a living worker everything that can run ends; only what wakes nobody may wait."""
        self.bench.presence.dead |= {claim.fence.owner for claim in self.claims}
        await self.bench.gateway.recover()
        while (claim := await self.bench.gateway.claim("last", EVERYTHING)) is not None:
            await self.bench.finish(claim)
        for message_id in self.said:
            record = await self.bench.record(message_id)
            assert record.status in ENDED or record.mode == "inject"

    # Helpers

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


def test_the_rules_hold_through_any_lifecycle() -> None:
    # I1 to I8, I10 to I12 of the store's design
    run_state_machine_as_test(Lifecycle, settings=settings(max_examples=30, stateful_step_count=50, deadline=None))


def test_long_walks_see_everything() -> None:
    # the same, and I14: a harness that exercises nothing must fail
    SEEN.clear()
    for seed, policy in enumerate(POLICIES):
        machine, chance = Lifecycle(), Random(seed)
        machine.begin(policy)
        for n in range(800):
            machine.step(chance.choice(ACTIONS), chance)
            if n % 10 == 0:
                machine.everything_holds()
        machine.teardown()
    wanted = ("claimed", "written", "deposed", "finished", "interrupted", "recovered", "joined", "healed", "refused")
    assert [name for name in wanted if SEEN[name] < 3] == [], "these walks proved too little"

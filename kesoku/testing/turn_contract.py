"""What every store of turns must do: sessions, leases, events, steps; part of `kesoku.testing.store_contract`."""

# ruff: noqa: S101 - a contract is made of assertions

from dataclasses import replace

import pytest

from kesoku.errors import Deposed, StoreConflict
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.freeze import EMPTY, FrozenDict
from kesoku.messages.lifecycle import ChangeKind, Expense, Fence, Lease, Serving, Step
from kesoku.messages.record import Address, Record
from kesoku.messages.turn import Usage
from kesoku.ports import Store
from kesoku.testing.store_material import (
    ELSEWHERE,
    EVERYWHERE,
    HERE,
    MODEL,
    THERE,
    add,
    ids,
    move,
    prompt,
    said,
    serving,
    stored,
)


async def begin(store: Store, record: Record) -> None:
    """Note a turn."""
    await store.write(lambda tx: tx.steps.open(record.id, [record.id]))


async def spent_since(store: Store, since: int) -> int:
    """What all steps cost from then on."""
    return await store.read(lambda tx: tx.steps.spent(since))


async def take(store: Store, record: Record, *, owner: str = "w1", until: int = 40) -> Fence:
    """Lease a session for the turn of a prompt."""
    await begin(store, record)
    return await store.write(lambda tx: tx.leases.take(record, owner=owner, at=10, until=until))


async def next_of(store: Store, who: Serving) -> Record | None:
    """What a process would claim next."""
    return await store.read(lambda tx: tx.leases.next(who))


async def depose(store: Store, session_id: str, *, failed: bool) -> Lease:
    """End what runs."""
    return await store.write(lambda tx: tx.leases.depose(session_id, failed=failed))


async def keep(store: Store, step: Step) -> None:
    """Store a step."""
    await store.write(lambda tx: tx.steps.add(step))


class TurnContract:
    """The behaviour of `SessionStore`, `LeaseStore`, `EventLog` and `StepStore`."""

    async def test_a_session_is_made_once_and_ended_once(self, store: Store) -> None:
        given = await store.write(lambda tx: tx.sessions.create(session_id="mine", title="Tea 🍵", at=5))
        minted = await store.write(lambda tx: tx.sessions.create(at=6))
        assert (given.id, given.title, given.created_at, given.ended_at) == ("mine", "Tea 🍵", 5, None)
        assert len({given.id, minted.id, given.owner, minted.owner}) == 4
        assert await store.read(lambda tx: tx.sessions.get("mine")) == given
        assert await store.read(lambda tx: tx.sessions.get("none")) is None
        with pytest.raises(StoreConflict):
            await store.write(lambda tx: tx.sessions.create(session_id="mine", at=7))
        await store.write(lambda tx: tx.sessions.end("mine", at=8))
        await store.write(lambda tx: tx.sessions.end("mine", at=9))
        assert await store.read(lambda tx: tx.sessions.get("mine")) == replace(given, ended_at=8)

    async def test_a_channel_is_bound_to_one_session_at_a_time(self, store: Store) -> None:
        one = await store.write(lambda tx: tx.sessions.create(at=1))
        two = await store.write(lambda tx: tx.sessions.create(at=2))
        assert await store.read(lambda tx: tx.sessions.bound(HERE)) is None
        await store.write(lambda tx: tx.sessions.bind(HERE, one.id))
        assert await store.read(lambda tx: tx.sessions.bound(HERE)) == one
        await store.write(lambda tx: tx.sessions.bind(HERE, two.id))
        assert await store.read(lambda tx: tx.sessions.bound(HERE)) == two
        await store.write(lambda tx: tx.sessions.end(two.id, at=3))
        assert await store.read(lambda tx: tx.sessions.bound(HERE)) == replace(two, ended_at=3)
        assert await store.read(lambda tx: tx.sessions.bound(THERE)) is None

    async def test_sessions_are_listed_by_their_last_use(self, store: Store) -> None:
        for name in ("old", "new"):
            await store.write(add(prompt(), session=name))
        await store.write(lambda tx: tx.sessions.create(session_id="silent", at=9))
        await store.write(lambda tx: tx.sessions.bind(HERE, "old"))
        await store.write(add(prompt(), session="old"))
        listed = await store.read(lambda tx: tx.sessions.recent(9))
        assert [(session.id, session.last_n, address) for session, address in listed] == [
            ("old", 2, HERE),
            ("new", 1, None),
            ("silent", 0, None),
        ]
        assert len(await store.read(lambda tx: tx.sessions.recent(1))) == 1

    async def test_the_next_prompt_is_the_oldest_of_a_free_session(self, store: Store) -> None:
        (first, second) = await store.write(add(prompt(), prompt()))
        (other,) = await store.write(add(prompt(at=ELSEWHERE), session="s2"))

        async def following(*addresses: Address) -> str | None:
            found = await next_of(store, serving(*addresses) if addresses else EVERYWHERE)
            return found.id if found else None

        assert await following() == first.id
        assert await following(ELSEWHERE) == other.id
        assert await following(ELSEWHERE.whole, HERE) == first.id
        assert await following(THERE) is None
        fence = await take(store, first)
        await store.write(move(first, S.PROCESSING, S.PENDING_AGENT))
        assert await following() == other.id
        assert await following(HERE) is None
        await store.write(lambda tx: tx.leases.release(fence))
        assert await following() == second.id

    async def test_a_long_queue_behind_a_busy_session_hides_nobody(self, store: Store) -> None:
        queue = await store.write(add(*(prompt() for _ in range(150))))
        (other,) = await store.write(add(prompt(at=THERE), session="s2"))
        await take(store, queue[0])
        for who in (EVERYWHERE, serving(THERE), serving(HERE, THERE)):
            assert await next_of(store, who) == other
        assert await next_of(store, serving(HERE)) is None

    async def test_of_several_addresses_the_oldest_comes_first_behind_a_busy_session_too(self, store: Store) -> None:
        (busy,) = await store.write(add(prompt()))
        (free,) = await store.write(add(prompt(), session="s3"))
        await store.write(add(prompt(at=THERE), session="s2"))
        await take(store, busy)
        assert await next_of(store, serving(HERE, THERE)) == free

    async def test_injected_prompts_start_nothing(self, store: Store) -> None:
        # C-42
        _, steered = await store.write(add(prompt(mode="inject"), prompt(mode="steer")))
        assert await next_of(store, EVERYWHERE) == steered

    async def test_a_lease_has_a_generation_that_only_grows(self, store: Store) -> None:
        # N-06
        first, second = await store.write(add(prompt(), prompt()))
        assert await store.read(lambda tx: tx.leases.get("s1")) is None
        fences = [await take(store, first)]
        with pytest.raises(StoreConflict):
            await take(store, second)
        await store.write(lambda tx: tx.leases.check(fences[0]))
        await store.write(lambda tx: tx.leases.release(fences[0]))
        fences.append(await take(store, second, owner="w2"))
        await store.write(lambda tx: tx.leases.release(fences[0]))
        assert (await store.write(lambda tx: tx.leases.check(fences[1]))).message_id == second.id
        assert [fence.generation for fence in fences] == [1, 2]
        with pytest.raises(Deposed):
            await store.write(lambda tx: tx.leases.check(fences[0]))
        lease = await depose(store, "s1", failed=False)
        assert (lease.owner, lease.generation, lease.message_id) == (None, 3, second.id)
        with pytest.raises(Deposed):
            await store.read(lambda tx: tx.leases.check(fences[1]))
        assert await store.read(lambda tx: tx.leases.get("s1")) == lease
        assert (await depose(store, "never ran", failed=False)).generation == 1

    async def test_failures_count_for_one_turn_alone_whatever_runs_in_between(self, store: Store) -> None:
        first, second = await store.write(add(prompt(), prompt()))
        counts = []
        for record, failed in ((first, True), (second, True), (first, True), (first, False), (second, True)):
            await take(store, record)
            counts.append((await depose(store, "s1", failed=failed)).failures)
        assert counts == [1, 1, 2, 2, 2]
        assert (await depose(store, "never ran", failed=True)).failures == 0
        facts = await store.read(lambda tx: [tx.steps.turn(each.id) for each in (first, second)])
        assert [each.failures for each in facts if each] == [2, 2]

    async def test_an_owner_is_asked_for_the_most_failures_of_what_it_runs(self, store: Store) -> None:
        for session, crashes in (("s1", 2), ("s2", 0), ("s3", 1)):
            (record,) = await store.write(add(prompt(), session=session))
            for _ in range(crashes):
                await take(store, record, owner="dead")
                await depose(store, session, failed=True)
            await take(store, record, owner="w2" if session == "s3" else "w1")
        owners = ("w1", "w2", "dead")
        assert await store.read(lambda tx: [tx.leases.worst(owner) for owner in owners]) == [2, 1, None]

    async def test_leases_are_renewed_by_their_owner(self, store: Store) -> None:
        fences = []
        for session, owner in (("s1", "w1"), ("s2", "w2"), ("s3", "w1")):
            (record,) = await store.write(add(prompt(), session=session))
            fences.append(await take(store, record, owner=owner))
        await store.write(lambda tx: tx.leases.release(fences[2]))
        assert await store.write(lambda tx: tx.leases.renew("w1", until=99)) == fences[:1]
        assert await store.write(lambda tx: tx.leases.renew("w3", until=99)) == []
        held = await store.read(lambda tx: tx.leases.held())
        assert {lease.session_id: lease.until for lease in held} == {"s1": 99, "s2": 40}

    async def test_stranded_prompts_are_in_processing_and_nobodys(self, store: Store) -> None:
        for session, at in (("old", 100), ("even", 200), ("new", 201), ("owned", 100)):
            (record,) = await store.write(add(prompt(), session=session))
            await store.write(move(record, S.PROCESSING, S.PENDING_AGENT, at=at))
            if session == "owned":
                await take(store, record)
        await store.write(add(prompt(), said(make.notice("n")), session="other", at=1))
        stranded = await store.read(lambda tx: tx.leases.stranded(before=200))
        assert [record.session_id for record in stranded] == ["old"]

    async def test_a_prompt_that_started_again_is_not_old(self, store: Store) -> None:
        (record,) = await store.write(add(prompt()))
        await store.write(move(record, S.PROCESSING, S.PENDING_AGENT, at=100))
        await store.write(move(record, S.PENDING_AGENT, S.PROCESSING, at=300))
        assert await store.read(lambda tx: tx.leases.stranded(before=400)) == []
        await store.write(move(record, S.PROCESSING, S.PENDING_AGENT, at=350))
        assert await store.read(lambda tx: tx.leases.stranded(before=350)) == []
        assert ids(await store.read(lambda tx: tx.leases.stranded(before=351))) == [record.id]

    async def test_the_log_is_read_by_cursor(self, store: Store) -> None:
        # D-042
        assert await store.read(lambda tx: tx.events.head()) == 0
        one, two = await store.write(add(prompt(), said(make.notice("n"))))
        moved = await store.write(move(two, S.DELIVERED, S.PENDING))
        changes = await store.read(lambda tx: tx.events.after(0, 10))
        assert [(change.kind, change.record) for change in changes] == [
            (ChangeKind.INSERTED, one),
            (ChangeKind.INSERTED, moved),
            (ChangeKind.MOVED, moved),
        ]
        assert [change.after for change in changes] == [S.PENDING_AGENT, S.PENDING, S.DELIVERED]
        assert [change.seq for change in changes] == sorted({change.seq for change in changes})
        assert await store.read(lambda tx: tx.events.head()) == changes[-1].seq
        assert await store.read(lambda tx: tx.events.after(changes[0].seq, 1)) == changes[1:2]
        assert await store.read(lambda tx: tx.events.after(changes[-1].seq, 10)) == []
        assert await store.read(lambda tx: tx.events.of(two.id)) == changes[1:]

    async def test_a_turn_keeps_its_prompts_steps_and_metrics(self, store: Store) -> None:
        # K-040
        asker, steered = await store.write(add(prompt(), prompt()))
        answer, failure = await store.write(
            add(
                said(make.answer("a", **MODEL), turn_id=asker.id),
                said(make.error_answer("e"), turn_id=asker.id),
            )
        )
        await store.write(lambda tx: tx.steps.open(asker.id, [asker.id]))
        facts = await store.write(lambda tx: tx.steps.open(asker.id, [steered.id, asker.id]))
        assert facts.prompt_ids == (asker.id, steered.id)
        assert await store.read(lambda tx: tx.steps.count("s1")) == 0
        metrics = {"session_turns": 1, "turn_time": 2.1}
        await store.write(lambda tx: tx.steps.set_metrics(asker.id, metrics))
        assert await store.read(lambda tx: tx.steps.turn(asker.id)) == replace(facts, metrics=FrozenDict(metrics))
        assert await store.read(lambda tx: tx.steps.turn("none")) is None
        assert await store.read(lambda tx: tx.steps.count("s1")) == 1
        assert await store.read(lambda tx: tx.steps.count("s2")) == 0
        assert [(await stored(store, each.id)).metadata for each in (answer, failure)] == [
            {"turn_metrics": metrics},
            {},
        ]

    async def test_steps_are_numbered(self, store: Store) -> None:
        steps = [
            Step(
                turn_id="t1",
                n=n,
                request=FrozenDict(sources=(("m1", 1),), digest="ab"),
                reply=FrozenDict(blocks=(FrozenDict(text="Zoë \ud800"),)),
                usage=Usage(prompt=3, answer=n),
                at=7,
                model=f"m{n} \ud800",
                cost=None if n == 1 else 2**60,
            )
            for n in (2, 1)
        ]
        for step in steps:
            await keep(store, step)
        assert await store.read(lambda tx: tx.steps.of("t1")) == steps[::-1]
        assert await store.read(lambda tx: tx.steps.of("t2")) == []
        await keep(store, steps[0])  # the same once more, as after a commit whose outcome nobody saw
        with pytest.raises(StoreConflict):
            await keep(store, replace(steps[0], at=99))
        assert await store.read(lambda tx: tx.steps.of("t1")) == steps[::-1]

    async def test_what_was_spent_is_summed(self, store: Store) -> None:
        first, second = await store.write(add(prompt(), prompt()))
        (other,) = await store.write(add(prompt(), session="s2"))
        assert await store.read(lambda tx: tx.steps.spent(0)) == 0
        assert await store.read(lambda tx: tx.steps.expense("s1")) == Expense()
        for record in (first, second, other):
            await begin(store, record)
        used = Usage(prompt=100, cached=40, thoughts=7, answer=3)
        for record, n, at, cost in ((first, 1, 10, None), (first, 2, 11, 20), (second, 1, 12, 300), (other, 1, 13, 0)):
            step = Step(turn_id=record.id, n=n, request=EMPTY, reply=EMPTY, usage=used, at=at, model="m", cost=cost)
            await keep(store, step)
        spent = [await spent_since(store, since) for since in (0, 11, 12, 13, 14)]
        assert spent == [320, 320, 300, 0, 0]
        assert await store.read(lambda tx: tx.steps.expense("s1")) == Expense(usage=used + used + used, cost=320)
        assert await store.read(lambda tx: tx.steps.expense("s2")) == Expense(usage=used, cost=0)
        assert await store.read(lambda tx: Expense.of(tx.steps.of(first.id))) == Expense(usage=used + used, cost=20)

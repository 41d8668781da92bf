"""What every message store must do; part of `kesoku.testing.store_contract`."""

# ruff: noqa: S101 - a contract is made of assertions

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from kesoku.errors import DuplicateMessage, StoreConflict, StoreError, UnknownMessage, VersionConflict
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import ChangeKind, Serving
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Record
from kesoku.messages.source import RelaySource
from kesoku.ports import Store, Transaction
from kesoku.testing.store_material import (
    ELSEWHERE,
    HERE,
    MODEL,
    THERE,
    add,
    call,
    ids,
    move,
    prompt,
    said,
    serving,
    stored,
)


class MessageContract:
    """The behaviour of `MessageStore`."""

    async def test_messages_are_numbered_by_commit_and_densely_in_their_session(self, store: Store) -> None:
        first, second = await store.write(add(prompt(), prompt()))
        (other,) = await store.write(add(prompt(), session="s2"))
        (third,) = await store.write(add(prompt()))
        assert [r.session_n for r in (first, second, other, third)] == [1, 2, 1, 3]
        assert first.seq < second.seq < other.seq < third.seq

    async def test_a_record_reads_as_it_was_written(self, store: Store) -> None:
        # K-125
        place: dict[str, Any] = {"parent_id": "p", "turn_id": "t", "round": 2, "mode": "steer"}
        (written,) = await store.write(add(prompt("Zoë 🎈 \x00 \ud800", **place)))
        read = await stored(store, written.id)
        assert read == written
        assert read.message.to_dict() == written.message.to_dict()
        assert read.status is S.PENDING_AGENT
        assert await store.read(lambda tx: tx.messages.get("nobody")) is None

    async def test_a_known_id_is_stored_once(self, store: Store) -> None:
        # C-45
        post = prompt("first")
        (record,) = await store.write(add(post))
        assert await store.write(add(post)) == [record]
        assert len(await store.read(lambda tx: tx.events.after(0, 10))) == 1
        with pytest.raises(DuplicateMessage):
            await store.write(add(replace(post, message=replace(post.message, author="someone else"))))
        await store.write(lambda tx: tx.messages.rewrite(post.message.update(text="second"), actor="a", at=11))
        assert ids(await store.write(add(post))) == [record.id]

    async def test_a_message_needs_a_session_and_a_stored_form(self, store: Store) -> None:
        # N-14
        with pytest.raises(StoreConflict):
            await store.write(lambda tx: tx.messages.insert(prompt(), session_id="none", at=1))
        bare = Message.create(source=RelaySource(), content=object())
        for bad in (said(bare, status=S.RESPONDED), said(make.thought("x", replay_state=object(), **MODEL))):
            with pytest.raises(StoreError):
                await store.write(add(bad))
        (fine,) = await store.write(add(prompt()))
        assert fine.session_n == 1

    async def test_a_platform_id_stays_with_the_message_that_had_it_first(self, store: Store) -> None:
        # D-025, N-07
        first, second = await store.write(add(prompt(keys=("m1", "m2")), prompt()))
        await store.write(lambda tx: tx.messages.add_keys("discord", ["m2", "m3"], second.id))

        async def owner(key: str) -> str | None:
            found = await store.read(lambda tx: tx.messages.find("discord", [key]))
            return found.id if found else None

        assert [await owner(key) for key in ("m1", "m2", "m3", "m4")] == [first.id, first.id, second.id, None]
        assert await store.read(lambda tx: tx.messages.find("wechat", ["m1"])) is None
        assert await store.read(lambda tx: tx.messages.find("discord", ["m4", "m1"])) == first

    async def test_a_rewrite_is_the_next_version_under_the_same_id(self, store: Store) -> None:
        # D-026
        (before,) = await store.write(add(prompt("first")))
        after = before.message.update(text="second")
        written = await store.write(lambda tx: tx.messages.rewrite(after, actor="editor", at=12))
        read = await stored(store, before.id)
        assert (read.message.rendered, read.message.version, read.status) == ("second", 2, before.status)
        assert read == written
        assert (before.message.rendered, before.message.version) == ("first", 1)
        with pytest.raises(VersionConflict):
            await store.write(lambda tx: tx.messages.rewrite(after, actor="editor", at=13))
        with pytest.raises(UnknownMessage):
            await store.write(lambda tx: tx.messages.rewrite(make.notice("x").update(text="y"), actor="e", at=13))
        changes = await store.read(lambda tx: tx.events.of(before.id))
        assert [(c.kind, c.actor, c.at) for c in changes][1:] == [(ChangeKind.REPLACED, "editor", 12)]

    async def test_a_turn_has_one_final_answer(self, store: Store) -> None:
        await store.write(
            add(said(make.answer("a", **MODEL), turn_id="t1"), said(make.error_answer("e"), turn_id="t1"))
        )
        with pytest.raises(StoreConflict):
            await store.write(add(said(make.answer("b", **MODEL), turn_id="t1")))
        await store.write(add(said(make.answer("c", **MODEL), turn_id="t2")))

    async def test_a_call_has_one_result_that_counts(self, store: Store) -> None:
        # C-03
        asked = call()
        _, one = make.respond(asked, "1")
        _, two = make.respond(asked, "2")
        await store.write(add(said(asked), said(one, parent_id=asked.id)))
        with pytest.raises(StoreConflict):
            await store.write(add(said(two, parent_id=asked.id)))
        await store.write(lambda tx: tx.messages.supersede(one.id, by=two.id))
        await store.write(add(said(two, parent_id=asked.id)))
        assert (await stored(store, one.id)).superseded_by == two.id

    async def test_a_status_moves_by_compare_and_set_and_leaves_its_event(self, store: Store) -> None:
        # K-141
        (record,) = await store.write(add(prompt()))
        moved = await store.write(move(record, S.PROCESSING, S.PENDING_AGENT))
        assert moved == await store.read(lambda tx: tx.messages.get(record.id))
        assert moved == replace(record, status=S.PROCESSING)
        assert await store.write(move(record, S.PROCESSING, S.PENDING_AGENT)) is None
        assert await store.write(move(replace(record, message=make.notice("x")), S.DELIVERED, S.PENDING)) is None
        last = (await store.read(lambda tx: tx.events.after(0, 10)))[-1]
        assert (last.kind, last.before, last.after) == (ChangeKind.MOVED, S.PENDING_AGENT, S.PROCESSING)
        assert (last.actor, last.reason, last.at, last.record) == ("tester", "because", 20, moved)

    async def test_what_is_processed_is_claimed_no_more(self, store: Store) -> None:
        # K-140
        (record,) = await store.write(add(prompt()))
        await store.write(move(record, S.PROCESSING, S.PENDING_AGENT))
        await store.write(move(record, S.PROCESSED, S.PROCESSING))
        assert await store.write(move(record, S.PROCESSING, S.PENDING_AGENT)) is None
        assert (await stored(store, record.id)).status is S.PROCESSED
        assert len(await store.read(lambda tx: tx.events.of(record.id))) == 3

    async def test_two_claimers_of_one_message(self, store: Store) -> None:
        # K-139
        (record,) = await store.write(add(prompt()))
        claim = move(record, S.PROCESSING, S.PENDING_AGENT)
        won = await asyncio.gather(*(store.write(claim) for _ in range(8)))
        assert sum(record is not None for record in won) == 1

    async def test_a_status_belongs_to_its_role(self, store: Store) -> None:
        asker, teller = await store.write(add(prompt(), said(make.notice("n"))))
        with pytest.raises(StoreConflict):
            await store.write(move(asker, S.DELIVERED, S.PENDING_AGENT))
        with pytest.raises(StoreConflict):
            await store.write(move(teller, S.PROCESSED, S.PENDING))
        assert (await stored(store, asker.id)).status is S.PENDING_AGENT

    async def test_a_prompt_can_be_placed_in_a_running_turn(self, store: Store) -> None:
        # C-42
        (record,) = await store.write(add(prompt(mode="steer")))
        placed = await store.write(lambda tx: tx.messages.place(record.id, turn_id="t1", round=3))
        assert (placed.turn_id, placed.round) == ("t1", 3)
        assert await store.read(lambda tx: tx.messages.turn("t1")) == [placed]
        with pytest.raises(UnknownMessage):
            await store.write(lambda tx: tx.messages.place("nobody", turn_id="t1", round=1))

    async def test_a_session_is_read_in_parts(self, store: Store) -> None:
        records = await store.write(add(*(prompt(str(n)) for n in range(5))))
        await store.write(add(prompt(), session="s2"))
        read = [
            await store.read(lambda tx: tx.messages.session("s1")),
            await store.read(lambda tx: tx.messages.session("s1", after_n=1, limit=2)),
            await store.read(lambda tx: tx.messages.tail("s1", 2)),
            await store.read(lambda tx: tx.messages.tail("s1", 99)),
            await store.read(lambda tx: tx.messages.tail("none", 2)),
        ]
        assert read == [records, records[1:3], records[3:], records, []]

    async def test_a_record_is_found_by_its_place(self, store: Store) -> None:
        posts = await store.write(add(prompt(), prompt()))
        assert await store.read(lambda tx: [tx.messages.nth("s1", n) for n in range(4)]) == [None, *posts, None]
        assert await store.read(lambda tx: tx.messages.nth("none", 1)) is None

    async def test_the_past_is_the_session_as_it_stands(self, store: Store) -> None:
        # D-051
        (first, *_) = await store.write(add(*(prompt(str(n)) for n in range(4)), *map(said, (call(), call()))))
        changes: list[Callable[[Transaction, Record], object]] = [
            lambda tx, record: tx.messages.rewrite(record.message.update(), actor="editor", at=12),
            lambda tx, record: tx.messages.move(record.id, S.ERROR, list(S), actor="", reason="", at=13),
            lambda tx, record: tx.messages.place(record.id, turn_id=first.id, round=2),
            lambda tx, record: tx.messages.supersede(record.id, by=first.id),
            lambda tx, record: add(prompt())(tx),
            lambda tx, record: add(prompt(), session="s2")(tx),
        ]
        random = Random(1)

        async def look() -> list[Record]:
            after_n, limit = random.choice((0, 0, 0, 3)), random.choice((3, 99, 99, 99))
            whole, past = await store.read(
                lambda tx: (
                    tx.messages.session("s1", after_n=after_n, limit=limit),
                    tx.messages.past("s1", after_n=after_n, limit=limit),
                )
            )
            assert list(past) == whole
            assert [each.message.to_dict() for each in past] == [each.message.to_dict() for each in whole]
            return await store.read(lambda tx: tx.messages.session("s1"))

        for _ in range(60):
            record, change = random.choice(await look()), random.choice(changes)
            with suppress(StoreError, UnknownMessage):
                await store.write(lambda tx: change(tx, record))  # noqa: B023

    async def test_a_whole_turn_is_read_in_full(self, store: Store) -> None:
        # K-171
        calls = [call() for _ in range(3)]
        results = [make.respond(each, "x" * 100_000)[1] for each in calls]
        thoughts = [make.thought(text, **MODEL) for text in ("hm", "so")]
        texts = [make.error_answer("oh"), make.answer("done", **MODEL)]
        posts = [said(each, turn_id="t1") for each in (*thoughts, *calls, *results, *texts)]
        records = await store.write(add(*posts))
        read = await store.read(lambda tx: tx.messages.session("s1"))
        assert read == records
        assert [each.message.to_dict() for each in read] == [post.message.to_dict() for post in posts]

    async def test_a_turn_is_its_prompt_and_what_was_posted_for_it(self, store: Store) -> None:
        (asker,) = await store.write(add(prompt()))
        thought = said(make.thought("hm", **MODEL), turn_id=asker.id, parent_id=asker.id, round=1)
        added = await store.write(add(thought, prompt("another")))
        assert await store.read(lambda tx: tx.messages.turn(asker.id)) == [asker, added[0]]

    async def test_open_calls_have_no_result(self, store: Store) -> None:
        # K-169
        open_, answered, linked = call(), call(), call()
        after, result = make.respond(linked, "out")
        _, imported = make.respond(answered, "out")
        await store.write(add(*map(said, (open_, answered, linked)), said(imported, parent_id=answered.id)))
        await store.write(add(said(result, parent_id=linked.id)))
        await store.write(lambda tx: tx.messages.rewrite(after, actor="a", at=11))
        await store.write(add(said(call()), session="s2"))
        assert ids(await store.read(lambda tx: tx.messages.open_calls("s1"))) == [open_.id]

    async def test_queued_prompts_of_a_session(self, store: Store) -> None:
        records = await store.write(add(prompt(), prompt(at=THERE), said(make.notice("n")), prompt()))
        await store.write(add(prompt(), session="s2"))
        await store.write(move(records[0], S.PROCESSING, S.PENDING_AGENT))
        assert ids(await store.read(lambda tx: tx.messages.queued("s1"))) == [records[1].id, records[3].id]

    async def test_queued_prompts_that_replace_a_turn_or_ride_along(self, store: Store) -> None:
        plain, steered, injected = await store.write(add(prompt(), prompt(mode="steer"), prompt(mode="inject")))
        replacing, started = prompt(), prompt()

        def mark(tx: Transaction) -> list[Record]:
            posts = (replacing, started)
            return [tx.messages.insert(each, session_id="s1", at=1, superseded_turn=plain.id) for each in posts]

        _, begun = await store.write(mark)
        await store.write(move(begun, S.PROCESSING, S.PENDING_AGENT))
        await store.write(add(prompt(mode="steer"), session="s2"))
        assert ids(await store.read(lambda tx: tx.messages.replacing("s1"))) == [replacing.message.id]
        assert ids(await store.read(lambda tx: tx.messages.riders("s1"))) == [steered.id, injected.id]

    async def test_what_an_outbox_has_to_handle(self, store: Store) -> None:
        (asker,) = await store.write(add(prompt()))
        await store.write(move(asker, S.PROCESSING, S.PENDING_AGENT))
        inside: dict[str, Any] = {"turn_id": asker.id, "parent_id": asker.id}
        first, thought, there, elsewhere, _ = await store.write(
            add(
                said(make.notice("n")),
                said(make.thought("hm", **MODEL), **inside),
                said(make.notice("n"), at=THERE),
                said(make.notice("n"), at=ELSEWHERE),
                said(make.nudge(), **inside),
            )
        )
        served = {
            "channel": serving(HERE),
            "bot": serving(HERE.whole),
            "both": serving(HERE, HERE.whole, ELSEWHERE),
            "none": serving(),
        }

        async def waiting(who: Serving) -> list[str]:
            return ids(await store.read(lambda tx: tx.messages.waiting(who)))

        assert {name: await waiting(who) for name, who in served.items()} == {
            "channel": [first.id, thought.id],
            "bot": [first.id, thought.id, there.id],
            "both": [first.id, thought.id, there.id, elsewhere.id],
            "none": [],
        }
        await store.write(move(first, S.DELIVERED, S.PENDING))
        await store.write(move(thought, S.DELIVERED, S.RESPONDED))
        assert await waiting(serving(HERE)) == []

    async def test_the_last_words_of_a_person_in_a_channel(self, store: Store) -> None:
        first, there, other, _ = await store.write(
            add(prompt(), prompt(at=THERE), prompt(), said(make.mail_note("n")), at=10)
        )
        (later,) = await store.write(add(prompt(), at=11))

        async def last(address: Address, before: int | None = None) -> str | None:
            found = await store.read(lambda tx: tx.messages.last_said(address, before=before))
            return found.id if found else None

        assert (await last(HERE), await last(THERE), await last(ELSEWHERE)) == (later.id, there.id, None)
        assert await last(HERE, later.seq) == other.id
        assert await last(HERE, other.seq) == first.id
        assert await last(HERE, first.seq) is None

    async def test_the_load_of_a_channel_and_of_a_person(self, store: Store) -> None:
        await store.write(add(prompt(), at=10))
        records = await store.write(
            add(prompt(), prompt(user_id="u2"), prompt(at=THERE), said(make.notice("n")), at=20)
        )
        await store.write(move(records[0], S.PROCESSING, S.PENDING_AGENT))

        await store.write(add(prompt(), at=31))  # before the clock was set back

        async def load(address: Address, author: str | None, most: int = 9) -> tuple[int, int, int, int]:
            found = await store.read(lambda tx: tx.messages.load(address, author, since=20, until=30, most=most))
            return found.here, found.total, found.spoken, found.said

        assert await load(HERE, "u1") == (3, 4, 2, 2)
        assert await load(THERE, "u2") == (1, 4, 1, 1)
        assert await load(HERE, None) == (3, 4, 2, 0)
        assert await load(ELSEWHERE, "u1") == (0, 0, 0, 0)
        assert await load(HERE, "u1", most=1) == (1, 4, 1, 1)
        await store.write(move(records[0], S.PENDING_AGENT, S.PROCESSING))
        await store.write(move(records[1], S.INTERRUPTED, S.PENDING_AGENT))
        assert await load(HERE, "u1") == (3, 4, 2, 2)

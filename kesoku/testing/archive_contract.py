"""What every store must do with earlier bodies; part of `kesoku.testing.store_contract`."""

# ruff: noqa: S101 - a contract is made of assertions

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from kesoku.errors import StoreClosed, StoreReadOnly, UnknownMessage, VersionConflict
from kesoku.messages import make
from kesoku.messages.content import Attachment, Question
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import EMPTY, FrozenDict
from kesoku.messages.hook_failure import HookFailure
from kesoku.messages.lifecycle import Asked, ChangeKind, DeliveryState, Purpose, Step
from kesoku.messages.mail import DeadReason, Letter, Mailbox
from kesoku.messages.message import Message
from kesoku.messages.source import RelaySource
from kesoku.ports import Store
from kesoku.testing.store_material import HERE, add, ids, part, prompt, said, stored

SENDER, RECEIVER = UUID(int=1), UUID(int=2)


def letter(content: Any = "hush", **fields: Any) -> Message:
    """Mail of no role."""
    return Message.create(source=RelaySource(), content=content, sender=SENDER, recipient=RECEIVER, **fields)


class ArchiveContract:
    """The behaviour of `Archive`."""

    async def test_every_version_of_a_message_is_kept(self, store: Store) -> None:
        (first,) = await store.write(add(prompt()))
        second = first.message.update(text="second")
        third = second.update(text="third \ud800")
        for message in (second, third):
            await store.write(lambda tx, message=message: tx.messages.rewrite(message, actor="a", at=9))  # type: ignore[misc]
        found = await store.read(lambda tx: tx.archive.versions(first.id))
        assert [(each.version, each.rendered) for each in found] == [
            (1, first.message.rendered),
            (2, "second"),
            (3, "third \ud800"),
        ]
        assert await store.read(lambda tx: tx.archive.versions("nobody")) == []

    async def test_what_overwrites_a_message_stands_in_all_of_its_versions(self, store: Store) -> None:
        """C-16"""
        (record,) = await store.write(add(prompt("hush 1")))
        second = record.message.update(text="hush 2")
        await store.write(lambda tx: tx.messages.rewrite(second, actor="a", at=8))
        third = second.update(text="gone")
        assert await store.write(lambda tx: tx.archive.overwrite(third, actor="me", at=9)) == 2
        found = await store.read(lambda tx: tx.archive.versions(record.id))
        assert [(each.version, each.rendered) for each in found] == [(1, "gone"), (2, "gone"), (3, "gone")]
        assert (await stored(store, record.id)).message.rendered == "gone"
        (read,) = await store.read(lambda tx: tx.messages.past("s1", after_n=0, limit=9))
        assert read.message.rendered == "gone"
        last = (await store.read(lambda tx: tx.events.of(record.id)))[-1]
        assert (last.kind, last.actor, last.at) == (ChangeKind.REPLACED, "me", 9)
        await store.write(lambda tx: tx.messages.rewrite(third.update(text="new"), actor="a", at=10))
        assert (await stored(store, record.id)).message.rendered == "new"

    async def test_only_the_next_version_of_a_known_message_overwrites_it(self, store: Store) -> None:
        (record,) = await store.write(add(prompt()))
        unknown = prompt().message.update(text="x")
        with pytest.raises(UnknownMessage):
            await store.write(lambda tx: tx.archive.overwrite(unknown, actor="a", at=1))
        with pytest.raises(VersionConflict):
            await store.write(lambda tx: tx.archive.overwrite(record.message, actor="a", at=1))
        with pytest.raises(StoreReadOnly):
            await store.read(lambda tx: tx.archive.overwrite(record.message.update(text="x"), actor="a", at=1))

    async def test_an_overwriting_that_fails_leaves_everything_as_it_was(self, store: Store) -> None:
        (record,) = await store.write(add(prompt("kept")))

        def fails(tx: Any) -> None:
            tx.archive.overwrite(record.message.update(text="gone"), actor="a", at=1)
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await store.write(fails)
        found = await store.read(lambda tx: tx.archive.versions(record.id))
        assert [each.rendered for each in found] == ["kept"]

    async def test_messages_that_name_another_are_found_in_every_session(self, store: Store) -> None:
        (origin,) = await store.write(add(prompt()))
        copy = origin.message.clone()
        note = make.nudge("from mail")
        relayed = replace(note, id="note", source=RelaySource(mail_id=origin.id))
        quoting = prompt(f'it is "{origin.id}"')
        await store.write(add(said(copy), said(relayed, status=None), quoting, session="s2"))
        assert await store.read(lambda tx: tx.archive.naming(origin.id)) == [copy.id, "note"]
        assert await store.read(lambda tx: tx.archive.naming(copy.id)) == []
        assert await store.read(lambda tx: tx.archive.naming(origin.id[:-1])) == []

    async def test_messages_that_hold_a_file_are_found_in_every_session(self, store: Store) -> None:
        path = '/data/a "b"/1-ü.png'
        with_file = make.user_prompt("x", author="A", attachments=[Attachment(name="ü", path=path)])
        (record,) = await store.write(add(said(with_file)))
        await store.write(add(prompt(), session="s2"))
        assert await store.read(lambda tx: tx.archive.holding(path)) == [record.id]
        assert await store.read(lambda tx: tx.archive.holding('"b"')) == [record.id]
        assert await store.read(lambda tx: tx.archive.holding(f"{path}.bak")) == []

    async def test_a_step_gets_another_reply_and_nothing_else(self, store: Store) -> None:
        step = Step(turn_id="t", n=1, request=FrozenDict(digest="d"), reply=FrozenDict(blocks=["hush"]), at=4)
        await store.write(lambda tx: tx.steps.add(step))
        other = replace(step, reply=FrozenDict(blocks=["gone"]))
        await store.write(lambda tx: tx.archive.overwrite_step(other))
        await store.write(lambda tx: tx.archive.overwrite_step(replace(other, n=2)))
        assert await store.read(lambda tx: tx.steps.of("t")) == [other]

    @pytest.mark.parametrize("purpose", Purpose)
    async def test_a_part_gets_another_body_in_whatever_state_it_is(self, store: Store, purpose: Purpose) -> None:
        (record,) = await store.write(add(prompt()))
        parts = [part(record, n, purpose=purpose, body="hush") for n in (0, 1)]
        await store.write(lambda tx: tx.deliveries.plan(parts))
        await store.write(lambda tx: tx.deliveries.move(record.id, 0, purpose, DeliveryState.SENDING, at=3))
        for each in parts:
            changed = replace(each, body="gone", hash="g")
            await store.write(lambda tx, changed=changed: tx.archive.overwrite_part(changed))  # type: ignore[misc]
        await store.write(lambda tx: tx.archive.overwrite_part(part(record, 7, purpose=purpose)))
        found = await store.read(lambda tx: tx.deliveries.of(record.id, purpose))
        assert [(each.part, each.body, each.hash) for each in found] == [(0, "gone", "g"), (1, "gone", "g")]
        assert [each.state for each in found] == [DeliveryState.SENDING, DeliveryState.PLANNED]

    async def test_a_part_gets_another_error_or_none(self, store: Store) -> None:
        (record,) = await store.write(add(prompt()))
        await store.write(lambda tx: tx.deliveries.plan([part(record, n) for n in (0, 1)]))
        for n in (0, 1):
            for to in (DeliveryState.SENDING, DeliveryState.REFUSED):
                await store.write(
                    lambda tx, n=n, to=to: tx.deliveries.move(record.id, n, Purpose.FINAL, to, at=3, error="hush")  # type: ignore[misc]
                )
        for n, error in ((0, "gone"), (1, None)):
            changed = replace(part(record, n), error=error)
            await store.write(lambda tx, changed=changed: tx.archive.overwrite_part(changed))  # type: ignore[misc]
        found = await store.read(lambda tx: tx.deliveries.of(record.id))
        assert [each.error for each in found] == ["gone", None]

    async def test_whoever_failed_with_a_message_has_said_something_else(self, store: Store) -> None:
        mine, other = await store.write(add(prompt(), prompt()))
        for seq, each in enumerate((mine, other), 1):
            failure = HookFailure(
                hook="h", event_seq=seq, message_id=each.id, attempts=1, next_at=None, error="hush", at=1
            )
            await store.write(lambda tx, failure=failure: tx.hooks.put(failure))  # type: ignore[misc]
            for to in (MessageStatus.PROCESSING, MessageStatus.ERROR):
                await store.write(
                    lambda tx, each=each, to=to: tx.messages.move(  # type: ignore[misc]
                        each.id, to, set(MessageStatus), actor="a", reason="hush", at=2
                    )
                )
        await store.write(lambda tx: tx.archive.overwrite_errors(mine.id, "gone"))
        failures = await store.read(lambda tx: tx.hooks.of("h", limit=9))
        assert [each.error for each in failures] == ["gone", "hush"]
        for each, reasons in ((mine, ["", "hush", "gone"]), (other, ["", "hush", "hush"])):
            events = await store.read(lambda tx, each=each: tx.events.of(each.id))  # type: ignore[misc]
            assert [change.reason for change in events] == reasons

    async def test_whoever_refused_mail_has_said_something_else(self, store: Store) -> None:
        first, second = letter(), letter()
        for each in (first, second):
            await store.write(lambda tx, each=each: tx.mail.add(each, SENDER, at=5))  # type: ignore[misc]
        for found in await store.read(lambda tx: tx.mail.outbox(SENDER)):
            await store.write(
                lambda tx, found=found: tx.mail.bury(found, DeadReason.DELIVERY_ERROR, error="hush", at=6)  # type: ignore[misc]
            )
        await store.write(lambda tx: tx.archive.overwrite_errors(first.id, "gone"))
        dead = await store.read(lambda tx: tx.mail.dead(SENDER))
        assert [(each.id, each.error) for each in dead] == [(first.id, "gone"), (second.id, "hush")]

    async def test_a_question_gets_another_text(self, store: Store) -> None:
        question = Question(id="q", text="hush", choices=("yes", "no"))
        asked = Asked(question=question, turn_id="t", address=HERE, purpose=EMPTY)
        await store.write(lambda tx: tx.questions.add(asked))
        await store.write(lambda tx: tx.archive.overwrite_question(replace(question, text="gone")))
        await store.write(lambda tx: tx.archive.overwrite_question(replace(question, id="other")))
        found = await store.read(lambda tx: tx.questions.get("q"))
        assert found == replace(asked, question=replace(question, text="gone"))

    async def test_mail_gets_another_body_wherever_it_lies(self, store: Store) -> None:
        first, second, third = letter({"text": "hush"}), letter(), letter()
        await store.write(lambda tx: tx.mail.open(Mailbox(owner=RECEIVER)))
        letters = dict[str, Letter]()
        for each in (first, second, third):
            await store.write(lambda tx, each=each: tx.mail.add(each, SENDER, at=5))  # type: ignore[misc]
        for found in await store.read(lambda tx: tx.mail.outbox(SENDER)):
            letters[found.message.id] = found
        await store.write(lambda tx: tx.mail.deliver(letters[first.id], [RECEIVER], at=6))
        await store.write(lambda tx: tx.mail.settle(letters[first.id]))
        await store.write(lambda tx: tx.mail.bury(letters[second.id], DeadReason.NO_SUCH_OWNER, at=6))
        for each in (first, second, third, letter()):
            gone = replace(each, content="gone", version=2)
            await store.write(lambda tx, gone=gone: tx.archive.overwrite_mail(gone))  # type: ignore[misc]
        inbox = await store.read(lambda tx: tx.mail.inbox(RECEIVER))
        dead = [each.letter.message for each in await store.read(lambda tx: tx.mail.dead())]
        queued = [each.message for each in await store.read(lambda tx: tx.mail.outbox(SENDER))]
        assert [(each.id, each.content) for each in (*inbox, *dead, *queued)] == [
            (first.id, "gone"),
            (second.id, "gone"),
            (third.id, "gone"),
        ]

    async def test_mail_that_names_a_message_is_found(self, store: Store) -> None:
        (origin,) = await store.write(add(prompt()))
        copied = letter(metadata={"clone_from": origin.id})
        for each in (copied, letter()):
            await store.write(lambda tx, each=each: tx.mail.add(each, SENDER, at=5))  # type: ignore[misc]
        assert await store.read(lambda tx: tx.archive.letters(origin.id)) == [copied]
        assert await store.read(lambda tx: tx.archive.letters(copied.id)) == []

    async def test_scrubbing_keeps_everything_that_is_stored(self, store: Store) -> None:
        records = await store.write(add(*(prompt(str(n)) for n in range(20))))
        await store.scrub()
        assert ids(await store.read(lambda tx: tx.messages.session("s1"))) == ids(records)
        (another,) = await store.write(add(prompt("later")))
        assert another.session_n == 21
        await store.aclose()
        with pytest.raises(StoreClosed):
            await store.scrub()

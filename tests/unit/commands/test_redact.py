"""/redact: afterwards the words stand nowhere, neither in the database nor in what anybody is told (C-16)."""

import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import pytest

from kesoku.adapter.outgoing import Outgoing, OutgoingFile
from kesoku.adapter.part import decode, is_damaged, row, rows
from kesoku.adapter.sender import BLIND
from kesoku.agent.limits import TurnLimits
from kesoku.agent.view import Viewer
from kesoku.commands.copies import EXPORT
from kesoku.commands.here import first_words
from kesoku.commands.look import Look
from kesoku.commands.redact import Redact
from kesoku.commands.registry import Registry
from kesoku.errors import NotPossible, StoreLocked
from kesoku.exchange.announcement import Announcement, announce
from kesoku.exchange.kin import Kin, add_child
from kesoku.exchange.occasion import derived_id
from kesoku.history.codec import reply_from_json
from kesoku.messages import make
from kesoku.messages.content import Attachment, Question
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import FrozenDict
from kesoku.messages.hook_failure import HookFailure
from kesoku.messages.lifecycle import Asked, DeliveryState, Purpose
from kesoku.messages.mail import Mailbox
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Post, Record
from kesoku.messages.redaction import REDACTED, is_redacted
from kesoku.messages.source import RelaySource
from kesoku.messages.turn import Finish, Reply
from kesoku.ports import Store, Transaction
from kesoku.store import SqlStore
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.faulty_store import LOCKED, FaultyStore
from kesoku.testing.gateway_harness import EVERYTHING, ROOM
from kesoku.testing.memory import MemoryStore
from kesoku.testing.model import Held, ScriptedModel, call, reply, thought
from kesoku.tools.tool import Effect, tool

from .desk import Desk, desk, read_by

T = TypeVar("T")

SECRET = "correct horse battery staple"
SHORT = "hunter2"


@tool(effect=Effect.READ)
def look(where: str) -> str:
    """Look."""
    return f"nothing in {len(where)} letters"


@tool(effect=Effect.READ)
def tell() -> str:
    """Tell."""
    return f"it is {SECRET}"


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    (tmp_path / "db").mkdir()
    async with await SqlStore.open(tmp_path / "db" / "kesoku.db") as store:
        yield store


@pytest.fixture
def table(store: SqlStore, tmp_path: Path) -> Desk:
    return at_desk(store, tmp_path)


def at_desk(store: Store, folder: Path, *lines: object) -> Desk:
    model = ScriptedModel(*lines)  # type: ignore[arg-type]
    made = Desk(model=model, harness=AgentHarness(model, tools=[look, tell], store=store, replays=False))
    redact = Redact(store=store, clock=made.harness.clock, folder=lambda session_id: folder / "files" / session_id)
    viewer = Viewer(assistants=made.harness.assistants, limits=made.harness.limits or TurnLimits())
    made.registry = Registry([*Look(store=store, viewer=viewer).commands(), *redact.commands()])
    return made


def holding(folder: Path) -> list[str]:
    """The files below a folder in which the secret stands, as another process sees them."""
    found = subprocess.run(
        ["grep", "-rlF", "-e", SECRET, "-e", SHORT, folder], capture_output=True, text=True, check=False
    )
    return sorted(Path(line).name for line in found.stdout.splitlines())


async def one(table: Desk, kind: str) -> Record:
    """The first record of a kind in the conversation."""
    return next(each for each in await everything(table) if each.kind == kind)


async def everything(table: Desk) -> list[Record]:
    """The conversation."""
    bound = await table.harness.bound()
    assert bound is not None
    return await table.harness.store.read(lambda tx: tx.messages.session(bound.id))


async def prompt(table: Desk) -> Record:
    """A prompt that was edited twice."""
    table.model.lines += ["fine"]
    (said,) = await table.talk(f"{SECRET} " * 900)
    for text in (f"{SECRET}!", f"I never said {SECRET}"):
        found = await table.harness.record(said)
        version = found.message.update(text=text)
        await table.harness.store.write(lambda tx, version=version: tx.messages.rewrite(version, actor="a", at=1))  # type: ignore[misc]
    return said


async def answer(table: Desk) -> Record:
    """An answer, parts of which were sent, and a live status."""
    table.model.lines += [reply(thought("hm"), f"It is {SECRET}.")]
    await table.talk("what is it?")
    found = await one(table, "answer")
    parts = rows([Outgoing(text=f"{n} {SECRET}") for n in range(3)], message_id=found.id, address=ROOM)
    live = row(Outgoing(text=SECRET), message_id=found.turn_id or "", address=ROOM, part=0, purpose=Purpose.LIVE)
    await table.harness.store.write(lambda tx: tx.deliveries.plan([*parts, live]))
    await table.harness.store.write(
        lambda tx: tx.deliveries.move(found.id, 0, Purpose.FINAL, DeliveryState.SENDING, at=1)
    )
    return found


async def cut_answer(table: Desk) -> Record:
    """An answer that was cut twice: its words stand in thoughts, in steps, and in the answer."""
    table.model.lines += [
        reply(f"First {SECRET}, ", finish=Finish.CUT),
        reply("and then the rest."),
    ]
    await table.talk("tell me all of it")
    return await one(table, "answer")


async def piece_of_an_answer(table: Desk) -> Record:
    """The first part of an answer that was cut."""
    await cut_answer(table)
    return await one(table, "thought")


async def thinking(table: Desk) -> Record:
    """A thought."""
    table.model.lines += [reply(thought(f"the key is {SECRET}"), "no idea")]
    await table.talk("what is it?")
    return await one(table, "thought")


async def calling(table: Desk) -> Record:
    """A call with a secret argument, which people were asked about; its result repeats the argument."""
    table.model.lines += [reply(call("look", where=SECRET)), "done"]
    await table.talk("look there")
    found = await one(table, "tool_call")
    question = Question(id=found.id, text=f"May I look for {SECRET}?", choices=("yes", "no"))
    notice = make.notice(question.text, reason="reply", question=question)
    purpose = FrozenDict(call=found.id, tool="look", notice=notice.id)
    asked = Asked(question=question, turn_id=found.turn_id or "", address=ROOM, purpose=purpose)
    await table.harness.store.write(lambda tx: tx.questions.add(asked))
    await table.harness.gateway.post(found.beside(notice))
    return found


async def result(table: Desk) -> Record:
    """A result."""
    table.model.lines += [reply(call("tell")), "done"]
    await table.talk("tell me")
    return await one(table, "tool_result")


async def origin_of_a_copy(table: Desk) -> Record:
    """A prompt of which a copy stands in another session, and of that another one."""
    table.model.lines += ["fine"]
    (said,) = await table.talk(SECRET)
    copy = said.message.clone()
    for each in (copy, copy.clone()):
        post = Post(message=each, address=ROOM, status=MessageStatus.PROCESSED)
        session = await table.harness.store.write(lambda tx: tx.sessions.create(at=1))
        await table.harness.store.write(
            lambda tx, post=post, session=session: tx.messages.insert(post, session_id=session.id, at=1)  # type: ignore[misc]
        )
    return said


async def copy(table: Desk) -> Record:
    """A copy of a prompt of another session."""
    table.model.lines += ["fine", "fine"]
    (said,) = await table.talk("hello")
    other = make.user_prompt(SECRET, author="Ada", user_id="id-Ada")
    session = await table.harness.store.write(lambda tx: tx.sessions.create(at=1))
    await table.harness.store.write(
        lambda tx: tx.messages.insert(
            Post(message=other, address=ROOM, status=MessageStatus.PROCESSED), session_id=session.id, at=1
        )
    )
    return await table.harness.gateway.post(replace(said.beside(other.clone()), status=MessageStatus.PROCESSED))


async def note_from_mail(table: Desk) -> Record:
    """A note that a letter was made into."""
    table.model.lines += ["fine"]
    (said,) = await table.talk("hello")
    letter = Message.create(source=RelaySource(), content=SECRET, sender=UUID(int=1), recipient=UUID(int=2))
    await table.harness.store.write(lambda tx: tx.mail.add(letter, UUID(int=1), at=1))
    note = make.nudge(f"Mail: {SECRET}")
    relayed = replace(note, source=RelaySource(mail_id=letter.id))
    return await table.harness.gateway.post(replace(said.beside(relayed), status=MessageStatus.RESPONDED))


async def sent_as_mail(table: Desk) -> Record:
    """An answer that went out as a letter."""
    table.model.lines += [f"It is {SECRET}."]
    await table.talk("hello")
    found = await one(table, "answer")
    letter = Message.create(
        source=RelaySource(), content={"text": SECRET}, sender=UUID(int=1), metadata={"clone_from": found.id}
    )
    await table.harness.store.write(lambda tx: tx.mail.add(letter, UUID(int=1), at=1))
    return found


async def relayed(table: Desk) -> Record:
    """A notice elsewhere that passes an answer on."""
    await answer(table)
    found = await one(table, "answer")
    notice = replace(make.notice(f"From here: {SECRET}", reason="reply"), metadata=FrozenDict(relayed=found.id))
    return await table.harness.gateway.post(found.beside(notice))


async def wrote_a_letter(table: Desk) -> Record:
    """A call that wrote a letter and gave a task, and the result of a look into the mailbox."""
    table.model.lines += [reply(call("look", where=SECRET)), "done"]
    (said,) = await table.talk("write")
    found = await one(table, "tool_call")
    store = table.harness.store
    session = await store.read(lambda tx: tx.sessions.get(said.session_id))
    assert session is not None
    owner = UUID(session.owner)
    letter = Message.restore(id=derived_id(found.id), source=RelaySource(), content=SECRET, sender=owner)
    await store.write(lambda tx: tx.mail.open(Mailbox(owner=owner, session_id=session.id)))
    await store.write(lambda tx: tx.mail.add(letter, owner, at=1))
    _, looked = make.respond(
        make.tool_call("check_mail", {}, provider="p", model="m"), f'{{"{letter.id}": "{SECRET}"}}'
    )
    await table.harness.gateway.post(replace(said.beside(looked), status=MessageStatus.DELIVERED))
    await store.write(lambda tx: tx.sessions.create(session_id=letter.id, at=1))
    task = Post(message=make.user_prompt(SECRET, author="x"), address=ROOM, status=MessageStatus.PROCESSED)
    await store.write(lambda tx: tx.messages.insert(task, session_id=letter.id, at=1))
    return found


async def letter_in_a_mailbox(table: Desk) -> Record:
    """What a look into the mailbox returned."""
    await wrote_a_letter(table)
    bound = await table.harness.bound()
    assert bound is not None
    session = await table.harness.store.read(lambda tx: tx.messages.session(bound.id))
    note = replace(make.nudge(f"Mail: {SECRET}"), source=RelaySource(mail_id=derived_id(session[1].id)))
    return await table.harness.gateway.post(replace(session[0].beside(note), status=MessageStatus.RESPONDED))


async def quoted(table: Desk) -> Record:
    """A prompt that the reply to a command quotes."""
    table.model.lines += ["fine"]
    (said,) = await table.talk(f"{SECRET} and more " * 9)
    for text in (f"- #1 prompt of Ada: {first_words(said)}, 99 tokens", "unrelated"):
        await table.harness.gateway.post(said.beside(make.notice(text, reason="reply")))
    return said


async def short(table: Desk) -> Record:
    """A prompt of one word, which the reply to a command quotes."""
    table.model.lines += ["fine"]
    (said,) = await table.talk(SHORT)
    await table.harness.gateway.post(said.beside(make.notice(f"- #1 prompt: {first_words(said)}", reason="reply")))
    return said


async def listed_call(table: Desk) -> Record:
    """A call of which a list of calls shows the beginning of a later argument."""
    table.model.lines += [reply(call("look", where=f"the key is {SECRET}, and more of it" * 3)), "done"]
    await table.talk("look there")
    found = await one(table, "tool_call")
    shown = await table.give("/tools")
    assert SECRET in shown
    await table.harness.gateway.post(found.beside(make.notice(shown, reason="reply")))
    return found


async def refused(table: Desk) -> Record:
    """An answer that a platform refused and an event hook failed to take, both with words of it."""
    table.model.lines += [f"It is {SECRET}."]
    await table.talk("what is it?")
    found = await one(table, "answer")
    why = f"cannot parse: {SECRET}"
    parts = rows([Outgoing(text="x")], message_id=found.id, address=ROOM)
    failure = HookFailure(hook="h", event_seq=1, message_id=found.id, attempts=1, next_at=1, error=why, at=1)

    def fail(tx: Transaction) -> None:
        tx.deliveries.plan(parts)
        for to in (DeliveryState.SENDING, DeliveryState.AMBIGUOUS):
            tx.deliveries.move(found.id, 0, Purpose.FINAL, to, at=1, error=BLIND + why)
        tx.messages.move(found.id, MessageStatus.ERROR, {found.status}, actor="outbox", reason=why, at=1)
        tx.hooks.put(failure)

    await table.harness.store.write(fail)
    return found


async def gave_work(table: Desk) -> Record:
    """A call that gave an agent work; the agent thought about it where nobody looks."""
    table.model.lines += [reply(call("look", where=SECRET)), "done"]
    (said,) = await table.talk("let somebody look")
    found = await one(table, "tool_call")
    child, task = derived_id(found.id), make.user_prompt(SECRET, author="x")
    desk_there = Address(chatbot_id="agent", channel_id=child)
    kin = Kin(
        session_id=child, parent=said.session_id, name="n", depth=1, root=said.session_id, home=ROOM, desk=desk_there
    )
    thinking = make.thought(f"So it is {SECRET}", provider="p", model="m")

    def work(tx: Transaction) -> None:
        tx.sessions.create(session_id=child, at=1)
        add_child(tx, kin)
        post = Post(message=task, address=desk_there, turn_id=task.id, status=MessageStatus.PROCESSED)
        tx.messages.insert(post, session_id=child, at=1)
        tx.messages.insert(Post(message=thinking, address=desk_there, turn_id=task.id), session_id=child, at=1)

    await table.harness.store.write(work)
    return found


async def summed_up(table: Desk) -> Record:
    """A summary that the model wrote in the place of what was said."""
    return await _summed_up(table, f"They spoke of {SECRET}.")


async def cut_summary(table: Desk) -> Record:
    """A summary that was cut: its words stand in a thought, in steps, and in the summary."""
    return await _summed_up(table, reply(f"They spoke of {SECRET}", finish=Finish.CUT), reply(" and of horses."))


async def _summed_up(table: Desk, *summary: str | Reply) -> Record:
    table.model.lines += ["one", "two", "three", *summary]
    await table.talk("first", "second", "third")
    asked = await table.harness.gateway.post(Post(message=make.compaction_prompt(), address=ROOM))
    async with table.harness.at_work():
        await table.harness.until(asked, MessageStatus.PROCESSED)
    return await one(table, "summary")


Scene = Callable[[Desk], Awaitable[Record]]
SCENES: tuple[Scene, ...] = (
    prompt,
    answer,
    cut_answer,
    piece_of_an_answer,
    thinking,
    calling,
    result,
    origin_of_a_copy,
    copy,
    note_from_mail,
    sent_as_mail,
    relayed,
    wrote_a_letter,
    letter_in_a_mailbox,
    quoted,
    short,
    listed_call,
    refused,
    gave_work,
    summed_up,
    cut_summary,
)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
async def test_the_words_are_gone_everywhere(table: Desk, tmp_path: Path, scene: Scene) -> None:
    """C-16"""
    record = await scene(table)
    assert holding(tmp_path) != []
    said = await table.give(f"/redact #{record.session_n}", admin=True)
    assert said.startswith(f"#{record.session_n} is redacted. Overwritten: ")
    assert holding(tmp_path) == []
    found = await table.harness.record(record)
    assert is_redacted(found.message)
    assert (found.session_n, found.message.created_at) == (record.session_n, record.message.created_at)
    versions = await table.harness.store.read(lambda tx: tx.archive.versions(record.id))
    assert [each.version for each in versions] == list(range(1, found.message.version + 1))
    again = await table.give(f"/redact #{record.session_n}", admin=True)
    assert again == f"#{record.session_n} was redacted before."
    assert (await table.harness.record(record)).message.version == found.message.version


async def test_it_works_without_a_database_too(tmp_path: Path) -> None:
    table = at_desk(MemoryStore(rerun=True), tmp_path)
    record = await answer(table)
    said = await table.give(f"/redact #{record.session_n}", admin=True)
    assert "Overwritten: 1 message, 1 earlier version, 1 reply of the model, 4 parts of a delivery." in said
    assert (await table.harness.record(record)).message.rendered == REDACTED


async def test_what_the_model_reads_next_says_that_something_is_missing(table: Desk) -> None:
    table.model.lines += ["fine", f"It is {SECRET}.", "ok"]
    await table.talk(f"keep {SECRET}", "what is it?")
    viewer = Viewer(assistants=table.harness.assistants, limits=table.harness.loop()._limits)
    session = await table.harness.bound()
    assert session is not None
    await table.harness.store.read(lambda tx: viewer.view(tx, session, ROOM))  # whatever compiling remembers
    for n in (1, 4):
        await table.give(f"/redact #{n}", admin=True)
    await table.talk("and now?")
    assert SECRET not in repr(table.model.requests[-1])
    assert read_by(table.model.requests[-1])[:4] == [REDACTED, "fine", "what is it?", REDACTED]


async def test_a_reply_of_the_model_can_still_be_read(table: Desk) -> None:
    table.model.lines += [reply(thought("hm"), call("look", where=SECRET), call("tell")), "done"]
    await table.talk("look there")
    record = await one(table, "tool_call")
    await table.give(f"/redact #{record.session_n}", admin=True)
    step, _ = await table.harness.store.read(lambda tx: tx.steps.of(record.turn_id or ""))
    read = reply_from_json(step.reply)
    assert read.thoughts == "hm"
    assert [(each.name, each.arguments) for each in read.calls] == [("look", {}), ("tell", {})]


async def test_parts_that_are_not_out_yet_say_that_something_is_missing(table: Desk) -> None:
    record = await answer(table)
    await table.give(f"/redact #{record.session_n}", admin=True)
    parts = await table.harness.store.read(lambda tx: tx.deliveries.of(record.id))
    assert [decode(each.body).text for each in parts] == [REDACTED] * 3
    assert not any(map(is_damaged, parts))
    assert [each.state for each in parts] == [DeliveryState.SENDING, DeliveryState.PLANNED, DeliveryState.PLANNED]


async def test_files_are_deleted_unless_another_message_holds_them_or_they_are_ours_to_keep(
    table: Desk, tmp_path: Path
) -> None:
    session = await table.harness.store.write(lambda tx: tx.sessions.create(at=1))
    await table.harness.store.write(lambda tx: tx.sessions.bind(ROOM, session.id))
    kept = tmp_path / "files" / session.id
    kept.mkdir(parents=True)
    mine, shared, sent, work = (kept / "mine", kept / "shared", kept / "sent", tmp_path / "work")
    for each in (mine, shared, sent, work):
        each.write_text("x", encoding="utf-8")
    paths = [[mine, shared, work, kept / "gone"], [shared]]
    records = []
    for files in paths:
        attached = [Attachment(name=each.name, path=str(each)) for each in files]
        message = make.user_prompt("see", author="Ada", user_id="id-Ada", attachments=attached)
        post = Post(message=message, address=ROOM, session_id=session.id, status=MessageStatus.PROCESSED)
        records.append(await table.harness.gateway.post(post))
    out = Outgoing(files=(OutgoingFile(path=sent, name="sent"),))
    await table.harness.store.write(lambda tx: tx.deliveries.plan(rows([out], message_id=records[0].id, address=ROOM)))
    assert "2 files" in await table.give("/redact #1")
    assert [each.exists() for each in (mine, shared, sent, work)] == [False, True, False, True]
    assert (await table.harness.record(records[0])).message.content.attachments == ()


async def test_files_of_earlier_versions_and_exports_of_a_notice_are_deleted_too(table: Desk, tmp_path: Path) -> None:
    table.model.lines += ["fine"]
    (said,) = await table.talk("hello")
    kept = tmp_path / "files" / said.session_id
    kept.mkdir(parents=True)
    once, export = kept / "once", kept / f"{EXPORT}raw.json"
    for each in (once, export):
        each.write_text(SECRET, encoding="utf-8")
    notice = make.notice("From there", reason="reply", attachments=[Attachment(name="once", path=str(once))])
    record = await table.harness.gateway.post(said.beside(notice))
    changed = notice.update(attachments=[])
    await table.harness.store.write(lambda tx: tx.messages.rewrite(changed, actor="a", at=1))
    told = make.notice("All of it", reason="reply", attachments=[Attachment(name=export.name, path=str(export))])
    await table.harness.gateway.post(said.beside(told))
    assert "2 files" in await table.give(f"/redact #{record.session_n}", admin=True)
    assert holding(kept) == []


async def test_what_is_known_of_a_delivery_stays_without_the_words_of_the_platform(table: Desk) -> None:
    record = await refused(table)
    await table.give(f"/redact #{record.session_n}", admin=True)
    (part,) = await table.harness.store.read(lambda tx: tx.deliveries.of(record.id))
    assert (part.state, part.error) == (DeliveryState.AMBIGUOUS, BLIND + REDACTED)


async def test_what_a_quoting_notice_was_made_of_stays(table: Desk) -> None:
    """Else anybody could take away what others said, by writing a word of it."""
    table.model.lines += ["fine", "The password is in the safe."]
    await table.talk("password", "where is it?", by="Bob")
    answer = [each for each in await everything(table) if each.kind == "answer"][-1]
    relay = replace(make.notice(f"From here: {answer.message.text}"), metadata=FrozenDict(relayed=answer.id))
    notice = await table.harness.gateway.post(answer.beside(relay))
    await table.give("/redact #1", by="Bob")
    assert is_redacted((await table.harness.record(notice)).message)
    assert not is_redacted((await table.harness.record(answer)).message)


async def test_a_notice_that_begins_like_the_redacted_one_stays(table: Desk) -> None:
    table.model.lines += ["fine"]
    (said,) = await table.talk("hello")
    begins = "From discord:lounge, by Ada Lovelace of London: "
    texts = (f"{begins}{SECRET}", f"{begins}something else")
    one, other = [await table.harness.gateway.post(said.beside(make.notice(text, reason="reply"))) for text in texts]
    await table.give(f"/redact #{one.session_n}", admin=True)
    assert (await table.harness.record(other)).message.text == texts[1]


class Overtaken(FaultyStore):
    """A store in which somebody else writes right before others do."""

    late: tuple[Post, ...] = ()

    async def write(self, operation: Callable[[Transaction], T]) -> T:
        late, self.late = self.late[:1], self.late[1:]
        for post in late:
            await super().write(lambda tx, post=post: tx.messages.insert(post, session_id=post.session_id, at=1))  # type: ignore[misc]
        return await super().write(operation)


async def test_copies_that_are_made_during_the_search_are_found_too(tmp_path: Path) -> None:
    store = Overtaken(MemoryStore(), desk().harness.clock)
    table = at_desk(store, tmp_path, "fine")
    (said,) = await table.talk(SECRET)
    other = await store.write(lambda tx: tx.sessions.create(at=1))
    copies = [
        Post(message=said.message.clone(), address=ROOM, session_id=other.id, status=MessageStatus.PROCESSED)
        for _ in range(2)
    ]
    store.late = tuple(copies)
    assert "Overwritten: 3 messages" in await table.give("/redact #1", admin=True)
    found = await store.read(lambda tx: tx.messages.session(other.id))
    assert [each.message.rendered for each in found] == [REDACTED, REDACTED]


async def test_after_a_failure_in_the_middle_the_same_command_takes_the_rest_away(tmp_path: Path) -> None:
    faulty = FaultyStore(MemoryStore(), desk().harness.clock)
    table = at_desk(faulty, tmp_path)
    session = await faulty.write(lambda tx: tx.sessions.create(at=1))
    await faulty.write(lambda tx: tx.sessions.bind(ROOM, session.id))
    kept = tmp_path / "files" / session.id / "kept"
    kept.parent.mkdir(parents=True)
    kept.write_text(SECRET, encoding="utf-8")
    message = make.user_prompt(SECRET, author="Ada", attachments=[Attachment(name="kept", path=str(kept))])
    post = Post(message=message, address=ROOM, session_id=session.id, status=MessageStatus.PROCESSED)
    record = await table.harness.gateway.post(post)
    faulty.script("_wiping", LOCKED)
    with pytest.raises(StoreLocked):
        await table.give("/redact #1", admin=True)
    assert not kept.exists()
    assert "is redacted" in await table.give("/redact #1", admin=True)
    assert is_redacted((await table.harness.record(record)).message)


async def test_a_file_that_cannot_be_deleted_is_named(table: Desk, tmp_path: Path) -> None:
    session = await table.harness.store.write(lambda tx: tx.sessions.create(at=1))
    await table.harness.store.write(lambda tx: tx.sessions.bind(ROOM, session.id))
    stuck = tmp_path / "files" / session.id / "stuck"
    stuck.mkdir(parents=True)  # a folder cannot be unlinked, whoever asks
    message = make.user_prompt("see", author="Ada", attachments=[Attachment(name="stuck", path=str(stuck))])
    post = Post(message=message, address=ROOM, session_id=session.id, status=MessageStatus.PROCESSED)
    await table.harness.gateway.post(post)
    said = await table.give("/redact #1", admin=True)
    assert said.startswith("#1 is redacted.")
    assert "stuck` could not be deleted" in said


async def test_only_its_author_and_admins_may_redact_a_message(table: Desk) -> None:
    table.model.lines += ["fine"]
    await table.talk(SECRET)
    for line, by in (("/redact #1", "Bob"), ("/redact #2", "Ada")):
        with pytest.raises(NotPossible, match="somebody else wrote it; an admin can"):
            await table.give(line, by=by)
    assert "is redacted" in await table.give("/redact #1")
    assert "is redacted" in await table.give("/redact #2", by="Bob", admin=True)
    events = await table.harness.store.read(lambda tx: tx.events.after(0, 99))
    assert [each.actor for each in events if each.kind == "replaced"] == ["user:id-Ada", "user:id-Bob"]


async def test_while_a_turn_runs_nothing_is_redacted(table: Desk) -> None:
    held = Held()
    table.model.lines += ["fine", held]
    await table.talk(SECRET)
    async with table.harness.at_work():
        prompt = await table.harness.say("go on")
        await held.entered.wait()
        with pytest.raises(NotPossible, match="a turn is running here; wait for its end, or /stop it"):
            await table.give("/redact #1")
        held.release.set()
        await table.harness.answered(prompt)
    assert "is redacted" in await table.give("/redact #1")


async def test_while_an_agent_works_with_it_nothing_is_redacted(table: Desk) -> None:
    """Nobody can go where an agent works, to stop it there: /stop here does."""
    record = await gave_work(table)
    there = Address(chatbot_id="agent", channel_id=derived_id(record.id))
    task = Post(message=make.user_prompt("go on", author="x"), address=there, session_id=there.channel_id)
    await table.harness.gateway.post(task)
    assert await table.harness.gateway.claim("w9", EVERYTHING) is not None
    with pytest.raises(NotPossible, match="the agent n works with a copy of it; wait for its end, or /stop it"):
        await table.give(f"/redact #{record.session_n}", admin=True)


async def test_summaries_of_it_are_named(table: Desk) -> None:
    table.model.lines += ["fine"]
    (said,) = await table.talk(SECRET)
    summary = make.summary("They spoke of a horse.", covered=[said.id])
    await table.harness.gateway.post(replace(said.beside(summary), status=MessageStatus.RESPONDED))
    assert "The summary #3 was made of it, look at that too." in await table.give("/redact #1")


async def test_a_prompt_that_waits_is_cancelled(table: Desk) -> None:
    record = await table.harness.say(SECRET)
    await table.give("/redact #1")
    assert await table.harness.status(record) is MessageStatus.INTERRUPTED
    assert await table.waiting() == []
    table.model.lines += ["fine"]
    await table.talk("hello")
    assert read_by(table.model.requests[-1]) == ["hello"]


async def test_a_database_that_cannot_be_cleaned_now_is_cleaned_by_the_next_try(tmp_path: Path) -> None:
    harness = desk("fine").harness
    faulty = FaultyStore(MemoryStore(), harness.clock)
    table = at_desk(faulty, tmp_path, "fine")
    await table.talk(SECRET)
    faulty.script("FaultyStore.scrub", LOCKED)
    said = await table.give("/redact #1")
    assert "⚠️ The database file may still hold traces of it" in said
    assert "Give /redact #1 again later." in said
    assert await table.give("/redact #1") == "#1 was redacted before."
    assert faulty.calls["FaultyStore.scrub"] == 2


async def test_what_is_said_anew_under_the_id_is_redacted_anew(table: Desk) -> None:
    table.model.lines += ["fine"]
    (said,) = await table.talk("hello")
    await table.give("/redact #1")
    gone = await table.harness.record(said)
    assert is_redacted(gone.message)
    edited = gone.message.update(text=SECRET)
    await table.harness.store.write(lambda tx: tx.messages.rewrite(edited, actor="a", at=1))
    assert not is_redacted(edited)
    assert "is redacted" in await table.give("/redact #1")
    assert (await table.harness.record(said)).message.rendered == REDACTED


async def test_words_in_a_conversation_that_the_channel_has_left_can_be_redacted_by_id(
    table: Desk, tmp_path: Path
) -> None:
    """/new is no reason why words have to stay. Nobody but their author and admins may do it here either."""
    table.model.lines += ["fine", "fine"]
    (old,) = await table.talk(SECRET)
    await table.harness.store.write(lambda tx: tx.sessions.bind(ROOM, tx.sessions.create(at=1).id))
    await table.talk("hello")
    with pytest.raises(NotPossible, match="somebody else wrote it"):
        await table.give(f"/redact {old.id}", by="Bob")
    assert (await table.give(f"/redact {old.id}")).startswith("This message of an earlier conversation is redacted.")
    assert holding(tmp_path) == []


async def test_the_mail_of_an_announcement_goes_with_its_first_notice(table: Desk, tmp_path: Path) -> None:
    table.model.lines += ["fine"]
    await table.talk("hello")
    other = Address(chatbot_id="discord", channel_id="other")

    def operation(tx: Transaction) -> Announcement:
        tx.sessions.bind(other, tx.sessions.create(at=1).id)
        return announce(tx, SECRET, at=2)

    done = await table.harness.store.write(operation)
    notices = [await table.harness.store.read(lambda tx, id_=id_: tx.messages.get(id_)) for id_ in done.notices]  # type: ignore[misc]
    (here,) = [each for each in notices if each.address == ROOM]
    await table.give(f"/redact {here.id}", admin=True)
    mail = await table.harness.store.read(lambda tx: tx.mail.message(done.mail_id))
    assert mail is not None
    assert is_redacted(mail)
    (there,) = [each for each in notices if each.address == other]
    assert SECRET in (await table.harness.record(there)).message.text


async def test_a_replay_says_what_of_its_requests_was_redacted_since(table: Desk) -> None:
    """The log no longer knows the words, and that is no disagreement between log and request."""
    table.model.lines += ["fine", "well", "good"]
    await table.talk(SECRET, "hello")
    await table.give("/redact #1")
    await table.talk("and now?")
    for turn in ("1", "3"):
        (line,) = (await table.give(f"/replay {turn}")).splitlines()[2:]
        assert line.startswith("- step 1: cannot be made again, for what it was sent was redacted since: #1; ")
    assert "the same bytes" in await table.give("/replay")

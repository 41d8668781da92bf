"""/why says how a message came about, for every kind of message."""

from dataclasses import replace
from pathlib import Path

import pytest

from kesoku.commands.here import plain_name
from kesoku.commands.redact import Redact
from kesoku.commands.registry import Registry
from kesoku.commands.why import Why
from kesoku.errors import NoSuchMessage
from kesoku.messages import make
from kesoku.messages.content import Question
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import FrozenDict
from kesoku.messages.lifecycle import Asked
from kesoku.messages.message import Message
from kesoku.messages.record import Post
from kesoku.messages.source import RelaySource
from kesoku.testing.gateway_harness import ROOM
from kesoku.testing.model import call, reply, thought
from kesoku.tools.tool import Effect, tool

from .desk import Desk, desk


@tool(effect=Effect.READ)
def look(where: str) -> str:
    """Look."""
    if where == "nowhere":
        raise ValueError(where)
    return "fog"


def table_of(*lines: object) -> Desk:
    made = desk(*lines, tools=[look])
    store = made.harness.store
    redact = Redact(store=store, clock=made.harness.clock, folder=Path)
    made.registry = Registry([*Why(store=store).commands(), *redact.commands()])
    return made


async def facts(table: Desk, n: int) -> list[str]:
    """The lines of a list that /why tells, without the events and the id."""
    told = (await table.give(f"/why {n}")).split("\nWhat happened to it:")[0]
    return [line[2:] for line in told.splitlines() if line.startswith("- ") and not line.startswith("- id `")]


async def test_a_whole_turn_says_how_it_came_about() -> None:
    table = table_of(reply(thought("hm"), call("look", where="x"), call("look", where="nowhere")), "fog, I fear")
    await table.talk("what do you see?")
    told = {n: await facts(table, n) for n in range(1, 8)}
    asked = "in the turn of #1 (prompt of Ada), step"
    said = "said by the model m of scripted"
    assert told == {
        1: ["answered by #7 (answer)", "a person wrote it, `id-Ada`"],
        2: [f"{asked} 1", said],
        3: [f"{asked} 1", "it worked: #5 (result of look)", "nobody was asked about it", said],
        4: [f"{asked} 1", "it failed: #6 (result of look)", "nobody was asked about it", said],
        5: [
            f"{asked} 1",
            "it answers the #3 (call of look): `where='x'`",
            "the tool worked",
        ],
        6: [
            f"{asked} 1",
            "it answers the #4 (call of look): `where='nowhere'`",
            "the tool failed",
        ],
        7: [f"{asked} 2", "2 steps of scripted: 0 tokens read, 0 thought, 0 answered", "tools: look ×2", said],
    }


async def test_it_says_what_happened_when_and_by_whom() -> None:
    table = table_of("fine")
    (said,) = await table.talk("hello")
    lines = (await table.give(f"/why {said.id}")).splitlines()
    assert lines[0].startswith("#1: prompt of Ada, made ")
    assert lines[0].endswith(". It stands in processed.")
    events = lines[lines.index("What happened to it:") + 2 :]
    assert [line.split(" UTC ")[1] for line in events] == [
        "stored as pending_agent",
        "pending_agent → processing by `w1`: claim",
        "processing → processed by `w1`: finish",
    ]
    assert f"- id `{said.id}`" in lines


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "people were asked whether it may run, and nobody answered"),
        ("yes", "asked whether it may run, `user:7` answered yes, 1970-01-01 00:00:02 UTC"),
        ("", "people were asked whether it may run, and nobody answered in time"),
    ],
)
async def test_a_call_says_who_allowed_it(answer: str | None, words: str) -> None:
    table = table_of(reply(call("look", where="x")), "done")
    await table.talk("go")
    store = table.harness.store
    bound = await table.harness.bound()
    assert bound is not None
    found = next(
        each for each in await store.read(lambda tx: tx.messages.session(bound.id)) if each.kind == "tool_call"
    )
    question = Question(id=found.id, text="May I?", choices=("yes", "no"))
    asked = Asked(question=question, turn_id=found.turn_id or "", address=ROOM, purpose=FrozenDict())
    await store.write(lambda tx: tx.questions.add(asked))
    if answer is not None:
        await store.write(lambda tx: tx.questions.answer(found.id, choice=answer, by="user:7", at=2_000_000))
    assert words in await facts(table, found.session_n)


MADE: list[tuple[Message, str]] = [
    (make.hook_note("x", hook="weather"), "added by the hook `weather`"),
    (make.wakeup("j7", "done"), "made when a background job ended `j7`"),
    (make.nudge(why="cut"), "the turn loop asked the model again: its reply was cut"),
    (make.cron_prompt("x", job="daily"), "a schedule asked it `daily`"),
    (make.compaction_prompt(), "the command /compact asked it"),
    (make.notice("x"), "said to people about what goes on"),
    (make.notice("x", reason="reply"), "said to people about what they did"),
    (make.summary("x", covered=("a", "b")), "it stands for 2 messages"),
    (make.error_answer("x", error="Boom"), "the turn failed `Boom`"),
    (replace(make.nudge("x"), source=RelaySource(mail_id="m-1")), "made of mail `m-1`"),
]


@pytest.mark.parametrize(("message", "words"), MADE, ids=[words for _, words in MADE])
async def test_every_source_has_its_words(message: Message, words: str) -> None:
    table = table_of("fine")
    (said,) = await table.talk("hello")
    status = MessageStatus.DELIVERED if message.role == "assistant" else MessageStatus.PROCESSED
    stored = await table.harness.gateway.post(replace(said.beside(message), status=status))
    assert words in await facts(table, stored.session_n)


async def test_a_copy_names_its_origin_only_in_the_same_conversation() -> None:
    table = table_of("fine")
    (said,) = await table.talk("hello")
    done = MessageStatus.PROCESSED
    here = await table.harness.gateway.post(replace(said.beside(said.message.clone()), status=done))
    assert "a copy of #1 (prompt of Ada)" in await facts(table, here.session_n)
    other = await table.harness.store.write(lambda tx: tx.sessions.create(at=1))
    secret = make.user_prompt("secret", author="Eve")
    there = Post(message=secret, address=replace(ROOM, channel_id="elsewhere"), session_id=other.id, status=done)
    await table.harness.gateway.post(there)
    copy = await table.harness.gateway.post(replace(said.beside(secret.clone()), status=done))
    told = await table.give(f"/why {copy.session_n}")
    assert "a copy of a message of another conversation" in told
    assert secret.id not in told
    assert other.id not in told
    with pytest.raises(NoSuchMessage):
        await table.give(f"/why {secret.id}")


async def test_versions_and_redaction_are_told() -> None:
    table = table_of("fine")
    (said,) = await table.talk("hello")
    edited = said.message.update(text="other")
    await table.harness.store.write(lambda tx: tx.messages.rewrite(edited, actor="user:id-Ada", at=1))
    assert "version 2, 1 earlier one kept" in await facts(table, 1)
    assert "next version by `user:id-Ada`" in await table.give("/why 1")
    await table.give("/redact 1")
    assert (await facts(table, 1))[-2:] == ["its words were redacted", "version 3"]


async def test_a_time_that_no_calendar_has_is_a_number() -> None:
    table = table_of("fine")
    (said,) = await table.talk("hello")
    odd = replace(make.notice("x"), created_at=1e12)
    stored = await table.harness.gateway.post(replace(said.beside(odd), status=MessageStatus.DELIVERED))
    assert "made 1e+12 s" in await table.give(f"/why {stored.session_n}")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Ada Lovelace", "Ada Lovelace"),
        ("read_file", "read_file"),
        ("Dr. O'Neil-Smith, J.", "`Dr. O'Neil-Smith, J.`"),
        ("[x](http://evil)", "`[x](http://evil)`"),
        ("**Admin**", "`**Admin**`"),
        ("_a_", "`_a_`"),
        ("@everyone", "`@everyone`"),
        ("a`b\x1b[31m", "`a'b [31m`"),
    ],
)
def test_a_name_in_a_sentence_is_nothing_but_a_name(name: str, told: str) -> None:
    assert plain_name(name) == told

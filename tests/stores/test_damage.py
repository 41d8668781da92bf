"""A row that somebody spoiled: it is named, its people are told, and nobody else notices."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from kesoku.agent.replay import replay
from kesoku.messages import make
from kesoku.messages.branch import Branch
from kesoku.messages.content import Question
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.freeze import EMPTY
from kesoku.messages.lifecycle import Asked
from kesoku.messages.record import Address, Post
from kesoku.ports.store import Transaction
from kesoku.store import SqlStore
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.gateway_harness import EVERYTHING, GatewayHarness
from kesoku.testing.model import ScriptedModel, call, reply
from kesoku.tools.tool import Effect, tool

OTHER = Address(chatbot_id="discord", channel_id="other")
DAMAGES = [
    ("content", "{junk"),
    ("content", "[]"),
    ("content", '"text"'),
    ("source", "[]"),
    ("source", '{"kind": "alien"}'),
    ("kind", "alien"),
    ("metadata", "{junk"),
    ("created_at", "yesterday"),
]
"""A column of messages, and what it must never hold."""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqlStore]:
    async with await SqlStore.open(tmp_path / "kesoku.db") as opened:
        yield opened


NO_TEXT = "CAST(x'7bff' AS TEXT)"
"""Marked as text, and none: what a flipped bit leaves."""


def spoil(store: SqlStore, change: str, *values: str) -> None:
    with closing(sqlite3.connect(store.path)) as connection, connection:
        assert connection.execute(f"UPDATE {change}", values).rowcount == 1


def _ask(asked: Asked, tx: Transaction) -> None:
    tx.questions.add(asked)


@pytest.mark.parametrize(("column", "junk"), DAMAGES)
async def test_a_damaged_prompt_ends_in_error_and_others_run(store: SqlStore, column: str, junk: str) -> None:
    bench = GatewayHarness(store)
    damaged, fine = await bench.say("first"), await bench.say("second", at=OTHER)
    spoil(store, f"messages SET {column} = ? WHERE id = ?", junk, damaged.id)
    assert (await bench.claim()).prompt.id == fine.id
    assert await bench.gateway.claim("w1", EVERYTHING) is None
    assert await bench.status(damaged) is S.ERROR
    apology = (await bench.session(damaged))[-1]
    assert (apology.kind, apology.status, apology.parent_id) == ("answer", S.PENDING, damaged.id)
    assert "can no longer be read" in apology.message.rendered
    assert [each.record.id for each in await bench.events()][:2] == [damaged.id, fine.id]


async def test_what_joined_the_turn_of_a_damaged_prompt_is_answered(store: SqlStore) -> None:
    bench = GatewayHarness(store)
    opener = await bench.say("first")
    claim = await bench.claim("dead")
    rider = await bench.say("more", mode="steer")
    await bench.gateway.join(claim.fence, opener.id, round=1)
    bench.presence.dead.add("dead")
    assert await bench.gateway.recover() == 2
    spoil(store, "messages SET content = ? WHERE id = ?", "{junk", opener.id)
    assert (await bench.claim()).prompt.id == rider.id
    assert await bench.status(opener) is S.ERROR


@pytest.mark.parametrize("column", ["content", "author", "metadata", "mode"])
async def test_a_cell_that_is_no_text_holds_up_nobody_else(store: SqlStore, column: str) -> None:
    bench = GatewayHarness(store)
    damaged, fine = await bench.say("first"), await bench.say("second", at=OTHER)
    spoil(store, f"messages SET {column} = {NO_TEXT} WHERE id = ?", damaged.id)
    claims = await bench.gateway.claims("w1", EVERYTHING, most=5)
    assert fine.id in {each.prompt.id for each in claims}
    assert [each.record.id for each in await bench.events()][:2] == [damaged.id, fine.id]
    assert await store.check() == [f"1 damaged row in messages ({column}): rowid 1"]


@pytest.mark.parametrize(("column", "junk"), DAMAGES)
async def test_people_see_that_a_damaged_answer_was_lost(store: SqlStore, column: str, junk: str) -> None:
    bench = GatewayHarness(store)
    message = make.answer("said", provider="p", model="m")
    answer = await bench.gateway.post(Post(message=message, address=OTHER))
    spoil(store, f"messages SET {column} = ? WHERE id = ?", junk, answer.id)
    (waiting,) = await store.read(lambda tx: tx.messages.waiting(EVERYTHING))
    assert (waiting.id, waiting.kind, waiting.is_damaged) == (answer.id, "notice", True)
    assert "can no longer be read" in waiting.message.rendered
    moved = await bench.gateway.move(answer.id, S.DELIVERED, actor="test")
    assert moved.status is S.DELIVERED


async def test_a_damaged_call_does_not_stop_the_next_turn(store: SqlStore) -> None:
    bench = GatewayHarness(store)
    await bench.say()
    asked = await bench.call(await bench.claim())
    spoil(store, "messages SET content = ? WHERE id = ?", "{junk", asked.id)
    after = await bench.say("and now?")
    assert (await bench.claim()).prompt.id == after.id


@pytest.mark.parametrize("column", ["reply", "usage"])
async def test_a_turn_that_cannot_be_read_ends_in_error(store: SqlStore, column: str) -> None:
    @tool(effect=Effect.READ)
    async def spoiler() -> str:
        """Damage the running turn."""
        spoil(store, f"steps SET {column} = '{{junk'")
        return "done"

    harness = AgentHarness(
        ScriptedModel(reply(call("spoiler")), "never said"), tools=[spoiler], store=store, replays=False
    )
    prompt = await harness.say()
    async with harness.at_work():
        answer = await harness.answered(prompt)
    assert answer.message.source.kind == "error"
    assert await harness.status(prompt) is S.ERROR


async def test_a_damaged_question_is_no_question(store: SqlStore) -> None:
    for name in ("one", "two"):
        question = Question(id=name, text="May I?", choices=("yes", "no"))
        asked = Asked(question=question, turn_id="t", address=OTHER, purpose=EMPTY, who=())
        await store.write(partial(_ask, asked))
    spoil(store, "questions SET question = ? WHERE id = ?", "{junk", "one")
    assert [each.question.id for each in await store.read(lambda tx: tx.questions.open(OTHER))] == ["two"]
    assert await store.read(lambda tx: tx.questions.get("one")) is None


@pytest.mark.parametrize(
    ("column", "junk"),
    [
        ("spans", "{junk"),
        ("spans", "[[1, 2, 3]]"),
        ("spans", '[["1", null]]'),
        ("spans", "[[5, 3]]"),
        ("spans", "[[4, null], [1, 2]]"),
        ("spans", "[[1, 1e400]]"),
        ("spans", f"[[1, {2**70}]]"),
        ("spans", "null"),
        ("forgotten", "[1]"),
        ("forgotten", '"ids"'),
        ("pinned", "[[]]"),
        ("pinned", "5"),
        ("cleared", '[{"spans": []}]'),
        ("cleared", "[1]"),
        ("cuts", '{"id": -1}'),
        ("cuts", "[]"),
    ],
)
async def test_a_damaged_branch_is_the_whole_session(store: SqlStore, column: str, junk: str) -> None:
    """The bot answers, and nothing that was said seems lost."""
    harness = AgentHarness(ScriptedModel("one", "two"), store=store, replays=False)
    async with harness.at_work():
        prompt = await harness.say("first")
        await harness.answered(prompt)
        whole = Branch(session_id=prompt.session_id)
        await store.write(lambda tx: tx.branches.select(whole.clearing(2)))
        spoil(store, f"branches SET {column} = ?", junk)
        await harness.answered(await harness.say("second"))
    assert await store.read(lambda tx: tx.branches.current(prompt.session_id)) == whole
    assert await store.read(lambda tx: tx.branches.all(prompt.session_id)) == [whole]


@pytest.mark.parametrize("junk", ["{junk", "[]", "{}", '{"records": "many"}'])
async def test_what_a_step_noted_may_be_damaged_and_a_replay_says_so(store: SqlStore, junk: str) -> None:
    harness = AgentHarness(ScriptedModel("one"), store=store)
    async with harness.at_work():
        prompt = await harness.say("first")
        await harness.answered(prompt)
    spoil(store, "requests SET body = ?", junk)
    (found,) = await store.read(lambda tx: replay(tx, prompt.id))
    assert found.request is None
    assert not found.is_same

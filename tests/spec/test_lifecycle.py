"""Lifecycles of seed 004 sections 2 to 4 that no other test names: how each category may end, and where things go."""

import ast
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

import kesoku
from kesoku.errors import AmbiguousRow, ModelInputTooLong, TransitionRefused
from kesoku.gateway import Busy, BusyPolicy
from kesoku.messages import make
from kesoku.messages.enums import MessageRole, MessageType
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.kinds import KINDS, category_of
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Post
from kesoku.messages.restore import record_from_row
from kesoku.messages.source import SystemSource
from kesoku.ports import Store
from kesoku.store import SqlStore
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.gateway_harness import ROOM, GatewayHarness
from kesoku.testing.memory import MemoryStore
from kesoku.testing.model import Held, ScriptedModel, reply
from kesoku.testing.recording import PLAIN, recording_manifest
from kesoku.testing.waiting import until


@pytest.fixture(params=["memory", "sql"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    if request.param == "memory":
        yield MemoryStore(rerun=True)
        return
    async with await SqlStore.open(tmp_path / "kesoku.db") as store:
        yield store


PROMPT_ENDS = {"processed", "interrupted", "error"}
INTERNAL_ENDS = {"responded", "delivered"}
OUTGOING_ENDS = {"delivered", "error"}  # N-01
ENDS: dict[str, tuple[Callable[[], Message], set[str]]] = {
    "standard user message": (lambda: make.user_prompt("x", author="Ada"), PROMPT_ENDS),  # K-023
    "cron trigger": (lambda: make.cron_prompt("x"), PROMPT_ENDS),  # K-027
    "compaction trigger": (make.compaction_prompt, PROMPT_ENDS),  # K-031
    "background wakeup alert": (lambda: make.wakeup("j", "x"), PROMPT_ENDS),  # K-055
    "assistant thought": (lambda: make.thought("x", provider="p", model="m"), INTERNAL_ENDS),  # K-035
    "tool call": (  # K-043
        lambda: make.tool_call("t", {}, provider="p", model="m"),
        INTERNAL_ENDS | {"interrupted"},
    ),
    "tool result": (  # K-047
        lambda: make.respond(make.tool_call("t", {}, provider="p", model="m"), "x")[1],
        INTERNAL_ENDS,
    ),
    "assistant final text": (lambda: make.answer("x", provider="p", model="m"), OUTGOING_ENDS),  # K-039
    "user-facing notification": (lambda: make.notice("x"), OUTGOING_ENDS),  # K-063
    "system error notification": (lambda: make.error_answer("x"), OUTGOING_ENDS),  # K-067
}
ON_THE_WAY = {S.PENDING_AGENT, S.PROCESSING, S.PENDING}


async def reachable(bench: GatewayHarness, maker: Callable[[], Message]) -> set[S]:
    """Every status that a fresh record may be moved to, step by step."""
    first = category_of(maker()).status
    paths = {first: [first]}
    open_paths = [[first]]
    while open_paths:
        path = open_paths.pop()
        for to in set(S) - set(paths):
            record = await bench.gateway.post(Post(message=maker(), address=ROOM))
            try:
                for step in [*path, to]:
                    await bench.gateway.move(record.id, step, actor="t")
            except TransitionRefused:
                continue
            paths[to] = [*path, to]
            open_paths.append(paths[to])
    return set(paths)


@pytest.mark.parametrize("title", ENDS)
async def test_a_life_ends_as_the_table_says(title: str) -> None:
    maker, ends = ENDS[title]
    assert category_of(maker()).title == title
    assert await reachable(GatewayHarness(MemoryStore()), maker) - ON_THE_WAY == ends


@pytest.mark.parametrize("kind", [each for each in KINDS.values() if each.type is not None], ids=lambda each: each.kind)
def test_a_contradiction_cannot_be_built(kind: type[Message]) -> None:
    # K-009, K-010, K-011
    given: dict[str, Any] = {"source": SystemSource(), "author": "x"}
    for role in MessageRole:
        assert kind.create(**given, role=role).role is kind.role, "the class decides (L-005)"
    with pytest.raises(TypeError):
        kind.create(**given, type="tool_call")
    with pytest.raises((AttributeError, TypeError)):
        kind.create(**given).type = MessageType.TOOL_CALL  # type: ignore[misc]


@pytest.mark.parametrize("role", ["user", "assistant", "tool", "system"])
@pytest.mark.parametrize("type_", ["text", "thought", "tool_call", "tool_result"])
def test_a_contradiction_cannot_be_read(role: str, type_: str) -> None:
    # K-009, K-010, K-011: what the seed's table holds and nothing else
    legal = {("assistant", "thought"), ("tool", "tool_call"), ("tool", "tool_result")}
    legal |= {(each, "text") for each in ("user", "assistant", "system")}
    row = {
        "id": "m",
        "session_id": "s",
        "chatbot_id": "cli",
        "channel_id": "c",
        "parent_id": "p",
        "sender": "t",
        "role": role,
        "type": type_,
        "content": "x",
        "status": "responded" if role == "system" else None,
        "metadata": {"tool_name": "t"},
    }
    if (role, type_) in legal:
        message = record_from_row(row).message
        assert (message.role, message.type) == (role, type_)
    else:
        with pytest.raises(AmbiguousRow):
            record_from_row(row)


async def test_what_the_machinery_says_goes_where_it_was_asked(store: Store) -> None:
    # K-057, K-058, K-061, K-062, K-065, K-066: the places
    held = Held(reply())
    model = ScriptedModel(held, ModelInputTooLong(model="m", tokens=9, limit=5), "fine")
    harness = AgentHarness(model, store=store, policy=BusyPolicy(busy=Busy.QUEUE))
    place = Address(chatbot_id="wechat", channel_id="room123456@chatroom")
    async with harness.at_work():
        first = await harness.say("one", at=place)
        await held.entered.wait()
        second = await harness.say("two", at=place)
        held.release.set()
        await harness.until(first, S.ERROR)
        await harness.until(second, S.PROCESSED)
    told = {
        each.kind: each for each in await harness.session(first) if each.turn_id == first.id or each.kind == "notice"
    }
    assert {each.address for each in told.values()} == {place}
    assert {kind: (each.message.author, each.status) for kind, each in told.items()} == {
        "user_prompt": ("Ada", S.ERROR),
        "system_note": ("System", S.RESPONDED),
        "answer": ("Kesoku", S.PENDING),
        "notice": ("Notification", S.PENDING),
    }


async def test_two_bots_and_a_worker_meet_in_the_store_alone(store: Store, tmp_path: Path) -> None:
    # K-251
    harness = AgentHarness(ScriptedModel("to the first", "to the second"), store=store)

    def bot(name: str) -> AdapterRunner:
        return AdapterRunner(
            manifest=recording_manifest(name=name, visibility=PLAIN),
            store=store,
            gateway=harness.process(),
            clock=harness.clock,
            folder=tmp_path / name,
        )

    def platform(runner: AdapterRunner) -> Any:
        return runner.adapter.platform

    one, two = bot("discord"), bot("wechat")
    async with one, two, harness.at_work():
        for runner, text in ((one, "to the first"), (two, "to the second")):
            platform(runner).say("same room", "hello")

            async def answered(runner: AdapterRunner = runner, text: str = text) -> bool:
                return bool(platform(runner).texts() == [text])

            await until(answered, what=text)
    assert (platform(one).texts(), platform(two).texts()) == (["to the first"], ["to the second"])


@pytest.mark.parametrize(("room", "other"), [("agent", "adapter"), ("adapter", "agent"), ("gateway", "agent")])
def test_the_rooms_do_not_call_each_other(room: str, other: str) -> None:
    # K-251
    files = list((Path(kesoku.__file__).parent / room).rglob("*.py"))
    assert files
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [each.name for each in node.names] if isinstance(node, ast.Import) else []
            assert [each for each in names if each.startswith(f"kesoku.{other}")] == [], file

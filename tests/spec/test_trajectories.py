"""The three trajectories of seed 004 section 6, typed in a second time and played with everything that is ours.

Gateway, dispatcher, turn loop, inbox and outbox are real, over both stores. Scripted are the model, the tool, the clock
and the platform, which draws a turn as the seed says. How real platforms draw it is told by their own tests.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kesoku.adapter import Draft, Outgoing, Receipt, Tick
from kesoku.adapter.policy import DeliveryPolicy
from kesoku.history.order import phased
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.record import Address, Post, Record
from kesoku.messages.restore import record_from_row
from kesoku.messages.turn import CompiledRequest, Delta, Reply, Usage
from kesoku.ports import Store
from kesoku.render import header
from kesoku.store import SqlStore
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.clock import settle
from kesoku.testing.memory import MemoryStore
from kesoku.testing.model import Held, ScriptedModel, call, reply, thought
from kesoku.testing.platform import RecordedPlatform
from kesoku.testing.recording import LIVE, PLAIN, RecordingAdapter, recording_manifest
from kesoku.testing.waiting import PATIENCE, until
from kesoku.tools.tool import Effect, Output, Tool, tool

Row = dict[str, Any]

COMMAND = "uv run pytest tests/test_history.py"
STDOUT = (
    "=== STDOUT ===\n"
    "============================= test session starts =============================\n"
    "plugins: anyio-4.3.0\n"
    "collected 5 items\n"
    "\n"
    "tests/test_history.py .....                                              [100%]\n"
    "============================== 5 passed in 0.42s ===============================\n"
    "=== STDERR ===\n"
)
DISCORD: Row = {"session_id": "sess_agent_history", "chatbot_id": "discord", "channel_id": "1234567890123"}
FIRST: list[Row] = [
    {
        "id": "msg_user_001",
        **DISCORD,
        "sender": "Chii",
        "role": "user",
        "type": "text",
        "content": "`Chii` <@112233> at `2026-05-27 20:50:00 SGT`:\nRun tests for agent history module",
        "status": "pending_agent",
    },
    {
        "id": "msg_thought_001",
        **DISCORD,
        "parent_id": "msg_user_001",
        "sender": "Kesoku",
        "role": "assistant",
        "type": "thought",
        "content": "I need to run the unit tests for the history module using uv. "
        "I will search for the test file first.",
        "status": "responded",
    },
    {
        "id": "msg_call_001",
        **DISCORD,
        "parent_id": "msg_user_001",
        "sender": "Kesoku",
        "role": "tool",
        "type": "tool_call",
        "content": "Calling tool `run_shell_command` with arguments:\n```json\n{\n"
        '  "command": "uv run pytest tests/test_history.py"\n}\n```',
        "status": "responded",
        "metadata": {
            "tool_name": "run_shell_command",
            "tool_arguments": {"command": "uv run pytest tests/test_history.py"},
        },
    },
    {
        "id": "msg_result_001",
        **DISCORD,
        "parent_id": "msg_call_001",
        "sender": "run_shell_command",
        "role": "tool",
        "type": "tool_result",
        "content": STDOUT,
        "status": "responded",
        "metadata": {"tool_name": "run_shell_command", "tool_result": "5 passed in 0.42s"},
    },
    {
        "id": "msg_reply_001",
        **DISCORD,
        "parent_id": "msg_user_001",
        "sender": "Kesoku",
        "role": "assistant",
        "type": "text",
        "content": "I have successfully executed the tests for the agent history module. "
        "All 5 tests passed in 0.42 seconds.",
        "status": "pending",
        "metadata": {
            "turn_metrics": {
                "session_turns": 3,
                "context_tokens": 8421,
                "turn_tool_calls": 1,
                "turn_tokens": 1042,
                "turn_time": 2.1,
            }
        },
    },
]
PROMPT, THOUGHT, _, _, REPLY = (row["content"] for row in FIRST)

WECHAT: Row = {"session_id": "sess_wechat_status", "chatbot_id": "wechat", "channel_id": "room123456@chatroom"}
SECOND: list[Row] = [
    {
        "id": "msg_cron_001",
        **WECHAT,
        "sender": "Cronjob",
        "role": "user",
        "type": "text",
        "content": "`Cronjob` at `2026-05-27 21:00:00 CST`:\nRun active diagnostics and output status summary.",
        "status": "pending_agent",
        "metadata": {"wechat_cronjob": True},
    },
    {
        "id": "msg_cron_thought",
        **WECHAT,
        "parent_id": "msg_cron_001",
        "sender": "Kesoku",
        "role": "assistant",
        "type": "thought",
        "content": "WeChat is active. I will run direct system stats and write a concise diagnostic report.",
        "status": "responded",
    },
    {
        "id": "msg_cron_reply",
        **WECHAT,
        "parent_id": "msg_cron_001",
        "sender": "Kesoku",
        "role": "assistant",
        "type": "text",
        "content": "Diagnostics completed successfully. System status is stable. Uptime: 3d 12h, Memory: 45% occupied, "
        "0 active errors reported.",
        "status": "pending",
    },
]


class StatusBar(RecordingAdapter):
    """Draws a running turn line by line: what is thought, and each call with its result in the same line."""

    def fold(self, state: Any, item: Record | Draft | Tick) -> Any:
        lines: dict[str, str] = dict(state or {})
        match item:
            case Record(kind="thought"):
                lines[item.id] = f"💭 {item.message.rendered}"
            case Record(kind="tool_call"):
                content = item.message.content
                lines[item.id] = f"🛠️ {content.tool}: {content.arguments.get('command', '')} ⏳"
            case Record(kind="tool_result"):
                lines[item.parent_id or ""] = lines[item.parent_id or ""].replace("⏳", "✅")
        return lines

    def draw(self, state: Any, now: float) -> Outgoing:
        return Outgoing(text="\n".join((state or {}).values()))

    async def delivered(self, record: Record, receipts: Sequence[Receipt]) -> None:
        await super().delivered(record, receipts)
        self.platform.note(
            "delivered", record.address.channel_id, id=record.id, now=record.status, facts=record.metadata
        )


LIKE_DISCORD: Row = {
    "name": "discord",
    "visibility": LIVE,
    "kind": StatusBar,
    "live": True,
    "edits": True,
    "deletes": True,
    "typing": True,
    "key_window": 300.0,
}


@pytest.fixture(params=["memory", "sql"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Store]:
    if request.param == "memory":
        yield MemoryStore(rerun=True)
        return
    async with await SqlStore.open(tmp_path / "kesoku.db") as store:
        yield store


class Scene:
    """A whole bot: the harness of its agent, and the runner of its adapter."""

    def __init__(self, store: Store, folder: Path, model: ScriptedModel, *, tools: Sequence[Tool] = (), **bot: Any):
        self.harness = AgentHarness(model, tools=tools, store=store)
        self.platform = RecordedPlatform(honours_keys=True)
        self.runner = AdapterRunner(
            manifest=recording_manifest(platform=self.platform, **bot),
            store=store,
            gateway=self.harness.gateway,
            clock=self.harness.clock,
            folder=folder,
            policy=DeliveryPolicy(live_every=0.0, drain_seconds=0.0),
        )

    @asynccontextmanager
    async def playing(self) -> AsyncIterator[None]:
        async with self.runner, self.harness.at_work():
            yield

    async def everything(self) -> list[Record]:
        return [each.record for each in await self.harness.events() if each.kind == "inserted"]

    async def stored(self, text: str) -> Record:
        """The record whose text ends like this, once it is stored."""
        found: list[Record] = []

        async def there() -> bool:
            found[:] = [each for each in await self.everything() if each.message.rendered.endswith(text)]
            return bool(found)

        await until(there, what=f"{text!r} is stored")
        return found[-1]

    async def reached(self, record: Record, *statuses: str) -> None:
        """Wait until a record has gone through exactly these statuses."""

        async def there() -> bool:
            return await self.life(record) == [*statuses]

        await until(there, what=f"{record.kind}: {statuses}")

    async def shows(self, *texts: str) -> None:
        """Wait until people see these messages and no other."""

        async def there() -> bool:
            return self.platform.texts() == [*texts]

        await until(there, what=f"people see {texts}")

    async def life(self, record: Record) -> list[str]:
        """Every status that a record ever had, in order."""
        log = await self.harness.store.read(lambda tx: tx.events.of(record.id))
        return [str(change.after) for change in log if change.kind != "replaced"]

    async def told(self, turn: Record, names: Sequence[str]) -> list[Row]:
        """The flat rows of a turn in the order of reading, as they were when they were stored, ids as in the seed."""
        records = phased(await self.harness.turn(turn))
        ids = dict(zip((each.id for each in records), names, strict=True))
        rows = []
        for each in records:
            row = each.to_row() | {"id": ids[each.id], "status": (await self.life(each))[0]}
            if each.parent_id is not None:
                row["parent_id"] = ids[each.parent_id]
            rows.append(row)
        return rows


async def test_6_1_a_turn_with_a_tool(store: Store, tmp_path: Path) -> None:
    # K-019, K-021, K-033, K-037, K-041, K-045, K-127, K-130, K-131, K-142, K-154, K-228..K-232, K-234, K-236, K-238
    # and rows 155 and 237 but for the thread header, which is Discord's own
    returned, written = asyncio.Event(), Held(reply(REPLY, usage=Usage(prompt=8421, thoughts=942, answer=100)))

    @tool(effect=Effect.READ)
    async def run_shell_command(command: str) -> Output:
        """Run a command."""
        await returned.wait()
        return Output(output=STDOUT, summary="5 passed in 0.42s")

    asked = reply(thought(THOUGHT), call("run_shell_command", command=COMMAND))
    model = ScriptedModel("one", "two", asked, written)
    scene = Scene(store, tmp_path, model, tools=[run_shell_command], **LIKE_DISCORD)
    room, harness, platform = DISCORD["channel_id"], scene.harness, scene.platform
    async with scene.playing():
        for number in ("1", "2"):
            message = make.user_prompt(f"earlier {number}", author="Chii", user_id="chii")
            address = Address(chatbot_id="discord", channel_id=room)
            post = Post(message=message, address=address, session_id=DISCORD["session_id"])
            (earlier,) = await harness.gateway.accept([post])
            await scene.reached(await harness.answered(earlier), "pending", "delivered")
    async with scene.runner:
        said_at = header("Chii", datetime(2026, 5, 27, 12, 50, tzinfo=UTC), "Asia/Singapore", "SGT", "112233")
        platform.say(room, f"{said_at}Run tests for agent history module", by="chii")
        prompt = await scene.stored("Run tests for agent history module")
        row = prompt.to_row()
        assert row.pop("metadata") == {"recording_message_id": platform.ops("said")[-1]["key"]}
        assert row | {"id": "msg_user_001"} == FIRST[0]

        async with harness.at_work():
            called = await scene.stored("\n}\n```")
            ids = {"id": "msg_call_001", "parent_id": "msg_user_001", "status": "responded"}
            assert called.to_row() | ids == FIRST[2]
            thinking = await scene.stored(THOUGHT)
            await scene.reached(prompt, "pending_agent", "processing")
            bar = f"💭 {THOUGHT}\n🛠️ run_shell_command: {COMMAND} ⏳"
            await scene.shows("one", "two", bar)
            await scene.reached(thinking, "responded", "delivered")
            await scene.reached(called, "responded", "delivered")
            assert platform.ops("typing")[-1]["on"] is True

            await harness.clock.advance(2.1)
            returned.set()
            result = await scene.stored("=== STDERR ===\n")
            await scene.shows("one", "two", bar.replace("⏳", "✅"))
            await scene.reached(result, "responded", "delivered")
            assert len({each.id for each in platform.everything()}) == 3, "the line was edited, none was added"
            await scene.reached(prompt, "pending_agent", "processing")

            written.release.set()
            answer = await scene.stored(REPLY)
            await scene.shows("one", "two", REPLY)
            await scene.reached(answer, "pending", "delivered")
            await scene.reached(prompt, "pending_agent", "processing", "processed")

    expected = [FIRST[0] | {"metadata": {"recording_message_id": platform.ops("said")[-1]["key"]}}, *FIRST[1:]]
    rows = await scene.told(prompt, [row["id"] for row in FIRST])
    assert rows == expected
    ends = {"user_prompt": "processed", "answer": "delivered"}
    statuses = {each.kind: each.status for each in await harness.turn(prompt)}
    assert statuses == {"thought": "delivered", "tool_call": "delivered", "tool_result": "delivered", **ends}
    assert platform.ops("typing")[-1]["on"] is False
    hook = [each for each in platform.ops("delivered") if each["id"] == answer.id]
    assert [(each["now"], each["facts"]) for each in hook] == [("delivered", FIRST[4]["metadata"])]
    assert platform.ops("send", "edit", "delete")[-1] == {"op": "delete", "channel": room, "id": bar_id(platform)}
    log = [(each.record.id, each.after, each.seq) for each in await harness.events()]
    (done,) = (seq for id_, after, seq in log if (id_, after) == (prompt.id, S.PROCESSED))
    (shown,) = (seq for id_, after, seq in log if (id_, after) == (answer.id, S.DELIVERED))
    assert done < shown, "a prompt is processed when its answer is posted, not when it is delivered"


def bar_id(platform: RecordedPlatform) -> str:
    return next(each.id for each in platform.everything() if each.edits)


async def test_6_2_a_schedule_where_nothing_is_shown_on_the_way(store: Store, tmp_path: Path) -> None:
    # K-025, K-027, K-239..K-243
    imported = record_from_row(SECOND[0])
    held = Held(reply(thought(SECOND[1]["content"]), SECOND[2]["content"]))
    scene = Scene(store, tmp_path, ScriptedModel(held), name="wechat", visibility=PLAIN, max_text=64)
    post = Post(message=imported.message, address=imported.address, session_id=imported.session_id)
    (prompt,) = await scene.harness.gateway.accept([post])
    both = {"is_cronjob": True, "wechat_cronjob": True}  # decision C-27
    assert prompt.to_row() == SECOND[0] | {"metadata": both}
    async with scene.playing():
        await held.entered.wait()
        assert await scene.life(prompt) == ["pending_agent", "processing"]
        held.release.set()
        thinking, answer = [await scene.stored(row["content"]) for row in SECOND[1:]]
        await scene.reached(thinking, "responded", "delivered")
        await scene.reached(answer, "pending", "delivered")
        await scene.reached(prompt, "pending_agent", "processing", "processed")

    rows = await scene.told(prompt, [row["id"] for row in SECOND])
    assert set(rows[2].pop("metadata")) == {"turn_metrics"}
    assert rows == [SECOND[0] | {"metadata": both}, *SECOND[1:]]
    chunks = scene.platform.texts()
    assert {entry["channel"] for entry in scene.platform.entries} == {WECHAT["channel_id"]}
    assert len(chunks) > 1
    assert " ".join(each.strip() for each in chunks) == SECOND[2]["content"]
    assert len(scene.platform.ops("send")) == len(scene.platform.entries) == len(chunks)


class Deaf(ScriptedModel):
    """Goes on when it is told to stop, and answers late."""

    late = False

    async def stream(self, request: CompiledRequest) -> Any:
        try:
            async for each in super().stream(request):
                yield each
        except asyncio.CancelledError:
            yield Delta(text="Here is your web component.")
            yield reply("Here is your web component.")
            self.late = True  # the reply was taken


@pytest.mark.parametrize("kind", [ScriptedModel, Deaf])
async def test_6_3_an_interruption(store: Store, tmp_path: Path, kind: type[ScriptedModel]) -> None:
    # K-016, K-128, K-143, K-244..K-248
    @tool(effect=Effect.READ)
    def look() -> str:
        """Look around."""
        return "an empty folder"

    planned: Reply = reply(thought("A web component needs a folder."), call("look"))
    held = Held(reply("Here is your web component."))
    model = kind(planned, held, "Here is your command line tool.")
    scene = Scene(store, tmp_path, model, tools=[look], **LIKE_DISCORD)
    harness, platform = scene.harness, scene.platform
    async with scene.playing():
        platform.say("c", "Build a new web component", by="chii")
        first = await scene.stored("Build a new web component")
        await held.entered.wait()
        assert await scene.life(first) == ["pending_agent", "processing"]
        thinking = await scene.stored("A web component needs a folder.")
        await scene.reached(thinking, "responded", "delivered")
        await scene.shows("💭 A web component needs a folder.\n🛠️ look:  ✅")

        platform.say("c", "Wait, actually build a command line tool instead", by="chii")
        async with asyncio.timeout(PATIENCE):
            await held.gone.wait()
        second = await scene.stored("Wait, actually build a command line tool instead")
        await scene.reached(first, "pending_agent", "processing", "interrupted")
        await scene.reached(second, "pending_agent", "processing", "processed")
        await scene.shows("Here is your command line tool.")
        done = len(platform.entries)
        held.release.set()
        await settle()
        await harness.clock.advance(60)
        await scene.runner.outbox.idle()

    assert isinstance(model, Deaf) is getattr(model, "late", False)
    assert [each for each in platform.entries[done:] if each["op"] in {"send", "edit"}] == []
    removed = next(n for n, each in enumerate(platform.entries) if each["op"] == "delete")
    later = " ".join(str(each.get("text")) for each in platform.entries[removed:])
    assert "web component" not in later
    assert ("interrupted", first.id) in scene.runner.adapter.hooks
    kept = [each.kind for each in phased(await harness.turn(first))]
    assert kept == ["user_prompt", "thought", "tool_call", "tool_result"]
    answers = [each for each in await scene.everything() if each.kind == "answer"]
    assert [(each.parent_id, each.message.rendered) for each in answers] == [
        (second.id, "Here is your command line tool.")
    ]
    assert first.session_id == second.session_id

"""Who sees what: seed 004 section 5.3 and the visibility column of its table 3, typed in a second time.

The columns of installed adapters are held against the matrix, and what really reaches a platform against the table.
"""

import codecs
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pexpect
import pyte
import pytest

from kesoku.adapter import Manifest, Presentation, Visibility
from kesoku.adapter.policy import DeliveryPolicy
from kesoku.gateway import BusyPolicy, StoreGateway
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.message import Message
from kesoku.messages.record import Post
from kesoku.plugins import ADAPTERS, find, names
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import VirtualClock, settle
from kesoku.testing.fakes import FakePresence
from kesoku.testing.memory import MemoryStore
from kesoku.testing.platform import RecordedPlatform
from kesoku.testing.recording import LIVE, PLAIN, SHOW_ALL, recording_manifest

PLATFORMS = ("cli", "discord", "google_chat", "wechat")
MATRIX = {
    "User Text": ("Yes", "Yes", "Yes", "Yes"),
    "Assistant Text / File": (
        "Yes (Rich Panel / Line)",
        "Yes (Standard reply)",
        "Yes (Markdown card)",
        "Yes (Normalized plain text)",
    ),
    "Assistant Thought": (
        "Yes (Cyan Panel)",
        "Yes (Live status bar update)",
        "Yes (Foldable active turn card)",
        "No (Completely hidden)",
    ),
    "Tool Call": (
        "Yes (Yellow Panel)",
        "Yes (Live status bar update)",
        "Yes (Foldable active turn card)",
        "No (Completely hidden)",
    ),
    "Tool Result": (
        "Yes (Magenta Panel)",
        "Yes (Status changes ⏳ ──► ✅)",
        "Yes (Status changes ⏳ ──► ✅)",
        "No (Completely hidden)",
    ),
    "System Notification": (
        "Yes (Panel / Print)",
        "Yes (Live status bar update)",
        "Yes (Foldable active turn card)",
        "No (Completely hidden)",
    ),
}
FIELDS = ("user_text", "assistant_text", "thought", "tool_call", "tool_result", "notice")
IN_THE_STATUS = {"discord": Presentation.LIVE, "google_chat": Presentation.FOLDED}


def presentation(platform: str, cell: str) -> Presentation:
    """What a cell of the matrix asks of an adapter."""
    if cell.startswith("No"):
        return Presentation.HIDDEN
    if any(word in cell for word in ("Live status", "Foldable", "Status changes")):
        return IN_THE_STATUS[platform]
    return Presentation.SHOWN


def column(platform: str) -> Visibility:
    """A column of the matrix."""
    cells = (row[PLATFORMS.index(platform)] for row in MATRIX.values())
    return Visibility(**{field: presentation(platform, cell) for field, cell in zip(FIELDS, cells, strict=True)})


CHECKED = tuple(name for name in names(ADAPTERS) if name in PLATFORMS)


@pytest.mark.parametrize("name", CHECKED)
def test_an_installed_adapter_declares_its_column(name: str) -> None:
    manifest = find(ADAPTERS, name)
    assert isinstance(manifest, Manifest)
    assert asdict(manifest.visibility) == asdict(column(name))


def test_no_platform_of_the_matrix_escapes() -> None:
    ours = {each.name for each in entry_points(group=ADAPTERS) if each.dist and each.dist.name == "kesoku"}
    there = {name for name in PLATFORMS if importlib.util.find_spec(f"kesoku_{name}")}
    assert ours | there <= set(CHECKED)
    assert "cli" in CHECKED


def test_the_recording_adapter_stands_in_for_the_platforms() -> None:
    assert column("cli") == SHOW_ALL
    assert column("discord") == LIVE
    assert column("wechat") == PLAIN


ALL = "Yes (All channels)"
UNFOLDED = "Foldable / CLI Only (WeChat bypass)"
NOWHERE = "No (Invisible in background)"
CALL = make.tool_call("M4RK", {}, provider="p", model="m")
TABLE_3: dict[str, tuple[str, Callable[[], Message]]] = {
    "Standard User Message": (ALL, lambda: make.user_prompt("M4RK", author="Ada")),
    "Cronjob Trigger Message": (ALL, lambda: make.cron_prompt("M4RK")),
    "Manual Compaction Trigger": ("Yes (Trigger channel)", make.compaction_prompt),
    "Assistant Thought": (UNFOLDED, lambda: make.thought("M4RK", provider="p", model="m")),
    "Assistant Final Text": (ALL, lambda: make.answer("M4RK", provider="p", model="m")),
    "Tool Call Message": (UNFOLDED, lambda: CALL),
    "Tool Result Message": (UNFOLDED, lambda: make.respond(CALL, "M4RK")[1]),
    "System Prompt Message": ("CLI / UI Only (Virtual entry)", lambda: make.system_prompt("M4RK")),
    "Background Wakeup Alert": (NOWHERE, lambda: make.wakeup("job_123", "M4RK")),
    "Nudge Message": (NOWHERE, lambda: make.nudge("M4RK")),
    "User-Facing Notification": ("Yes (For platform alert)", lambda: make.notice("M4RK", reason="status")),
    "System Error Notification": (ALL, lambda: make.error_answer("M4RK")),
}


def visible_on(cell: str) -> set[str]:
    """The platforms where a message of this cell is visible; as a stored row, so never for a virtual entry."""
    if cell in {NOWHERE, "CLI / UI Only (Virtual entry)"}:
        return set()
    if cell in {UNFOLDED, "Yes (For platform alert)"}:
        return set(PLATFORMS) - {"wechat"}  # C-28 for the alert
    return set(PLATFORMS)


@pytest.mark.parametrize("title", TABLE_3)
def test_each_category_is_visible_where_the_table_says(title: str) -> None:
    # K-073, K-082, K-085, K-088, K-091, K-097, K-100, K-103, K-106: the columns
    cell, maker = TABLE_3[title]
    shown = {name for name in PLATFORMS if column(name).of(maker()) is not Presentation.HIDDEN}
    assert shown == visible_on(cell)


OUTGOING = [title for title, (_, maker) in TABLE_3.items() if maker().role != "user"]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("title", OUTGOING)
async def test_what_reaches_a_platform(title: str, platform: str, tmp_path: Path) -> None:
    # K-051, K-059, K-082, K-085, K-088, K-091, K-097, K-100, K-103, K-106, K-217, K-220: what an outbox makes of it
    cell, maker = TABLE_3[title]
    bar: dict[str, Any] = {"live": True, "edits": True, "deletes": True} if platform in IN_THE_STATUS else {}
    recorded = RecordedPlatform()
    store, clock = MemoryStore(), VirtualClock()
    gateway = StoreGateway(store, clock, BusyPolicy(), FakePresence())
    runner = AdapterRunner(
        manifest=recording_manifest(name=platform, platform=recorded, visibility=column(platform), **bar),
        store=store,
        gateway=gateway,
        clock=clock,
        folder=tmp_path,
        policy=DeliveryPolicy(drain_seconds=0.0),
    )
    async with runner:
        recorded.say("c", "go")
        await settle()
        claim = await runner.claim()
        message = maker()
        if message.kind == "tool_result":
            call = await runner.say(claim, make.tool_call("look", {}, provider="p", model="m"))
            next_call, message = make.respond(call.message, "M4RK")  # type: ignore[arg-type]
            record = await gateway.respond(claim.fence, call, message, next_call)
        else:
            turn = {"parent_id": claim.prompt.id, "turn_id": claim.prompt.id, "session_id": claim.prompt.session_id}
            record = await gateway.post(Post(message=message, address=claim.prompt.address, **turn))  # type: ignore[arg-type]
        await settle()
        await clock.advance(5)
        await runner.outbox.idle()
        texts = "\n".join(recorded.texts())
    if title in {"System Prompt Message", "Nudge Message"}:
        assert await runner.status(record) is MessageStatus.RESPONDED
    mark = "look ✅" if message.kind == "tool_result" else "M4RK"
    assert (mark in texts) is (platform in visible_on(cell))


def test_the_terminal_shows_everything_in_its_colours(tmp_path: Path) -> None:
    # K-076, K-097, K-103, K-106, K-162, K-190, K-194, K-198, K-202, K-206, K-210, K-217: the terminal
    screen = pyte.HistoryScreen(100, 60, history=1000)
    stream, decoder = pyte.Stream(screen), codecs.getincrementaldecoder("utf-8")()
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PATH", "COV", "PYTHON"))}
    environ = kept | {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
    program = str(Path(__file__).with_name("seen.py"))
    child = pexpect.spawn(sys.executable, [program, str(tmp_path)], dimensions=(60, 100), env=environ)

    def rows() -> list[Any]:
        return [*screen.history.top, *(screen.buffer[y] for y in range(screen.lines))]

    def text() -> str:
        return "\n".join("".join(row[x].data for x in range(100)).rstrip() for row in rows())

    def wait_for(*marks: str) -> None:
        deadline = time.monotonic() + 50
        while not all(mark in text() for mark in marks):
            assert time.monotonic() < deadline, text()
            try:
                data = decoder.decode(child.read_nonblocking(65536, 0.05))
                stream.feed(data.replace("\ufe0f", ""))  # pyte drops a line's rest behind a variation selector
            except pexpect.TIMEOUT:
                continue

    try:
        wait_for("›")
        child.send("U-text\r")
        wait_for("T-answer", "plot.txt", "W-answer", "E-error")
        child.send("again\r")
        wait_for("N-answer", "C-schedule", "C-answer")
        child.send("/quit\r")
        child.expect(pexpect.EOF, timeout=50)
    finally:
        child.close(force=True)
    shown = text()
    marks = [
        "› U-text",
        "T-thought",
        "T-call",
        "S-notice",
        "R-notice",
        "T-result",
        "T-answer",
        "file plot.txt",
        "E-error",
        "Cronjob › C-schedule",
    ]
    assert {mark: shown.count(mark) for mark in marks} == dict.fromkeys(marks, 1)
    statuses = json.loads((tmp_path / "statuses.json").read_text())
    ended = [statuses[mark] for mark in ("T-thought", "S-notice", "R-notice", "T-result", "W-answer", "N-answer")]
    ended += [status for text, status in statuses.items() if text.startswith("Calling tool")]
    assert ended == ["delivered"] * 7
    assert "W-output" not in shown
    assert "System Alert" not in shown
    assert "empty content" not in shown
    assert {title: colour_of(rows(), title) for title in ("thought", "call look", "✓ look")} == {
        "thought": "cyan",
        "call look": "brown",  # what pyte calls yellow
        "✓ look": "magenta",
    }


def colour_of(rows: list[Any], title: str) -> str:
    """The colour of the panel with this title."""
    (corner,) = [row[0] for row in rows if f"╭─ {title} ─" in "".join(row[x].data for x in range(100))]
    return str(corner.fg)

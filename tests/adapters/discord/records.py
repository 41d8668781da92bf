"""Records as the core hands them to the adapter, with fixed ids and times, and renderings written down."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kesoku.adapter import Address, Outgoing, Question, Record, RenderContext
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import EMPTY, FrozenDict
from kesoku.messages.kinds import ToolCall, ToolResult
from kesoku.messages.message import Message

GOLDEN = Path(__file__).parent / "golden"
HERE = Address(chatbot_id="discord", channel_id="1234567890123")
MODEL: dict[str, Any] = {"provider": "p", "model": "m"}
BEGAN = 1_000.25
"""When calls begin, in Unix seconds."""
METRICS = {
    "session_turns": 3,
    "context_tokens": 8421,
    "turn_tool_calls": 1,
    "turn_tokens": 1042,
    "turn_time": 2.1,
}


def placed(
    message: Message,
    *,
    id: str,  # noqa: A002
    at: float = BEGAN,
    round: int = 1,  # noqa: A002
    facts: Mapping[str, Any] = EMPTY,
) -> Record:
    """A message of the turn `turn-1`."""
    fixed = type(message).restore(id=id, source=message.source, content=message.content, created_at=at)
    return Record(
        message=fixed,
        address=HERE,
        session_id="session-1",
        status=MessageStatus.PENDING,
        turn_id="turn-1",
        round=round,
        facts=FrozenDict(facts),
    )


def answer(text: str, *, metrics: Mapping[str, Any] | None = METRICS, files: Iterable[Any] = ()) -> Record:
    """An answer with its figures."""
    facts = {} if metrics is None else {"turn_metrics": dict(metrics)}
    return placed(make.answer(text, attachments=files, **MODEL), id="answer-1", facts=facts)


def notice(text: str, question: Question | None = None) -> Record:
    """A notice that answers, or asks, a person."""
    return placed(make.notice(text, reason="reply", question=question), id="notice-1")


def thought(text: str, *, number: int = 1, round: int = 1) -> Record:  # noqa: A002
    """A thought."""
    return placed(make.thought(text, **MODEL), id=f"thought-{number}", round=round)


def call(
    number: int = 1,
    *,
    tool: str = "run_shell_command",
    at: float = BEGAN,
    round: int = 1,  # noqa: A002
    **arguments: Any,
) -> Record:
    """A call of a tool."""
    given = arguments or {"command": "uv run pytest tests/test_history.py"}
    return placed(make.tool_call(tool, given, **MODEL), id=f"call-{number}", at=at, round=round)


def result(asked: Record, *, error: str | None = None, at: float = BEGAN + 0.4) -> Record:
    """What a call returned."""
    message = asked.message
    assert isinstance(message, ToolCall)
    made: ToolResult = make.respond(message, "the output", error=error)[1]
    return placed(made, id=f"result-of-{asked.id}", at=at, round=asked.round)


def context(question: Question | None = None, **files: str | None) -> RenderContext:
    """A prompt with the id 42, and files by their names without the suffix `.png`."""
    named = {f"{name}.png": Path(path) if path else None for name, path in files.items()}
    return RenderContext(reply_to="42", files=named, question=question)


def written(parts: Iterable[Outgoing]) -> str:
    """Every part as its text, and below it in brackets what goes along."""
    return "\n\n=== next part ===\n\n".join("\n".join(_lines(part)) for part in parts) + "\n"


def _lines(part: Outgoing) -> Iterable[str]:
    if part.text:
        yield part.text
    if part.reply_to:
        yield f"[reply to {part.reply_to}]"
    for file in part.files:
        yield f"[{'voice' if file.voice else 'file'} {file.name} from {file.path}: {file.description or 'no caption'}]"
    for button in part.buttons:
        yield f"[button {button.label!r} of {button.token}: {button.value}]"
    for row in (part.payload or {}).get("components", ()):
        yield f"[row {json.dumps(row, ensure_ascii=False)}]"
    if table := (part.payload or {}).get("table"):
        yield f"[picture {json.dumps(table, ensure_ascii=False, indent=1)}]"


def golden(name: str, told: str) -> None:
    """Compare with the golden file of this name."""
    assert told == (GOLDEN / name).read_text("utf-8")

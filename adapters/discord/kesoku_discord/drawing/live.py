"""The live status of a turn: what it thinks and does, one line a step, in one message that is edited in place. Pure.

No verdict is told but that of each call: one that failed and one that worked then stand below each other. The output
of tools is never shown.
"""

from dataclasses import dataclass, replace
from typing import Any

from kesoku.adapter import Draft, Outgoing, Record, Tick, TurnEnd
from kesoku.render import duration
from kesoku_discord.config import DiscordConfig
from kesoku_discord.drawing.controls import SUBJECT, Act, Control, buttons
from kesoku_discord.drawing.inert import READ, prose
from kesoku_discord.drawing.step import LINE, arguments_shown, call_line, notice_line, thought_line
from kesoku_discord.drawing.tail import tail
from kesoku_discord.drawing.text import size

LIMIT = 1900
"""UTF-16 units of the status: room is left below Discord's limit for whatever is counted otherwise."""
NEWEST = 8
"""Steps that are shown; what was before is counted."""
_ANSWER = 900
"""UTF-16 units of the answer that is being written."""
_NOTHING_YET = "💭 …"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A thought, a notice or a call. `began` and `ended` in Unix seconds, `failed` once a call has ended."""

    key: str
    kind: str
    text: str
    tool: str = ""
    began: float | None = None
    ended: float | None = None
    failed: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What the drawing of a turn is made of."""

    turn_id: str = ""
    steps: tuple[Step, ...] = ()
    draft: Draft | None = None
    said: bool = False
    """Whether there was anything to show but an answer: a message that is there must not become blank."""
    wrote: bool = False
    """Whether there was the beginning of an answer."""


def fold(state: Status | None, item: Record | Draft | Tick) -> Status:
    """The next state. The same record twice changes nothing; records of a step take the place of its draft."""
    status = state or Status()
    match item:
        case Draft():
            said = bool(item.thought.strip() or item.note.strip())
            return replace(
                status,
                turn_id=item.turn_id,
                draft=item,
                said=status.said or said,
                wrote=status.wrote or bool(item.text.strip()),
            )
        case Record():
            return _with_record(status, item)
        case _:
            return status


def draw(state: Status | None, now: float, config: DiscordConfig) -> Outgoing:
    """The drawing, the same within each whole second; blank as long as there is nothing to show."""
    status = state or Status()
    text = _steps(status, now)
    if status.draft and config.stream_answer:
        room = min(_ANSWER, LIMIT - size(text) - 1)
        text = "\n".join(filter(None, (text, tail(status.draft.text, room))))
    if not text and (status.said or (status.wrote and config.stream_answer)):
        text = _NOTHING_YET
    if not text or not config.buttons or not 0 < len(status.turn_id) <= SUBJECT:
        return Outgoing(text=text, silent=True)
    stop = buttons([("Stop", Control(act=Act.STOP, subject=status.turn_id))])
    return Outgoing(text=text, silent=True, payload={"components": stop})


def close(state: Status | None, end: TurnEnd) -> Outgoing | None:
    """None: nothing stays, however the turn ended; the answer says it all."""
    return None


def _steps(status: Status, now: float) -> str:
    """The newest steps, fewer of them where they are very long, and what goes on now."""
    lines = [_line(step, now) for step in status.steps[-NEWEST:]]
    running = _running(status.draft)
    while True:
        earlier = _earlier(status.steps[: len(status.steps) - len(lines)])
        text = "\n".join(filter(None, (earlier, *lines, *running)))
        if size(text) <= LIMIT or not lines:
            return text
        del lines[0]


def _with_record(status: Status, record: Record) -> Status:
    made = _step(record)
    if made is None:
        return status
    is_past = status.draft is not None and made.kind != "notice" and record.round >= status.draft.step
    return replace(
        status,
        turn_id=record.turn_id or record.id,
        steps=_with_step(status.steps, made),
        draft=None if is_past else status.draft,
        said=True,
    )


def _step(record: Record) -> Step | None:
    message: Any = record.message
    content = message.content
    match record.kind:
        case "thought" | "notice" if content.text.strip():
            return Step(key=record.id, kind=record.kind, text=content.text.strip()[:READ])
        case "tool_call":
            shown = arguments_shown(content.arguments)
            return Step(key=record.id, kind="call", text=shown, tool=content.tool, began=message.created_at)
        case "tool_result":
            return Step(
                key=content.request_id or record.id,
                kind="call",
                text=arguments_shown(content.arguments),
                tool=content.tool,
                ended=message.created_at,
                failed=not content.success,
            )
        case _:
            return None


def _with_step(steps: tuple[Step, ...], made: Step) -> tuple[Step, ...]:
    """The steps with this one in the place of what is known of it, or behind them all."""
    for index in range(len(steps) - 1, -1, -1):
        if steps[index].key == made.key:
            return (*steps[:index], _merged(steps[index], made), *steps[index + 1 :])
    return (*steps, made)


def _merged(known: Step, made: Step) -> Step:
    """A call whose result is known keeps it, whatever comes first; a result that was replaced counts as the new one."""
    if made.ended is None:
        return replace(made, ended=known.ended, failed=known.failed)
    return replace(made, began=known.began)


def _line(step: Step, now: float) -> str:
    match step.kind:
        case "thought":
            return thought_line(step.text)
        case "notice":
            return notice_line(step.text)
        case _:
            until = now if step.ended is None else step.ended
            seconds = 0 if step.began is None else int(until) - int(step.began)
            mark = "⏳" if step.failed is None else "❌" if step.failed else "✅"
            return call_line(step.tool, step.text, mark, seconds)


def _earlier(steps: tuple[Step, ...]) -> str:
    if not steps:
        return ""
    running = sum(step.kind == "call" and step.failed is None for step in steps)
    failed = sum(step.failed is True for step in steps)
    told = [f"{len(steps):,} earlier step{'s' if len(steps) > 1 else ''}"]
    told += [f"{running:,} running"] if running else []
    told += [f"{failed:,} failed"] if failed else []
    return f"-# … {', '.join(told)}"


def _running(draft: Draft | None) -> list[str]:
    """What is thought at the moment, and why it takes longer."""
    if draft is None:
        return []
    note = prose(draft.note, LINE)
    wait = "" if draft.wait is None else f" in {duration(draft.wait)}"
    return [thought_line(draft.thought), f"⏳ {note}{wait}" if note else ""]

"""What a model reads: the LLM columns of seed 004 table 3, typed in a second time and held against compile_turns."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from kesoku.history.compile import compile_turns
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.enums import MessageStatus
from kesoku.messages.turn import Block, CallBlock, CompiledRequest, MediaBlock, ResultBlock, TextBlock, TurnRequest
from kesoku.testing.grammar import violations
from kesoku.testing.talk import Talk

MARK = "M4RK"
DATA = Attachment(name="data.csv", path="/staging/data.csv", mime_type="text/csv")
STRIPPED = "[Attachments stripped from history: data.csv]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    """One row of the table: its two cells, how such a message comes into a turn, and what the model has of it."""

    active: str
    past: str
    say: Callable[[Talk], object]
    blocks: tuple[Block, ...] = ()
    """In the active turn, without ids."""
    role: str = "user"
    opens: bool = False
    """Whether it is the prompt of its turn."""


def text(words: str, *, thought: bool = False) -> tuple[Block, ...]:
    return (TextBlock(text=words, thought=thought),)


def result(talk: Talk) -> None:
    talk.result(talk.call(MARK, {"query": MARK}), MARK)


CALLED = CallBlock(call_id="", name=MARK, arguments={"query": MARK})
RETURNED = ResultBlock(call_id="", name=MARK, output=MARK)
TABLE = {
    "Standard User Message": Category(
        active="Yes (Full content)",
        past="Yes (Attachments stripped)",
        say=lambda talk: talk.prompt(MARK, files=(DATA,)),
        blocks=(*text(MARK), MediaBlock(path="/staging/data.csv", mime_type="text/csv", name="data.csv")),
        opens=True,
    ),
    "Cronjob Trigger Message": Category(
        active="Yes", past="Yes", say=lambda talk: talk.opens(make.cron_prompt(MARK)), blocks=text(MARK), opens=True
    ),
    "Manual Compaction Trigger": Category(
        active="Yes",
        past="Yes",
        say=lambda talk: talk.opens(make.compaction_prompt()),
        blocks=text(make.compaction_prompt().rendered),
        opens=True,
    ),
    "Assistant Thought": Category(
        active="Yes",
        past="No (Stripped from completed turns)",
        say=lambda talk: talk.thought(MARK),
        blocks=text(MARK, thought=True),
        role="model",
    ),
    "Assistant Final Text": Category(
        active="Yes", past="Yes", say=lambda talk: talk.answer(MARK), blocks=text(MARK), role="model"
    ),
    "Tool Call Message": Category(active="Yes", past="Yes", say=result, blocks=(CALLED,), role="model"),
    "Tool Result Message": Category(active="Yes", past="Yes", say=result, blocks=(RETURNED,)),
    "System Prompt Message": Category(
        active="Yes (as System Instruction)",
        past="Yes (as System Instruction)",
        say=lambda talk: talk.add(make.system_prompt(MARK)),
    ),
    "Background Wakeup Alert": Category(
        active="Yes (Mapped to USER turn)",
        past="Yes (Mapped to USER turn)",
        say=lambda talk: talk.opens(make.wakeup("job_123", MARK)),
        blocks=text(f"[System Notification]\n[System Alert] Background Job job_123 finished\n{MARK}"),
        opens=True,
    ),
    "Nudge Message": Category(
        active="Yes (Mapped to USER turn)",
        past="Yes (Mapped to USER turn)",
        say=lambda talk: talk.nudge(MARK),
        blocks=text(f"[System Notification]\n{MARK}"),
    ),
    "User-Facing Notification": Category(
        active="No (Filtered out)", past="No (Filtered out)", say=lambda talk: talk.add(make.notice(MARK))
    ),
    "System Error Notification": Category(
        active="Yes",
        past="Yes",
        say=lambda talk: talk.error(MARK),
        blocks=text(f"⚠️ An error occurred while processing your request: {MARK}"),
        role="model",
    ),
}


def turn(talk: Talk, category: Category) -> None:
    """A turn with a message of this category in it."""
    if not category.opens:
        talk.prompt("go")
        talk.round = 1
    category.say(talk)


def compiled(talk: Talk) -> CompiledRequest:
    request = compile_turns(talk.records, talk.steps, TurnRequest())
    assert violations(request) == []
    return request


def blocks(request: CompiledRequest, role: str) -> list[Block]:
    """What one side said, without ids and without the blank line after what stands before."""
    found: list[Block] = []
    for block in (each for turn in request.turns if turn.role == role for each in turn.blocks):
        match block:
            case TextBlock():
                found.append(TextBlock(text=block.text.removeprefix("\n\n"), thought=block.thought))
            case CallBlock():
                found.append(CallBlock(call_id="", name=block.name, arguments=block.arguments))
            case ResultBlock():
                found.append(ResultBlock(call_id="", name=block.name, output=block.output, error=block.error))
            case _:
                found.append(block)
    return found


def held_by(request: CompiledRequest) -> str:
    """Everything that is in the turns, as text."""
    return repr([block for role in ("user", "model") for block in blocks(request, role)])


@pytest.mark.parametrize("title", TABLE)
def test_the_active_turn(title: str) -> None:
    # K-074, K-077, K-080, K-083, K-086, K-089, K-092, K-095, K-098, K-101, K-104, K-107, K-214, K-216, K-218
    category, talk = TABLE[title], Talk()
    turn(talk, category)
    request = compiled(talk)
    if category.active == "Yes (as System Instruction)":
        assert request.system == MARK
    if category.active.startswith("No") or "System Instruction" in category.active:
        assert MARK not in held_by(request)
        return
    said = blocks(request, category.role)
    assert [each for each in said if each in category.blocks] == list(category.blocks)


@pytest.mark.parametrize("title", TABLE)
def test_the_past(title: str) -> None:
    # K-075, K-078, K-081, K-084, K-087, K-090, K-093, K-096, K-099, K-102, K-105, K-108, K-184, K-189
    category, talk = TABLE[title], Talk()
    turn(talk, category)
    talk.round += 1
    if title != "Assistant Final Text":
        talk.answer("done")
    talk.prompt("and now", status=MessageStatus.PROCESSING)
    request = compiled(talk)
    if category.past == "Yes (as System Instruction)":
        assert request.system == MARK
    if category.past.startswith("No") or "System Instruction" in category.past:
        assert MARK not in held_by(request)
        return
    wanted = list(category.blocks)
    if category.past == "Yes (Attachments stripped)":
        wanted = list(text(f"{MARK}\n{STRIPPED}"))
        assert [each for each in blocks(request, "user") if isinstance(each, MediaBlock)] == []
    assert [each for each in blocks(request, category.role) if each in wanted] == wanted


def test_no_message_is_read_twice() -> None:
    talk = Talk()
    for category in TABLE.values():
        turn(talk, category)
        talk.round += 1
        talk.answer("done")
    request = compiled(talk)
    sources = [source for each in request.turns for source, _ in each.sources]
    assert len(sources) == len(set(sources))
    assert set(sources) == {
        each.id
        for each in talk.records
        if each.kind not in {"notice", "system_prompt"} and not (each.kind == "thought" and each.turn_id != talk.turn)
    }

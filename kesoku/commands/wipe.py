"""Overwriting of a message and of whatever repeats it, as one operation of a transaction (C-16)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from kesoku.adapter.outgoing import Outgoing
from kesoku.adapter.part import row
from kesoku.adapter.sender import BLIND, DOUBT
from kesoku.commands.copies import Copies
from kesoku.gateway.status import Act
from kesoku.gateway.turn import withdraw
from kesoku.messages.freeze import EMPTY, FrozenDict
from kesoku.messages.lifecycle import Delivery, Purpose, Step
from kesoku.messages.record import Record
from kesoku.messages.redaction import REDACTED, is_redacted, redacted, without_arguments
from kesoku.ports import Transaction

_SEALED = ("signature", "wire_id")
_SAID_BY_MODEL = frozenset({"model", "compaction", "error"})
"""Sources of messages that say what a reply said: in its words, as the summary made of it, or why it was none."""
_WORDS = ("detail", "cure", "hint")
"""What a reply says besides its blocks, in words that may repeat them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiped:
    """How much was overwritten."""

    messages: int
    versions: int
    steps: int
    parts: int
    questions: int
    mail: int


def wipe(tx: Transaction, copies: Copies, *, actor: str, at: int) -> Wiped:
    """Overwrite them all. What is redacted already is left as it is; a prompt that waits is cancelled."""
    found = (tx.messages.get(each.id) for each in copies.records)
    records = [each for each in found if each is not None and not each.is_damaged and not is_redacted(each.message)]
    versions = sum([tx.archive.overwrite(redacted(each.message), actor=actor, at=at) for each in records])
    for id_ in (*(each.id for each in copies.records), *(each.id for each in copies.mail)):
        tx.archive.overwrite_errors(id_, REDACTED)
    for each in records:
        withdraw(tx, each.id, Act(actor=actor, reason="redacted", at=at))
    return Wiped(
        messages=len(records),
        versions=versions + sum([_results(tx, each, actor=actor, at=at) for each in records]),
        steps=sum([_steps(tx, turn_id, records) for turn_id in {each.turn_id for each in records if each.turn_id}]),
        parts=sum([_parts(tx, each) for each in records]),
        questions=sum([_questions(tx, each) for each in records]),
        mail=_mail(tx, copies),
    )


def _results(tx: Transaction, call: Record, *, actor: str, at: int) -> int:
    """Results repeat what their call was given."""
    if call.kind != "tool_call":
        return 0
    named = tx.messages.get(call.message.content.response_id or "")
    turn = {each.id: each for each in (*tx.messages.turn(call.turn_id or call.id), *([named] if named else ()))}
    mine = [id_ for id_, each in turn.items() if _answers(each, call)]
    said = [found for id_ in mine if (found := tx.messages.get(id_)) is not None]
    repeating = [each for each in said if each.message.content.arguments]
    for each in repeating:
        tx.archive.overwrite(without_arguments(each.message), actor=actor, at=at)
    return len(repeating)


def _answers(record: Record, call: Record) -> bool:
    return record.kind == "tool_result" and record.message.content.request_id == call.id


def _steps(tx: Transaction, turn_id: str, records: Iterable[Record]) -> int:
    """What the model said in the steps in which it said these records."""
    mine = [each for each in records if each.turn_id == turn_id and each.message.source.kind in _SAID_BY_MODEL]
    changed = 0
    for step in tx.steps.of(turn_id):
        said = [each for each in mine if each.round == step.n]
        if said and step.reply:
            tx.archive.overwrite_step(_unsaid(step, said))
            changed += 1
    return changed


def _unsaid(step: Step, said: Iterable[Record]) -> Step:
    calls = {each.id for each in said if each.kind == "tool_call"}
    texts = [each for each in said if each.kind != "tool_call"]
    blocks = tuple(_blocks(step.reply.get("blocks", ()), calls, texts))
    rest = {key: value for key, value in step.reply.items() if key not in _WORDS}
    return replace(step, reply=FrozenDict({**rest, "blocks": blocks}))


def _blocks(blocks: Iterable[Mapping[str, Any]], calls: set[str], texts: list[Record]) -> Iterator[Mapping[str, Any]]:
    """The blocks of a reply without these calls, and without the texts of a kind of which one is to go: in a step they
    are few, and what was cut or joined cannot be told apart."""
    interim = [bool(getattr(each.message.source, "interim", False)) for each in texts]
    thoughts = any(each.kind == "thought" and not between for each, between in zip(texts, interim, strict=True))
    words = any(each.kind in {"answer", "summary"} or between for each, between in zip(texts, interim, strict=True))
    for block in blocks:
        bare = {key: value for key, value in block.items() if key not in _SEALED}
        if "call_id" in block:
            yield {**bare, "arguments": EMPTY} if block["call_id"] in calls else block
        elif thoughts if block.get("thought") else words:
            yield {**bare, "text": REDACTED}
        else:
            yield block


def _parts(tx: Transaction, record: Record) -> int:
    """What goes out of a message, or went out, and the live status of its turn, which may show it."""
    parts = [*tx.deliveries.of(record.id), *tx.deliveries.of(record.turn_id or record.id, Purpose.LIVE)]
    for each in parts:
        tx.archive.overwrite_part(_blank(each))
    return len(parts)


def _blank(part: Delivery) -> Delivery:
    outgoing = Outgoing(text=REDACTED)
    blank = row(outgoing, message_id=part.message_id, address=part.address, part=part.part, purpose=part.purpose)
    return replace(part, body=blank.body, hash=blank.hash, error=_unquoted(part.error))


def _unquoted(error: str | None) -> str | None:
    """What is known of a failure, without the words of the platform, which may quote the message."""
    if not error:
        return None
    return next((mark for mark in (BLIND, DOUBT) if error.startswith(mark)), "") + REDACTED


def _questions(tx: Transaction, record: Record) -> int:
    asked = tx.questions.get(record.id) if record.kind == "tool_call" else None
    if asked is None:
        return 0
    tx.archive.overwrite_question(replace(asked.question, text=REDACTED))
    return 1


def _mail(tx: Transaction, copies: Copies) -> int:
    letters = [found for each in copies.mail if (found := tx.mail.message(each.id)) and not is_redacted(found)]
    for letter in letters:
        tx.archive.overwrite_mail(redacted(letter))
    return len(letters)

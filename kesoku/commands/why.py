"""/why: how a message came about, from its record, its turn and the event log alone."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from kesoku.adapter.command import Argument, Invocation
from kesoku.commands.bill import words
from kesoku.commands.completion import messages
from kesoku.commands.here import given_to, label, message_here, plain_name, session_here, what
from kesoku.commands.registry import SlashCommand, command
from kesoku.messages.lifecycle import Change, ChangeKind, Expense
from kesoku.messages.masked import masked_record
from kesoku.messages.record import Record
from kesoku.messages.redaction import is_redacted
from kesoku.ports import Store, Transaction
from kesoku.render import counted, printable_name
from kesoku.render.mask import NOTHING, Mask

_EVENTS = 30
"""Events that are listed, the latest ones."""
_SECOND = 1_000_000
_AUTHORED = {"user_prompt", "tool_result"}
"""Kinds that are named together with who made them."""


class Why:
    """What the command acts on."""

    def __init__(self, *, store: Store, mask: Mask = NOTHING) -> None:
        self._store, self._mask = store, mask

    def commands(self) -> tuple[SlashCommand, ...]:
        """The one."""
        message = Argument(
            name="message", description="its number, as /context shows it", required=True, completes=True
        )
        any_one = messages(self._store, lambda _, __: True, self._mask)
        return (command("why", "say how a message came about", self.why, message, complete=any_one),)

    async def why(self, invocation: Invocation) -> str:
        """What a message is, by whom, when, from what, and everything that happened to it."""
        given = str(invocation.arguments["message"])

        def operation(tx: Transaction) -> str:
            record = masked_record(message_here(tx, session_here(tx, invocation.address), given), self._mask)
            return "\n".join(_told(tx, record))

        return await self._store.read(operation)


def _told(tx: Transaction, record: Record) -> Iterator[str]:
    message = record.message
    by = f" by {plain_name(message.author)}" if message.author and record.kind not in _AUTHORED else ""
    yield f"{label(record)}: {what(record)}{by}, made {_time(message.created_at)}. It stands in {record.status}."
    yield ""
    facts = _FACTS.get(record.kind, _nothing)
    for line in (
        *_place(tx, record),
        *facts(tx, record),
        *_source(record),
        *_origin(tx, record),
        *_outcome(tx, record),
    ):
        yield f"- {line}"
    yield ""
    yield from _events(tx.events.of(record.id))


def _place(tx: Transaction, record: Record) -> Iterator[str]:
    """In which turn and step."""
    opener = tx.messages.get(record.turn_id) if record.turn_id else None
    if opener is None or opener.session_id != record.session_id:
        return
    step = f", step {record.round}" if record.round and record.kind != "user_prompt" else ""
    if opener.id != record.id:
        yield f"in the turn of {_named(opener)}{step}"


def _prompt(tx: Transaction, record: Record) -> Iterator[str]:
    turn = tx.messages.turn(record.turn_id or record.id)
    answers = [each for each in turn if each.kind == "answer"]
    if record.mode != "followup":
        yield f"it was meant to join a running turn ({record.mode})"
    if answers:
        yield f"answered by {', '.join(map(_named, answers))}"
    if record.superseded_turn:
        yield "it took the place of an earlier turn"


def _answer(tx: Transaction, record: Record) -> Iterator[str]:
    """The prompts, the model, what it did and what that cost."""
    facts = tx.steps.turn(record.turn_id or "")
    prompts = [found for each in (facts.prompt_ids if facts else ()) if (found := tx.messages.get(each)) is not None]
    if len(prompts) > 1:
        yield f"it answers {', '.join(map(_named, prompts))}"
    steps = tx.steps.of(record.turn_id or "")
    if steps:
        models = ", ".join(dict.fromkeys(plain_name(step.model) for step in steps if step.model))
        yield f"{counted(len(steps), 'step')} of {models or 'a model'}: {words(Expense.of(steps))}"
    calls = Counter(
        each.message.content.tool for each in tx.messages.turn(record.turn_id or "") if each.kind == "tool_call"
    )
    if calls:
        used = ", ".join(f"{plain_name(tool)} ×{number}" for tool, number in calls.items())
        yield f"tools: {used}"


def _call(tx: Transaction, record: Record) -> Iterator[str]:
    """Its result, and who allowed it."""
    result = tx.messages.get(record.message.content.response_id or "")
    if result is None:
        yield "it has no result yet"
    else:
        yield f"it {'worked' if result.message.content.success else 'failed'}: {_named(result)}"
    asked = tx.questions.get(record.id)
    if asked is None:
        yield "nobody was asked about it"
    elif not asked.answer:
        late = "" if asked.answer is None else " in time"
        yield f"people were asked whether it may run, and nobody answered{late}"
    else:
        at = "" if asked.answered_at is None else f", {_time(asked.answered_at / _SECOND)}"
        by = printable_name(asked.answered_by or "?")
        yield f"asked whether it may run, `{by}` answered {plain_name(asked.answer)}{at}"


def _result(tx: Transaction, record: Record) -> Iterator[str]:
    content = record.message.content
    asked = tx.messages.get(content.request_id or record.parent_id or "")
    if asked is not None and asked.session_id == record.session_id:
        given = given_to(record.message)
        yield f"it answers the {_named(asked)}{f': `{given}`' if given else ''}"
    yield "the tool worked" if content.success else "the tool failed"
    if record.message.source.kind == "tool" and getattr(record.message.source, "synthetic", False):
        yield "the machinery made it, for the tool never returned"
    later = tx.messages.get(record.superseded_by or "")
    if later is not None:
        yield f"replaced by {_named(later)}"


def _nothing(_: Transaction, __: Record) -> Iterator[str]:
    return iter(())


_FACTS: dict[str, Callable[[Transaction, Record], Iterator[str]]] = {
    "user_prompt": _prompt,
    "answer": _answer,
    "tool_call": _call,
    "tool_result": _result,
}


def _source(record: Record) -> Iterator[str]:
    """Where it comes from, in words."""
    source = record.message.source
    if source.kind in _SOURCES:
        yield _SOURCES[source.kind](source)


def _of_person(source: Any) -> str:
    return f"a person wrote it, `{printable_name(source.user_id)}`" if source.user_id else "a person wrote it"


def _of_model(source: Any) -> str:
    cut = ", the beginning of an answer that was cut" if source.cut else ""
    aside = ", beside a call" if source.interim and not cut else ""
    return f"said by the model {plain_name(source.model)} of {plain_name(source.provider)}{aside}{cut}"


_SOURCES: dict[str, Callable[[Any], str]] = {
    "user": _of_person,
    "model": _of_model,
    "cron": lambda source: f"a schedule asked it{_called(source.job)}",
    "command": lambda source: f"the command /{printable_name(source.command)} asked it",
    "job": lambda source: f"made when a background job ended{_called(source.job_id)}",
    "hook": lambda source: f"added by the hook{_called(source.hook)}",
    "nudge": lambda source: f"the turn loop asked the model again: its reply was {source.why}",
    "relay": lambda source: f"made of mail{_called(source.mail_id)}",
    "notice": lambda source: f"said to people about what {'they did' if source.reason == 'reply' else 'goes on'}",
    "compaction": lambda source: f"it stands for {counted(len(source.covered), 'message')}",
    "error": lambda source: f"the turn failed{_called(source.error)}",
}


def _origin(tx: Transaction, record: Record) -> Iterator[str]:
    """Of what it is the copy. Nothing is said of another conversation."""
    origin = record.message.metadata.get("clone_from")
    if origin is None:
        return
    found = tx.messages.get(str(origin))
    here = found is not None and found.session_id == record.session_id
    yield f"a copy of {_named(found)}" if found is not None and here else "a copy of a message of another conversation"


def _outcome(tx: Transaction, record: Record) -> Iterator[str]:
    """Versions, parts, and its id."""
    if record.is_damaged:
        yield "its row in the database is damaged"
    if is_redacted(record.message):
        yield "its words were redacted"
    if (version := record.message.version) > (
        2 if record.kind == "tool_call" and record.message.content.response_id else 1
    ):
        kept = 0 if is_redacted(record.message) else len(tx.archive.versions(record.id)) - 1
        earlier = f", {counted(kept, 'earlier one')} kept" if kept > 0 else ""
        yield f"version {version}{earlier}"
    parts = Counter(part.state.value for part in tx.deliveries.of(record.id))
    if parts:
        yield f"parts on the platform: {', '.join(f'{number} {state}' for state, number in parts.items())}"
    yield f"id `{printable_name(record.id)}`"


def _events(changes: Sequence[Change]) -> Iterator[str]:
    yield "What happened to it:"
    yield ""
    if len(changes) > _EVENTS:
        yield f"- {counted(len(changes) - _EVENTS, 'earlier event')}"
    yield from (f"- {_time(each.at / _SECOND)} {_happened(each)}" for each in changes[-_EVENTS:])


def _happened(change: Change) -> str:
    by = f" by `{printable_name(change.actor)}`" if change.actor else ""
    why = f": {plain_name(change.reason, 200)}" if change.reason else ""
    match change.kind:
        case ChangeKind.INSERTED:
            return f"stored as {change.after}{by}{why}"
        case ChangeKind.MOVED:
            return f"{change.before} → {change.after}{by}{why}"
    return f"next version{by}{why}"


def _named(record: Record) -> str:
    return f"{label(record)} ({what(record)})"


def _called(name: str | None) -> str:
    return f" `{printable_name(name)}`" if name else ""


def _time(seconds: float) -> str:
    """To the second, in UTC; a time that no calendar has as the number that it is."""
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (ValueError, OverflowError, OSError):
        return f"{seconds:g} s"

"""The requests of a turn once more, from the log alone, and whether they are what the model was sent (D-051).

Branch, limits, system prompt and tools are taken as each step noted them; messages in the version that was sent. So
nothing that happened later shows: other turns, edits, another configuration.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from kesoku.agent.basis import branch_of, limits_of, request_of
from kesoku.agent.past import past
from kesoku.errors import NotPossible
from kesoku.history.block import is_edited
from kesoku.history.compile import compile_turns
from kesoku.history.sources import Sources, sources_of
from kesoku.messages.branch import Branch
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import thaw
from kesoku.messages.lifecycle import ChangeKind, Step
from kesoku.messages.record import Record
from kesoku.messages.redaction import is_redacted
from kesoku.messages.turn import CompiledRequest
from kesoku.ports import Transaction

_log = logging.getLogger(__name__)
_SAID = {"thought", "tool_call", "answer", "summary"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """One step, compiled again."""

    step: Step
    request: CompiledRequest | None
    """None where the step did not note enough, as those before the schema of version 4, or what it noted is damaged."""
    redacted: tuple[Record, ...] = ()
    """What was sent and redacted since. The log does not know these words any more, so the bytes must differ."""

    @property
    def logged(self) -> str:
        """The hash of what was sent."""
        return str(self.step.request.get("digest", ""))

    @property
    def is_same(self) -> bool:
        """Whether the bytes are the same."""
        return self.request is not None and self.request.digest() == self.logged


def replay(tx: Transaction, turn_id: str) -> list[Replay]:
    """Every step of a turn, compiled again.

    Raises NotPossible: the turn took no step.
    """
    opener, steps = _asked(tx, turn_id, "replay this")
    requests = [_request(tx, opener, steps[: step.n]) for step in steps]
    return [
        Replay(step=step, request=request, redacted=tuple(_redacted(tx, request)))
        for step, request in zip(steps, requests, strict=True)
    ]


def last_read(tx: Transaction, turn_id: str) -> tuple[Replay, Branch]:
    """The last step of a turn, compiled again, and the branch that it read.

    Raises NotPossible: the turn took no step.
    """
    opener, steps = _asked(tx, turn_id, "show what was read")
    branch = branch_of(opener.session_id, steps[-1].request.get("branch"))
    return Replay(step=steps[-1], request=_request(tx, opener, steps)), branch


def _redacted(tx: Transaction, request: CompiledRequest | None) -> Iterator[Record]:
    sent = {source: version for turn in (request.turns if request else ()) for source, version in turn.sources}
    for id_, version in sent.items():
        record = tx.messages.get(id_)
        if record is not None and is_redacted(record.message) and record.message.version > version:
            yield record


def _asked(tx: Transaction, turn_id: str, what: str) -> tuple[Record, list[Step]]:
    steps, opener = tx.steps.of(turn_id), tx.messages.get(turn_id)
    if opener is None or not steps:
        raise NotPossible(what=what, why="no model was asked in its turn")
    return opener, steps


def _request(tx: Transaction, opener: Record, steps: Sequence[Step]) -> CompiledRequest | None:
    """What the last of these steps was sent."""
    body = tx.requests.get(str(steps[-1].request.get("basis", "")))
    if body is None:
        return None
    try:
        return _compiled(tx, opener, steps, body)
    except (ValueError, TypeError, LookupError, AttributeError) as error:  # cells hold what they are given
        _log.error("what step %d of turn %s noted is damaged in the database: %s", steps[-1].n, opener.id, error)
        return None


def _compiled(tx: Transaction, opener: Record, steps: Sequence[Step], body: dict[str, Any]) -> CompiledRequest:
    step = steps[-1]
    branch = branch_of(opener.session_id, step.request.get("branch"))
    sources = sources_of(step, lambda turn_id, n: tx.steps.of(turn_id)[n - 1])
    turn = tx.messages.turn(opener.id)
    said = next((each for each in turn if each.kind in _SAID and each.round >= step.n), None)
    here = [each for each in turn if each.round <= step.n and (said is None or each.seq < said.seq)]
    looked = past(tx, branch, n=opener.session_n, records=body["records"])
    before = [each for each in looked if each.turn_id != opener.id and (said is None or each.seq < said.seq)]
    opened = _opened(tx, opener, said)
    waited = _waited(tx, before, sources, opened)
    records = [*(each for each in before if _root(each) not in waited), *here]
    return compile_turns(
        _as_sent(tx, records, dict(sources), opened),
        steps[:-1],
        request_of(body, thaw(step.request.get("options", {}))),
        limits=limits_of(body, branch),
        provider=body["provider"],
        active_turn=opener.id,
    )


def _root(record: Record) -> str:
    return record.turn_id or record.id


def _opened(tx: Transaction, opener: Record, said: Record | None) -> int:
    """The event with which the turn was claimed before it said this: then its past was read."""
    until = None if said is None else tx.events.of(said.id)[0].seq
    claims = (each.seq for each in tx.events.of(opener.id) if each.after is MessageStatus.PROCESSING)
    return max((seq for seq in claims if until is None or seq < until), default=0)


def _waited(tx: Transaction, before: Sequence[Record], sources: Sources, opened: int) -> set[str]:
    """Turns that waited when the past was read, and ran later. What was read of a turn says that it is none."""
    read = {source for source, _ in sources}
    turns = {_root(each) for each in before}
    doubtful = turns - {_root(each) for each in before if each.id in read}
    return {each for each in doubtful if _status(tx, each, opened) is MessageStatus.PENDING_AGENT}


def _status(tx: Transaction, message_id: str, until: int) -> MessageStatus | None:
    """Where a message stood at an event."""
    stood = [each.after for each in tx.events.of(message_id) if each.seq < until and each.after is not None]
    return stood[-1] if stood else None


def _as_sent(tx: Transaction, records: Iterable[Record], sent: Mapping[str, int], opened: int) -> list[Record]:
    """The records with the bodies that were sent; results that a later one replaced count again.

    What was left out for want of room has the body that it had then: its length decided what was left out.
    """
    return [_version(tx, each, sent.get(each.id) or _version_at(tx, each, opened)) for each in records]


def _version_at(tx: Transaction, record: Record, until: int) -> int:
    """The version of a record at an event."""
    if not is_edited(record):
        return record.message.version
    later = sum(each.kind is ChangeKind.REPLACED and each.seq > until for each in tx.events.of(record.id))
    return record.message.version - later


def _version(tx: Transaction, record: Record, version: int) -> Record:
    if version != record.message.version:
        known = {each.version: each for each in tx.archive.versions(record.id)}
        record = replace(record, message=known.get(version, record.message))
    return replace(record, superseded_by=None)

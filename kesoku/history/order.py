"""The default order of a session's records: by turn, round, phase and commit (seed 004 section 5.1; C-14, C-15, N-10).

Clocks play no part. A turn stands where its prompt was committed, a result where its call stands.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from kesoku.messages.record import Record

_PHASES = {"user_prompt": -1, "system_note": -1, "summary": -1, "thought": 0, "tool_call": 1, "tool_result": 2}
_LAST_PHASE = 3
"""Answers and notices."""
_OPENING = -2
"""The round of the prompt that opened a turn."""
_WAKING = {"job", "relay"}
"""Sources of notes that open a turn of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A record with the turn and the round that it belongs to; round -2 is the opening prompt's."""

    record: Record
    turn_id: str
    round: int


def phased(records: Iterable[Record]) -> tuple[Record, ...]:
    """The records in the order in which the conversation is read (K-172..K-178)."""
    return tuple(each.record for each in placed(records))


def placed(records: Iterable[Record]) -> tuple[Placed, ...]:
    """`phased`, with turn and round of every record."""
    arrived = sorted(records, key=attrgetter("seq"))
    known = {record.id: record for record in arrived}
    turns: dict[str, list[Record]] = {}
    for record in arrived:
        turns.setdefault(_turn_of(record, known), []).append(record)
    position = {record.id: index for index, record in enumerate(arrived)}
    starts = {turn_id: _start(turn_id, turn, position) for turn_id, turn in turns.items()}
    return tuple(
        each for turn_id in sorted(turns, key=starts.__getitem__) for each in _phased_turn(turn_id, turns[turn_id])
    )


def _start(turn_id: str, turn: Sequence[Record], position: Mapping[str, int]) -> int:
    """Where a turn stands: at its prompt. A summary stands for what was before: at the beginning, if the prompt that
    asked for it is not read (R-6)."""
    if turn_id not in position and any(record.kind == "summary" for record in turn):
        return -1
    return position[turn_id if turn_id in position else turn[0].id]


def _turn_of(record: Record, known: Mapping[str, Record]) -> str:
    """The id of the prompt at the root: stamped, or reached through `parent_id` (K-176)."""
    passed: set[str] = set()
    while record.turn_id is None and record.parent_id is not None and not _opens(record) and record.id not in passed:
        passed.add(record.id)
        if record.parent_id not in known:
            return record.parent_id
        record = known[record.parent_id]
    return record.turn_id or record.id


def _opens(record: Record) -> bool:
    return record.kind == "user_prompt" or (record.kind == "system_note" and record.message.source.kind in _WAKING)


def _phased_turn(turn_id: str, turn: Sequence[Record]) -> tuple[Placed, ...]:
    rounds = _rounds(turn_id, turn)
    position = {record.id: index for index, record in enumerate(turn)}

    def key(record: Record) -> tuple[int, int, int, int]:
        here = position[record.id]
        call = position.get(record.parent_id or "", here) if record.kind == "tool_result" else here
        return rounds[record.id], _phase(record), call, here

    return tuple(Placed(record=each, turn_id=turn_id, round=rounds[each.id]) for each in sorted(turn, key=key))


def _rounds(turn_id: str, turn: Sequence[Record]) -> dict[str, int]:
    """The round of each record: as stamped; for rows without stamps, as the calls and results tell (C-15)."""
    stamped = all(record.round for record in turn if 0 <= _phase(record) < _LAST_PHASE)
    rounds = _stamped(turn) if stamped else _derived(turn)
    return rounds | ({turn_id: _OPENING} if turn_id in rounds else {})


def _stamped(turn: Sequence[Record]) -> dict[str, int]:
    """What has no stamp itself came after everything before it; a prompt or a note then opens a round."""
    rounds: dict[str, int] = {}
    for record in turn:
        rounds[record.id] = record.round or max(rounds.values(), default=0) + (_phase(record) < 0)
    return rounds


def _derived(turn: Sequence[Record]) -> dict[str, int]:
    """A note opens a round; so does a thought or a call after all results of the current one."""
    answered = {record.parent_id for record in turn if record.kind == "tool_result"}
    rounds: dict[str, int] = {}
    current, waiting, used, returned = 1, set[str](), False, False
    for record in turn:
        phase = _phase(record)
        if (phase < 0 and used) or (phase in {0, 1} and returned and not waiting):
            current, waiting, used, returned = current + 1, set(), False, False
        if record.kind == "tool_call" and record.id in answered:
            waiting.add(record.id)
        if record.kind == "tool_result":
            waiting.discard(record.parent_id or "")
            returned = True
        used = used or phase >= 0
        rounds[record.id] = rounds.get(record.parent_id or "", current) if phase == 2 else current
    return rounds


def _phase(record: Record) -> int:
    return _PHASES.get(record.kind, _LAST_PHASE)

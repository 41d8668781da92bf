"""Compile a session for the model: the one way from records to a request (decisions C-17 and C-33; seed 004 5.2, 5.4).

Pure. The result obeys the grammar that chat models enforce, whatever was stored or cut away: roles alternate, the first
turn is the user's, and every turn with calls is followed by one turn that begins with their results, in call order.

What providers cache is the start of a request, so the start stays as it is (D-X12):

- within a turn, each request is the one before it with more behind: turns are added, and the last turn of the user may
  get more blocks. That holds over a restart and for prompts that join. It ends when somebody rewrites what was sent,
  when another provider takes over (signatures), or when the limits or the records that are read change;
- from turn to turn, everything stays up to the turn that was answered last and the interrupted ones right before it:
  they lose their thoughts and files. Only a history at its budget loses its oldest turns, in quarters of the budget.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile
from operator import attrgetter
from typing import Any

from kesoku.errors import SelectionInvalid
from kesoku.history import author, block
from kesoku.history.chapter import Chapter, Writer
from kesoku.history.codec import reply_from_json
from kesoku.history.order import Placed, placed
from kesoku.history.pair import results
from kesoku.history.prefix import NOTHING, Prefix, PrefixCache, alternating, master_prompt, named
from kesoku.messages.branch import Branch
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import EMPTY, FrozenDict
from kesoku.messages.lifecycle import Step
from kesoku.messages.record import Record
from kesoku.messages.source import ANSWER_BLOCKED
from kesoku.messages.turn import CompiledRequest, TurnRequest

_UNSEEN = {"message", "notice", "system_prompt", "tool_result"}
"""Kinds that never stand in the list of turns by themselves; results come with their calls."""
_SAID = {"thought", "tool_call", "answer"}
"""Kinds that the model says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileLimits:
    """How much of the history goes to the model."""

    tool_output: int = 64 * 1024
    """Bytes of one tool result; head and tail are kept."""
    tokens: int | None = None
    """Estimated tokens of the history up to the active turn's prompt; beyond it the oldest turns are left out.

    What the active turn adds is not counted, so that the cut stays where it is for all of its steps. None: no bound."""
    pinned: frozenset[str] = frozenset()
    """Turns that are never left out."""
    cuts: FrozenDict = EMPTY
    """Id of a tool result -> the bytes of it that are read (R-6)."""

    @classmethod
    def of(cls, branch: Branch, *, tool_output: int, tokens: int | None) -> "CompileLimits":
        """The limits for a branch of a session."""
        return cls(tool_output=tool_output, tokens=tokens, pinned=frozenset(branch.pinned), cuts=branch.cuts)


def compile_turns(
    records: Iterable[Record],
    steps: Iterable[Step],
    request: TurnRequest,
    selection: Sequence[str] | None = None,
    limits: CompileLimits | None = None,
    provider: str | None = None,
    active_turn: str | None = None,
) -> CompiledRequest:
    """The request for the next step of `active_turn`, by default the latest turn.

    `steps` are those of the active turn; their replies are used word for word (N-09). `selection` are message ids in
    the order to be read; without it everything up to the active turn is read in phased order. Signatures go to
    `provider` only if it gave them. Raises SelectionInvalid.
    """
    limits = limits or CompileLimits()
    style = block.Style(provider=provider, tool_output=limits.tool_output, pinned=limits.pinned, cuts=limits.cuts)
    arrived = tuple(sorted(records, key=attrgetter("seq")))
    prefix, order = (NOTHING, placed(arrived)) if selection is not None else _begun(arrived, style, active_turn)
    chosen = _visible(order, active_turn) if selection is None else _selected(order, selection)
    errors = {each.turn_id: each for each in chosen if _is_error(each.record)}
    chosen = _last_errors(chosen, errors)
    turns = [tuple(run) for _, run in groupby(chosen, key=attrgetter("turn_id"))]
    active = active_turn or (chosen[-1].turn_id if chosen else None)
    settled = _settled(turns, active) if selection is None else 0
    openings, authors = author.openings(_records(turns[:settled]), prefix.authors)
    writer = Writer(
        style=style,
        openings=openings | author.openings(_records(turns[settled:]), authors)[0],
        results=results(each.record for each in order),
        selected=None if selection is None else frozenset(selection),
        replies={step.n: reply_from_json(step.reply) for step in steps if step.turn_id == active},
        active=active,
        fresh=_fresh(chosen, active),
        blocked=_blocked(turns, errors, active),
    )
    chapters: Sequence[Chapter] = [writer.chapter(turn) for turn in turns]
    system = prefix.system or master_prompt(order)
    if settled:
        last = turns[settled - 1][0].turn_id
        grown = prefix.grown(arrived, _until(order, last), chapters[:settled], authors)
        chapters = chapters if grown is prefix else chapters[settled:]
        prefix = grown
    prefix, chapters = _fitting(prefix, chapters, limits.tokens)
    if prefix.span:
        _PREFIXES.put(arrived, style, prefix)
    return CompiledRequest(
        system=request.system or system or "",
        turns=alternating(prefix.turns, (piece for chapter in chapters for piece in chapter.pieces)),
        tools=request.tools,
        response_format=request.response_format,
        options=request.options,
    )


def withheld_turns(records: Iterable[Record]) -> frozenset[str]:
    """The turns of which a later request shows a note alone, for the provider refused to read them."""
    chosen = placed(sorted(records, key=attrgetter("seq")))
    errors = {each.turn_id: each for each in chosen if _is_error(each.record)}
    return _blocked([tuple(run) for _, run in groupby(chosen, key=attrgetter("turn_id"))], errors, None)


_PREFIXES = PrefixCache(room=4 * 1024 * 1024)


def _begun(arrived: tuple[Record, ...], style: block.Style, active: str | None) -> tuple[Prefix, tuple[Placed, ...]]:
    """The settled beginning that is known of a session, and what follows it, in order.

    It is of no use to a turn that stands in it, or where anything behind it names something in it.
    """
    prefix = _PREFIXES.get(arrived, style)
    rest = prefix.rest(arrived)
    if rest is not None and active not in prefix.names:
        order = placed(rest)
        if prefix.names.isdisjoint(named(order)) and (active or _visible(order, active)):
            return prefix, order
    return NOTHING, placed(arrived)


def _settled(turns: Sequence[Sequence[Placed]], active: str | None) -> int:
    """How many turns nothing behind them can change any more: all up to the last that was answered."""
    return max((n for n, turn in enumerate(turns, 1) if turn[0].turn_id != active and _is_answered(turn)), default=0)


def _is_answered(turn: Sequence[Placed]) -> bool:
    opening = turn[0]
    return opening.record.id == opening.turn_id and opening.record.status is MessageStatus.PROCESSED


def _until(order: Sequence[Placed], turn_id: str) -> Sequence[Placed]:
    return order[: max(n for n, each in enumerate(order, 1) if each.turn_id == turn_id)]


def _records(turns: Iterable[Sequence[Placed]]) -> Iterator[Record]:
    return (each.record for turn in turns for each in turn)


def _visible(order: Sequence[Placed], active: str | None) -> list[Placed]:
    """Everything that a model may see, without prompts that wait and turns that began after the active one.

    Nothing is seen of a compaction that came to nothing, but for what people said in its turn.
    """
    until = max((index for index, each in enumerate(order) if each.turn_id == active), default=len(order) - 1)
    vain = {each.turn_id for each in order if each.turn_id != active and _is_vain(each)}
    return [
        each
        for each in order[: until + 1]
        if each.record.kind not in _UNSEEN
        and (each.turn_id == active or each.record.status is not MessageStatus.PENDING_AGENT)
        and not (each.turn_id in vain and _is_machinery(each))
    ]


def _is_machinery(placed: Placed) -> bool:
    """Whether this only served to make a summary; what joined meanwhile did not."""
    record = placed.record
    return record.id == placed.turn_id or record.kind in _SAID or block.is_nudge(record)


def _is_vain(placed: Placed) -> bool:
    """Whether this opened a compaction that was stopped or failed."""
    record = placed.record
    over = record.status in {MessageStatus.INTERRUPTED, MessageStatus.ERROR}
    return over and record.id == placed.turn_id and block.is_compaction(record)


def _selected(order: Sequence[Placed], selection: Sequence[str]) -> list[Placed]:
    known = {each.record.id: each for each in order}
    missing = tuple(each for each in selection if each not in known)
    repeated = tuple(each for each, times in Counter(selection).items() if times > 1)
    if missing or repeated:
        raise SelectionInvalid(missing=missing, repeated=repeated)
    return [known[i] for i in selection if known[i].record.kind not in _UNSEEN]


def _last_errors(chosen: list[Placed], last: Mapping[str, Placed]) -> list[Placed]:
    """Of the error notes of a turn only the last one (N-03)."""
    if not last:
        return chosen
    return [each for each in chosen if last.get(each.turn_id, each) is each or not _is_error(each.record)]


def _is_error(record: Record) -> bool:
    return record.kind == "answer" and record.message.source.kind == "error"


def _fresh(chosen: Sequence[Placed], active: str | None) -> frozenset[str]:
    """The active turn and the interrupted ones right before it: nobody has answered their files yet."""
    roots = [each for each in chosen if each.record.id == each.turn_id]
    before = takewhile(lambda each: each.turn_id != active, roots)
    unanswered = takewhile(lambda each: each.record.status is MessageStatus.INTERRUPTED, reversed(list(before)))
    return frozenset({*(each.turn_id for each in unanswered), *([active] if active else [])})


def _blocked(turns: Sequence[Sequence[Placed]], errors: Mapping[str, Placed], active: str | None) -> frozenset[str]:
    """Past turns that the provider refused to read, and those right before them that it refused along with them: they
    were interrupted, or failed, before the model had read the last words of people in them."""
    found = {turn_id for turn_id, each in errors.items() if block.is_blocked(each.record)} - {active}
    if found:
        for turn, later in reversed(list(pairwise(turns))):
            if later[0].turn_id in found and _is_unread(turn):
                found.add(turn[0].turn_id)
    return frozenset(found)


def _is_unread(turn: Sequence[Placed]) -> bool:
    behind = takewhile(lambda each: each.record.kind != "user_prompt", reversed(turn))
    said = any(each.record.kind in _SAID and not _is_failure(each.record) for each in behind)
    return turn[0].record.status in {MessageStatus.INTERRUPTED, MessageStatus.ERROR} and not said


def _is_failure(record: Record) -> bool:
    """Whether the model did not come to an answer; one that was withheld is an answer here."""
    source: Any = record.message.source
    return _is_error(record) and source.error != ANSWER_BLOCKED


def _fitting(prefix: Prefix, chapters: Sequence[Chapter], tokens: int | None) -> tuple[Prefix, Sequence[Chapter]]:
    """Without the oldest turns, as far as the budget asks; the model is told.

    Room is made in quarters of the budget, so that the start of the history moves rarely.
    """
    size = prefix.weight + sum(chapter.weight for chapter in chapters)
    if tokens is None or size <= tokens:
        return prefix.cut(0), chapters
    quarter = max(1, tokens // 4)
    wanted = -(-(size - tokens) // quarter) * quarter
    more, kept = wanted - prefix.before[-1], []
    for chapter in chapters:
        if more > 0 and not chapter.kept:
            more -= chapter.weight
        else:
            kept.append(chapter)
    return prefix.cut(wanted, omits=len(kept) < len(chapters)), kept

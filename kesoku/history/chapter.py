"""One turn of a conversation as pieces of a request: what was asked, said, returned and answered, round by round.

A piece is a Turn that may still be joined with its neighbours of the same role.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from kesoku.history import block
from kesoku.history.order import Placed
from kesoku.history.weight import weight
from kesoku.messages.record import Record
from kesoku.messages.turn import Block, CallBlock, Reply, TextBlock, Turn

_STAGES = {"thought": "said", "tool_call": "said", "answer": "answered"}
"""What the model's side does; everything else is `asked`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Chapter:
    """The pieces of one turn. `kept` says that a history budget must not leave it out.

    `weight` are its tokens; of the active turn those of its opening, which are the same at each of its steps.
    """

    pieces: tuple[Turn, ...]
    kept: bool
    weight: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Writes chapters; knows what is the same for all of them."""

    style: block.Style
    openings: Mapping[str, str]
    """Prompt id -> the lines before its text."""
    results: Mapping[str, Record]
    """Call id -> result, of the whole session."""
    selected: frozenset[str] | None
    """The chosen ids; None if everything is."""
    replies: Mapping[int, Reply]
    """Round -> stored reply of the active turn."""
    active: str | None
    """The turn that keeps its thoughts."""
    fresh: frozenset[str]
    """Turns that keep their files."""
    blocked: frozenset[str]
    """Turns that the provider refused to read."""

    def chapter(self, entries: Sequence[Placed]) -> Chapter:
        """The chapter of one turn."""
        return _withheld(entries) if entries[0].turn_id in self.blocked else self._written(entries)

    def _written(self, entries: Sequence[Placed]) -> Chapter:
        """The pieces of one turn, in the order of its entries."""
        active = entries[0].turn_id == self.active
        rounds = [tuple(run) for _, run in groupby(entries, key=lambda each: each.round)]
        pieces = tuple(piece for each in rounds for piece in self._round(each))
        return Chapter(
            pieces=pieces,
            kept=active or self._is_kept(entries),
            weight=sum(map(weight, pieces[:1] if active else pieces)),
        )

    def _is_kept(self, entries: Sequence[Placed]) -> bool:
        return entries[0].turn_id in self.style.pinned or any(each.record.kind == "summary" for each in entries)

    def _round(self, entries: Sequence[Placed]) -> Iterator[Turn]:
        """Calls are followed by their results, and an answer comes after both."""
        past = entries[0].turn_id not in self.fresh
        for stage, run in groupby(self._pieces(entries, past=past), key=lambda piece: piece[0]):
            turn = joined([piece for _, piece in run])
            if turn.blocks:
                yield turn
            if calls := [each for each in turn.blocks if isinstance(each, CallBlock) and stage == "said"]:
                yield self._returned(calls, past=past)

    def _pieces(self, entries: Sequence[Placed], *, past: bool) -> Iterator[tuple[str, Turn]]:
        """A stage and a piece for each entry; the first record that a stored reply stands for brings all of it."""
        reply, covered = self._stored(entries)
        for record in (each.record for each in entries):
            blocks = self._blocks(record, thoughts=entries[0].turn_id == self.active, past=past)
            if record.id in covered:
                blocks, reply = reply, ()
            stage = _STAGES.get(record.kind, "asked")
            sources = ((record.id, record.message.version),) if blocks or record.id in covered else ()
            yield stage, Turn(role="user" if stage == "asked" else "model", blocks=blocks, sources=sources)

    def _blocks(self, record: Record, *, thoughts: bool, past: bool) -> tuple[Block, ...]:
        match record.kind:
            case "user_prompt":
                return block.prompt(record, self.openings.get(record.id, ""), past=past)
            case "thought":
                return block.thought(record) if thoughts else ()
            case "tool_call":
                return (block.call(record, self.style),) if self._whole(record.id) else ()
            case "answer":
                return block.answer(record)
        return () if block.goes_on(record) and not thoughts else block.note(record)

    def _whole(self, call_id: str) -> bool:
        """Whether a call is chosen together with the result that it has: pairs are never torn (C-17)."""
        if self.selected is None:
            return True
        result = self.results.get(call_id)
        return call_id in self.selected and (result is None or result.id in self.selected)

    def _stored(self, entries: Sequence[Placed]) -> tuple[tuple[Block, ...], frozenset[str]]:
        """The stored reply of this round and the ids that it stands for; nothing if not all of it is there any more."""
        reply = self.replies.get(entries[0].round) if entries[0].turn_id == self.active else None
        if reply is None:
            return (), frozenset()
        calls = {each.record.id for each in entries if each.record.kind == "tool_call" and self._whole(each.record.id)}
        if calls != {each.call_id for each in reply.calls}:
            return (), frozenset()
        kinds = {"thought", "answer"} if reply.text.strip() and not calls else {"thought", "tool_call"}
        covered = [each.record for each in entries if each.record.kind in kinds and _by(reply, each.record)]
        if any(map(block.is_edited, covered)):
            return (), frozenset()
        return block.reply(reply, self.style), frozenset(record.id for record in covered)

    def _returned(self, calls: Sequence[CallBlock], *, past: bool) -> Turn:
        found = [(each, self.results.get(each.call_id)) for each in calls]
        return Turn(
            role="user",
            blocks=tuple(block.result(each, record, self.style, past=past) for each, record in found),
            sources=tuple((record.id, record.message.version) for _, record in found if record is not None),
        )


def _withheld(entries: Sequence[Placed]) -> Chapter:
    """A note in the place of all that a turn asked, said and returned, and the answer that says why."""
    answers = [each.record for each in entries if each.record.kind == "answer"]
    asked = [each.record for each in entries if _STAGES.get(each.record.kind, "asked") == "asked"]
    pieces = [Turn(role="user", blocks=block.withheld(), sources=_sources(asked))]
    pieces += [
        Turn(role="model", blocks=said, sources=_sources([each])) for each in answers if (said := block.answer(each))
    ]
    return Chapter(pieces=tuple(pieces), kept=False, weight=sum(map(weight, pieces)))


def _sources(records: Iterable[Record]) -> tuple[tuple[str, int], ...]:
    return tuple((record.id, record.message.version) for record in records)


def _by(reply: Reply, record: Record) -> bool:
    source: Any = record.message.source
    return source.kind == "model" and bool(source.provider == reply.provider)


def joined(pieces: Sequence[Turn]) -> Turn:
    """One turn; a user's text that follows another is set off by a blank line (C-18), which belongs to the later one.

    So a turn that grows keeps what it had, byte for byte.
    """
    if len(pieces) == 1:
        return pieces[0]
    blocks: list[Block] = []
    for piece in pieces:
        blocks += _set_off(piece) if blocks and isinstance(blocks[-1], TextBlock) else piece.blocks
    return Turn(
        role=pieces[0].role, blocks=tuple(blocks), sources=tuple(source for piece in pieces for source in piece.sources)
    )


def _set_off(piece: Turn) -> tuple[Block, ...]:
    first, *rest = piece.blocks or (None,)
    if piece.role == "model" or not isinstance(first, TextBlock):
        return piece.blocks
    return (replace(first, text=f"\n\n{first.text}"), *rest)

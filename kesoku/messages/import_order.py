"""How imported rows hang together: what answers stands behind what it answers, and calls and results name each other.

A row is believed in neither: files are sorted by anything, and names may lead nowhere (R-5, C-03).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from kesoku.messages.imported import Imported
from kesoku.messages.record import Record

_SAID = frozenset({"thought", "tool_call", "tool_result", "answer", "summary"})
"""Kinds that come behind the prompt of their turn. Prompts may come before it, and ride along."""
_NONE: dict[str, int] = {}


def in_order(rows: Iterable[Imported]) -> list[Imported]:
    """The rows in their order, but for those that stand before their prompt or call: they come right behind it."""
    found = list(rows)
    missing, waiting, ordered = {each.record.id for each in found}, dict[str, list[Imported]](), list[Imported]()
    for row in found:
        ready = [row]
        while ready:
            each = ready.pop()
            behind = next((id_ for id_ in _behind(each.record) if id_ in missing), None)
            if behind is not None:
                waiting.setdefault(behind, []).append(each)
                continue
            ordered.append(each)
            missing.discard(each.record.id)
            ready += reversed(waiting.pop(each.record.id, []))
    return ordered + [each for circle in waiting.values() for each in circle]


def linked(rows: Iterable[Imported]) -> list[Imported]:
    """The rows with every call naming its last result, and every other result naming a later one as what replaced it:
    flat rows say neither."""
    found = list(rows)
    results: dict[str, dict[str, int]] = {}
    for place, each in enumerate(found):
        if each.record.kind == "tool_result":
            results.setdefault(asked(each.record), {})[each.record.id] = place
    return [replace(each, record=_joined(each.record, results)) for each in found]


def asked(result: Record) -> str:
    """The id of the call that a result answers."""
    return str(result.message.content.request_id or result.parent_id)


def _behind(record: Record) -> Iterator[str]:
    if record.kind in _SAID and record.turn_id not in (None, record.id):
        yield str(record.turn_id)
    if record.kind == "tool_result":
        yield asked(record)


def _joined(record: Record, results: Mapping[str, dict[str, int]]) -> Record:
    if record.kind == "tool_call":
        last = next(reversed(results.get(record.id, _NONE)), None)
        is_named = record.message.content.response_id == last
        return record if is_named else replace(record, message=record.message.update(response_id=last))
    if record.kind != "tool_result":
        return record if record.superseded_by is None else replace(record, superseded_by=None)
    mine = results[asked(record)]
    last = next(reversed(mine))
    is_later = mine.get(record.superseded_by or "", -1) > mine[record.id]
    by = record.superseded_by if is_later else last if last != record.id else None
    return replace(record, parent_id=asked(record), superseded_by=by)

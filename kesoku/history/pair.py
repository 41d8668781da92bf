"""Calls and their results, linked by id wherever they stand (K-227, C-03)."""

from collections.abc import Iterable

from kesoku.messages.record import Record


def results(records: Iterable[Record]) -> dict[str, Record]:
    """Call id -> its result; superseded results do not count."""
    return {
        record.parent_id or record.message.content.request_id: record
        for record in records
        if record.kind == "tool_result" and record.superseded_by is None
    }


def open_calls(records: Iterable[Record]) -> tuple[Record, ...]:
    """The calls among `records` that have no result there, in the order given (K-169)."""
    given = tuple(records)
    answered = results(given)
    return tuple(record for record in given if record.kind == "tool_call" and record.id not in answered)

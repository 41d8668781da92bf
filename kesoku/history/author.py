"""Whose words a prompt holds, where several people write and the platform put no header before them (N-13).

A name depends only on what stands before the prompt, so nothing that a model has read is ever renamed: a prompt is
named once somebody else has written in its channel, and the first that is named says whose the earlier ones were.
"""

from collections.abc import Iterable
from functools import lru_cache

from kesoku.messages.record import Address, Record
from kesoku.render.header import is_headed
from kesoku.render.sanitise import printable_name

UNTIL_HERE = "[Until here, {name} wrote.]"
"""Said before the first words of a second person."""


def openings(records: Iterable[Record]) -> dict[str, str]:
    """Prompt id -> the lines before its text, for the prompts among `records` that have any."""
    found: dict[str, str] = {}
    people: dict[Address, set[str]] = {}
    unnamed: dict[Address, str] = {}
    for record in records:
        if record.kind != "user_prompt" or record.message.source.kind != "user":
            continue
        author, here = record.message.author, record.address
        known = people.setdefault(here, set())
        known.add(author)
        if len(known) > 1:
            earlier = f"{UNTIL_HERE.format(name=_name(unnamed.pop(here)))}\n" if here in unnamed else ""
            if opening := earlier + ("" if _is_headed(record) else f"{_name(author)}:\n"):
                found[record.id] = opening
        elif here not in unnamed and not _is_headed(record):
            unnamed[here] = author
    return found


def _is_headed(record: Record) -> bool:
    return _begins_headed(record.message.rendered.partition("\n")[0], record.message.author)


@lru_cache(4096)
def _begins_headed(line: str, author: str) -> bool:
    return is_headed(f"{line}\n", author)


@lru_cache(1024)
def _name(author: str) -> str:
    return f"`{printable_name(author)}`"

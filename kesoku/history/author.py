"""Whose words a prompt holds, where several people write and the platform put no header before them (N-13).

A name depends only on what stands before the prompt, so nothing that a model has read is ever renamed: a prompt is
named once somebody else has written in its channel, and the first that is named says whose the earlier ones were.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from kesoku.messages.record import Address, Record
from kesoku.render.header import is_headed
from kesoku.render.sanitise import printable_name

UNTIL_HERE = "[Until here, {name} wrote.]"
"""Said before the first words of a second person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Authors:
    """Who has written so far, by channel: all people, and the one whose words have no name yet."""

    people: Mapping[Address, frozenset[str]] = field(default_factory=dict)
    unnamed: Mapping[Address, str] = field(default_factory=dict)


NOBODY = Authors()


def openings(records: Iterable[Record], before: Authors = NOBODY) -> tuple[dict[str, str], Authors]:
    """Prompt id -> the lines before its text, for the prompts among `records` that have any; and who has written now.

    `before` is who has written before them.
    """
    found: dict[str, str] = {}
    people, unnamed = dict(before.people), dict(before.unnamed)
    for record in records:
        if record.kind != "user_prompt" or record.message.source.kind != "user":
            continue
        author, here = record.message.author, record.address
        people[here] = people.get(here, frozenset()) | {author}
        if len(people[here]) > 1:
            earlier = f"{UNTIL_HERE.format(name=_name(unnamed.pop(here)))}\n" if here in unnamed else ""
            if opening := earlier + ("" if _is_headed(record) else f"{_name(author)}:\n"):
                found[record.id] = opening
        elif here not in unnamed and not _is_headed(record):
            unnamed[here] = author
    return found, Authors(people=people, unnamed=unnamed)


def _is_headed(record: Record) -> bool:
    return _begins_headed(record.message.text.partition("\n")[0], record.message.author)


@lru_cache(4096)
def _begins_headed(line: str, author: str) -> bool:
    return is_headed(f"{line}\n", author)


@lru_cache(1024)
def _name(author: str) -> str:
    return f"`{printable_name(author)}`"

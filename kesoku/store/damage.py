"""Rows that hold what no Kesoku wrote there, found by SQL alone; for doctor."""

from collections.abc import Iterable, Iterator
from enum import StrEnum

from sqlalchemy import Column, Integer, Table

from kesoku.messages.enums import MessageRole, MessageStatus, MessageType
from kesoku.messages.lifecycle import ChangeKind, DeliveryState, Purpose
from kesoku.messages.mail import DeadReason
from kesoku.render import counted
from kesoku.store import branch_tables, tables
from kesoku.store.columns import METADATA
from kesoku.store.engine import Link
from kesoku.store.mail_tables import Box, Lying, aliases, mail, mail_entries, owners

_OBJECT, _ARRAY, _ANY = "object", "array", ""
_JSON: dict[Table, dict[str, str]] = {
    tables.messages: {"content": _OBJECT, "source": _OBJECT, "metadata": _OBJECT},
    tables.message_versions: {"body": _OBJECT},
    tables.turns: {"prompt_ids": _ARRAY, "metrics": _OBJECT},
    tables.steps: {"request": _OBJECT, "reply": _OBJECT, "usage": _OBJECT},
    tables.deliveries: {"body": _OBJECT, "platform_ids": _ARRAY},
    tables.questions: {"question": _OBJECT, "purpose": _OBJECT, "who": _ARRAY},
    tables.state: {"value": _ANY},
    mail: {"body": _OBJECT},
    branch_tables.branches: {
        "spans": _ARRAY,
        "forgotten": _ARRAY,
        "pinned": _ARRAY,
        "cleared": _ARRAY,
        "cuts": _OBJECT,
    },
    branch_tables.requests: {"body": _OBJECT},
}
"""Which columns hold JSON, and of what type at the top."""
_WORDS: dict[Table, dict[str, type[StrEnum]]] = {
    tables.messages: {"role": MessageRole, "type": MessageType, "status": MessageStatus},
    tables.deliveries: {"purpose": Purpose, "state": DeliveryState},
    tables.events: {"kind": ChangeKind, "before": MessageStatus, "after": MessageStatus},
    mail_entries: {"box": Box, "state": Lying, "reason": DeadReason},
}
"""Which columns hold a word out of a few."""
_UUIDS: dict[Table, set[str]] = {owners: {"owner"}, aliases: {"owner"}, mail_entries: {"owner", "peer"}}
"""Which columns hold a UUID, and nothing else but ..."""
_NOBODY = {"peer"}
"""... '' for nobody in these."""
_IDS: dict[Table, dict[str, Table]] = {mail_entries: {"mail_id": mail}}
"""Which columns hold the id of a row of another table."""
_HEX = "[0-9a-f]"
_UUID = "-".join(_HEX * count for count in (8, 4, 4, 4, 12))
_NAMED = 5
"""Rows of a table that are named."""


def damage(link: Link) -> list[str]:
    """One line for each table with damaged rows: how many, in which columns, and which rows the first are."""
    link.define("is_text", _is_text)
    return [line for table in METADATA.sorted_tables if (line := _line(link, table))]


def _is_text(cell: bytes) -> bool:
    """Whether bytes are text as the store writes it, which keeps lone surrogates."""
    try:
        cell.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _line(link: Link, table: Table) -> str | None:
    rough = {column.name: f"coalesce({_wrong(table, column)}, 0)" for column in table.columns}
    texts = [column.name for column in table.columns if not isinstance(column.type, Integer)]
    wrong = rough | {name: f"({rough[name]} OR NOT {_legible(name)})" for name in texts}
    counts = ", ".join(f"sum({each})" for each in wrong.values())
    anything = " OR ".join([*rough.values(), f"NOT {_legible(*texts)}"])  # one call a row
    ((number, *found),) = link.script(f"SELECT count(*), {counts} FROM {table.name} WHERE {anything}")  # noqa: S608
    if not number:
        return None
    rows = link.script(f"SELECT rowid FROM {table.name} WHERE {anything} ORDER BY rowid LIMIT {_NAMED}")  # noqa: S608
    columns = ", ".join(name for name, count in zip(wrong, found, strict=True) if count)
    more = ", ..." if number > _NAMED else ""
    named = ", ".join(str(row) for (row,) in rows)
    return f"{counted(number, 'damaged row')} in {table.name} ({columns}): rowid {named}{more}"


def _legible(*names: str) -> str:
    """The condition that cells are text together."""
    cells = " || ".join(f"coalesce({name}, '')" for name in names)
    return f"is_text(CAST({cells} AS BLOB))"


def _wrong(table: Table, column: Column[object]) -> str:
    """The condition that a cell is not what it should be; NULL for one that may be missing, and is."""
    name, shape = column.name, _JSON.get(table, {}).get(column.name)
    if isinstance(column.type, Integer):
        return f"typeof({name}) <> 'integer'" + (f" AND {name} IS NOT NULL" if column.nullable else "")
    if shape is not None:
        text = f"CAST({name} AS TEXT)"
        right = f"json_type({text}) = '{shape}'" if shape else "1"
        return f"NOT CASE WHEN json_valid({text}) THEN {right} ELSE {name} IS NULL END"
    if name in _UUIDS.get(table, ()):
        nobody = f" AND {name} <> ''" if name in _NOBODY else ""
        return f"CAST({name} AS TEXT) NOT GLOB '{_UUID}'{nobody}"
    if (other := _IDS.get(table, {}).get(name)) is not None:
        return f"{name} NOT IN (SELECT id FROM {other.name})"  # noqa: S608
    words = _WORDS.get(table, {}).get(column.name)
    if words is not None:
        return f"{name} NOT IN ({', '.join(_quoted(words))})"
    return f"typeof({name}) NOT IN ('text', 'blob', 'null')"


def _quoted(words: Iterable[StrEnum]) -> Iterator[str]:
    return (f"'{word.value}'" for word in words)

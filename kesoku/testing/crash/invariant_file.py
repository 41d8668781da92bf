"""The database is sound and guarded, and the files that it names are there (I13)."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

from kesoku.testing.crash.evidence import Snapshot
from kesoku.testing.crash.report import Violation
from kesoku.testing.crash.rule import Rule

_ATTACHED = """
SELECT m.id AS message, json_extract(each.value, '$.path') AS path, json_extract(each.value, '$.size') AS size
FROM messages AS m, json_each(m.content, '$.attachments') AS each
WHERE m.content LIKE '%"attachments"%' AND path IS NOT NULL AND path <> ''
"""


GUARDS = Rule(
    rule="I13",
    text="{name} is no longer what the product made: {found}",
    query="""
        SELECT k.name, s.sql AS found FROM kit_schema AS k LEFT JOIN kesoku.sqlite_schema AS s ON s.name = k.name
        WHERE s.sql IS NOT k.sql
    """,
)
"""Tables, unique indexes and triggers hold what no single writer can."""
COUNTED = Rule(
    rule="I13",
    text="{length} prompts wait for {chatbot_id} by its counter, and {waiting} do",
    query="""
        SELECT * FROM (
            SELECT q.*, (
                SELECT count(*) FROM messages AS m WHERE m.chatbot_id = q.chatbot_id AND m.status = 'pending_agent'
            ) AS waiting
            FROM queues AS q
        ) WHERE length <> waiting
    """,
)
RULES = (GUARDS, COUNTED)


def check_files(snapshot: Snapshot, *, final: bool) -> Iterator[Violation]:
    """I13. What is in the files is compared with their names at the end."""
    yield from _sound(snapshot, "integrity_check" if final else "quick_check")
    for row in snapshot.rows(_ATTACHED):
        wrong = _wrong(Path(row["path"]), row["size"], final=final)
        if wrong:
            text = f"{row['message']} names the file {row['path']}, {wrong}\n{snapshot.story(row['message'])}"
            yield Violation(rule="I13", text=text)


def _sound(snapshot: Snapshot, pragma: str) -> Iterator[Violation]:
    for (found,) in snapshot.db.execute(f"PRAGMA kesoku.{pragma}(5)"):
        if found != "ok":
            yield Violation(rule="I13", text=f"the database is damaged: {found}")
    for table, row, parent, _ in snapshot.db.execute("PRAGMA kesoku.foreign_key_check"):
        yield Violation(rule="I13", text=f"row {row} of {table} belongs to a row of {parent} that is not there")


def _wrong(path: Path, size: int | None, *, final: bool) -> str:
    """What is wrong with a file that a message names; empty if nothing is."""
    if not path.is_file():
        return "which is not there"
    if size is not None and path.stat().st_size != size:
        return f"which has {path.stat().st_size} bytes and not {size}"
    if final and not path.name.startswith(hashlib.sha256(path.read_bytes()).hexdigest()[:32]):
        return "whose content is not what it is named by"
    return ""

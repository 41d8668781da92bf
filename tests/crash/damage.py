"""Ways to break the recorded run of `recorded_run.py`, which `check` must notice."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .recorded_run import RecordedRun

Damage = Callable[[RecordedRun], None]


def sql(*statements: str, who: str = "") -> Damage:
    return lambda recorded: recorded.write(*statements, who=who)


def again(name: str, *, who: str = "", **changes: str) -> Damage:
    return lambda recorded: recorded.again(name, who=who, **changes)


def told(actor: str, op: str, **facts: Any) -> Damage:
    return lambda recorded: recorded.tell(actor, op, **facts)


def both(*damages: Damage) -> Damage:
    def all_of_them(recorded: RecordedRun) -> None:
        for damage in damages:
            damage(recorded)

    return all_of_them


def posted(**entry: Any) -> Damage:
    """One more entry in the journal of a platform."""
    bot = entry.pop("bot", "keyed")
    return lambda recorded: recorded.edit(
        recorded.layout.journal(bot), lambda lines: [*lines, {"channel": "c0", **entry}]
    )


def seen(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Damage:
    """What the second life of the follower told is changed; its first line says where it began."""
    return lambda recorded: recorded.edit(recorded.layout.traces / "follower-2.jsonl", change)


def unshown(recorded: RecordedRun) -> None:
    """The platform lost what it showed."""
    for bot in ("keyed", "plain"):
        recorded.edit(recorded.layout.journal(bot), lambda lines: [line for line in lines if line["op"] != "send"])


def shown_again(name: str, bot: str) -> Damage:
    """The platform shows the only part of a message once more, and the ledger knows of the attempt."""

    def show(recorded: RecordedRun) -> None:
        recorded.write(
            "INSERT INTO kit_audit (t, what, message_id, part, before, after)"
            " SELECT t, what, message_id, part, before, after FROM kit_audit"
            f" WHERE message_id = :{name} AND after = 'sending'"
        )
        recorded.edit(
            recorded.layout.journal(bot),
            lambda lines: [*lines, next(line for line in lines if line.get("text") == "yes")],
        )

    return show


def turned_round(recorded: RecordedRun) -> None:
    """The platform shows the last message of a channel first."""

    def turn(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        sends = [line for line in lines if line["op"] == "send"]
        return [sends.pop() if line["op"] == "send" else line for line in lines]

    recorded.edit(recorded.layout.journal("keyed"), turn)


def torn(recorded: RecordedRun) -> None:
    """Some pages of the database are lost."""
    with recorded.layout.database.open("r+b") as file:
        file.seek(4096 * 8)
        file.write(os.urandom(4096 * 4))


def overwritten(recorded: RecordedRun) -> None:
    """As long as before, so that only the content tells."""
    path = Path(recorded.ids["file"])
    path.write_bytes(b"x" * path.stat().st_size)


def moved(name: str, to: str) -> tuple[str, str]:
    """A move of a status with its event."""
    return (
        "INSERT INTO events (at, message_id, kind, before, after, actor, reason)"
        f" SELECT 0, id, 'moved', status, '{to}', '', '' FROM messages WHERE id = :{name}",
        f"UPDATE messages SET status = '{to}' WHERE id = :{name}",
    )

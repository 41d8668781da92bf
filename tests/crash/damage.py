"""Ways in which a world is spoiled, for a judge who must see it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .world import World

Damage = Callable[[World], None]


def sql(*statements: str, who: str = "") -> Damage:
    return lambda world: world.write(*statements, who=who)


def again(name: str, *, who: str = "", **changes: str) -> Damage:
    return lambda world: world.again(name, who=who, **changes)


def told(actor: str, op: str, **facts: Any) -> Damage:
    return lambda world: world.tell(actor, op, **facts)


def both(*damages: Damage) -> Damage:
    def all_of_them(world: World) -> None:
        for damage in damages:
            damage(world)

    return all_of_them


def posted(**entry: Any) -> Damage:
    """One more entry in the journal of a platform."""
    bot = entry.pop("bot", "keyed")
    return lambda world: world.edit(world.scene.journal(bot), lambda lines: [*lines, {"channel": "c0", **entry}])


def seen(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Damage:
    """What the second life of the follower told is changed; its first line says where it began."""
    return lambda world: world.edit(world.scene.traces / "follower-2.jsonl", change)


def unshown(world: World) -> None:
    """The platform lost what it showed."""
    for bot in ("keyed", "plain"):
        world.edit(world.scene.journal(bot), lambda lines: [line for line in lines if line["op"] != "send"])


def shown_again(name: str, bot: str) -> Damage:
    """The platform shows the only part of a message once more, and the ledger knows of the attempt."""

    def show(world: World) -> None:
        world.write(
            "INSERT INTO kit_audit (t, what, message_id, part, before, after)"
            " SELECT t, what, message_id, part, before, after FROM kit_audit"
            f" WHERE message_id = :{name} AND after = 'sending'"
        )
        world.edit(
            world.scene.journal(bot),
            lambda lines: [*lines, next(line for line in lines if line.get("text") == "yes")],
        )

    return show


def turned_round(world: World) -> None:
    """The platform shows the last message of a channel first."""

    def turn(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
        sends = [line for line in lines if line["op"] == "send"]
        return [sends.pop() if line["op"] == "send" else line for line in lines]

    world.edit(world.scene.journal("keyed"), turn)


def torn(world: World) -> None:
    """Some pages of the database are lost."""
    with world.scene.database.open("r+b") as file:
        file.seek(4096 * 8)
        file.write(os.urandom(4096 * 4))


def overwritten(world: World) -> None:
    """As long as before, so that only the content tells."""
    path = Path(world.ids["file"])
    path.write_bytes(b"x" * path.stat().st_size)


def moved(name: str, to: str) -> tuple[str, str]:
    """A move of a status with its event."""
    return (
        "INSERT INTO events (at, message_id, kind, before, after, actor, reason)"
        f" SELECT 0, id, 'moved', status, '{to}', '', '' FROM messages WHERE id = :{name}",
        f"UPDATE messages SET status = '{to}' WHERE id = :{name}",
    )

"""A home with a database, and conversations to import into it."""

import asyncio
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import pytest

from kesoku.cli.main import main
from kesoku.messages.record import Record
from kesoku.ports import Transaction
from kesoku.store import SqlStore

T = TypeVar("T")
Row = dict[str, Any]

PLACE = {"session_id": "s1", "chatbot_id": "discord", "channel_id": "lounge"}
PROMPT: Row = {
    **PLACE,
    "id": "m1",
    "role": "user",
    "type": "text",
    "sender": "Ada",
    "content": "hi",
    "status": "processed",
}
CALL: Row = {
    **PLACE,
    "id": "m2",
    "parent_id": "m1",
    "role": "tool",
    "type": "tool_call",
    "content": "",
    "status": "responded",
    "metadata": {"tool_name": "look", "tool_arguments": {"where": "here"}},
}
RESULT: Row = {
    **PLACE,
    "id": "m3",
    "parent_id": "m2",
    "role": "action",
    "type": "tool_result",
    "sender": "look",
    "content": "fog",
    "status": "responded",
}
ANSWER: Row = {
    **PLACE,
    "id": "m4",
    "parent_id": "m1",
    "role": "assistant",
    "type": "text",
    "content": "Fog.",
    "status": "pending",
    "metadata": {"turn_metrics": {"turn_tool_calls": 1}},
}
TALK = [PROMPT, CALL, RESULT, ANSWER]


class Machine:
    """A home with a database, and what `kesoku import` said in it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self._capsys = folder, capsys
        self.said = self.complaint = ""

    @property
    def database(self) -> Path:
        return self.folder / "data" / "kesoku" / "kesoku.db"

    def file(self, content: Any, name: str = "old.json") -> str:
        """A file with this JSON, these lines, or these bytes."""
        path = self.folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(json.dumps(content), encoding="utf-8")
        return str(path)

    def run(self, *arguments: str) -> int:
        code = main(["import", *arguments])
        self.said, self.complaint = self._capsys.readouterr()
        return code

    def report(self, *arguments: str) -> Row:
        self.run("--json", *arguments)
        read: Row = json.loads(self.said)
        return read

    def look(self, operation: Callable[[Transaction], T], *, write: bool = False) -> T:
        async def looked() -> T:
            async with await SqlStore.open(self.database) as store:
                return await (store.write if write else store.read)(operation)

        return asyncio.run(looked())

    def session(self, session_id: str = "s1") -> list[Record]:
        return self.look(lambda tx: tx.messages.session(session_id))


def lines(rows: Iterable[Any]) -> bytes:
    return b"\n".join(json.dumps(row).encode() for row in rows)

"""/export: a conversation as a file, as it is stored or as the model reads it."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kesoku.adapter.command import Argument, FiledReply, Invocation
from kesoku.adapter.staging import Staging, size_text
from kesoku.agent.view import View, Viewer
from kesoku.commands.copies import EXPORT
from kesoku.commands.here import session_here
from kesoku.commands.registry import SlashCommand, command
from kesoku.errors import NotPossible
from kesoku.history import History
from kesoku.messages.freeze import thaw
from kesoku.messages.lifecycle import Session
from kesoku.messages.record import Record
from kesoku.messages.turn import Block
from kesoku.ports import Store, Transaction
from kesoku.render import counted
from kesoku.render.mask import NOTHING, Mask

_PIECE = 1 << 20
_MOST = 1 << 40
"""Bytes of an export: no limit but the disk."""
_PRIVATE = 0o600
_JSON = "application/json"


class Export:
    """What the command acts on."""

    def __init__(self, *, store: Store, viewer: Viewer, staging: Staging, mask: Mask = NOTHING) -> None:
        self._store, self._viewer, self._staging, self._mask = store, viewer, staging, mask

    def commands(self) -> tuple[SlashCommand, ...]:
        """The one."""
        form = Argument(
            name="form", description="raw is what is stored, model what it would read now", choices=("raw", "model")
        )
        return (command("export", "send this conversation as a file", self.export, form),)

    async def export(self, invocation: Invocation) -> str:
        """The whole conversation (`raw`), or the request that the model would get now. Raises NotPossible."""
        if str(invocation.arguments.get("form") or "raw") == "model":
            session, view = await self._store.read(lambda tx: self._viewed(tx, invocation))
            what = f"What {view.model.name} would read now"
            return await self._filed(session, "model", lambda: _read(session, view), what)
        session, records = await self._store.read(lambda tx: _stored(tx, invocation))
        what = f"The whole conversation, {counted(len(records), 'message')}"
        return await self._filed(session, "raw", lambda: raw(session, records), what)

    def _viewed(self, tx: Transaction, invocation: Invocation) -> tuple[Session, View]:
        session = session_here(tx, invocation.address)
        return session, self._viewer.view(tx, session, invocation.address)

    async def _filed(self, session: Session, form: str, made: Callable[[], dict[str, Any]], what: str) -> str:
        name = f"{EXPORT}{form}.json"
        text = await asyncio.to_thread(lambda: json.dumps(self._mask.value(made()), indent=1, default=str).encode())
        kept = await self._staging.save(session.id, name, _pieces(text), mime_type=_JSON, limit=_MOST)
        if kept.path is None:
            raise NotPossible(what="export this conversation", why=kept.skipped or "the file could not be kept")
        await asyncio.to_thread(Path(kept.path).chmod, _PRIVATE)
        return FiledReply(f"{what}, {size_text(len(text))}.", files=[kept])


def raw(session: Session, records: list[Record]) -> dict[str, Any]:
    """Everything that is stored of a conversation; `kesoku import` reads it back."""
    return {
        "session": {"id": session.id, "title": session.title, "created_at": session.created_at / 1e6},
        "records": [_whole(record) for record in records],
        "chat": History.of(records).to_chat_msgs(),
    }


def _whole(record: Record) -> dict[str, Any]:
    """A record with what seldom stands beside it."""
    replaced = {"superseded_by": record.superseded_by, "superseded_turn": record.superseded_turn}
    return record.to_dict() | {name: value for name, value in replaced.items() if value is not None}


def _stored(tx: Transaction, invocation: Invocation) -> tuple[Session, list[Record]]:
    session = session_here(tx, invocation.address)
    return session, tx.messages.session(session.id)


def _read(session: Session, view: View) -> dict[str, Any]:
    request = view.request
    return {
        "session": {"id": session.id},
        "branch": view.branch.name,
        "model": view.model.name,
        "tokens": view.tokens,
        "system": request.system,
        "tools": [
            {"name": each.name, "description": each.description, "parameters": thaw(each.parameters)}
            for each in request.tools
        ],
        "response_format": thaw(request.response_format),
        "options": thaw(request.options),
        "turns": [
            {"role": turn.role, "messages": turn.sources, "blocks": [_block(each) for each in turn.blocks]}
            for turn in request.turns
        ],
    }


def _block(block: Block) -> dict[str, Any]:
    """A block by the names of its fields, without those that say nothing; signatures in base64."""
    plain = {name: thaw(value) for name, value in asdict(block).items() if value not in (None, (), False)}
    seal = getattr(block, "signature", None)
    signed = {} if seal is None else {"signature": base64.b64encode(seal).decode()}
    return {"block": type(block).__name__.removesuffix("Block").lower(), **plain, **signed}


async def _pieces(text: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(text), _PIECE):
        yield text[start : start + _PIECE]

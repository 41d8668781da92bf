"""Parts of an outgoing message as the ledger stores them: exact bytes, a hash, and a send key that never changes."""

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kesoku.adapter.outgoing import Button, Outgoing, OutgoingFile
from kesoku.messages.lifecycle import Delivery, Purpose
from kesoku.messages.record import Address

EXTRA = 1000
"""Parts from this number on were added behind the plan: they say which file did not go out."""


def encode(outgoing: Outgoing) -> str:
    """The JSON form; equal parts have equal forms. Lone surrogates survive."""
    return json.dumps(asdict(outgoing), default=str, sort_keys=True)


def decode(body: str) -> Outgoing:
    """The part that `encode` wrote."""
    plain: dict[str, Any] = json.loads(body)
    files = tuple(OutgoingFile(**{**each, "path": Path(each["path"])}) for each in plain.pop("files"))
    buttons = tuple(Button(**each) for each in plain.pop("buttons"))
    return Outgoing(files=files, buttons=buttons, **plain)


def is_damaged(part: Delivery) -> bool:
    """Whether a stored part is not what was planned."""
    return part.part < 0 or part.hash != _hash(part.body)


def _hash(body: str) -> str:
    return hashlib.sha256(body.encode(errors="surrogatepass")).hexdigest()


def send_key(message_id: str, part: int, purpose: Purpose = Purpose.FINAL) -> str:
    """24 characters of a-z and 2-7, the same for every attempt at a part; short enough for any platform."""
    digest = hashlib.blake2b(f"{message_id}\0{purpose}\0{part}".encode(errors="surrogatepass"), digest_size=15)
    return base64.b32encode(digest.digest()).decode().lower()


def apart(parts: Iterable[Outgoing]) -> Iterator[Outgoing]:
    """Every file as a part of its own behind its text, so that none can take text or other files along (C. 80, 81)."""
    for part in parts:
        if len(part.files) + part.says <= 1:
            yield part
            continue
        if part.says:
            yield replace(part, files=())
        for each in part.files:
            yield replace(part, text="", buttons=(), payload=None, files=(each,))


def row(
    outgoing: Outgoing, *, message_id: str, address: Address, part: int, purpose: Purpose = Purpose.FINAL
) -> Delivery:
    """The planned ledger row of a part."""
    body = encode(outgoing)
    return Delivery(
        message_id=message_id,
        part=part,
        address=address,
        purpose=purpose,
        body=body,
        hash=_hash(body),
        send_key=send_key(message_id, part, purpose),
    )


def rows(parts: Iterable[Outgoing], *, message_id: str, address: Address) -> list[Delivery]:
    """The planned rows of a message, numbered from 0."""
    return [row(each, message_id=message_id, address=address, part=n) for n, each in enumerate(parts)]

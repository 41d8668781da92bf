"""From a scripted answer to the events of a stream, and from events to bytes that arrive at awkward places."""

import asyncio
import base64
import json
import re
import socket
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from kesoku.testing.gemini.estimate import text_tokens
from kesoku.testing.gemini.script import (
    Answer,
    Blocked,
    Call,
    Cut,
    ErrorEvent,
    Events,
    Hang,
    Part,
    Refusal,
    Reset,
    Say,
    Think,
)

_HALF = re.compile("[\ud800-\udfff]")
_PAIR = re.compile(rb"\\ud[89ab]..(?=\\u)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """How a server speaks in one response."""

    model: str
    prompt: Mapping[str, int]
    """Counts of the prompt, as `usageMetadata` names them."""
    sign: Callable[[Mapping[str, Any]], bytes]
    """The signature of a part in normal form."""
    call_id: Callable[[Call], str]
    """The id of a call; '' for none."""
    response: str = "r"
    """`responseId`."""
    token: bytes | None = None
    """The `continuationToken` of the last event."""
    called: bool = False
    """Whether the step had a call already."""


def events(voice: Voice, answer: Answer | Blocked | Events) -> Iterator[Any]:
    """The events of a stream, as JSON values. The usage of each counts what came before it."""
    if isinstance(answer, Events):
        yield from answer.events
        return
    about = {"modelVersion": voice.model, "responseId": voice.response}
    if isinstance(answer, Blocked):
        usage = {**voice.prompt, "totalTokenCount": voice.prompt["promptTokenCount"]}
        yield {"promptFeedback": {"blockReason": answer.reason}, "usageMetadata": usage, **about}
        return
    counts: dict[str, int] = {}
    for part in _parts(voice, answer):
        yield {"candidates": [_candidate(part)], "usageMetadata": _usage(voice, counts), **about}
        name = "thoughtsTokenCount" if part.get("thought") else "candidatesTokenCount"
        said = part["text"] if "text" in part else json.dumps(part)
        counts[name] = counts.get(name, 0) + text_tokens(said)
    if isinstance(answer.then, ErrorEvent):
        yield Refusal(answer.then.code, answer.then.status, answer.then.message).json()
    elif answer.then is None:
        yield {"candidates": [_last(voice, answer)], "usageMetadata": _usage(voice, counts), **about}


def joined(all_events: list[Any]) -> Any:
    """The events of a stream as the one answer of generateContent."""
    parts = [p for e in all_events for c in e.get("candidates", ()) for p in c.get("content", {}).get("parts", ())]
    last: dict[str, Any] = dict(all_events[-1]) if all_events else {}
    if parts and last.get("candidates"):
        last["candidates"] = [{**last["candidates"][0], "content": {"role": "model", "parts": parts}}]
    return last


async def play(request: web.Request, said: Iterator[Any], *, gap: float, then: Any) -> web.StreamResponse:
    """Send events, `gap` seconds apart, and end with `then`. In gzip if the client takes it."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    packer = None
    if "gzip" in request.headers.get("Accept-Encoding", ""):
        packer = zlib.compressobj(wbits=31)
        response.headers["Content-Encoding"] = "gzip"
    await response.prepare(request)
    for number, event in enumerate(said):
        if number and gap:
            await asyncio.sleep(gap)
        for piece in torn(event, ascii_only=number % 2 == 1):
            await response.write(piece if packer is None else packer.compress(piece) + packer.flush(zlib.Z_SYNC_FLUSH))
    await fault(request, then)
    if packer is not None and not isinstance(then, Reset):
        await response.write(packer.flush())
    return response


async def fault(request: web.Request, which: Any) -> None:
    """Play a Hang or a Reset; anything else is none."""
    if isinstance(which, Hang):
        await asyncio.Event().wait()
    if isinstance(which, Reset) and (transport := request.transport) is not None:
        await asyncio.sleep(0.01)
        linger = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        transport.abort()


def torn(event: Any, *, ascii_only: bool) -> tuple[bytes, bytes]:
    """One event in two pieces: torn inside a character if it has a long one, else in the middle.

    In ASCII that is between the two escapes of a surrogate pair; half a pair can only be an escape. Both line ends are
    in use.
    """
    end = "\n\n" if ascii_only else "\r\n\r\n"
    said = json.dumps(event, ensure_ascii=ascii_only)
    if not ascii_only and _HALF.search(said):
        said = json.dumps(event)
    data = f"data: {said}{end}".encode()
    pair = _PAIR.search(data)
    long = next((at + 1 for at, byte in enumerate(data) if byte >= 0xC0), len(data) // 2)
    at = pair.end() if pair else long
    return data[:at], data[at:]


def _parts(voice: Voice, answer: Answer) -> Iterator[dict[str, Any]]:
    called = voice.called
    for part in answer.parts:
        if isinstance(part, Part):
            yield dict(part.json)
        elif isinstance(part, Call):
            yield _call(voice, part, signed=not called)
            called = True
        elif not isinstance(part, Cut):
            yield from _texts(voice, part)


def _call(voice: Voice, call: Call, *, signed: bool) -> dict[str, Any]:
    wire: dict[str, Any] = {"name": call.name}
    if call.args is not None:
        wire["args"] = dict(call.args)
    if id_ := voice.call_id(call):
        wire["id"] = id_
    if not signed:
        return {"functionCall": wire}
    return {"functionCall": wire, "thoughtSignature": _text(voice.sign({"function_call": wire}))}


def _texts(voice: Voice, part: Say | Think) -> Iterator[dict[str, Any]]:
    pieces = _pieces(part.text, part.piece)
    for number, piece in enumerate(pieces, 1):
        wire: dict[str, Any] = {"text": piece}
        if isinstance(part, Think):
            wire["thought"] = True
        elif part.signed and number == len(pieces):
            wire["thoughtSignature"] = _text(voice.sign(wire))
        yield wire


def _pieces(text: str, size: int) -> list[str]:
    """Pieces of `size` UTF-16 units, so that a pair may be torn into two events; the last begins with a character."""
    data = text.encode("utf-16-le", "surrogatepass")
    step = 2 * size or len(data) or 1
    pieces = [data[at : at + step].decode("utf-16-le", "surrogatepass") for at in range(0, len(data), step)]
    if len(pieces) > 1 and "\udc00" <= pieces[-1][0] <= "\udfff":
        pieces[-2:] = [pieces[-2][:-1], pieces[-2][-1] + pieces[-1]]
        pieces[-1] = pieces[-1].encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return [piece for piece in pieces if piece]


def _last(voice: Voice, answer: Answer) -> dict[str, Any]:
    """The candidate with the finish; an answer in text ends with a signed part of empty text."""
    signs = answer.sign and answer.parts and not voice.called
    part = None
    if signs and not any(isinstance(part, Call) for part in answer.parts):
        part = {"text": "", "thoughtSignature": _text(voice.sign({"text": ""}))}
    candidate = _candidate(part)
    if answer.finish is not None:
        candidate["finishReason"] = answer.finish
    if answer.message is not None:
        candidate["finishMessage"] = answer.message
    if voice.token is not None:
        candidate["continuationToken"] = _text(voice.token)
    return candidate


def _candidate(part: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"index": 0} if part is None else {"index": 0, "content": {"role": "model", "parts": [part]}}


def _usage(voice: Voice, counts: Mapping[str, int]) -> dict[str, int]:
    total = voice.prompt["promptTokenCount"] + sum(counts.values())
    return {**voice.prompt, **counts, "totalTokenCount": total}


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()

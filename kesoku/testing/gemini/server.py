"""A loopback Gemini for the real SDK: strict about requests, scriptable in its answers, with every request recorded.

    async with LoopbackGemini() as server:
        server.script(Answer(Say("hello")))
        ...                                        # GOOGLE_GEMINI_BASE_URL=server.base_url, GEMINI_API_KEY=test-key
        assert server.requests[0].body["contents"] == [{"role": "user", "parts": [{"text": "hi"}]}]

Without a script it understands what the offline model understands (`kesoku.llm.offline`) and echoes the rest. Use
`LoopbackGemini.in_thread()` where the test itself runs or blocks event loops, and `python -m kesoku.testing.gemini
--port 0` by hand. What a request must look like is in grammar.py, what can be answered in script.py.
"""

import asyncio
import base64
import contextlib
import json
import re
import socket
import struct
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, Self

from aiohttp import web

from kesoku.testing.gemini.brain import think
from kesoku.testing.gemini.grammar import check, invalid, normal, sign
from kesoku.testing.gemini.script import (
    Answer,
    Blocked,
    Call,
    ErrorEvent,
    Events,
    Hang,
    Part,
    Raw,
    Refusal,
    Reset,
    Say,
    Scripted,
    Think,
)

_TOO_LARGE = 20 * 1024 * 1024
_SLICE = 7
"""Bytes after which an event is torn in two, so that characters arrive in halves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """One request as the server saw it."""

    path: str
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes
    body: Any
    """Normal form: snake_case names, bytes where the API has base64."""
    refused: str | None
    """Why it was refused by the grammar, or None."""


class LoopbackGemini:
    """An async context manager around an HTTP server on 127.0.0.1."""

    def __init__(
        self,
        *,
        key: str = "test-key",
        models: str = r"gemini-[a-z0-9.-]+",
        call_ids: bool = True,
        port: int = 0,
    ) -> None:
        """`models` is a pattern of the names that exist; `call_ids`: whether calls carry ids unless a script says."""
        self.key, self.call_ids, self.base_url = key, call_ids, ""
        self.requests: list[Seen] = []
        self.left = 0
        """How many streams the client left before their end."""
        self._models, self._port = re.compile(models), port
        self._script: deque[Scripted] = deque()
        self._changed = threading.Condition()
        self._calls = 0
        self._runner: web.AppRunner | None = None

    def script(self, *answers: Scripted) -> None:
        """Queue answers: one for each request that passes the checks, before the default behaviour."""
        self._script.extend(answers)

    @property
    def unused(self) -> int:
        """How many scripted answers nobody asked for."""
        return len(self._script)

    async def has_left(self, count: int = 1, *, seconds: float = 5.0) -> bool:
        """Wait until the client has left `count` streams; False after `seconds`."""
        return await asyncio.to_thread(self._wait, lambda: self.left >= count, seconds)

    async def has_seen(self, count: int = 1, *, seconds: float = 5.0) -> bool:
        """Wait until `count` requests have come in; False after `seconds`."""
        return await asyncio.to_thread(self._wait, lambda: len(self.requests) >= count, seconds)

    @classmethod
    @contextlib.contextmanager
    def in_thread(cls, **options: Any) -> Iterator[Self]:
        """The server in a thread with an event loop of its own."""
        server = cls(**options)
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        try:
            asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(10)
            yield server
        finally:
            asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result(10)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=4 * _TOO_LARGE)
        app.router.add_route("*", "/{tail:.*}", self._handle)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        self.base_url = "http://127.0.0.1:{1}".format(*self._runner.addresses[0])
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    def _wait(self, condition: Any, seconds: float) -> bool:
        with self._changed:
            return bool(self._changed.wait_for(condition, seconds))

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body, broken = _parsed(raw)
        refusal = self._entry(request) or broken
        method = request.match_info["tail"].rpartition(":")[2]
        generates = method in {"streamGenerateContent", "generateContent"}
        if refusal is None and generates:
            refusal = check(body)
        if len(raw) > _TOO_LARGE:
            refusal = invalid(f"Request payload size exceeds the limit: {_TOO_LARGE} bytes.")
        self._record(request, raw, body, refusal)
        if refusal is not None:
            return web.json_response(refusal.json(), status=refusal.code)
        if generates:
            answer = self._script.popleft() if self._script else think(body)
            return await self._answer(request, body, answer, whole=method == "generateContent")
        if method == "countTokens":
            return web.json_response({"totalTokens": len(raw) // 4})
        return web.json_response(_listing(request.match_info["tail"]))

    def _record(self, request: web.Request, raw: bytes, body: Any, refusal: Refusal | None) -> None:
        headers = {name.lower(): value for name, value in request.headers.items()}
        seen = Seen(
            path=request.path, headers=headers, raw=raw, body=body, refused=refusal.message if refusal else None
        )
        with self._changed:
            self.requests.append(seen)
            self._changed.notify_all()

    def _entry(self, request: web.Request) -> Refusal | None:
        """Key, version and model."""
        key = request.headers.get("x-goog-api-key") or request.query.get("key")
        if not key:
            return Refusal(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers.")
        if key != self.key:
            info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
            return Refusal(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", (info,))
        found = re.fullmatch(r"/(v1|v1beta)/models(?:/([^:]+))?(?::(\w+))?", request.path)
        if not found:
            return Refusal(404, "NOT_FOUND", f"no such path {request.path}")
        version, model, _ = found.groups()
        if model and (not self._models.fullmatch(model) or (version == "v1" and model.endswith("-latest"))):
            message = f"models/{model} is not found for API version {version}, or is not supported for generateContent."
            return Refusal(404, "NOT_FOUND", message)
        return None

    async def _answer(self, request: web.Request, body: Any, answer: Scripted, *, whole: bool) -> web.StreamResponse:
        if isinstance(answer, Refusal):
            return web.json_response(answer.json(), status=answer.code)
        if isinstance(answer, Raw):
            return web.Response(body=answer.body, status=answer.status, content_type=answer.content_type)
        events = self._events(body, answer)
        if whole:
            return web.json_response(_joined(list(events)))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        try:
            await response.prepare(request)
            for number, event in enumerate(events):
                if number and isinstance(answer, Answer):
                    await asyncio.sleep(answer.gap)
                await _send(response, event, ascii_only=number % 2 == 1)
            if isinstance(answer, Answer):
                await _fault(request, answer.then)
            await response.write_eof()
        except (asyncio.CancelledError, ConnectionError):
            with self._changed:
                self.left += 1
                self._changed.notify_all()
            raise
        return response

    def _events(self, body: Any, answer: Answer | Blocked | Events) -> Iterator[Any]:
        if isinstance(answer, Events):
            yield from answer.events
            return
        usage = {"promptTokenCount": len(json.dumps(body, default=str)) // 4}
        if isinstance(answer, Blocked):
            yield {"promptFeedback": {"blockReason": answer.reason}, "usageMetadata": usage}
            return
        for part in self._wire_parts(answer):
            count = "thoughtsTokenCount" if part.get("thought") else "candidatesTokenCount"
            usage = {**usage, count: usage.get(count, 0) + 1}
            yield _event(part, usage)
        if isinstance(answer.then, ErrorEvent):
            yield Refusal(answer.then.code, answer.then.status, answer.then.message).json()
        elif answer.then is None:
            yield self._last(answer, usage)

    def _wire_parts(self, answer: Answer) -> Iterator[dict[str, Any]]:
        first = True
        for part in answer.parts:
            if isinstance(part, Part):
                yield dict(part.json)
            elif isinstance(part, Call):
                yield self._call(part, signed=first)
                first = False
            else:
                yield from _texts(part)

    def _call(self, call: Call, *, signed: bool) -> dict[str, Any]:
        self._calls += 1
        id_ = f"fc-{self._calls}" if call.id is None and self.call_ids else call.id
        wire: dict[str, Any] = {"name": call.name}
        if call.args is not None:
            wire["args"] = dict(call.args)
        if id_:
            wire["id"] = id_
        if not signed:
            return {"functionCall": wire}
        return {"functionCall": wire, "thoughtSignature": _signature({"function_call": wire})}

    def _last(self, answer: Answer, usage: Mapping[str, int]) -> dict[str, Any]:
        """The event with the finish; an answer in text ends with a signed part of empty text."""
        part = None
        if answer.sign and answer.parts and not any(isinstance(part, Call) for part in answer.parts):
            part = {"text": "", "thoughtSignature": _signature({"text": ""})}
        event = _event(part, usage)
        if answer.finish is not None:
            event["candidates"][0]["finishReason"] = answer.finish
        if answer.message is not None:
            event["candidates"][0]["finishMessage"] = answer.message
        return event


def _texts(part: Say | Think) -> Iterator[dict[str, Any]]:
    size = part.piece or len(part.text) or 1
    pieces = [part.text[at : at + size] for at in range(0, len(part.text), size)]
    for number, piece in enumerate(pieces, 1):
        wire: dict[str, Any] = {"text": piece}
        if isinstance(part, Think):
            wire["thought"] = True
        elif part.signed and number == len(pieces):
            wire["thoughtSignature"] = _signature(wire)
        yield wire


def _event(part: Mapping[str, Any] | None, usage: Mapping[str, int]) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0}
    if part is not None:
        candidate["content"] = {"role": "model", "parts": [part]}
    counted = {**usage, "totalTokenCount": sum(usage.values())}
    return {"candidates": [candidate], "usageMetadata": counted, "modelVersion": "loopback", "responseId": "r"}


def _signature(part: Mapping[str, Any]) -> str:
    return base64.b64encode(sign(part)).decode()


def _parsed(raw: bytes) -> tuple[Any, Refusal | None]:
    """The body in normal form, or the refusal of what is no JSON object."""
    try:
        body = json.loads(raw or b"{}", parse_constant=_no_constant)
    except ValueError as error:
        return None, invalid(f"Invalid JSON payload received. {error}")
    return (normal(body), None) if isinstance(body, dict) else (body, invalid("Root element must be a message."))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"Unexpected token {name}")


def _joined(events: list[Any]) -> dict[str, Any]:
    """The events of a stream as the one answer of generateContent."""
    parts = [p for e in events for c in e.get("candidates", ()) for p in c.get("content", {}).get("parts", ())]
    last: dict[str, Any] = dict(events[-1]) if events else {}
    if parts and last.get("candidates"):
        last["candidates"] = [{**last["candidates"][0], "content": {"role": "model", "parts": parts}}]
    return last


def _listing(tail: str) -> dict[str, Any]:
    methods = {"supportedGenerationMethods": ["generateContent", "countTokens"], "inputTokenLimit": 1_048_576}
    name = tail.partition("models/")[2]
    one = {"name": f"models/{name or 'gemini-3.5-flash'}", **methods}
    return one if name else {"models": [one]}


async def _send(response: web.StreamResponse, event: Any, *, ascii_only: bool) -> None:
    """One event in two writes, so that a character may arrive in halves; both line ends are in use."""
    end = "\n\n" if ascii_only else "\r\n\r\n"
    data = f"data: {json.dumps(event, ensure_ascii=ascii_only)}{end}".encode("utf-8", "surrogatepass")
    await response.write(data[:-_SLICE])
    await response.write(data[-_SLICE:])


async def _fault(request: web.Request, fault: Reset | Hang | ErrorEvent | None) -> None:
    if isinstance(fault, Hang):
        await asyncio.Event().wait()
    if isinstance(fault, Reset) and (transport := request.transport) is not None:
        await asyncio.sleep(0.01)
        linger = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        transport.abort()

"""A loopback Gemini for the real SDK: strict about requests, scriptable in its answers, with every request recorded.

    async with LoopbackGemini() as server:
        server.script(Answer(Say("hello")))
        ...                                        # GOOGLE_GEMINI_BASE_URL=server.base_url, GEMINI_API_KEY=test-key
        assert server.requests[0].body["contents"] == [{"role": "user", "parts": [{"text": "hi"}]}]

Without a script it understands what the offline model understands (`kesoku.llm.offline`) and echoes the rest. Use
`LoopbackGemini.in_thread()` where the test itself runs or blocks event loops, and `python -m kesoku.testing.gemini
--port 0` by hand.
"""

import asyncio
import contextlib
import json
import re
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn, Self

from aiohttp import web

from kesoku.testing.gemini import stream
from kesoku.testing.gemini.cache import Caches, StoredCache
from kesoku.testing.gemini.continuation import Act
from kesoku.testing.gemini.door import enter
from kesoku.testing.gemini.estimate import tokens_of
from kesoku.testing.gemini.file import Files, StoredFile, page
from kesoku.testing.gemini.generation import TOO_LARGE, Generation, Whole
from kesoku.testing.gemini.grammar import normal
from kesoku.testing.gemini.request import Kind, Reply, Seen, routed
from kesoku.testing.gemini.rules import Rules
from kesoku.testing.gemini.script import (
    Answer,
    Blocked,
    ErrorEvent,
    Events,
    Hang,
    Processing,
    Raw,
    Refusal,
    Reset,
    Scripted,
    invalid,
)
from kesoku.testing.gemini.shape import misfits
from kesoku.testing.gemini.vertex import Tokens

_LEVELS = 100
"""How deep a body may be nested."""
_LISTED = ("gemini-3.5-flash", "gemini-3.5-flash-lite", "gemini-3.1-pro-preview", "gemini-2.5-flash")


@dataclass(kw_only=True, eq=False, repr=False)
class LoopbackGemini(Rules):
    """An async context manager around an HTTP server on 127.0.0.1."""

    base_url: str = field(init=False, default="")
    """Where it listens, once the context is entered."""
    requests: list[Seen] = field(init=False, default_factory=list)
    """What came in, in order, refused or not."""
    left: int = field(init=False, default=0)
    """How many responses the client left before their end."""

    def __post_init__(self) -> None:
        """Nothing is served before the context is entered."""
        self._script: defaultdict[Kind, deque[Scripted]] = defaultdict(deque)
        self._changed = threading.Condition()
        self._files, self._caches, self._tokens = Files(self._time), Caches(self._time), Tokens(self._time)
        self._generation = Generation(self, self._files, self._caches)
        self._runner: web.AppRunner | None = None

    def _time(self) -> float:
        return self.now()

    def script(self, *answers: Scripted, on: Kind = "generate") -> None:
        """Queue answers: one for each request of the kind that passes the checks, before the default behaviour.

        Raises ValueError for an answer that makes no sense there.
        """
        for answer in answers:
            if isinstance(answer, Answer | Blocked | Events) and on != "generate":
                raise ValueError(f"{type(answer).__name__} answers generate, not {on}")
            if isinstance(answer, Processing) and on != "upload":
                raise ValueError(f"Processing is for upload, not {on}")
        self._script[on].extend(answers)

    @property
    def unused(self) -> int:
        """How many scripted answers nobody asked for."""
        return sum(map(len, self._script.values()))

    def asked(self, kind: Kind) -> list[Seen]:
        """The requests of one kind, in the order in which they came."""
        return [seen for seen in self.requests if seen.kind == kind]

    @property
    def files(self) -> Mapping[str, StoredFile]:
        """The uploaded files that live, by name."""
        return self._files.kept

    def expire_files(self) -> None:
        """As if 48 hours had gone by: files are unknown from now on."""
        self._files.expire()

    @property
    def caches(self) -> Mapping[str, StoredCache]:
        """The caches that live, by name."""
        return self._caches.kept

    def expire_caches(self) -> None:
        """As if their time had gone by: caches are unknown from now on."""
        self._caches.expire()

    def service_account(self, path: Path, *, project: str = "loopback") -> Path:
        """Write the key file of a service account for Vertex AI, whose tokens come from this server.

        Needs the package `cryptography`, which google-auth brings.
        """
        return self._tokens.account(path, token_uri=f"{self.base_url}/token", project=project)

    def expire_tokens(self) -> None:
        """As if an hour had gone by: access tokens are refused from now on."""
        self._tokens.expire()

    async def has_left(self, count: int = 1, *, seconds: float = 20.0) -> bool:
        """Wait until the client has left `count` responses; False after `seconds`."""
        return await asyncio.to_thread(self._wait, lambda: self.left >= count, seconds)

    async def has_seen(self, count: int = 1, *, seconds: float = 20.0) -> bool:
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
        app = web.Application(client_max_size=4 * TOO_LARGE)
        app.router.add_route("*", "/{tail:.*}", self._handle)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        self.base_url = "http://127.0.0.1:{1}".format(*self._runner.addresses[0])
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    def _wait(self, condition: Any, seconds: float) -> bool:
        with self._changed:
            return bool(self._changed.wait_for(condition, seconds))

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        seen, broken = _seen(request, await request.read())
        refusal, scripted, whole = enter(seen, self, self._tokens) or broken, None, None
        answer: Any = refusal
        if refusal is None and seen.kind == "generate":
            whole = self._generation.examine(seen)
            answer = whole if isinstance(whole, Refusal) else self._generation.ruled(whole)
        if answer is None:
            scripted = self._next(seen.kind)
            answer = self._answer(seen, scripted, whole)
        refused = answer.message if isinstance(answer, Refusal) and answer is not scripted else None
        self._record(replace(seen, refused=refused, answer=scripted))
        try:
            return await self._send(request, seen, answer, whole)
        except (asyncio.CancelledError, ConnectionError) as error:
            with self._changed:
                self.left += 1
                self._changed.notify_all()
            if isinstance(error, ConnectionError):
                return web.Response()  # nobody gets it, and nothing is logged
            raise

    def _record(self, seen: Seen) -> None:
        with self._changed:
            self.requests.append(seen)
            self._changed.notify_all()

    def _next(self, kind: Kind | None) -> Scripted | None:
        queue = self._script[kind] if kind else None
        return queue.popleft() if queue else None

    def _answer(self, seen: Seen, scripted: Scripted | None, whole: Any) -> Any:
        """What to send: a Refusal, a Reply, an Act, or what the script says."""
        if isinstance(scripted, Refusal | Raw | Hang | Reset):
            return scripted
        if isinstance(whole, Whole):
            says = scripted if isinstance(scripted, Answer | Blocked | Events) else None
            return self._generation.act(whole, says)
        answers: dict[Kind | None, Callable[[], Any]] = {
            "count": lambda: self._counted(seen),
            "models": lambda: self._listing(seen),
            "upload": lambda: self._files.start(seen, scripted if isinstance(scripted, Processing) else Processing(0)),
            "chunk": lambda: self._files.chunk(seen),
            "files": lambda: self._files.answer(seen),
            "caches": lambda: self._caches.answer(seen, minimum=self.cache_minimum),
            "token": lambda: self._tokens.grant(seen),
        }
        return answers[seen.kind]()

    def _counted(self, seen: Seen) -> Reply | Refusal:
        body = seen.body.get("generate_content_request") or seen.body
        if where := next(misfits(body), None):
            return invalid(f"Invalid value at '{where}'")
        if not body.get("contents"):
            return invalid("* CountTokensRequest.contents: contents is not specified")
        return Reply(body={"totalTokens": tokens_of(body)})

    def _listing(self, seen: Seen) -> Reply | Refusal:
        prefix = "publishers/google/models/" if seen.vertex else "models/"
        names = [seen.name] if seen.name else [name for name in _LISTED if re.fullmatch(self.models, name)]
        models = [
            {
                "name": prefix + name,
                "displayName": name,
                "inputTokenLimit": self.input_limit,
                "outputTokenLimit": 65_536,
                "supportedGenerationMethods": ["generateContent", "countTokens", "createCachedContent"],
            }
            for name in names
        ]
        return (
            Reply(body=models[0]) if seen.name else page(models, "publisherModels" if seen.vertex else "models", seen)
        )

    async def _send(self, request: web.Request, seen: Seen, answer: Any, whole: Any) -> web.StreamResponse:
        if isinstance(answer, Raw):
            return web.Response(body=answer.body, status=answer.status, content_type=answer.content_type)
        if isinstance(answer, Hang | Reset):
            await stream.fault(request, answer)
            return web.Response()
        if isinstance(answer, Act):
            said = stream.events(self._generation.voice(seen, whole, answer), answer.answer)
            then, gap = getattr(answer.answer, "then", None), getattr(answer.answer, "gap", 0.0)
            if seen.query.get("alt") == "sse":
                return await stream.play(request, said, gap=gap, then=then)
            answer = await self._at_once(request, list(said), then, streams=seen.parts["verb"].startswith("stream"))
        reply = _refused(answer, seen.kind) if isinstance(answer, Refusal) else answer
        response = web.json_response(reply.body, status=reply.status, headers=reply.headers)
        response.enable_compression()
        return response

    async def _at_once(self, request: web.Request, events: list[Any], then: Any, *, streams: bool) -> Reply:
        """The answer without server-sent events: a list of them, or all in one."""
        await stream.fault(request, then)
        if isinstance(then, ErrorEvent) and not streams:
            return Reply(body=events[-1], status=then.code)
        return Reply(body=events if streams else stream.joined(events))


def _refused(refusal: Refusal, kind: Kind | None) -> Reply:
    """An upload that is refused for good says so in its status; without the header clients try again."""
    ends = kind in {"upload", "chunk"} and refusal.code < 500
    return Reply(body=refusal.json(), status=refusal.code, headers={"X-Goog-Upload-Status": "final"} if ends else {})


def _seen(request: web.Request, raw: bytes) -> tuple[Seen, Refusal | None]:
    """The request, and the refusal of a body that is no JSON object."""
    kind, parts = routed(request.method, request.path, request.query)
    body, broken = (None, None) if kind in {"chunk", "token"} else _parsed(raw)
    seen = Seen(
        method=request.method,
        path=request.path,
        query=dict(request.query),
        headers={name.lower(): value for name, value in request.headers.items()},
        raw=raw,
        body=body,
        kind=kind,
        model=_model(kind, parts, body),
        parts=parts,
    )
    return seen, broken


def _model(kind: Kind | None, parts: Mapping[str, str], body: Any) -> str:
    if kind == "caches":
        return str((body or {}).get("model", "")).rpartition("/")[2]
    return parts.get("name", "") if kind in {"generate", "count", "models"} else ""


def _parsed(raw: bytes) -> tuple[Any, Refusal | None]:
    """The body in normal form, or the refusal of what is no JSON object."""
    try:
        body = json.loads(raw or b"{}", parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        return None, invalid(f"Invalid JSON payload received. {error}")
    if not isinstance(body, dict):
        return None, invalid("Root element must be a message.")
    if _deep(body):
        return None, invalid(f"Invalid JSON payload received. It is nested more than {_LEVELS} levels deep.")
    return normal(body), None


def _deep(value: Any) -> bool:
    layer = [value]
    for _ in range(_LEVELS):
        layer = [item for each in layer for item in _inside(each)]
    return bool(layer)


def _inside(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"Unexpected token {name}")

"""A loopback Gemini, asked by hand and by the real SDK."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from kesoku.testing.gemini import LoopbackGemini

USER = {"role": "user", "parts": [{"text": "hi"}]}


@dataclass
class Got:
    """A response."""

    status: int
    headers: Any
    raw: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.raw)

    @property
    def message(self) -> str:
        return str(self.json["error"]["message"])

    @property
    def text(self) -> str:
        (candidate,) = self.json["candidates"]
        return "".join(part["text"] for part in candidate["content"]["parts"])


class Hand:
    """Requests by hand, one connection each."""

    def __init__(self, server: LoopbackGemini) -> None:
        self.server = server

    async def __call__(self, path: str, body: Any = None, method: str = "POST", **headers: str) -> Got:
        sent = {"x-goog-api-key": "test-key", **{name.replace("_", "-"): text for name, text in headers.items()}}
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        url = path if path.startswith("http") else f"{self.server.base_url}/{path}"
        async with aiohttp.ClientSession() as client, client.request(method, url, data=data, headers=sent) as got:
            return Got(got.status, got.headers, await got.read())

    async def generate(self, *contents: Any, model: str = "gemini-x", **more: Any) -> Got:
        return await self(f"v1beta/models/{model}:generateContent", {"contents": list(contents) or [USER], **more})

    async def say(self, text: str, **more: Any) -> Got:
        return await self.generate({"role": "user", "parts": [{"text": text}]}, **more)


@dataclass
class Clock:
    """Wall-clock time that a test moves."""

    seconds: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def server(clock: Clock) -> Iterator[LoopbackGemini]:
    with LoopbackGemini.in_thread(now=clock) as server:
        yield server


@pytest.fixture
def hand(server: LoopbackGemini) -> Hand:
    return Hand(server)


Sdk = Callable[..., AbstractAsyncContextManager[Any]]


@pytest.fixture
def sdk(server: LoopbackGemini, no_proxy: None) -> Sdk:
    """The real client; options as for `genai.Client`."""

    @asynccontextmanager
    async def client(**options: Any) -> AsyncIterator[Any]:
        import httpx2
        from google import genai
        from google.genai import types

        given: dict[str, Any] = {"api_key": "test-key", "vertexai": False, **options}
        version = "v1beta1" if given["vertexai"] else "v1beta"
        async with httpx2.AsyncClient() as http:
            way = types.HttpOptions(base_url=server.base_url, api_version=version, httpx_async_client=http)
            yield genai.Client(**given, http_options=way).aio

    return client

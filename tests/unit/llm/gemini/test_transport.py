"""Sockets, event loops and proxies under the model."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager

import pytest
from pydantic import SecretStr

from kesoku.errors import ModelRequestRefused, ModelUnavailable
from kesoku.llm.gemini import GeminiConfig
from kesoku.llm.gemini.model import GeminiModel
from kesoku.messages.turn import Delta, Reply
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.gemini.script import Answer, Say
from kesoku.testing.model_contract import listen
from kesoku.testing.waiting import PATIENCE

from .conftest import HELLO, Make


async def rest(stream: AsyncIterator[object]) -> Reply:
    """The reply at the end of an open stream."""
    *_, reply = [item async for item in stream]
    assert isinstance(reply, Reply)
    return reply


@pytest.mark.no_cover
async def test_twenty_streams_are_open_at_once(server: LoopbackGemini, make: Make) -> None:
    model = make()
    server.script(*(Answer(Say(f"answer {number:02}")) for number in range(20)))
    async with AsyncExitStack() as stack:
        streams = [await stack.enter_async_context(aclosing(model.stream(HELLO))) for _ in range(20)]
        begun = await asyncio.gather(*(anext(stream) for stream in streams))
        assert all(isinstance(item, Delta) for item in begun)
        replies = await asyncio.gather(*map(rest, streams))
    assert sorted(reply.text for reply in replies) == [f"answer {number:02}" for number in range(20)]


@pytest.mark.no_cover
async def test_a_slow_reader_holds_up_nobody(server: LoopbackGemini, make: Make) -> None:
    model, long = make(), "long " * 400_000
    server.script(Answer(Say(long, piece=100_000)), Answer(Say("quick")))
    async with aclosing(model.stream(HELLO)) as slow:
        await anext(slow)
        _, quick = await listen(model, HELLO)
        assert quick.text == "quick"
        assert (await rest(slow)).text == long


def test_two_event_loops_at_the_same_time(no_proxy: None) -> None:
    with LoopbackGemini.in_thread() as server:
        config = GeminiConfig(api_key=SecretStr("test-key"), base_url=server.base_url)
        model = GeminiModel(name="g", config=config, environment={})
        server.script(*(Answer(Say(text)) for text in ("outer", "inner", "inner", "outer again")))

        async def once() -> str:
            return (await listen(model, HELLO))[1].text

        async def inner() -> list[str]:
            said = [await once(), await once()]
            await model.aclose()
            return said

        async def outer() -> list[str]:
            async with aclosing(model.stream(HELLO)) as stream:
                await anext(stream)
                found: list[list[str]] = []
                thread = threading.Thread(target=lambda: found.append(asyncio.run(inner())))
                thread.start()
                await asyncio.to_thread(thread.join, PATIENCE)
                first = (await rest(stream)).text
            said = [first, *found[0], await once()]
            await model.aclose()
            return said

        assert asyncio.run(outer()) == ["outer", "inner", "inner", "outer again"]


@asynccontextmanager
async def forward_proxy(lines: list[bytes]) -> AsyncIterator[str]:
    """An HTTP proxy on loopback that notes the request lines; its address."""

    async def pipe(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        while data := await source.read(65_536):
            sink.write(data)
            await sink.drain()
        sink.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = await reader.readline()
        lines.append(line)
        host, port = line.split()[1].removeprefix(b"http://").split(b"/")[0].decode().split(":")
        upstream, onward = await asyncio.open_connection(host, int(port))
        onward.write(line)
        async with asyncio.TaskGroup() as group:
            group.create_task(pipe(reader, onward))
            group.create_task(pipe(upstream, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield "http://127.0.0.1:{1}".format(*server.sockets[0].getsockname())


@pytest.mark.parametrize(("exempt", "used"), [("example.org", 1), ("127.0.0.1", 0)])
async def test_the_proxy_of_the_environment_is_used(
    server: LoopbackGemini, make: Make, monkeypatch: pytest.MonkeyPatch, exempt: str, used: int
) -> None:
    lines: list[bytes] = []
    async with forward_proxy(lines) as address:
        monkeypatch.setenv("HTTP_PROXY", address)
        monkeypatch.setenv("NO_PROXY", exempt)
        model = make()
        _, reply = await listen(model, HELLO)
        await model.aclose()
    assert reply.text
    assert len(lines) == used
    assert all(line.startswith(b"POST http://127.0.0.1:") for line in lines)


async def test_a_dead_proxy_is_told(server: LoopbackGemini, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    async with forward_proxy([]) as address:
        pass
    monkeypatch.setenv("HTTP_PROXY", address)
    with pytest.raises(ModelUnavailable, match="check network, proxy and base_url"):
        await listen(make(retries=0), HELLO)
    monkeypatch.setenv("HTTP_PROXY", "socks5://127.0.0.1:1")
    with pytest.raises(ModelUnavailable, match="socks"):
        await listen(make(retries=0, api_version="v1"), HELLO)
    assert server.requests == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_takes_neither_key_nor_request_along(server: LoopbackGemini, make: Make, status: int) -> None:
    async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(f"HTTP/1.1 {status} No\r\nLocation: {server.base_url}/\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(redirect, "127.0.0.1", 0) as first:
        model = make(base_url="http://127.0.0.1:{1}".format(*first.sockets[0].getsockname()))
        with pytest.raises(ModelRequestRefused, match=f"it leads to {server.base_url}/, where nothing is sent"):
            await listen(model, HELLO)
    assert server.requests == []

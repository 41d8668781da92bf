"""Posting to a real server on the loopback interface."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from aiohttp import web

from kesoku.errors import HookRefused, HookUnreachable
from kesoku.hooks.call import Call
from kesoku.hooks.http import HttpTarget, seconds
from kesoku.testing.waiting import PATIENCE

CALL = Call(hook="ops", event="answer", event_seq=17, message_id="m-1", body=b'{"event": "answer"}')


@dataclass
class Receiver:
    """A server that keeps what is posted and answers as it is told."""

    answer: web.Response | None = None
    seen: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    connections: set[object] = field(default_factory=set)
    port: int = 0

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def take(self, request: web.Request) -> web.Response:
        self.connections.add(request.transport)
        self.seen.append((request.path_qs, dict(request.headers), await request.read()))
        return self.answer or web.Response()


@pytest.fixture
async def receiver(no_proxy: None) -> AsyncIterator[Receiver]:
    made = Receiver()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", made.take)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.port = runner.addresses[0][1]
    yield made
    await runner.cleanup()


async def post(url: str, headers: dict[str, str] | None = None, *, times: int = 1) -> None:
    target = HttpTarget(url, headers or {}, timeout=PATIENCE)
    try:
        for _ in range(times):
            await target.send(CALL)
    finally:
        await target.aclose()


async def refused(receiver: Receiver, answer: web.Response) -> HookRefused:
    receiver.answer = answer
    with pytest.raises(HookRefused) as caught:
        await post(f"{receiver.address}/in")
    return caught.value


async def test_an_event_is_posted_as_json_with_its_keys_in_headers(receiver: Receiver) -> None:
    await post(f"{receiver.address}/in?a=b", {"Authorization": "Bearer x", "idempotency-key": "mine"})
    ((path, headers, body),) = receiver.seen
    assert (path, body) == ("/in?a=b", CALL.body)
    expected = {
        "Authorization": "Bearer x",
        "Content-Type": "application/json",
        "Idempotency-Key": "m-1",
        "Kesoku-Event": "answer",
        "Kesoku-Event-Seq": "17",
        "Kesoku-Hook": "ops",
    }
    assert expected.items() <= headers.items()


@pytest.mark.parametrize("status", [200, 201, 202, 204, 226])
async def test_any_status_of_success_is_taken(receiver: Receiver, status: int) -> None:
    receiver.answer = web.Response(status=status)
    await post(f"{receiver.address}/in")
    assert len(receiver.seen) == 1


@pytest.mark.parametrize("status", [302, 400, 401, 404, 408, 425, 429, 500, 503])
async def test_everything_else_may_be_tried_again(receiver: Receiver, status: int) -> None:
    error = await refused(receiver, web.Response(status=status))
    assert (error.status, error.is_final, error.retry_after) == (status, False, None)
    assert str(error).startswith(f"{receiver.address} answered {status}")


async def test_gone_is_final(receiver: Receiver) -> None:
    assert (await refused(receiver, web.Response(status=410))).is_final


async def test_a_redirect_is_not_followed(receiver: Receiver) -> None:
    await refused(receiver, web.Response(status=307, headers={"Location": "/elsewhere"}))
    assert [path for path, _, _ in receiver.seen] == ["/in"]


async def test_a_receiver_says_how_long_it_wants_to_be_left_alone(receiver: Receiver) -> None:
    error = await refused(receiver, web.Response(status=429, headers={"Retry-After": "30"}))
    assert error.retry_after == 30


WAITS = [
    (None, None),
    ("120", 120.0),
    ("soon", None),
    ("Thu, 01 Jan 1970 00:02:00 GMT", 20.0),
    ("Thu, 01 Jan 1970 00:00:01 GMT", 0.0),
    ("Thu, 99 Jan 1970 00:00:01 GMT", None),
    ("9" * 30, float("9" * 30)),
    ("9" * 5000, None),
]


@pytest.mark.parametrize(("text", "expected"), WAITS, ids=[str(text)[:20] for text, _ in WAITS])
def test_a_wait_is_a_number_or_a_date(text: str | None, expected: float | None) -> None:
    assert seconds(text, now=100.0) == expected


async def test_the_connection_is_used_again(receiver: Receiver) -> None:
    await post(f"{receiver.address}/in", times=3)
    assert (len(receiver.seen), len(receiver.connections)) == (3, 1)


async def test_an_answer_of_any_size_is_no_burden(receiver: Receiver) -> None:
    receiver.answer = web.Response(body=b"x" * 10_000_000)
    await post(f"{receiver.address}/in")
    assert len(receiver.seen) == 1


async def test_nobody_there_is_said_without_what_may_be_secret(receiver: Receiver) -> None:
    url = "http://user:s3cret@127.0.0.1:1/s3cret?key=s3cret"
    with pytest.raises(HookUnreachable) as caught:
        await post(url)
    assert str(caught.value).startswith("http://127.0.0.1:1 gave no answer: ")
    assert "s3cret" not in str(caught.value)


async def test_a_machine_without_its_certificates_is_a_failure_and_no_more(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone"))
    with pytest.raises(HookUnreachable):
        await post(f"{receiver.address}/in")


async def test_a_server_that_hangs_up_gave_no_answer(no_proxy: None) -> None:
    async def hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(HookUnreachable):
            await post(f"http://127.0.0.1:{port}/")


@asynccontextmanager
async def answering(*pieces: bytes) -> AsyncIterator[str]:
    """The address of a server that says these things to whoever posts, and hangs up when there is nothing more."""
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for piece in pieces:
            if piece == HANGS:
                await done.wait()
            else:
                writer.write(piece)
        with suppress(ConnectionError):
            await writer.drain()
            writer.close()
            await writer.wait_closed()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
        done.set()


HANGS = b"(nothing more, and no end)"
OK = b"HTTP/1.1 200 OK\r\n"
BOMB = gzip.compress(b"x" * 30_000_000)
RESTS: dict[str, tuple[bytes, ...]] = {
    "is cut short": (OK + b"Content-Length: 10\r\n\r\nabc",),
    "never comes": (OK + b"Content-Length: 10\r\n\r\nabc", HANGS),
    "is said to be longer than it may be": (OK + b"Content-Length: 10000000000\r\n\r\nabc",),
    "never ends": (OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", HANGS),
    "cannot be unpacked": (OK + b"Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",),
    "unpacks to far more": (OK + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(BOMB), BOMB),
}


@pytest.mark.parametrize("pieces", RESTS.values(), ids=RESTS)
async def test_a_success_stays_one_whatever_its_body_is(no_proxy: None, pieces: tuple[bytes, ...]) -> None:
    async with asyncio.timeout(PATIENCE), answering(*pieces) as url:
        await post(url)


NONSENSE: dict[str, tuple[bytes, ...]] = {
    "no HTTP": (b"220 mail.example.org ESMTP\r\n",),
    "a head without an end": (OK + b"X: " + b"x" * 200_000,),
    "a length that is none": (OK + b"Content-Length: many\r\n\r\n",),
}


@pytest.mark.parametrize("pieces", NONSENSE.values(), ids=NONSENSE)
async def test_nonsense_is_no_answer(no_proxy: None, pieces: tuple[bytes, ...]) -> None:
    async with answering(*pieces) as url:
        with pytest.raises(HookUnreachable):
            await post(url)

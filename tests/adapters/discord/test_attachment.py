"""Files that come with a message."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import discord
import pytest
from aiohttp import web

from kesoku.adapter import Address, Attachment
from kesoku.adapter.policy import IntakePolicy
from kesoku_discord.inbound import attachment

from .made import Library, file
from .message_stage import alone, stage

ROOM = Address(chatbot_id="discord", channel_id="1")
Serve = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def cdn(serve: Serve) -> AsyncIterator[str]:
    """A server of files; its address."""
    app = web.Application()
    app.router.add_get("/{name}", serve)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    host, port = runner.addresses[0][:2]
    try:
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


def attached(*wire: dict[str, Any], **facts: Any) -> list[discord.Attachment]:
    """As the library makes them."""
    return attachment.files_of(Library().message(attachments=list(wire), **facts))


async def staged(
    folder: Path,
    files: list[discord.Attachment],
    *,
    limit: int = 1000,
    intake: IntakePolicy | None = None,
    seconds: float = 60.0,
) -> tuple[Attachment, ...]:
    """As the core stored them."""
    inbox = alone(folder, intake or IntakePolicy()).inbox
    return await attachment.stage(
        files, address=ROOM, inbox=inbox, client=Library().client, limit=limit, seconds=seconds
    )


def content(saved: Attachment) -> bytes:
    """What was stored."""
    return Path(saved.path or "").read_bytes()


async def test_a_file_beyond_the_limit_is_not_fetched(tmp_path: Path) -> None:
    """Complaint 82: the model is told name, size and reason; complaint 81: the others come."""
    asked: list[str] = []

    async def serve(request: web.Request) -> web.StreamResponse:
        asked.append(request.match_info["name"])
        return web.Response(body=b"abc")

    async with cdn(serve) as url:
        names = ("a.png", "film.mp4", "c.png")
        files = [file(name, url=f"{url}/{name}", size=60_000_000 if name == "film.mp4" else 3) for name in names]
        first, big, last = await staged(tmp_path, attached(*files), limit=25_000_000)
    assert (big.name, big.size, big.skipped, big.path) == ("film.mp4", 60_000_000, "it is larger than 25.0 MB", None)
    assert big.mime_type == "video/mp4"
    assert [content(each) for each in (first, last)] == [b"abc", b"abc"]
    assert asked == ["a.png", "c.png"]


@pytest.mark.parametrize(("failures", "kept"), [(1, True), (2, False)])
async def test_a_failed_download_is_tried_once_more(tmp_path: Path, failures: int, *, kept: bool) -> None:
    """Cut off in the middle; then it is skipped, and says why."""
    left = [failures]

    async def serve(request: web.Request) -> web.StreamResponse:
        if not left[0]:
            return web.Response(body=b"x" * 100)
        left[0] -= 1
        response = web.StreamResponse(headers={"Content-Length": "100"})
        await response.prepare(request)
        await response.write(b"x" * 50)
        assert request.transport is not None
        request.transport.abort()
        return response

    async with cdn(serve) as url:
        (saved,) = await staged(tmp_path, attached(file("a.bin", url=f"{url}/a.bin", size=100)))
    assert (saved.path is not None) is kept
    assert kept or (saved.skipped or "").startswith("it could not be downloaded (")
    assert list((tmp_path / "staging").rglob(".partial*")) == []


async def test_a_file_is_fetched_as_it_is(tmp_path: Path) -> None:
    """Text comes packed to whoever says that he unpacks it; nobody wants to read that."""

    async def serve(_: web.Request) -> web.StreamResponse:
        response = web.Response(body=b"la " * 1000, content_type="text/plain")
        response.enable_compression()
        return response

    async with cdn(serve) as url:
        (saved,) = await staged(tmp_path, attached(file("a.txt", url=f"{url}/a.txt", size=3000)), limit=3000)
    assert content(saved) == b"la " * 1000


async def test_a_file_that_ends_too_early_is_skipped(tmp_path: Path) -> None:
    """Also where the server does not say how long it is."""

    async def serve(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        response.enable_chunked_encoding()
        await response.prepare(request)
        await response.write(b"x" * 50)
        return response

    async with cdn(serve) as url:
        (saved,) = await staged(tmp_path, attached(file("a.bin", url=f"{url}/a.bin", size=100)))
    assert (saved.path, saved.skipped) == (None, "it could not be downloaded (only 50 of 100 bytes came)")


async def test_files_that_take_too_long_are_skipped(tmp_path: Path) -> None:
    """What follows their message in its channel waits for them."""
    asked: list[str] = []

    async def serve(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        if request.path != "/a.bin":
            await asyncio.Event().wait()
        return web.Response(body=b"abc")

    async with cdn(serve) as url:
        files = attached(*(file(name, url=f"{url}/{name}") for name in ("a.bin", "b.bin", "c.bin")))
        first, *others = await staged(tmp_path, files, seconds=0.2)
    assert content(first) == b"abc"
    assert {each.skipped for each in others} == {"it could not be downloaded (it took too long)"}
    assert asked == ["/a.bin", "/b.bin"]


@pytest.mark.parametrize("status", [403, 404, 302, 500])
async def test_what_is_not_served_is_skipped(tmp_path: Path, status: int) -> None:
    """A redirect leads nowhere: the server of a message's address does not choose what the bot fetches."""
    asked: list[str] = []

    async def serve(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        return web.Response(status=status, headers={"Location": "/inside"})

    async with cdn(serve) as url:
        (saved,) = await staged(tmp_path, attached(file("a.txt", url=f"{url}/a.txt", size=3)))
    assert (saved.name, saved.size) == ("a.txt", 3)
    assert saved.skipped == f"it could not be downloaded (Discord answered {status})"
    assert asked == ["/a.txt", "/a.txt"]


async def test_a_file_that_is_larger_than_it_says_ends_at_the_limit(tmp_path: Path) -> None:
    """Whatever is served."""

    async def serve(_: web.Request) -> web.StreamResponse:
        return web.Response(body=b"x" * 200_000)

    async with cdn(serve) as url:
        (saved,) = await staged(tmp_path, attached(file("a.bin", url=f"{url}/a.bin")), limit=100)
    assert saved.skipped == "it is larger than 100 bytes"


async def test_the_limit_of_the_core_holds_too(tmp_path: Path) -> None:
    """`limits.file_bytes`."""

    async def serve(_: web.Request) -> web.StreamResponse:
        return web.Response(body=b"12345")

    async with cdn(serve) as url:
        policy = IntakePolicy(file_bytes=4)
        (saved,) = await staged(tmp_path, attached(file("a.bin", url=f"{url}/a.bin", size=5)), intake=policy)
    assert saved.skipped == "it is larger than 4 bytes"


async def test_there_are_at_most_ten(tmp_path: Path) -> None:
    """The rest is named."""

    async def serve(_: web.Request) -> web.StreamResponse:
        return web.Response(body=b"1")

    async with cdn(serve) as url:
        saved = await staged(tmp_path, attached(*(file(f"{n}.txt", url=f"{url}/{n}", size=1) for n in range(12))))
    assert [each.skipped is None for each in saved] == [True] * 10 + [False] * 2
    assert saved[-1].skipped == "there are more than 10 files in one message"


async def test_no_file_costs_nothing(tmp_path: Path) -> None:
    """Not even a session."""
    assert await staged(tmp_path, []) == ()


@pytest.mark.parametrize(
    ("facts", "mime_type"),
    [
        ({"filename": "a.png", "content_type": "image/PNG; x=1"}, "image/png"),
        ({"filename": "a.png"}, "image/png"),
        ({"filename": "a.nothing"}, "application/octet-stream"),
        ({"filename": "voice-message.ogg", "duration_secs": 1.0, "waveform": "AA=="}, "audio/ogg"),
    ],
)
def test_the_type_of_a_file(facts: dict[str, Any], mime_type: str) -> None:
    """As Discord says, else by its name."""
    (made,) = attached(file(**facts))
    assert attachment.mime_type_of(made) == mime_type


def test_files_of_a_forwarded_message_come_along() -> None:
    """After its own."""
    snapshot = {
        "type": 0,
        "content": "",
        "embeds": [],
        "attachments": [file("b.png")],
        "timestamp": "2026-05-27T12:45:00+00:00",
        "edited_timestamp": None,
    }
    found = attached(file("a.png"), message_snapshots=[{"message": snapshot}])
    assert [each.filename for each in found] == ["a.png", "b.png"]


async def test_a_voice_message_is_audio(tmp_path: Path) -> None:
    """Complaint 87: its type, and how long it is."""
    async with stage(tmp_path) as on, on.running():
        direct = on.server.direct(on.ada)
        sound = ("voice-message.ogg", b"OggS", "application/octet-stream")
        await on.server.say(direct, on.ada, "", attachments=[sound], voice=True)
        (record,) = await on.prompts(1)
        (saved,) = record.message.content.attachments
        assert (saved.mime_type, saved.skipped) == ("audio/ogg", None)
        assert "(voice message, " in record.message.rendered

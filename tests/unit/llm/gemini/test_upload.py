"""Files beyond what a request carries, over the real SDK and the loopback's Files API."""

import asyncio
import gc
import json
import os
import socket
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from pydantic import SecretStr

from kesoku.errors import ModelRequestRefused
from kesoku.history.compile import compile_turns
from kesoku.llm.gemini import GeminiConfig
from kesoku.llm.gemini.call import Call
from kesoku.llm.gemini.client import Endpoint, borrow, give_back
from kesoku.llm.gemini.media import MediaRoom
from kesoku.llm.gemini.model import GeminiModel
from kesoku.llm.gemini.profile import profile_of
from kesoku.llm.gemini.upload import LIFE, MARGIN, Uploads
from kesoku.llm.gemini.wire import Media
from kesoku.llm.shared import Shared
from kesoku.messages.content import Attachment
from kesoku.messages.turn import MediaBlock, Turn, TurnRequest
from kesoku.testing.gemini import HTML_502, Hang, LoopbackGemini, Processing, Refusal, Reset, overloaded
from kesoku.testing.model_contract import listen
from kesoku.testing.talk import Talk

from .conftest import Pauses

pytestmark = pytest.mark.asyncio(loop_scope="module")

FILM = b"\0\0\0\x18ftypisom" + bytes(12)
SIZE = 15_000_001


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def endpoint() -> AsyncIterator[Endpoint]:
    """One address and one client for all tests, for a client takes long to make."""
    with pytest.MonkeyPatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as free:
        patch.setenv("NO_PROXY", "127.0.0.1")
        port = free.getsockname()[1]
        endpoint = Endpoint(base_url=f"http://127.0.0.1:{port}", api_version="v1beta", api_key=SecretStr("test-key"))
        await borrow(endpoint, "test")
    yield endpoint
    await give_back(endpoint, "test")


@pytest_asyncio.fixture(loop_scope="module")
async def server(endpoint: Endpoint, pauses: Pauses) -> AsyncIterator[LoopbackGemini]:
    async with LoopbackGemini(now=pauses.now, port=int(endpoint.base_url.rpartition(":")[2])) as server:
        yield server


@pytest_asyncio.fixture(loop_scope="module")
async def client(server: LoopbackGemini, endpoint: Endpoint) -> Any:
    return await borrow(endpoint, "test")


Make = Callable[..., MediaRoom]


@pytest.fixture
def make(server: LoopbackGemini, pauses: Pauses, tmp_path: Path) -> Make:
    """Rooms as of several processes: what they share is on disk."""

    def make(
        *, key: str = "test-key", seconds: float = 300.0, sleep: Any = pauses.sleep, base_url: str = server.base_url
    ) -> MediaRoom:
        uploads = Uploads(
            shared=Shared(tmp_path / "state"),
            call=Call(model="g", wanted="gemini-3.5-flash", secret=key, stage="first_chunk", seconds=1.0),
            endpoint=Endpoint(base_url=base_url, api_version="v1beta", api_key=SecretStr(key)),
            seconds=seconds,
            now=pauses.now,
            sleep=sleep,
        )
        return MediaRoom(profile=profile_of("gemini-3.5-flash"), uploads=uploads)

    return make


def film(
    folder: Path, name: str = "Ünïcode \N{CLAPPER BOARD}.mp4", *, size: int = SIZE, mark: bytes = b""
) -> MediaBlock:
    path = folder / name
    path.write_bytes(FILM + mark)
    os.truncate(path, size)
    return MediaBlock(path=str(path), mime_type="video/mp4", name=name)


def turn(*blocks: MediaBlock) -> list[Turn]:
    return [Turn(role="user", blocks=blocks)]


async def only(room: MediaRoom, block: MediaBlock, client: Any) -> Any:
    (part,) = (await room.parts(turn(block), client))[block]
    return part


async def test_a_large_file_is_uploaded_once_for_all_processes(
    server: LoopbackGemini, make: Make, client: Any, tmp_path: Path
) -> None:
    # complaint 86
    block = film(tmp_path)
    part = await only(make(), block, client)
    (file,) = server.files.values()
    assert part == {"file_data": {"file_uri": file.uri, "mime_type": "video/mp4"}}
    assert (file.mime_type, file.data) == ("video/mp4", FILM + bytes(SIZE - len(FILM)))
    renamed = film(tmp_path, "other.mp4")
    assert await only(make(), renamed, client) == part
    assert len(server.asked("upload")) == 1
    assert len(server.asked("chunk")) == 2
    assert all(seen.headers.get("x-goog-api-key") in {"test-key", None} for seen in server.requests)
    stored = "".join(path.name + path.read_text() for path in (tmp_path / "state").iterdir())
    assert "test-key" not in stored


async def test_turns_that_need_the_same_file_at_once_upload_it_once(
    server: LoopbackGemini, make: Make, client: Any, tmp_path: Path
) -> None:
    room, block = make(), film(tmp_path)
    first, *others = await asyncio.gather(*(only(room, block, client) for _ in range(3)))
    assert others == [first, first]
    assert len(server.asked("upload")) == 1


async def test_of_two_processes_that_upload_at_once_both_use_the_one_that_was_ready_first(
    server: LoopbackGemini, make: Make, client: Any, tmp_path: Path
) -> None:
    other, block, ready = make(), film(tmp_path), []

    async def sleep(_: float) -> None:
        ready.append(await only(other, block, client))

    server.script(Processing(polls=1), on="upload")
    slow = make(sleep=sleep)
    used = [await only(room, block, client) for room in (slow, other, slow)]
    assert used == [ready[0]] * 3
    assert len(server.asked("upload")) == 2


async def test_what_waits_for_a_cancelled_upload_does_it_itself(
    server: LoopbackGemini, make: Make, client: Any, tmp_path: Path
) -> None:
    room, block = make(), film(tmp_path)
    server.script(Hang(), on="upload")
    first = asyncio.create_task(only(room, block, client))
    assert await server.has_seen()
    second = asyncio.create_task(only(room, block, client))
    first.cancel()
    assert await server.has_left()
    assert "file_data" in await second
    assert first.cancelled()


async def test_an_upload_is_used_until_shortly_before_it_expires(
    server: LoopbackGemini, make: Make, client: Any, tmp_path: Path, pauses: Pauses
) -> None:
    block, room = film(tmp_path), make()
    first = await only(room, block, client)
    await pauses.sleep(LIFE - MARGIN - 1)
    assert await only(room, block, client) == first
    await pauses.sleep(2)
    second = await only(room, block, client)
    assert second != first
    assert second["file_data"]["file_uri"] in {file.uri for file in server.files.values()}


async def test_what_the_provider_has_lost_is_uploaded_again(
    server: LoopbackGemini, make: Make, client: Any, tmp_path: Path
) -> None:
    kept, lost = film(tmp_path, "kept.mp4"), film(tmp_path, "lost.mp4", mark=b"2")
    room = make()
    before: Media = {**await room.parts(turn(kept), client), **await room.parts(turn(lost), client)}
    server.expire_files()
    await make().forget(await room.parts(turn(lost), client))
    after = {**await room.parts(turn(kept), client), **await room.parts(turn(lost), client)}
    assert after[kept] == before[kept]
    assert after[lost] != before[lost]
    assert len(server.asked("upload")) == 3
    await room.forget({})


@pytest.mark.parametrize("fact", ["{", "[1]", '{"a": 1}', json.dumps({"x": {"uri": 1, "until": "2"}})])
async def test_a_damaged_memory_costs_an_upload(
    server: LoopbackGemini, make: Make, client: Any, tmp_path: Path, fact: str
) -> None:
    block = film(tmp_path)
    await only(make(), block, client)
    (path,) = (tmp_path / "state").glob("*.json")
    path.write_text(fact)
    assert "file_data" in await only(make(), block, client)
    assert len(server.asked("upload")) == 2


async def test_the_uploads_of_another_key_are_not_ours(
    server: LoopbackGemini, make: Make, client: Any, tmp_path: Path
) -> None:
    block = film(tmp_path)
    assert await only(make(), block, client) != await only(make(key="another"), block, client)


async def test_a_file_in_processing_is_waited_for(
    server: LoopbackGemini, make: Make, client: Any, tmp_path: Path, pauses: Pauses
) -> None:
    server.script(Processing(polls=6), on="upload")
    assert "file_data" in await only(make(), film(tmp_path), client)
    assert pauses[:6] == [0.5, 1.0, 2.0, 4.0, 8.0, 8.0]


@pytest.mark.parametrize("script", [overloaded(), HTML_502, Reset()], ids=["503", "502", "reset"])
@pytest.mark.parametrize("kind", ["upload", "files"])
async def test_what_may_pass_is_tried_again(
    server: LoopbackGemini, make: Make, client: Any, tmp_path: Path, script: Any, kind: Any, pauses: Pauses
) -> None:
    server.script(Processing(polls=1), on="upload") if kind == "files" else None
    server.script(script, script, on=kind)
    assert "file_data" in await only(make(), film(tmp_path), client)
    assert (1.0, 2.0) in pairwise(pauses)


async def test_bytes_that_break_off_are_sent_again(
    server: LoopbackGemini, make: Make, client: Any, tmp_path: Path
) -> None:
    server.script(Reset(), on="chunk")
    assert "file_data" in await only(make(), film(tmp_path), client)
    assert len(server.asked("upload")) == 2


QUOTA = Refusal(429, "RESOURCE_EXHAUSTED", "You have exceeded your file storage quota.")


@pytest.mark.parametrize(
    ("scripts", "why", "rest"),
    [
        ([QUOTA], "You have exceeded your file storage quota", 31),
        ([Refusal(403, "PERMISSION_DENIED", "test-key may not.")], "its upload was refused (*** may not.)", 601),
        ([Refusal(400, "INVALID_ARGUMENT", "Unsupported MIME type")], "Unsupported MIME type", 601),
        ([overloaded()] * 3, "overloaded", 31),
        ([Processing(polls=1, error="no video track")], "could not process it (no video track)", 601),
        ([Processing(polls=999)], "its upload was not ready within 300 s", 31),
    ],
    ids=["quota", "denied", "refused", "down", "failed", "slow"],
)
async def test_a_refused_file_is_named_and_not_tried_again_for_a_while(
    server: LoopbackGemini,
    make: Make,
    client: Any,
    tmp_path: Path,
    pauses: Pauses,
    scripts: list[Any],
    why: str,
    rest: float,
) -> None:
    server.script(*scripts, on="upload")
    block, room = film(tmp_path, "a.mp4"), make()
    part = await only(room, block, client)
    assert part["text"].startswith("[File a.mp4 (video/mp4, 15,000,001 bytes) is not shown: ")
    assert why in part["text"]
    asked = len(server.requests)
    assert await only(room, block, client) == part
    await pauses.sleep(rest - 2)
    assert await only(room, block, client) == part
    assert len(server.requests) == asked
    await pauses.sleep(2)
    assert "file_data" in await only(room, block, client)


async def test_silence_ends_an_upload(server: LoopbackGemini, make: Make, client: Any, tmp_path: Path) -> None:
    server.script(Hang(), on="upload")
    part = await only(make(seconds=0.3), film(tmp_path), client)
    assert "its upload was not ready within 0.3 s" in part["text"]
    assert await server.has_left()


async def test_a_file_that_is_gone_by_then_is_named(
    server: LoopbackGemini, make: Make, client: Any, tmp_path: Path
) -> None:
    block = film(tmp_path)

    async def vanish(_seconds: float) -> None:
        os.unlink(block.path)  # noqa: PTH108

    server.script(Reset(), on="upload")
    part = await only(make(sleep=vanish), block, client)
    assert "No such file" in part["text"]


async def test_nothing_is_left_open(server: LoopbackGemini, make: Make, client: Any, tmp_path: Path) -> None:
    room = make()
    await room.parts(turn(*(film(tmp_path, f"{n}.mp4", mark=bytes([n])) for n in range(5))), client)
    gc.collect()
    assert room._uploads is not None
    assert (len(room._uploads._locks), len(room._uploads._doors)) == (0, 0)
    assert len(server.files) == 5


async def test_the_bytes_go_through_the_proxy_too(
    server: LoopbackGemini, make: Make, no_proxy: None, tmp_path: Path
) -> None:
    """A proxy under whose Host the server cannot be reached, as it names itself in the address for the bytes."""

    async def forward(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", int(server.base_url.rpartition(":")[2]))
        await asyncio.gather(copy(reader, back), copy(there, writer))

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(1 << 16):
            writer.write(data.replace(f"127.0.0.1:{port}".encode(), b"nowhere.invalid"))
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(forward, "127.0.0.1", 0) as proxy:
        port = proxy.sockets[0].getsockname()[1]
        endpoint = Endpoint(base_url=f"http://127.0.0.1:{port}", api_version="v1", api_key=SecretStr("test-key"))
        part = await only(make(base_url=endpoint.base_url), film(tmp_path), await borrow(endpoint, "proxied"))
        await give_back(endpoint, "proxied")
    assert part["file_data"]["file_uri"].startswith("http://nowhere.invalid/v1/files/")


async def test_a_file_that_the_server_refuses_costs_this_turn_only(
    server: LoopbackGemini, endpoint: Endpoint, tmp_path: Path
) -> None:
    config = GeminiConfig(api_key=endpoint.api_key, base_url=endpoint.base_url)
    model, talk = GeminiModel(name="g", config=config, environment={}), Talk()
    block = film(tmp_path, "a.mp4", size=1_000)
    talk.prompt("look", files=(Attachment(name="a.mp4", path=block.path, mime_type="video/mp4"),))
    server.script(Refusal(400, "INVALID_ARGUMENT", "Unable to process input video."))
    with pytest.raises(ModelRequestRefused):
        await listen(model, compile_turns(talk.records, talk.steps, TurnRequest(), provider="gemini"))
    talk.error("refused")
    talk.prompt("hello")
    await listen(model, compile_turns(talk.records, talk.steps, TurnRequest(), provider="gemini"))
    await model.aclose()
    refused, accepted = server.asked("generate")
    assert b"inlineData" in refused.raw
    assert b"inlineData" not in accepted.raw
    assert "stripped from history: a.mp4" in accepted.raw.decode()

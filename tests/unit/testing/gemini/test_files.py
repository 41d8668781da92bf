"""The Files API of the loopback Gemini."""

import hashlib
import io
from base64 import b64decode
from typing import Any

import pytest

from kesoku.testing.gemini import LoopbackGemini, Processing, Refusal, Usual

PDF = {"mime_type": "application/pdf", "display_name": "a paper"}
START = {
    "X_Goog_Upload_Protocol": "resumable",
    "X_Goog_Upload_Command": "start",
    "X_Goog_Upload_Header_Content_Length": "4",
    "X_Goog_Upload_Header_Content_Type": "application/pdf",
}


def look_at(uri: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"file_data": {"file_uri": uri, "mime_type": "application/pdf"}}]}


async def test_the_sdk_uploads_looks_up_lists_and_deletes(server: LoopbackGemini, sdk: Any) -> None:
    data = bytes(range(256)) * 36_000  # two chunks
    async with sdk() as client:
        file = await client.files.upload(file=io.BytesIO(data), config=PDF)
        assert (file.state, file.size_bytes, file.display_name) == ("ACTIVE", len(data), "a paper")
        assert b64decode(file.sha256_hash) == hashlib.sha256(data).hexdigest().encode()
        assert server.files[file.name].data == data
        assert (await client.files.get(name=file.name)).uri == file.uri
        assert [each.name async for each in await client.files.list()] == [file.name]
        await client.files.delete(name=file.name)
    assert not server.files
    assert [len(seen.raw) for seen in server.asked("chunk")] == [8 * 1024**2, len(data) - 8 * 1024**2]


@pytest.mark.parametrize(("error", "state", "status"), [(None, "ACTIVE", 200), ("no video in it", "FAILED", 400)])
async def test_a_file_is_processed_before_it_can_be_used(
    server: LoopbackGemini, hand: Any, error: str | None, state: str, status: int
) -> None:
    server.script(Processing(polls=2, error=error), on="upload")
    url = (await hand("upload/v1beta/files", {}, **START)).headers["X-Goog-Upload-URL"]
    file = (await hand(url, b"%PDF", X_Goog_Upload_Command="upload, finalize", X_Goog_Upload_Offset="0")).json["file"]
    assert file["state"] == "PROCESSING"
    early = await hand.generate(look_at(file["uri"]))
    assert (early.status, early.json["error"]["status"]) == (400, "FAILED_PRECONDITION")
    looked = [(await hand(f"v1beta/{file['name']}", method="GET")).json for _ in range(3)]
    assert [each["state"] for each in looked] == ["PROCESSING", "PROCESSING", state]
    assert looked[-1].get("error", {}).get("message") == error
    assert (await hand.generate(look_at(file["uri"]))).status == status


@pytest.mark.parametrize("how", ["time", "order"])
async def test_an_expired_file_is_unknown(server: LoopbackGemini, hand: Any, clock: Any, how: str) -> None:
    url = (await hand("upload/v1beta/files", {}, **START)).headers["X-Goog-Upload-URL"]
    file = (await hand(url, b"%PDF", X_Goog_Upload_Command="upload, finalize", X_Goog_Upload_Offset="0")).json["file"]
    assert (await hand.generate(look_at(file["uri"]))).status == 200
    if how == "time":
        clock.seconds += 48 * 3600
    else:
        server.expire_files()
    used, asked = await hand.generate(look_at(file["uri"])), await hand(f"v1beta/{file['name']}", method="GET")
    assert (used.status, asked.status) == (403, 403)
    assert used.message == asked.message
    assert "You do not have permission to access the File" in used.message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"X_Goog_Upload_Protocol": "raw"}, "resumable"),
        ({"X_Goog_Upload_Command": "upload"}, "resumable"),
        ({"X_Goog_Upload_Header_Content_Length": "many"}, "resumable"),
        ({"X_Goog_Upload_Header_Content_Length": "0"}, "size 0"),
        ({"X_Goog_Upload_Header_Content_Length": str(2**31 + 1)}, "above"),
        ({"X_Goog_Upload_Header_Content_Type": ""}, "resumable"),
        ({"body": {"file": {"size_bytes": 5}}}, "not that of the file"),
        ({"body": {"file": {"name": "files/../x"}}}, "named"),
        ({"body": {"file": "x"}}, "Invalid value at 'file'"),
        ({"x_goog_api_key": "wrong"}, "API key"),
    ],
)
async def test_a_wrong_start_is_refused(hand: Any, change: dict[str, Any], message: str) -> None:
    got = await hand("upload/v1beta/files", **{"body": {}, **START, **change})
    assert got.status == 400
    assert message in got.message


@pytest.mark.parametrize(
    ("data", "command", "offset", "status"),
    [
        (b"%PDF", "upload, finalize", "1", 400),
        (b"%PDF", "upload, finalize", "", 400),
        (b"%PD", "upload, finalize", "0", 400),
        (b"%PDF-", "upload, finalize", "0", 400),
        (b"%PDF", "upload", "0", 400),
        (b"%PDF", "", "0", 400),
        (b"%PDF", "cancel", "0", 400),
        (b"", "finalize", "0", 400),
        (b"%PDF", "upload, finalize", "0", 200),
    ],
)
async def test_chunks_are_counted(
    server: LoopbackGemini, hand: Any, data: bytes, command: str, offset: str, status: int
) -> None:
    url = (await hand("upload/v1beta/files", {}, **START)).headers["X-Goog-Upload-URL"]
    got = await hand(url, data, X_Goog_Upload_Command=command, X_Goog_Upload_Offset=offset)
    assert got.status == status
    assert [file.data for file in server.files.values()] == ([b"%PDF"] if status == 200 else [])
    assert got.headers["X-Goog-Upload-Status"] == "final"
    again = await hand(url, b"", X_Goog_Upload_Command="finalize", X_Goog_Upload_Offset=offset)
    assert again.status == 404


async def test_uploads_fail_by_script(server: LoopbackGemini, hand: Any) -> None:
    refusal = Refusal(503, "UNAVAILABLE", "later")
    server.script(refusal, Usual(), on="upload")
    server.script(refusal, on="chunk")
    server.script(refusal, on="files")
    assert (await hand("upload/v1beta/files", {}, **START)).status == 503
    url = (await hand("upload/v1beta/files", {}, **START)).headers["X-Goog-Upload-URL"]
    last = {"X_Goog_Upload_Command": "upload, finalize", "X_Goog_Upload_Offset": "0"}
    assert [(await hand(url, b"%PDF", **last)).status for _ in range(2)] == [503, 200]
    assert (await hand("v1beta/files", method="GET")).status == 503
    assert server.unused == 0
    assert [seen.answer for seen in server.requests] == [refusal, Usual(), refusal, None, refusal]


@pytest.mark.parametrize(
    ("uri", "status"),
    [
        ("https://example.org/files/paper", 200),
        ("gs://bucket/paper", 400),
        ("/etc/passwd", 400),
        ("files/never", 403),
        ("https://generativelanguage.googleapis.com/v1beta/files/never", 403),
    ],
)
async def test_other_addresses_of_files(hand: Any, uri: str, status: int) -> None:
    assert (await hand.generate(look_at(uri))).status == status

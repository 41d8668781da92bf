"""Vertex AI over the loopback: real google-auth, a service account, tokens that expire, are refused or never come."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from google.auth.exceptions import RefreshError

from kesoku.errors import ModelError, ModelLoginMissing, ModelTimeout, ModelUnavailable
from kesoku.llm.gemini import GeminiConfig
from kesoku.llm.gemini.call import Call
from kesoku.llm.gemini.failure import translate
from kesoku.llm.gemini.model import GeminiModel
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.gemini.script import Hang, Refusal
from kesoku.testing.model_contract import listen
from kesoku.testing.waiting import PATIENCE

from .conftest import HELLO, Make


@pytest.fixture
def login(server: LoopbackGemini, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The key file that this machine's default credentials are."""
    for name, value in {"NO_GCE_CHECK": "true", "CLOUDSDK_CONFIG": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    path = server.service_account(tmp_path / "login.json")
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(path))
    return path


@pytest.fixture
async def make(server: LoopbackGemini, login: Path) -> AsyncIterator[Make]:
    made = []

    def make(**config: Any) -> GeminiModel:
        config = {"vertex": True, "project": "p", "base_url": server.base_url, "retries": 0, **config}
        made.append(GeminiModel(name="v", config=GeminiConfig(**config), environment={}))
        return made[-1]

    yield make
    for model in made:
        await model.aclose()


def replace(path: Path, old: str, new: str) -> None:
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def bearers(server: LoopbackGemini) -> list[str]:
    return [seen.headers["authorization"] for seen in server.asked("generate")]


async def test_a_token_is_fetched_once_and_signs_every_request(
    server: LoopbackGemini, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "false")
    monkeypatch.setenv("GEMINI_API_KEY", "of-no-concern")
    model = make(location="us-central1")
    await asyncio.gather(*(listen(model, HELLO) for _ in range(5)))
    assert set(bearers(server)) == {"Bearer ya29.loopback-1"}
    assert len(server.asked("token")) == 1
    seen = server.asked("generate")[0]
    assert seen.path.startswith("/v1beta1/projects/p/locations/us-central1/publishers/google/models/gemini-3.5-flash:")
    assert "of-no-concern" not in str(seen.headers)
    assert "stand-in" not in str([each.headers for each in server.requests])


async def test_a_refused_token_is_renewed_once(server: LoopbackGemini, make: Make) -> None:
    model = make()
    await listen(model, HELLO)
    server.expire_tokens()
    _, reply = await listen(model, HELLO)
    assert reply.text
    assert [token[-1] for token in bearers(server)] == ["1", "1", "2"]
    server.script(*[Refusal(401, "UNAUTHENTICATED", "It was revoked.")] * 2)
    with pytest.raises(ModelLoginMissing, match="It was revoked"):
        await listen(model, HELLO)
    assert server.unused == 0


NOT_THERE = "File .* was not found"


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.unlink(), NOT_THERE),
        (lambda path: path.write_text("{"), "not a valid json file"),
        (lambda path: path.write_text("{}"), "does not have a valid type"),
        (
            lambda path: replace(path, "loopback-1@", "stranger@"),
            "invalid_grant: Invalid JWT",
        ),
    ],
    ids=["no-file", "no-json", "no-type", "stranger"],
)
async def test_broken_credentials_are_one_line_with_a_cure_and_are_read_again(
    server: LoopbackGemini, make: Make, login: Path, spoil: Callable[[Path], None], said: str
) -> None:
    good = await asyncio.to_thread(login.read_text)
    spoil(login)
    model = make()
    with pytest.raises(ModelLoginMissing, match=f"no usable Google Cloud credentials .*{said}") as caught:
        await listen(model, HELLO)
    assert "\n" not in str(caught.value)
    assert "gcloud auth application-default login" in caught.value.cure
    await asyncio.to_thread(login.write_text, good)
    _, reply = await listen(model, HELLO)
    assert reply.text


@pytest.mark.parametrize(
    ("token_uri", "error"),
    [("http://127.0.0.1:1/token", ModelUnavailable), (None, ModelTimeout)],
    ids=["refused", "silent"],
)
async def test_a_token_server_that_does_not_answer_is_bounded(
    server: LoopbackGemini, make: Make, login: Path, token_uri: str | None, error: type[ModelError]
) -> None:
    if token_uri:
        replace(login, f"{server.base_url}/token", token_uri)
    server.script(Hang(), on="token")
    model = make(first_chunk_seconds=0.3 if token_uri is None else 10)
    with pytest.raises(error):
        await listen(model, HELLO)


async def test_cancelling_leaves_the_token_behind_at_once(server: LoopbackGemini, make: Make) -> None:
    server.script(Hang(), on="token")
    asked = asyncio.create_task(listen(make(), HELLO))
    assert await server.has_seen(1)
    asked.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(asked, PATIENCE)
    left = [thread for thread in threading.enumerate() if thread.name == "kesoku-login"]
    assert left
    assert all(thread.daemon for thread in left), "the end of the process would wait for it"


def test_a_token_server_that_is_down_may_recover() -> None:
    call = Call(model="v", wanted="gemini-x", secret="", stage="first_chunk", seconds=3)
    refresh_error: Any = RefreshError
    assert type(translate(refresh_error("internal_failure", {}, retryable=True), call)) is ModelUnavailable
    assert type(translate(refresh_error("invalid_grant", {}), call)) is ModelLoginMissing


async def test_a_redirect_is_not_followed_with_a_token(server: LoopbackGemini, make: Make) -> None:
    async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(
            f"HTTP/1.1 307 Gone\r\nLocation: {server.base_url}/v1beta1/x\r\nContent-Length: 0\r\n\r\n".encode()
        )
        await writer.drain()
        writer.close()

    asked: list[str] = []
    async with await asyncio.start_server(redirect, "127.0.0.1", 0) as first:
        with pytest.raises(ModelError):
            await listen(make(base_url="http://127.0.0.1:{1}".format(*first.sockets[0].getsockname())), HELLO)
    assert "ya29.loopback-1" in asked[0]
    assert {seen.kind for seen in server.requests} == {"token"}

"""Vertex AI of the loopback Gemini: paths, and tokens of its own endpoint."""

import json
from pathlib import Path
from typing import Any

import pytest

from kesoku.testing.gemini import Answer, Blocked, LoopbackGemini, Say

MODEL = "v1beta1/projects/p/locations/l/publishers/google/models/gemini-x"
BODY = {"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}


def credentials(path: Path) -> Any:
    from google.oauth2 import service_account

    scopes = ["https://www.googleapis.com/auth/cloud-platform"]
    return service_account.Credentials.from_service_account_file(path, scopes=scopes)  # type: ignore[no-untyped-call]


async def test_the_sdk_signs_in_and_talks(server: LoopbackGemini, sdk: Any, tmp_path: Path) -> None:
    server.cache_minimum = 1
    server.script(Answer(Say("hello"), finish="MODEL_ARMOR"), Blocked("MODEL_ARMOR"))
    key = credentials(server.service_account(tmp_path / "key.json"))
    async with sdk(vertexai=True, api_key=None, project="p", location="l", credentials=key) as client:
        said = await client.models.generate_content(model="gemini-x", contents="hi")
        blocked = await client.models.generate_content(model="gemini-x", contents="hi")
        assert (said.text, said.candidates[0].finish_reason) == ("hello", "MODEL_ARMOR")
        assert blocked.prompt_feedback.block_reason == "MODEL_ARMOR"
        assert (await client.models.count_tokens(model="gemini-x", contents="hi")).total_tokens == 1
        assert (await client.models.get(model="gemini-x")).name == "publishers/google/models/gemini-x"
        made = await client.caches.create(model="gemini-x", config={"contents": "hi", "system_instruction": "x"})
        assert made.name == "projects/p/locations/l/cachedContents/loopback-1"
        config = {"cached_content": made.name}
        assert (await client.models.generate_content(model="gemini-x", contents="hi", config=config)).text
        server.expire_tokens()
        with pytest.raises(Exception, match="UNAUTHENTICATED"):
            await client.models.generate_content(model="gemini-x", contents="hi")
    assert [seen.kind for seen in server.requests[:2]] == ["token", "generate"]
    assert (tmp_path / "key.json").stat().st_mode & 0o77 == 0


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer ya29.other"}, {"Authorization": "Basic eDp5"}])
async def test_without_a_token_of_ours_nothing_goes(hand: Any, headers: dict[str, str]) -> None:
    got = await hand(f"{MODEL}:generateContent", BODY, **headers)
    assert (got.status, got.json["error"]["status"]) == (401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ("", "unsupported_grant_type"),
        ("grant_type=refresh_token&refresh_token=x", "unsupported_grant_type"),
        ("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=a.b.c", "invalid_grant"),
        ("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer", "invalid_grant"),
    ],
)
async def test_a_wrong_grant_is_refused(hand: Any, form: str, error: str) -> None:
    got = await hand("token", form.encode())
    assert (got.status, got.json["error"]) == (400, error)


async def test_a_token_lasts_an_hour(server: LoopbackGemini, hand: Any, clock: Any, tmp_path: Path) -> None:
    server.service_account(tmp_path / "key.json")
    key = credentials(tmp_path / "key.json")
    form = "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion="
    assertion = key._make_authorization_grant_assertion().decode()
    got = (await hand("token", (form + assertion).encode())).json
    assert (got["expires_in"], got["token_type"]) == (3599, "Bearer")
    bearer = {"Authorization": f"Bearer {got['access_token']}"}
    old = [(await hand(f"{MODEL}:generateContent", {**BODY, "cachedContent": "never"}, **bearer)).status]
    for seconds in (3599, 1):
        clock.seconds += seconds
        old.append((await hand(f"{MODEL}:generateContent", BODY, **bearer)).status)
    assert old == [404, 200, 401]
    altered = assertion[:-4] + ("AAAA" if assertion[-4:] != "AAAA" else "BBBB")
    assert (await hand("token", (form + altered).encode())).json["error"] == "invalid_grant"


@pytest.mark.parametrize(
    ("change", "scopes", "error"),
    [
        ({"client_email": "stranger@p.iam.gserviceaccount.com"}, None, "invalid_grant"),
        ({}, ["https://www.googleapis.com/auth/drive"], "invalid_scope"),
    ],
)
async def test_an_assertion_must_be_of_our_account_and_for_our_scope(
    server: LoopbackGemini, hand: Any, tmp_path: Path, change: dict[str, str], scopes: Any, error: str
) -> None:
    path = server.service_account(tmp_path / "key.json")
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    key = credentials(path)
    assertion = (key.with_scopes(scopes) if scopes else key)._make_authorization_grant_assertion().decode()
    form = f"grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion={assertion}"
    assert (await hand("token", form.encode())).json["error"] == error

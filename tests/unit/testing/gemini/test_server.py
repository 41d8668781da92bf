"""The loopback Gemini refuses what the real one refuses, and answers as scripted."""

import base64
import io
import json
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from typing import Any

import aiohttp
import pytest

from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.gemini.__main__ import main
from kesoku.testing.gemini.grammar import STAND_INS, check, normal, sign
from kesoku.testing.gemini.script import Answer, Call, Part, Say, Think

USER = {"role": "user", "parts": [{"text": "hi"}]}


def call(name: str = "f", args: Any = None, signature: bytes | None = None, **more: Any) -> dict[str, Any]:
    part: dict[str, Any] = {"function_call": {"name": name, "args": args or {}, **more}}
    return part if signature is None else {**part, "thought_signature": signature}


def answer(name: str = "f", **more: Any) -> dict[str, Any]:
    return {"function_response": {"name": name, "response": {"output": 1}, **more}}


def signed(name: str = "f", **facts: Any) -> dict[str, Any]:
    part = call(name, **facts)
    return {**part, "thought_signature": sign(part)}


def said(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "model", "parts": list(parts)}


def heard(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "parts": list(parts)}


DUMMY = min(STAND_INS)


@pytest.mark.parametrize(
    "contents",
    [
        [USER],
        [USER, said({"text": "a"}), USER],
        [USER, said(signed()), heard(answer())],
        [USER, said(signed(id="1"), call(name="g", id="2")), heard(answer(id="1"), answer("g", id="2"), {"text": "n"})],
        [USER, said(call(signature=DUMMY)), heard(answer())],
        [USER, said(call()), heard(answer()), said({"text": "done"}), USER],
        [USER, said({"text": "", "thought_signature": sign({"text": ""})}), USER],
        [USER, said({"text": "hm", "thought": True}, signed(args={"b": 1, "a": 2.0})), heard(answer())],
    ],
)
def test_the_grammar_accepts(contents: list[Any]) -> None:
    assert check({"contents": contents}) is None


@pytest.mark.parametrize(
    ("contents", "message"),
    [
        ([], "contents is not specified"),
        ([{"role": "tool", "parts": [{"text": "x"}]}], "valid role"),
        ([{"role": "user", "parts": []}], "must not be empty"),
        ([heard({"text": ""})], "empty text"),
        ([heard({})], "oneof field 'data'"),
        ([heard({"text": "a", "function_call": {"name": "f"}})], "oneof field 'data'"),
        ([heard({"text": "a", "signature": 1})], 'Unknown name "signature"'),
        ([heard({"text": "a\0"})], "NUL"),
        ([heard({"text": "\ud800"})], "lone surrogate"),
        ([USER, said({"text": "a"})], "end with a user role"),
        ([said(signed()), heard(answer())], "immediately after a user turn"),
        ([USER, said({"text": "a"}), said(signed()), heard(answer())], "immediately after a user turn"),
        ([USER, said(signed()), USER], "number of function response parts"),
        ([USER, said(signed(), call()), heard(answer())], "number of function response parts"),
        ([USER, said(signed()), heard(answer(), answer())], "number of function response parts"),
        ([USER, said({"text": "a"}), heard(answer())], "number of function response parts"),
        ([USER, said(signed()), heard(answer()), heard(answer())], "number of function response parts"),
        ([USER, said(signed(), call("g")), heard(answer("g"), answer())], "order of the function calls"),
        ([USER, said(signed(id="1")), heard(answer())], "id of its function call"),
        ([USER, said(signed()), heard(answer(id="1"))], "id of its function call"),
        ([USER, said(signed()), heard({"text": "n"}, answer())], "come before other parts"),
        ([USER, said(call()), heard(answer())], "missing a thought_signature"),
        ([USER, said(call()), heard(answer(), {"text": "note"})], "missing a thought_signature"),
        ([USER, said(signed()), heard(answer()), said(call()), heard(answer())], "`f` in the `4.` content block"),
        ([USER, said(call(), signed("g")), heard(answer(), answer("g"))], "missing a thought_signature"),
        ([USER, said(call(signature=b"x")), heard(answer())], "Corrupted"),
        ([USER, said(signed(), call("g", signature=DUMMY)), heard(answer(), answer("g"))], "Corrupted"),
        ([USER, said(call(args={"a": 1}, signature=sign(call()))), heard(answer())], "Corrupted"),
        ([USER, said({"text": "merged", "thought_signature": sign({"text": ""})}), USER], "Corrupted"),
        ([heard(call())], "Invalid function call"),
        ([USER, said(call("a.b", signature=DUMMY)), heard(answer("a.b"))], "Invalid function call"),
        ([USER, said(signed()), heard({"function_response": {"name": "f", "response": [1]}})], "Struct"),
    ],
)
def test_the_grammar_refuses(contents: list[Any], message: str) -> None:
    refusal = check({"contents": contents})
    assert refusal is not None
    assert refusal.code == 400
    assert message in refusal.message


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"system": "x"}, 'Unknown name "system"'),
        ({"tools": [{"function_declarations": [{"name": "a.b", "parameters": {}}]}]}, "valid and different"),
        ({"tools": [{"function_declarations": [{"name": "a", "parameters": {}}] * 2}]}, "valid and different"),
        ({"tools": [{"function_declarations": [{"name": "a"}]}]}, "Exactly one schema"),
        ({"generation_config": {"thinking_config": {"thinking_level": 1, "thinking_budget": 1}}}, "only set only one"),
    ],
)
def test_the_rest_of_the_body_is_checked(more: dict[str, Any], message: str) -> None:
    refusal = check({"contents": [USER], **more})
    assert refusal is not None
    assert message in refusal.message


def test_both_spellings_and_both_alphabets_are_one() -> None:
    data = b"\xfb\xef\xff?"
    spellings = [base64.b64encode(data).decode(), base64.urlsafe_b64encode(data).decode().rstrip("=")]
    assert [normal({"thoughtSignature": text}) for text in spellings] == [{"thought_signature": data}] * 2
    assert normal({"inlineData": {"mimeType": "x", "data": spellings[0]}}) == {
        "inline_data": {"mime_type": "x", "data": data}
    }


def test_what_is_the_users_keeps_its_spelling() -> None:
    body = {"functionCall": {"args": {"someKey": {"data": "aaaa"}}}, "parametersJsonSchema": {"minLength": 1}}
    assert normal(body) == {
        "function_call": {"args": {"someKey": {"data": "aaaa"}}},
        "parameters_json_schema": {"minLength": 1},
    }


@pytest.fixture
def server() -> Iterator[LoopbackGemini]:
    with LoopbackGemini.in_thread() as server:
        yield server


async def ask(
    server: LoopbackGemini, body: Any, *, path: str = "v1/models/gemini-x:generateContent", **headers: str
) -> tuple[int, Any]:
    data = io.BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())
    sent = {"x-goog-api-key": "test-key", **headers}
    async with (
        aiohttp.ClientSession() as client,
        client.post(f"{server.base_url}/{path}", data=data, headers=sent) as got,
    ):
        return got.status, await got.json(content_type=None)


@pytest.mark.parametrize(
    ("change", "status", "reason"),
    [
        ({"x-goog-api-key": ""}, 403, "PERMISSION_DENIED"),
        ({"x-goog-api-key": "wrong"}, 400, "INVALID_ARGUMENT"),
        ({"path": "v2/models/gemini-x:generateContent"}, 404, "NOT_FOUND"),
        ({"path": "v1/models/nothing:generateContent"}, 404, "NOT_FOUND"),
        ({"path": "v1/models/gemini-flash-latest:generateContent"}, 404, "NOT_FOUND"),
        ({"body": b"{"}, 400, "INVALID_ARGUMENT"),
        ({"body": b"[]"}, 400, "INVALID_ARGUMENT"),
        ({"body": b'{"contents": NaN}'}, 400, "INVALID_ARGUMENT"),
        ({"body": {"contents": [heard({"text": "x" * 20_971_520})]}}, 400, "INVALID_ARGUMENT"),
    ],
)
async def test_a_wrong_request_is_refused_as_the_api_does(
    server: LoopbackGemini, change: dict[str, Any], status: int, reason: str
) -> None:
    got, body = await ask(server, **{"body": {"contents": [USER]}, **change})
    assert (got, body["error"]["status"]) == (status, reason)
    assert [seen.refused for seen in server.requests] == [body["error"]["message"]]


async def test_a_refused_request_does_not_use_up_the_script(server: LoopbackGemini) -> None:
    server.script(Answer(Say("first")))
    await ask(server, {"contents": []})
    assert server.unused == 1
    _, body = await ask(server, {"contents": [USER]})
    assert "".join(part["text"] for part in body["candidates"][0]["content"]["parts"]) == "first"
    assert server.unused == 0


async def test_an_answer_in_parts(server: LoopbackGemini) -> None:
    part = {"inlineData": {"mimeType": "image/png", "data": "AA=="}}
    server.script(Answer(Think("hm"), Part(part), Call("f", {"a": 1}), Call("g", None, id="")))
    _, body = await ask(server, {"contents": [USER]})
    thought, picture, first, second = body["candidates"][0]["content"]["parts"]
    assert thought == {"text": "hm", "thought": True}
    assert picture == part
    assert first["functionCall"] == {"name": "f", "args": {"a": 1}, "id": "fc-1"}
    assert base64.b64decode(first["thoughtSignature"]) == sign({"function_call": {"name": "f", "args": {"a": 1}}})
    assert second == {"functionCall": {"name": "g"}}


def test_a_port_that_is_taken_is_named(server: LoopbackGemini, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="1"):
        main(["--port", server.base_url.rpartition(":")[2]])
    assert "address already in use" in capsys.readouterr().err


async def test_it_runs_as_a_program() -> None:
    program = await create_subprocess_exec(
        sys.executable, "-m", "kesoku.testing.gemini", "--port", "0", "--key", "k", stdout=PIPE
    )
    try:
        assert program.stdout is not None
        base_url = (await program.stdout.readline()).decode().strip()
        headers = {"x-goog-api-key": "k"}
        async with aiohttp.ClientSession() as client, client.get(f"{base_url}/v1/models", headers=headers) as got:
            assert (await got.json())["models"]
    finally:
        program.terminate()
        await program.wait()

"""What a request may hold and how many may come: quotas, blocks, limits, media, signatures of one model."""

import json
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.testing.gemini import Answer, Call, LoopbackGemini, Say
from kesoku.testing.gemini.grammar import STAND_INS, check, normal
from kesoku.testing.gemini.quota import Quota

PNG = b64encode(b"\x89PNG\r\n\x1a\n").decode()
USER = {"role": "user", "parts": [{"text": "hi"}]}


def blob(mime_type: str, data: str = "AAAA") -> dict[str, Any]:
    return {"inlineData": {"mimeType": mime_type, "data": data}}


async def test_the_quota_of_a_minute_and_of_a_day(server: LoopbackGemini, hand: Any, clock: Any) -> None:
    server.requests_per_minute, server.requests_per_day = 2, 3
    seen = []
    for pause in (0, 20, 20, 20, 60):
        clock.seconds += pause
        seen.append(await hand.say("hello"))
    assert [got.status for got in seen] == [200, 200, 429, 200, 429]
    minute, day = (got.json["error"] for got in (seen[2], seen[4]))
    assert minute["status"] == day["status"] == "RESOURCE_EXHAUSTED"
    assert minute["details"][-1]["retryDelay"] == "20s"
    violations = [error["details"][0]["violations"][0] for error in (minute, day)]
    assert [each["quotaId"].split("Per")[1] for each in violations] == ["Minute", "Day"]
    assert [each["quotaValue"] for each in violations] == ["2", "3"]
    assert violations[0]["quotaDimensions"]["model"] == "gemini-x"
    assert (await hand.say("hello", model="gemini-y")).status == 200
    clock.seconds += 86_400
    assert (await hand.say("hello")).status == 200


def test_a_quota_of_none_refuses_everything() -> None:
    quota = Quota()
    assert quota.take("m", 0.0, per_minute=None, per_day=None) is None
    assert quota.take("m", 0.0, per_minute=0, per_day=None) is not None
    assert quota.take("m", 0.0, per_minute=None, per_day=0) is not None


async def test_blocked_text_uses_up_no_script_and_leaves_the_rest_alone(server: LoopbackGemini, hand: Any) -> None:
    server.blocks = "(?i)forbidden"
    server.script(Answer(Say("fine")))
    got = await hand.say("a FORBIDDEN word")
    assert got.json["promptFeedback"] == {"blockReason": "PROHIBITED_CONTENT"}
    assert "candidates" not in got.json
    assert (await hand.generate(USER, {"role": "model", "parts": [{"text": "forbidden"}]}, USER)).text == "fine"


async def test_too_many_tokens(server: LoopbackGemini, hand: Any) -> None:
    server.input_limit = 10
    assert (await hand.say("x" * 40)).status == 200
    got = await hand.say("x" * 41)
    assert got.message == "The input token count (11) exceeds the maximum number of tokens allowed (10)."
    assert (await hand("v1/models/gemini-x", method="GET")).json["inputTokenLimit"] == 10


@pytest.mark.parametrize(
    ("part", "message"),
    [
        (blob("image/png", PNG), None),
        (blob("audio/ogg"), None),
        (blob("application/pdf"), None),
        (blob("text/csv"), None),
        (blob("image/gif"), "Unsupported MIME type: image/gif"),
        (blob("audio/silk"), "Unsupported MIME type: audio/silk"),
        (blob("audio/ogg; codecs=opus"), "Unsupported MIME type"),
        (blob("application/zip"), "Unsupported MIME type"),
        ({"inlineData": {"data": PNG}}, "Unsupported MIME type: None"),
        (blob("image/png"), "Unable to process input image"),
        (blob("image/jpeg", PNG), "Unable to process input image"),
        (blob("image/webp", b64encode(b"RIFF0000WAVE").decode()), "Unable to process input image"),
        (blob("image/png", ""), "empty inlineData"),
        (blob("image/png", "%"), "Base64 decoding failed"),
        ({"inlineData": "x"}, "Invalid value at 'contents[0].parts[0].inline_data'"),
        ({"fileData": {"mimeType": "image/gif", "fileUri": "https://example.org/a.gif"}}, "Unsupported MIME type"),
        ({"fileData": {"mimeType": "image/png"}}, "must not be empty"),
    ],
)
async def test_media(hand: Any, part: dict[str, Any], message: str | None) -> None:
    got = await hand.generate({"role": "user", "parts": [part]})
    assert got.status == (400 if message else 200)
    assert message is None or message in got.message


@pytest.mark.parametrize(
    ("inner", "model", "message"),
    [
        (blob("image/png", PNG), "gemini-3-x", None),
        (blob("image/png"), "gemini-3-x", "Unable to process input image"),
        (blob("audio/ogg"), "gemini-3-x", "Unsupported MIME type: audio/ogg"),
        ({"text": "x"}, "gemini-3-x", "Invalid part"),
        (blob("image/png", PNG), "gemini-2.5-x", "not supported for this model"),
    ],
)
async def test_media_in_results(hand: Any, inner: dict[str, Any], model: str, message: str | None) -> None:
    stand_in = b64encode(min(STAND_INS)).decode()
    call = {"functionCall": {"name": "f"}, "thoughtSignature": stand_in}
    result = {"functionResponse": {"name": "f", "response": {}, "parts": [inner]}}
    turns = {"role": "model", "parts": [call]}, {"role": "user", "parts": [result]}
    got = await hand.generate(USER, *turns, model=model)
    assert got.status == (400 if message else 200)
    assert message is None or message in got.message


@pytest.mark.parametrize(
    ("bound", "model", "status"),
    [(False, "gemini-y", 200), (True, "gemini-x", 200), (True, "gemini-y", 400), (True, "gemini-2.5-y", 400)],
)
async def test_signatures_may_be_good_for_one_model(
    server: LoopbackGemini, hand: Any, bound: bool, model: str, status: int
) -> None:
    server.binds_signatures_to_model = bound
    server.script(Answer(Call("f")))
    said = (await hand.generate()).json["candidates"][0]["content"]
    answered = {"functionResponse": {**said["parts"][0]["functionCall"], "response": {}}}
    del answered["functionResponse"]["args"]
    got = await hand.generate(USER, said, {"role": "user", "parts": [answered]}, model=model)
    assert got.status == status
    assert status == 200 or got.message == "Corrupted thought signature."
    said["parts"][0]["thoughtSignature"] = b64encode(min(STAND_INS)).decode()
    assert (await hand.generate(USER, said, {"role": "user", "parts": [answered]}, model=model)).status == 200


@pytest.mark.parametrize(("model", "status"), [("gemini-2.5-flash", 200), ("gemini-3.5-flash", 400)])
async def test_older_models_need_no_signature(hand: Any, model: str, status: int) -> None:
    turns = {"role": "model", "parts": [{"functionCall": {"name": "f"}}]}
    answered = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}
    assert (await hand.generate(USER, turns, answered, model=model)).status == status


async def test_older_models_know_no_levels(hand: Any) -> None:
    config = {"thinkingConfig": {"thinkingLevel": "LOW"}}
    got = [await hand.generate(generation_config=config, model=f"gemini-{model}") for model in ("2.5-pro", "3.5-pro")]
    assert [each.status for each in got] == [400, 200]


async def test_the_list_of_models_comes_in_pages(server: LoopbackGemini, hand: Any) -> None:
    names, token = [], ""
    for _ in range(2):
        page = (await hand(f"v1beta/models?pageSize=3&pageToken={token}", method="GET")).json
        names += [model["name"] for model in page["models"]]
        token = page.get("nextPageToken", "")
    assert (len(set(names)), token) == (4, "")
    assert (await hand("v1beta/models?pageSize=few", method="GET")).status == 400
    server.models = "gemini-2.*"
    assert [m["name"] for m in (await hand("v1/models", method="GET")).json["models"]] == ["models/gemini-2.5-flash"]
    assert (await hand("v1/models/gemini-3", method="GET")).status == 404


@pytest.mark.parametrize(
    "body",
    [
        {"contents": "x"},
        {"contents": ["x"]},
        {"contents": [{"role": "user", "parts": {"text": "x"}}]},
        {"contents": [{"role": "user", "parts": [{"text": 1}]}]},
        {"contents": [{"role": "user", "parts": [{"functionCall": []}]}]},
        {"contents": [USER], "tools": {}},
        {"contents": [USER], "generationConfig": {"maxOutputTokens": "many"}},
        {"contents": [USER], "systemInstruction": "be brief"},
    ],
)
async def test_values_of_a_wrong_type(hand: Any, body: dict[str, Any]) -> None:
    got = await hand("v1beta/models/gemini-x:generateContent", body)
    assert got.status == 400
    assert "Invalid value at '" in got.message


@pytest.mark.parametrize("levels", [100, 100_000])
async def test_nesting_has_an_end(hand: Any, levels: int) -> None:
    raw = b'{"contents": [%s], "toolConfig": {"x": %s}}' % (
        json.dumps(USER).encode(),
        b"[" * levels + b"]" * levels,
    )
    got = await hand("v1beta/models/gemini-x:generateContent", raw)
    assert got.status == 400
    assert "Invalid JSON payload received." in got.message


WORDS = (
    "contents role parts text thought thoughtSignature inlineData mimeType data fileData fileUri functionCall id name "
    "args functionResponse response tools functionDeclarations parametersJsonSchema generationConfig thinkingConfig "
    "thinkingLevel systemInstruction toolConfig cachedContent continuationToken x"
)
NAMES = st.sampled_from(WORDS.split())
LEAVES = st.sampled_from(["user", "model", "hi", "", "f", "image/png", "AAAA", "\0", "\ud800", 1, 1.5, True, None])
ANYTHING = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4), max_leaves=12
)
PARTS = st.lists(st.dictionaries(NAMES, ANYTHING, max_size=2), max_size=2) | ANYTHING
CONTENTS = st.lists(st.fixed_dictionaries({"role": LEAVES, "parts": PARTS}) | ANYTHING, max_size=3)


@given(st.dictionaries(NAMES, ANYTHING, max_size=3), CONTENTS)
def test_every_body_is_taken_or_refused(body: dict[str, Any], contents: list[Any]) -> None:
    refusal = check(normal({**body, "contents": contents}), model="gemini-2.5-x", bound=True)
    assert refusal is None or (refusal.code, refusal.status) == (400, "INVALID_ARGUMENT")


async def test_null_is_nothing(hand: Any) -> None:
    parts = [{"text": "hi", "thought": None, "thoughtSignature": None}]
    assert (await hand.generate({"role": "user", "parts": parts}, tools=None)).status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "v1beta/files"),
        ("PATCH", "v1beta/cachedContents"),
        ("POST", "v1beta/cachedContents/x"),
        ("PUT", "v1beta/models/gemini-x"),
        ("GET", "v1beta/models/gemini-x:generateContent"),
        ("POST", "v1beta1/models/gemini-x:generateContent"),
    ],
)
async def test_there_is_no_such_method(hand: Any, method: str, path: str) -> None:
    assert (await hand(path, {}, method)).status == 404

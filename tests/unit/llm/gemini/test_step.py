"""A step of several requests: answers that go on, what is refused and replaced, the door that all sessions share."""

from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from kesoku.errors import ModelRateLimited
from kesoku.llm.gemini import GeminiConfig
from kesoku.llm.gemini.config import endpoint_of
from kesoku.llm.gemini.model import GeminiModel
from kesoku.llm.gemini.repair import Signatures
from kesoku.llm.gemini.wire import STAND_IN
from kesoku.llm.limiter import RateLimiter
from kesoku.llm.shared import Shared
from kesoku.messages.turn import CallBlock, Delta, Finish, MediaBlock, Reply, Retry, StreamItem, TextBlock, Turn
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.gemini.script import (
    Answer,
    Call,
    Cut,
    ErrorEvent,
    Events,
    Say,
    Scripted,
    Think,
    invalid,
    overloaded,
    rate_limited,
    signature_refused,
)
from kesoku.testing.model_contract import CURRENT_TIME, listen, request, results, user

from .conftest import HELLO, Make, event


async def items(model: GeminiModel) -> list[StreamItem]:
    return [item async for item in model.stream(HELLO)]


def said(text: str = "", token: str = "", finish: str = "", thought: bool = False) -> dict[str, Any]:
    """One event, with a checkpoint if there is a token; usage as the API counts it, from the request's beginning."""
    candidate: dict[str, Any] = {"index": 0}
    if text:
        candidate["content"] = {"role": "model", "parts": [{"text": text, "thought": thought}]}
    if token:
        candidate["continuationToken"] = token
    if finish:
        candidate["finishReason"] = finish
    usage = {"promptTokenCount": 10, "candidatesTokenCount": len(text), "cachedContentTokenCount": 4}
    return {"candidates": [candidate], "usageMetadata": usage}


def tokens(server: LoopbackGemini) -> list[Any]:
    return [seen.body.get("continuation_token") for seen in server.requests]


async def test_an_answer_goes_on_without_a_seam(server: LoopbackGemini, make: Make) -> None:
    server.script(Answer(Think("hm"), Say("one "), Cut(), Say("two "), Call("f"), Cut(), Call("g"), Say("three")))
    deltas, reply = await listen(make(), HELLO)
    assert (reply.text, reply.finish, reply.detail) == ("one two three", Finish.STOP, None)
    assert [getattr(block, "name", None) for block in reply.blocks][2:4] == ["f", "g"]
    assert "".join(delta.text for delta in deltas if not delta.thought) == reply.text
    first, *others = tokens(server)
    assert first is None
    assert len(set(others)) == len(others) == 2
    assert not any(isinstance(item, Retry) for item in await items(make()))


async def test_usage_is_the_sum_of_what_each_request_counted(server: LoopbackGemini, make: Make) -> None:
    server.script(
        Events((said("1"), said("12", "dG9r", "CONTINUATION"))),
        overloaded(),
        Events((said("1"), said("123", "", "STOP"))),
    )
    _, reply = await listen(make(), HELLO)
    assert (reply.usage.prompt, reply.usage.cached, reply.usage.answer) == (20, 8, 5)
    assert reply.text == "1121123"


@pytest.mark.parametrize(
    ("hops", "requests"),
    [
        ([said("a", f"dG9{place}", "CONTINUATION") for place in range(20)], 9),
        ([said("a", "dG9r", "CONTINUATION")] * 20, 2),
        ([said("a", "", "CONTINUATION")] * 20, 1),
    ],
    ids=["without end", "nothing new", "no token"],
)
async def test_going_on_is_bounded(server: LoopbackGemini, make: Make, hops: list[Any], requests: int) -> None:
    server.script(*(Events((hop,)) for hop in hops))
    _, reply = await listen(make(), HELLO)
    assert (reply.finish, reply.text, len(server.requests)) == (Finish.CUT, "a" * requests, requests)
    assert reply.detail == "the answer cannot go on any further (CONTINUATION)"


@pytest.mark.parametrize(
    ("first", "waits"),
    [
        (Events((said("one ", "dG9r"),)), 1.0),
        (Events((said("one ", "dG9r"), {"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy"}})), 1.0),
        (Events((said("one ", "dG9r", "CONTINUATION"),)), None),
    ],
    ids=["no finish", "error", "finish"],
)
async def test_a_stream_that_breaks_goes_on_from_its_checkpoint(
    server: LoopbackGemini, make: Make, pauses: list[float], first: Scripted, waits: float | None
) -> None:
    server.script(first, Events((said("two", "", "STOP"),)))
    deltas, reply = await listen(make(), HELLO)
    assert (reply.text, reply.finish) == ("one two", Finish.STOP)
    assert "".join(delta.text for delta in deltas) == reply.text
    assert tokens(server) == [None, b"tok"]
    assert [pause for pause in pauses if pause] == ([waits] if waits else [])


async def test_what_came_after_the_checkpoint_is_said_again(server: LoopbackGemini, make: Make) -> None:
    server.script(
        Events((said("one ", "dG9r"), said("tw"), {"error": {"code": 500}})), Events((said("two", "", "STOP"),))
    )
    seen = await items(make())
    assert seen[:2] == [Delta(text="one "), Delta(text="tw")]
    assert isinstance(seen[2], Retry)
    assert seen[3:5] == [Delta(text="one "), Delta(text="two")]
    assert isinstance(seen[5], Reply)
    assert seen[5].text == "one two"


@pytest.mark.parametrize("failure", [overloaded(), invalid("Invalid continuation token.")])
async def test_an_answer_that_cannot_go_on_is_kept_as_broken(
    server: LoopbackGemini, make: Make, failure: Scripted
) -> None:
    call = {"functionCall": {"name": "f"}}
    server.script(Events((said("so far"), event(call), said("", "dG9r", "CONTINUATION"))), *[failure] * 4)
    _, reply = await listen(make(), HELLO)
    assert (reply.text, reply.finish, reply.calls) == ("so far", Finish.BROKEN, ())
    assert reply.detail
    assert "\n" not in reply.detail


async def test_what_breaks_after_the_end_breaks_nothing(server: LoopbackGemini, make: Make) -> None:
    server.script(Events((said("all", "", "STOP"), {"error": {"code": 503, "message": "busy"}})))
    _, reply = await listen(make(), HELLO)
    assert (reply.text, reply.finish) == ("all", Finish.STOP)
    assert len(server.requests) == 1


def session(*signatures: bytes | None) -> tuple[Any, ...]:
    """A conversation with one step of a call a signature."""
    turns = [user("hello")]
    for place, signature in enumerate(signatures):
        calls = [
            CallBlock(call_id=f"c{place}", name="current_time", arguments={}, signature=signature),
            CallBlock(call_id=f"d{place}", name="current_time", arguments={}),
        ]
        spoken = TextBlock(text="", signature=signature)
        reply = Reply(blocks=(spoken, *calls), provider="gemini", model="m")
        turns += results(reply, "noon", "noon")
    return tuple(turns)


async def test_refused_signatures_are_replaced_and_remembered(server: LoopbackGemini, make: Make) -> None:
    model, turns = make(), session(b"forged", b"from elsewhere")
    _, reply = await listen(model, request(*turns, tools=(CURRENT_TIME,)))
    assert reply.text
    refused, accepted = server.requests
    assert "signature" in (refused.refused or "")
    assert accepted.refused is None
    signed = [[part.get("thought_signature") for part in content["parts"]] for content in accepted.body["contents"]]
    assert signed == [[None], [STAND_IN, None], [None, None], [STAND_IN, None], [None, None]]
    step = session(b"forged", b"from elsewhere", None)
    await listen(model, request(*step, tools=(CURRENT_TIME,)))
    assert server.requests[2].refused is None
    assert len(server.requests) == 3


PART = st.fixed_dictionaries(
    {}, optional={"thought_signature": st.sampled_from([b"old", b"new", STAND_IN]), "thought": st.just(True)}
).flatmap(
    lambda extra: st.one_of(
        st.builds(lambda text: {"text": text, **extra}, st.sampled_from(["", "a"])),
        st.builds(lambda: {"function_call": {"name": "f"}, **extra}),
    )
)
CONTENTS = st.lists(st.builds(lambda parts: {"role": "model", "parts": parts}, st.lists(PART, max_size=4)), max_size=4)


@given(CONTENTS, CONTENTS)
def test_no_refused_signature_is_sent_again(refused: list[Any], later: list[Any]) -> None:
    signatures = Signatures()
    assert signatures.mended(later) is later
    signatures.refuse(refused)
    bad = {part.get("thought_signature") for content in refused for part in content["parts"]} - {STAND_IN, None}
    mended = signatures.mended(later)
    parts = [part for content in mended for part in content["parts"]]
    assert not bad & {part.get("thought_signature") for part in parts}
    assert all(part.get("text") != "" or "thought_signature" in part for part in parts)
    for content in mended:
        calls = [part for part in content["parts"] if "function_call" in part]
        assert all("thought_signature" in call for call in calls[:1])
    before = [part for content in later for part in content["parts"]]
    assert [*filter(None, map(spoken, before))] == [*filter(None, map(spoken, parts))]


def spoken(part: dict[str, Any]) -> Any:
    """What a part says, whoever signed it."""
    return part.get("text") or part.get("function_call")


async def test_genuine_signatures_are_sent_again_after_a_repair(server: LoopbackGemini, make: Make) -> None:
    model = make()
    server.script(signature_refused(), Answer(Call("current_time")))
    asked = request(user("time"), tools=(CURRENT_TIME,))
    _, step = await listen(model, asked)
    await listen(model, request(*asked.turns, *results(step, "noon"), tools=asked.tools))
    assert server.requests[2].body["contents"][1]["parts"][0]["thought_signature"] == step.calls[0].signature


async def test_an_expired_file_is_uploaded_again_once(server: LoopbackGemini, make: Make, tmp_path: Any) -> None:
    path = tmp_path / "film.mp4"
    path.write_bytes(b"\0\0\0\x18ftypmp42" + b"\0" * 15_000_100)
    film = MediaBlock(path=str(path), mime_type="video/mp4", name="film.mp4")
    asked = request(Turn(role="user", blocks=(TextBlock(text="look"), film)))
    model = make()
    await listen(model, asked)
    server.expire_files()
    _, reply = await listen(model, asked)
    assert reply.text
    generated = server.asked("generate")
    assert [seen.refused is None for seen in generated] == [True, False, True]
    uris = [part["file_data"]["file_uri"] for seen in generated for part in seen.body["contents"][0]["parts"][2:]]
    assert uris[0] == uris[1] != uris[2]


async def test_a_cache_that_is_gone_costs_one_request(server: LoopbackGemini, make: Make) -> None:
    model = make(cache="explicit")
    server.cache_minimum = 100
    asked = request(user("word " * 20_000), Turn(role="model", blocks=(TextBlock(text="yes"),)), user("hello"))
    for _ in range(3):
        await listen(model, asked)
    server.expire_caches()
    _, reply = await listen(model, asked)
    assert reply.text
    generated = server.asked("generate")
    assert [seen.refused is None for seen in generated] == [*[True] * (len(generated) - 2), False, True]
    assert generated[-2].body["cached_content"]
    assert "cached_content" not in generated[-1].body


async def test_one_refusal_closes_the_door_for_all_models_of_the_key(
    server: LoopbackGemini, make: Make, pauses: Any, tmp_path: Any
) -> None:
    # complaint 77
    first, second = (make(environment={"XDG_STATE_HOME": str(tmp_path)}) for _ in range(2))
    server.script(rate_limited(seconds=600))
    with pytest.raises(ModelRateLimited):
        await listen(first, HELLO)
    with pytest.raises(ModelRateLimited, match="too many requests of late") as caught:
        await listen(second, HELLO)
    assert caught.value.retry_after == pytest.approx(600, abs=1)
    assert len(server.requests) == 1
    await pauses.sleep(580)
    seen = await items(second)
    (told,) = [item for item in seen if isinstance(item, Retry)]
    assert (told.reason, told.wait) == ("rate limit; asking again", told.after)
    assert told.after == pytest.approx(20, abs=1)
    assert isinstance(seen[-1], Reply)


async def test_nobody_waits_at_the_door_for_ever(
    server: LoopbackGemini, make: Make, pauses: Any, tmp_path: Any
) -> None:
    environment = {"XDG_STATE_HOME": str(tmp_path)}
    config = GeminiConfig(api_key=SecretStr("test-key"), base_url=server.base_url)
    subject = f"limit-{endpoint_of('g', config, {}).account}-{config.model}"
    door = RateLimiter(Shared.of(environment), subject, per_minute=None, now=pauses.now, jitter=lambda: 0.0)
    await door.refused(50, daily_until=None)
    async with aclosing(make(environment=environment).stream(HELLO)) as stream:
        assert isinstance(await anext(stream), Retry)
        await door.refused(100, daily_until=None)
        with pytest.raises(ModelRateLimited, match="try again in"):
            await anext(stream)
    assert server.requests == []


async def test_who_gives_up_at_the_door_keeps_nobody_waiting(server: LoopbackGemini, make: Make, pauses: Any) -> None:
    model = make(requests_per_minute=1)
    await listen(model, HELLO)
    async with aclosing(model.stream(HELLO)) as waiting:
        assert isinstance(await anext(waiting), Retry)
        for _ in range(2):
            with pytest.raises(ModelRateLimited, match="try again in 2 min"):
                await listen(model, HELLO)
    assert [item.after for item in await items(model) if isinstance(item, Retry)] == [60.0]
    assert len(server.requests) == 2


async def test_a_used_up_day_is_tried_now_and_then(server: LoopbackGemini, make: Make, pauses: Any) -> None:
    server.script(rate_limited(daily=True))
    model = make()
    for _ in range(2):
        with pytest.raises(ModelRateLimited, match="in 8 h") as caught:
            await listen(model, HELLO)
        assert caught.value.daily
    assert len(server.requests) == 1
    await pauses.sleep(700)
    for _ in range(2):
        _, reply = await listen(model, HELLO)
        assert reply.text


async def test_leaving_between_two_requests_of_a_step(server: LoopbackGemini, make: Make) -> None:
    server.script(Answer(Think("hm"), then=ErrorEvent()))
    async with aclosing(make().stream(HELLO)) as stream:
        assert isinstance(await anext(stream), Delta)
        assert isinstance(await anext(stream), Retry)
    assert len(server.requests) == 1

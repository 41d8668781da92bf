"""Empty, cut, blocked and broken replies, limits and circles: the turn always ends, and says the truth."""

from typing import Any

import pytest

from kesoku.adapter.question import Approvals
from kesoku.agent.limits import TurnLimits
from kesoku.errors import (
    ModelError,
    ModelInputTooLong,
    ModelKeyRejected,
    ModelNotFound,
    ModelRateLimited,
    ModelReferenceRefused,
    ModelRequestRefused,
    ModelStreamBroken,
    ModelTimeout,
    ModelUnavailable,
)
from kesoku.messages import make
from kesoku.messages.enums import MessageRole, MessageStatus
from kesoku.messages.record import Record
from kesoku.messages.source import ANSWER_BLOCKED, PROMPT_BLOCKED
from kesoku.messages.turn import CompiledRequest, Delta, Finish, Reply, Retry, TextBlock, Usage
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.clock import settle
from kesoku.testing.model import Held, ScriptedModel, call, reply, thought
from kesoku.tools.registry import Policy
from kesoku.tools.tool import Effect, tool

from .asking import OFFLINE, answer_to, look

EMPTY = reply()
CUT = reply(thought("long thoughts"), finish=Finish.CUT, detail="MAX_TOKENS")
MALFORMED = reply(finish=Finish.MALFORMED, detail="MALFORMED_FUNCTION_CALL: shout(")


async def nudges(harness: AgentHarness, prompt: Record) -> list[Record]:
    return [each for each in await harness.turn(prompt) if each.kind == "system_note"]


async def test_an_empty_reply_is_nudged_once() -> None:
    # K-057, K-058, K-059, K-060, K-071, K-101, K-225
    model = ScriptedModel(EMPTY, "here I am")
    harness = AgentHarness(model)
    prompt, answer = await answer_to(harness)
    assert answer.message.rendered == "here I am"
    (nudge,) = await nudges(harness, prompt)
    assert nudge.message.rendered.startswith("Your previous response had empty content.")
    assert (nudge.message.role, nudge.status, nudge.parent_id) == (
        MessageRole.SYSTEM,
        MessageStatus.RESPONDED,
        prompt.id,
    )
    assert nudge.metadata == {}
    last = model.requests[1].turns[-1].blocks[-1]
    assert isinstance(last, TextBlock)
    assert last.text.strip() == f"[System Notification]\n{nudge.message.rendered}"


@pytest.mark.parametrize(
    ("lines", "says", "asked"),
    [
        # K-226; complaints 61, 63, 65, 68, 69
        ([EMPTY, reply(" \n")], "The model returned no answer, even after it was asked again.", 2),
        (
            [EMPTY, reply(finish=Finish.OTHER, detail="LANGUAGE", cure="Please ask in another language.")],
            "asked again: LANGUAGE. Please ask in another language.",
            2,
        ),
        ([CUT, CUT], "The model was cut off before it wrote an answer, twice (MAX_TOKENS).", 2),
        ([MALFORMED] * 3, "never wrote a call that can be run: MALFORMED_FUNCTION_CALL: shout(.", 3),
        (
            [reply(finish=Finish.GARBLED, detail="odd (MALFORMED_RESPONSE)", cure="Ask another.")] * 3,
            "never wrote an answer that can be read: odd (MALFORMED_RESPONSE). No answer was given. Ask another.",
            3,
        ),
        ([EMPTY, CUT, MALFORMED, EMPTY], "The model returned no answer", 4),
    ],
)
async def test_no_answer_is_said_plainly(lines: list[Reply], says: str, asked: int) -> None:
    model = ScriptedModel(*lines)
    harness = AgentHarness(model)
    prompt, answer = await answer_to(harness)
    assert says in answer.message.rendered
    assert "half a" not in answer.message.rendered
    assert len(model.requests) == asked
    assert (prompt.status, answer.message.source.kind) == (MessageStatus.ERROR, "error")
    assert len(await nudges(harness, prompt)) == asked - 1


@pytest.mark.parametrize(
    ("finish", "detail", "cure", "says", "error"),
    [
        # complaints 68, 69
        (Finish.BLOCKED, "unsafe", "Say less.", "withheld the answer: unsafe. Say less. The", ANSWER_BLOCKED),
        (Finish.BLOCKED, "unsafe (SAFETY)", "", "(SAFETY). Please try again, or ask in another way.", ANSWER_BLOCKED),
        (Finish.BLOCKED, None, "", "withheld the answer: it gave no reason.", ANSWER_BLOCKED),
        (Finish.REFUSED, "odd (SPII)", "Say less.", "not take your message: odd (SPII). Say less.", PROMPT_BLOCKED),
    ],
)
async def test_a_block_is_an_error_that_names_what_was_blocked(
    finish: Finish, detail: str | None, cure: str, says: str, error: str
) -> None:
    model = ScriptedModel(reply("half a", call("look"), finish=finish, detail=detail, cure=cure))
    harness = AgentHarness(model, tools=[look])
    prompt, answer = await answer_to(harness)
    source: Any = answer.message.source
    assert says in answer.message.rendered
    assert "half a" not in "".join(each.message.rendered for each in await harness.turn(prompt))
    assert (prompt.status, source.kind, source.error) == (MessageStatus.ERROR, "error", error)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        # complaint 61
        (reply(finish=Finish.MALFORMED, detail="odd", hint="Write less."), "Write less. (odd)"),
        (
            reply(finish=Finish.MALFORMED, detail="look("),
            "Your previous response held a tool call that cannot be read. Call one tool, with valid JSON arguments. "
            "(look()",
        ),
        (
            reply(finish=Finish.GARBLED),
            "Your previous response cannot be read. Answer again: in words, or with one tool call.",
        ),
    ],
    ids=["hint", "malformed", "garbled"],
)
async def test_a_reply_that_went_wrong_is_asked_for_again_with_a_fitting_hint(line: Reply, told: str) -> None:
    model = ScriptedModel(line, "done")
    harness = AgentHarness(model)
    prompt, answer = await answer_to(harness)
    (nudge,) = await nudges(harness, prompt)
    assert nudge.message.rendered == told
    assert answer.message.rendered == "done"


async def test_a_session_goes_on_after_a_refusal() -> None:
    # complaint 69
    model = ScriptedModel(reply("half a", finish=Finish.BLOCKED, detail="SAFETY"), "fine")
    harness = AgentHarness(model)
    await answer_to(harness)
    _, answer = await answer_to(harness, "something else")
    assert answer.message.rendered == "fine"
    assert "half a" not in str(model.requests[1])


async def test_two_refused_prompts_in_a_row_may_be_refused_for_what_was_said_before() -> None:
    refused = reply(finish=Finish.REFUSED, detail="odd (OTHER)")
    harness = AgentHarness(ScriptedModel(refused, refused, "fine", refused))
    ends = [(await answer_to(harness))[1].message.rendered.rpartition("again. ")[2] for _ in range(4)]
    assert ends[0] == ends[3] == "The conversation goes on."
    assert ends[1].endswith("/new begins a new conversation.")


@pytest.mark.parametrize("finish", [Finish.MALFORMED, Finish.GARBLED])
async def test_calls_of_an_unreadable_reply_are_not_run(finish: Finish) -> None:
    model = ScriptedModel(reply("I call", call("look"), finish=finish), "done")
    harness = AgentHarness(model, tools=[look])
    prompt, answer = await answer_to(harness)
    assert answer.message.rendered == "done"
    kinds = [each.kind for each in await harness.turn(prompt)]
    assert kinds == ["user_prompt", "thought", "system_note", "answer"]


async def test_after_a_cut_reply_the_model_thinks_less() -> None:
    # complaint 63
    model = ScriptedModel(CUT, "short")
    _, answer = await answer_to(AgentHarness(model))
    assert answer.message.rendered == "short"
    assert [request.options for request in model.requests] == [{}, {"thinking": "low"}]


async def test_text_beside_a_malformed_call_is_interim() -> None:
    # N-09
    model = ScriptedModel(reply("I call", finish=Finish.MALFORMED), "done")
    harness = AgentHarness(model)
    prompt, _ = await answer_to(harness)
    (said,) = [each.message for each in await harness.turn(prompt) if each.kind == "thought"]
    source: Any = said.source
    assert (said.rendered, source.interim) == ("I call", True)
    assert model.requests[1].turns[1].blocks == (TextBlock(text="I call"),)


async def test_an_answer_that_ended_oddly_is_marked() -> None:
    # complaint 64
    harness = AgentHarness(ScriptedModel(reply("~~~\nprint(", finish=Finish.OTHER, detail="odd (LANGUAGE)")))
    _, answer = await answer_to(harness)
    assert answer.message.rendered == "~~~\nprint(\n~~~\n\n*[The answer was cut here: odd (LANGUAGE).]*"


async def test_what_cannot_be_shown_of_an_answer_is_named() -> None:
    harness = AgentHarness(ScriptedModel(reply("Here it is.", detail="left out: inline data (image/png)")))
    _, answer = await answer_to(harness)
    assert answer.message.rendered == "Here it is.\n\n*[Left out: inline data (image/png).]*"


def looking(_: CompiledRequest) -> Reply:
    return reply(thought("again"), "I look.", call("look"), usage=Usage(prompt=100, answer=10))


async def test_the_step_limit_is_named_with_what_was_done() -> None:
    model = ScriptedModel(*[looking] * 9)
    harness = AgentHarness(model, tools=[look], limits=TurnLimits(steps=3, told_after=100, stuck_after=100))
    prompt, answer = await answer_to(harness)
    assert answer.message.rendered == (
        "I stopped before I was finished: the limit of 3 steps was reached.\n\n"
        "Until then I had called: look (3×).\n\nMy last words were: I look."
    )
    assert prompt.status is MessageStatus.ERROR
    assert answer.metadata["turn_metrics"]["turn_tool_calls"] == 3


async def test_the_time_limit_stops_a_tool_that_hangs() -> None:
    gate = Held()

    @tool(effect=Effect.READ)
    async def hang() -> str:
        """Hang."""
        gate.entered.set()
        await gate.release.wait()
        return "never"

    harness = AgentHarness(ScriptedModel(reply(call("hang"))), tools=[hang], limits=TurnLimits(seconds=60))
    prompt = await harness.say()
    async with harness.at_work():
        await gate.entered.wait()
        await harness.clock.advance(61)
        answer = await harness.answered(prompt)
    assert "the limit of 60 s" in answer.message.rendered
    (result,) = [each.message for each in await harness.turn(prompt) if each.kind == "tool_result"]
    assert (
        result.content.error == "The turn ended before this tool returned. It may have had effects; its output is lost."
    )


async def test_a_call_that_still_waits_for_a_person_at_the_time_limit_did_not_run() -> None:
    harness = AgentHarness(
        ScriptedModel(reply(call("look"))),
        tools=[look],
        policies={"look": Policy.ASK},
        limits=TurnLimits(seconds=60, approval_seconds=300),
    )
    harness.approver = Approvals(harness.store, harness.clock)  # type: ignore[assignment]
    prompt = await harness.say()
    async with harness.at_work():
        await settle()
        assert len(await harness.notices()) == 1
        await harness.clock.advance(61)
        await harness.answered(prompt)
    (result,) = [each.message for each in await harness.turn(prompt) if each.kind == "tool_result"]
    assert result.content.error == "This tool was not run: its turn ended before anybody allowed it."


async def test_going_in_circles_is_told_and_then_stopped() -> None:
    model = ScriptedModel(*[looking] * 9)
    harness = AgentHarness(model, tools=[look])
    prompt, answer = await answer_to(harness)
    assert len(model.requests) == 5
    (note,) = await nudges(harness, prompt)
    assert note.round == 4
    assert "You have called look 3 times with the same arguments" in note.message.rendered
    assert "look was called 5 times with the same arguments" in answer.message.rendered
    assert "nothing new" in answer.message.rendered


async def test_the_same_call_with_a_new_result_is_no_circle() -> None:
    count = iter(range(100))

    @tool(effect=Effect.READ)
    def tick() -> int:
        """Count."""
        return next(count)

    model = ScriptedModel(*[reply(call("tick"))] * 7, "seven")
    harness = AgentHarness(model, tools=[tick])
    prompt, answer = await answer_to(harness)
    assert answer.message.rendered == "seven"
    assert not await nudges(harness, prompt)


async def test_parallel_repeats_count_too() -> None:
    model = ScriptedModel(reply(*[call("look")] * 4), "ok")
    harness = AgentHarness(model, tools=[look])
    prompt, _ = await answer_to(harness)
    assert len(await nudges(harness, prompt)) == 1


async def test_a_model_that_fails_is_an_error_with_cause_and_cure() -> None:
    # K-066, K-068, K-147
    harness = AgentHarness(ScriptedModel(ModelInputTooLong(model="scripted", tokens=9, limit=5)))
    prompt, answer = await answer_to(harness)
    assert prompt.status is MessageStatus.ERROR
    assert answer.message.rendered == (
        f"{make.ERROR}model scripted: the conversation is too long (9 tokens, at most 5); say /new, or lower "
        "context_tokens in [agent]"
    )
    assert (answer.status, answer.message.author, answer.message.role) == (
        MessageStatus.PENDING,
        "Kesoku",
        MessageRole.ASSISTANT,
    )
    source: Any = answer.message.source
    assert (source.kind, source.error) == ("error", "ModelInputTooLong")


async def test_a_failure_keeps_what_was_done() -> None:
    model = ScriptedModel(reply(call("look")), OFFLINE, "back again")
    harness = AgentHarness(model, tools=[look])
    prompt, _ = await answer_to(harness)
    assert [each.kind for each in await harness.turn(prompt)] == ["user_prompt", "tool_call", "tool_result", "answer"]
    _, answer = await answer_to(harness, "and now?")
    assert answer.message.rendered == "back again"


async def test_errors_leak_no_secret() -> None:
    error = ModelUnavailable(model="scripted", status=500, message="key hunter2 is odd")
    harness = AgentHarness(ScriptedModel(error), secrets=["hunter2"])
    _, answer = await answer_to(harness)
    assert "hunter2" not in answer.message.rendered
    assert "key [secret] is odd" in answer.message.rendered


async def test_a_bug_is_an_error_too_and_is_logged_with_its_place(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: CompiledRequest) -> Reply:
        raise ZeroDivisionError("in the provider")

    harness = AgentHarness(ScriptedModel(broken, "well again"))
    prompt, answer = await answer_to(harness)
    assert prompt.status is MessageStatus.ERROR
    assert answer.message.rendered == f"{make.ERROR}an unexpected ZeroDivisionError in the program"
    assert "in broken" in caplog.text
    _, answer = await answer_to(harness)
    assert answer.message.rendered == "well again"


async def test_a_stream_without_a_reply_is_an_error() -> None:
    class Mute(ScriptedModel):
        async def stream(self, request: CompiledRequest) -> Any:
            for item in list[Any]():
                yield item

    harness = AgentHarness(Mute())
    _, answer = await answer_to(harness)
    assert "the answer broke off (it ended without a reply)" in answer.message.rendered


@pytest.mark.parametrize(
    "error",
    [
        OFFLINE,
        ModelRateLimited(model="scripted", retry_after=None, daily=True, message="quota"),
        ModelReferenceRefused(model="scripted", what="signature", message="odd"),
        ModelStreamBroken(model="scripted", reason="reset"),
        ModelTimeout(model="scripted", stage="idle", seconds=9),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_the_next_model_answers_when_one_cannot(error: ModelError) -> None:
    # complaint 75
    first = ScriptedModel(reply(call("look", signature=b"s")), error)
    second = ScriptedModel("from the second", name="second", provider="other")
    harness = AgentHarness(first, second, tools=[look])
    _, answer = await answer_to(harness)
    assert answer.message.rendered == "from the second"
    source: Any = answer.message.source
    assert source.provider == "other"
    (request,) = second.requests
    assert b"s" not in [getattr(block, "signature", None) for turn in request.turns for block in turn.blocks]


@pytest.mark.parametrize(
    "error",
    [
        ModelInputTooLong(model="a", tokens=None, limit=None),
        ModelKeyRejected(model="a", message="odd"),
        ModelNotFound(model="a", wanted="x", message="odd"),
        ModelRequestRefused(model="a", status="400", message="odd"),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_what_somebody_must_put_right_is_told_and_not_hidden_by_another_model(error: ModelError) -> None:
    second = ScriptedModel("never")
    harness = AgentHarness(ScriptedModel(error), second)
    prompt, _ = await answer_to(harness)
    assert prompt.status is MessageStatus.ERROR
    assert not second.requests


class Breaking(ScriptedModel):
    """Breaks after the first delta."""

    async def stream(self, request: CompiledRequest) -> Any:
        async for item in super().stream(request):
            yield item
            raise OFFLINE


async def test_thoughts_alone_are_void_when_the_next_model_answers() -> None:
    # complaint 75
    harness = AgentHarness(Breaking(reply(thought("hm\n"), "never")), ScriptedModel("from the second", name="second"))
    prompt, answer = await answer_to(harness)
    assert answer.message.rendered == "from the second"
    assert [shown[2:] for shown in harness.drafts.shown] == [("hm\n", ""), ("", ""), ("", "from the second")]
    assert harness.drafts.notes == [("scripted cannot answer now; asking second", None)]
    assert [each.kind for each in await harness.turn(prompt)] == ["user_prompt", "answer"]


async def test_nothing_that_was_shown_is_replaced_by_another_model() -> None:
    second = ScriptedModel("never")
    harness = AgentHarness(Breaking("half\n"), second)
    prompt, _ = await answer_to(harness)
    assert prompt.status is MessageStatus.ERROR
    assert not second.requests


async def test_a_retry_says_why_and_takes_thoughts_back_but_an_answer_only_for_another() -> None:
    class Waiting(ScriptedModel):
        async def stream(self, request: CompiledRequest) -> Any:
            yield Delta(text="hm", thought=True)
            yield Retry(after=30.6, reason="rate limit; asking again")
            yield Delta(text="one, ")
            yield Retry(after=0.9, reason="it broke off; asking again")
            yield Delta(text="one")
            yield Delta(text=", two")
            yield Retry(after=0, reason="it broke off; asking again")
            async for item in super().stream(request):
                yield item

    harness = AgentHarness(Waiting("three"))
    await answer_to(harness)
    assert [shown[2:] for shown in harness.drafts.shown] == [
        ("hm", ""),
        ("", ""),
        *[("", "one, ")] * 3,
        *[("", "one, two")] * 2,
        ("", "three"),
    ]
    assert harness.drafts.notes == [("rate limit; asking again", 30.6), *[("it broke off; asking again", None)] * 2]

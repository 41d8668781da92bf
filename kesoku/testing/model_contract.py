"""What every chat model must do, as a pytest class: subclass it, give the fixture `model`, change nothing else.

    class TestMine(ModelContract):
        @pytest.fixture
        def model(self) -> Iterator[ChatModel]:
            with MyLoopback.in_thread() as server:
                yield MyModel(...)

The model must follow the table of `kesoku.llm.offline`; a loopback server does when it answers with
`kesoku.llm.offline.decide`. The fixture must not be bound to an event loop, since one test uses two.
"""

# ruff: noqa: S101 - a contract is made of assertions

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, ClassVar

import pytest
import pytest_asyncio

from kesoku.errors import ModelError
from kesoku.messages.turn import (
    CallBlock,
    CompiledRequest,
    Delta,
    Finish,
    Reply,
    ResultBlock,
    Retry,
    TextBlock,
    ToolSpec,
    Turn,
)
from kesoku.ports import ChatModel
from kesoku.testing.waiting import PATIENCE

CALCULATE = ToolSpec(
    name="calculate",
    description="Evaluate an arithmetic expression.",
    parameters={
        "type": "object",
        "properties": {"expression": {"type": "string"}},
        "required": ["expression"],
        "additionalProperties": False,
    },
)
CURRENT_TIME = ToolSpec(
    name="current_time", description="The current time.", parameters={"type": "object", "properties": {}}
)


def user(*texts: str) -> Turn:
    """A user turn."""
    return Turn(role="user", blocks=tuple(TextBlock(text=text) for text in texts))


def request(*turns: Turn, tools: tuple[ToolSpec, ...] = ()) -> CompiledRequest:
    """A request with a short system instruction."""
    return CompiledRequest(system="You are a test.", turns=turns, tools=tools)


def results(reply: Reply, *outputs: Any, error: str | None = None) -> tuple[Turn, Turn]:
    """The model's turn and the turn with the results of its calls, ready to be appended."""
    answers = tuple(
        ResultBlock(call_id=call.call_id, name=call.name, output=output, error=error, wire_id=call.wire_id)
        for call, output in zip(reply.calls, outputs, strict=True)
    )
    return Turn(role="model", blocks=reply.blocks), Turn(role="user", blocks=answers)


async def listen(model: ChatModel, asked: CompiledRequest) -> tuple[list[Delta], Reply]:
    """The deltas after the last retry, and the reply that must end the stream."""
    items = [item async for item in model.stream(asked)]
    *shown, reply = items
    assert isinstance(reply, Reply), "the last item is the Reply"
    assert all(isinstance(item, Delta | Retry) for item in shown), "everything before the Reply is a Delta or a Retry"
    last = max((index for index, item in enumerate(shown) if isinstance(item, Retry)), default=-1)
    return [item for item in shown[last + 1 :] if isinstance(item, Delta)], reply


class ModelContract:
    """The behaviour of the port `ChatModel`."""

    can_fail: ClassVar[bool] = True
    """Whether there is anything outside that can break; False for a model that lives in this process."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Nobody weakens the contract: its tests cannot be overridden."""
        super().__init_subclass__(**kwargs)
        names = [name for name in vars(ModelContract) if name.startswith("test_")]
        changed = [name for name in names if getattr(cls, name) is not vars(ModelContract)[name]]
        if changed:
            raise TypeError(f"{cls.__name__} overrides tests of the contract: {', '.join(changed)}")

    @pytest.fixture
    def model(self) -> ChatModel:
        """The model under test."""
        raise NotImplementedError("give the fixture `model`")

    @pytest.fixture
    def failing(self) -> ChatModel:
        """A model of the same kind whose calls fail, e.g. with a wrong key; needed when `can_fail`."""
        raise NotImplementedError("give the fixture `failing`")

    @pytest_asyncio.fixture(autouse=True)
    async def _closed(self, model: ChatModel) -> AsyncIterator[None]:
        yield
        await model.aclose()

    async def test_one_reply_ends_the_stream(self, model: ChatModel) -> None:
        _, reply = await listen(model, request(user("hello")))
        assert reply.text
        assert reply.finish is Finish.STOP
        assert reply.provider == model.provider
        assert reply.model
        assert reply.usage.total > 0

    async def test_deltas_add_up_to_the_reply(self, model: ChatModel) -> None:
        deltas, reply = await listen(model, request(user("think about rivers")))
        assert "".join(delta.text for delta in deltas if not delta.thought) == reply.text != ""
        assert "".join(delta.text for delta in deltas if delta.thought) == reply.thoughts != ""
        assert len(deltas) > 2
        assert all(delta.text for delta in deltas)

    async def test_an_offered_tool_is_called_with_valid_arguments(self, model: ChatModel) -> None:
        _, reply = await listen(model, request(user("calculate 6*7"), tools=(CURRENT_TIME, CALCULATE)))
        (call,) = reply.calls
        assert (call.name, dict(call.arguments)) == ("calculate", {"expression": "6*7"})
        assert call.call_id
        assert reply.finish is Finish.STOP

    async def test_a_tool_that_is_not_offered_is_not_called(self, model: ChatModel) -> None:
        _, reply = await listen(model, request(user("calculate 6*7"), tools=(CURRENT_TIME,)))
        assert reply.calls == ()
        assert reply.text

    async def test_parallel_calls_keep_their_order_and_have_ids_of_their_own(self, model: ChatModel) -> None:
        _, reply = await listen(model, request(user("6*7\ntime\n1+1"), tools=(CURRENT_TIME, CALCULATE)))
        assert [call.name for call in reply.calls] == ["calculate", "current_time", "calculate"]
        assert len({call.call_id for call in reply.calls}) == 3

    async def test_results_are_answered(self, model: ChatModel) -> None:
        asked = request(user("6*7\ntime"), tools=(CURRENT_TIME, CALCULATE))
        _, step = await listen(model, asked)
        _, answer = await listen(model, request(*asked.turns, *results(step, "42", "noon"), tools=asked.tools))
        assert answer.calls == ()
        assert "42" in answer.text
        assert "noon" in answer.text

    async def test_a_failed_result_is_answered(self, model: ChatModel) -> None:
        asked = request(user("6*7"), tools=(CALCULATE,))
        _, step = await listen(model, asked)
        turns = results(step, None, error="the abacus broke")
        _, answer = await listen(model, request(*asked.turns, *turns, tools=asked.tools))
        assert "abacus" in answer.text

    async def test_step_after_step_in_one_turn_and_a_turn_after_it(self, model: ChatModel) -> None:
        asked = request(user("think about rivers and then 6*7 and then time"), tools=(CURRENT_TIME, CALCULATE))
        called = []
        while True:
            _, reply = await listen(model, asked)
            if not reply.calls:
                break
            called += [call.name for call in reply.calls]
            asked = request(*asked.turns, *results(reply, *("fine" for _ in reply.calls)), tools=asked.tools)
        assert called == ["calculate", "current_time"]
        turns = (*asked.turns, Turn(role="model", blocks=reply.blocks), user("hello"))
        _, reply = await listen(model, request(*turns, tools=asked.tools))
        assert reply.text

    async def test_calls_of_another_provider_are_accepted(self, model: ChatModel) -> None:
        foreign = Reply(
            provider="elsewhere",
            model="other",
            blocks=tuple(
                CallBlock(call_id=f"c{number}", name="calculate", arguments={"expression": "1+1"}) for number in (1, 2)
            ),
        )
        turns = (user("1+1\n1+1"), *results(foreign, "2", "2"))
        _, answer = await listen(model, request(*turns, tools=(CALCULATE,)))
        assert "2" in answer.text

    async def test_odd_text_does_not_break_a_turn(self, model: ChatModel) -> None:
        odd = "NUL \0, half a pair \ud83d, a pair \ud83d\ude42, \u202ertl, e\u0301, \u2028 " + "é" * 50_000
        _, reply = await listen(model, request(user("", odd)))
        assert reply.text
        call = CallBlock(call_id="c", name="calculate", arguments={"expression": odd, "n": float("nan")})
        turns = results(Reply(blocks=(call,), provider="elsewhere", model="m"), {odd: [odd, float("inf"), b"\xff"]})
        _, reply = await listen(model, request(user("1+1"), *turns, tools=(CALCULATE,)))
        assert reply.text

    async def test_cancelling_takes_less_than_a_second(self, model: ChatModel) -> None:
        begun = asyncio.Event()

        async def read() -> None:
            async for _ in model.stream(request(user("slow 60"))):
                begun.set()

        task = asyncio.create_task(read())
        await asyncio.wait_for(begun.wait(), PATIENCE)
        start = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert time.monotonic() - start < 1

    async def test_a_reader_may_leave_early_and_come_back(self, model: ChatModel) -> None:
        start = time.monotonic()
        stream = model.stream(request(user("slow 60")))
        assert isinstance(stream, AsyncGenerator), "a stream can be closed"
        async with aclosing(stream):
            assert isinstance(await anext(stream), Delta)
        assert time.monotonic() - start < 5
        _, reply = await listen(model, request(user("hello")))
        assert reply.text

    async def test_parallel_streams_do_not_mix(self, model: ChatModel) -> None:
        topics = [f"topic{number}x" for number in range(8)]
        heard = await asyncio.gather(*(listen(model, request(user(f"think about {topic}"))) for topic in topics))
        for topic, (_, reply) in zip(topics, heard, strict=True):
            assert topic in reply.text
            assert not any(other in reply.text for other in topics if other != topic)

    async def test_the_same_request_object_can_be_sent_twice(self, model: ChatModel) -> None:
        asked = request(user("think about rivers"))
        digest = asked.digest()
        texts = {(await listen(model, asked))[1].text for _ in range(2)}
        assert len(texts) == 1
        assert asked.digest() == digest

    def test_two_event_loops_one_after_the_other(self, model: ChatModel) -> None:
        async def once() -> str:
            try:
                return (await listen(model, request(user("hello"))))[1].text
            finally:
                await model.aclose()

        assert asyncio.run(once()) == asyncio.run(once())

    async def test_closing_is_repeatable_and_not_the_end(self, model: ChatModel) -> None:
        await model.aclose()
        await listen(model, request(user("hello")))
        await model.aclose()
        await model.aclose()
        await listen(model, request(user("hello")))

    async def test_counting_needs_nobody(self, model: ChatModel) -> None:
        small, large = (model.count(request(user("word " * words), tools=(CALCULATE,))) for words in (10, 10_000))
        assert 0 < small < large
        assert 5_000 < large < 50_000

    async def test_a_failure_is_a_leaf_of_model_error(self, failing_or_skip: ChatModel) -> None:
        with pytest.raises(ModelError) as caught:
            await listen(failing_or_skip, request(user("hello")))
        assert type(caught.value) is not ModelError
        assert "\n" not in str(caught.value)
        await failing_or_skip.aclose()

    @pytest.fixture
    def failing_or_skip(self, request: pytest.FixtureRequest) -> ChatModel:
        """The failing model, if this kind of model can fail."""
        if not self.can_fail:
            pytest.skip("nothing outside this process can break this model")
        found: ChatModel = request.getfixturevalue("failing")
        return found

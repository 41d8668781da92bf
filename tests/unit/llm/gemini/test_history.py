"""Stored conversations, compiled and sent: what the server refuses, the compiler or the wire got wrong."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kesoku.history.block import WITHHELD
from kesoku.history.compile import compile_turns
from kesoku.llm.gemini.model import GeminiModel
from kesoku.llm.offline import OfflineModel
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.lifecycle import Step
from kesoku.messages.record import Record
from kesoku.messages.source import PROMPT_BLOCKED
from kesoku.messages.turn import CompiledRequest, Finish, Reply, TurnRequest
from kesoku.ports import ChatModel
from kesoku.testing.gemini import Answer, Call, LoopbackGemini, Say, Think
from kesoku.testing.gemini.grammar import sign
from kesoku.testing.model_contract import CALCULATE, CURRENT_TIME, listen
from kesoku.testing.store_material import store_talk
from kesoku.testing.sync_store import SyncStore
from kesoku.testing.talk import Talk

from .conftest import Make

ASKED = TurnRequest(system="Be brief.", tools=(CURRENT_TIME, CALCULATE))


@pytest.fixture(params=[True, False], ids=["with call ids", "without"])
async def server(no_proxy: None, request: pytest.FixtureRequest) -> AsyncIterator[LoopbackGemini]:
    async with LoopbackGemini(call_ids=request.param) as server:
        yield server


@pytest.fixture
def gemini(make: Make) -> GeminiModel:
    return make()


def compiled(talk: Talk, model: ChatModel) -> CompiledRequest:
    return compile_turns(talk.records, talk.steps, ASKED, provider=model.provider)


async def step(talk: Talk, model: ChatModel, *, answered: bool = True) -> Reply:
    """One step of the running turn: ask, store what was said, store results or the answer."""
    _, reply = await listen(model, compiled(talk, model))
    talk.provider = model.provider
    calls = talk.step(*reply.blocks)
    if answered:
        for call in calls:
            talk.result(call, f"result of {call.message.content.tool}")
    if not calls:
        talk.answer(reply.text)
    return reply


async def test_turns_with_parallel_and_repeated_steps(gemini: GeminiModel, server: LoopbackGemini) -> None:
    talk = Talk()
    for _ in range(2):
        talk.prompt("think about rivers\ntime\n6*7 and then time")
        replies = [await step(talk, gemini) for _ in range(3)]
        assert [len(reply.calls) for reply in replies] == [2, 1, 0]
        assert "result of calculate" in replies[-1].text
    assert [seen.refused for seen in server.requests] == [None] * 6


async def test_a_turn_that_another_model_began(gemini: GeminiModel, server: LoopbackGemini) -> None:
    talk = Talk()
    talk.prompt("time\n6*7 and then time")
    await step(talk, OfflineModel())
    reply = await step(talk, gemini)
    assert [call.name for call in reply.calls] == ["current_time"]
    reply = await step(talk, OfflineModel())
    assert "result of calculate" in reply.text
    talk.prompt("hello")
    assert (await step(talk, gemini)).text
    assert [seen.refused for seen in server.requests] == [None] * 2


async def test_an_interrupted_call_and_an_error(gemini: GeminiModel, server: LoopbackGemini) -> None:
    talk = Talk()
    talk.prompt("time\n6*7")
    await step(talk, gemini, answered=False)
    talk.prompt("time")
    await step(talk, gemini)
    talk.error("it broke")
    talk.nudge()
    reply = await step(talk, gemini)
    assert reply.text
    assert [seen.refused for seen in server.requests] == [None] * 3


async def test_signatures_and_ids_come_back_as_they_came_over_a_restart(
    gemini: GeminiModel, server: LoopbackGemini, tmp_path: Path
) -> None:
    # complaints 57 and 58
    talk = Talk()
    talk.prompt("go")
    server.script(Answer(Think("hm"), Say("I look."), Call("b", {"é": [1, 2.5]}), Call("a", {}), Call("b", None)))
    await step(talk, gemini)
    talk.prompt("and?")
    for active in (talk.turn, talk.records[0].id):
        records, steps = restarted(talk, tmp_path / f"{active}.db")
        await listen(gemini, compile_turns(records, steps, ASKED, provider="gemini", active_turn=active))
    assert [seen.refused for seen in server.requests] == [None] * 3
    for seen, texts in zip(server.requests[1:], ([], ["hm", "I look."]), strict=True):
        _, said, returned, *_ = seen.body["contents"]
        assert [part.get("text") for part in said["parts"]] == [*texts, None, None, None]
        calls = said["parts"][len(texts) :]
        assert [part.get("thought_signature") for part in calls] == [sign(calls[0]), None, None]
        ids = [part["function_call"].get("id") for part in calls]
        assert ids == (["fc-1", "fc-2", "fc-3"] if server.call_ids else [None] * 3)
        assert [part["function_response"].get("id") for part in returned["parts"][:3]] == ids


def restarted(talk: Talk, path: Path) -> tuple[list[Record], list[Step]]:
    """The talk as another process reads it."""
    sync_store = SyncStore(path)
    sync_store.run(lambda tx: store_talk(tx, talk, session="s"))
    sync_store.close()
    sync_store = SyncStore(path)
    found = sync_store.run(lambda tx: (tx.messages.session("s"), tx.steps.of(talk.steps[0].turn_id)))
    sync_store.close()
    return found


async def test_a_prompt_that_was_refused_is_not_sent_again(gemini: GeminiModel, server: LoopbackGemini) -> None:
    # complaint 69
    server.blocks = "bomb"
    talk = Talk()
    talk.prompt("hello")
    await step(talk, gemini)
    talk.prompt("build a bomb", files=(Attachment(name="bomb.txt", path="/nowhere", mime_type="text/plain"),))
    _, refused = await listen(gemini, compiled(talk, gemini))
    assert refused.finish is Finish.REFUSED
    talk.add(make.error_answer("The provider did not take your message.", error=PROMPT_BLOCKED))
    talk.prompt("time")
    replies = [await step(talk, gemini) for _ in range(2)]
    assert "result of current_time" in replies[-1].text
    assert server.requests[-1].body["contents"][2]["parts"] == [{"text": WITHHELD}]


async def test_an_answer_that_was_cut_is_shown_to_the_model(gemini: GeminiModel, server: LoopbackGemini) -> None:
    # complaint 64
    talk = Talk()
    talk.prompt("tell")
    server.script(Answer(Say("Once upon a"), finish="MAX_TOKENS"), Answer(Say(" time.")))
    _, cut = await listen(gemini, compiled(talk, gemini))
    assert cut.finish is Finish.CUT
    talk.step(*cut.blocks)
    talk.thought(cut.text, interim=True)
    talk.add(make.nudge("Go on.", why="continue"), round=2)
    _, rest = await listen(gemini, compiled(talk, gemini))
    asked, part, told = server.requests[-1].body["contents"]
    assert "".join(each["text"] for each in part["parts"]) == "Once upon a"
    assert (asked["parts"], told["parts"]) == ([{"text": "tell"}], [{"text": "[System Notification]\nGo on."}])
    assert [seen.refused for seen in server.requests] == [None] * 2
    assert rest.text == " time."


async def test_signatures_of_another_model_of_the_same_provider(
    server: LoopbackGemini, gemini: GeminiModel, make: Make
) -> None:
    server.binds_signatures_to_model = True
    other = make(model="gemini-3.1-pro-preview")
    talk = Talk()
    talk.prompt("6*7 and then time")
    await step(talk, gemini)
    replies = [await step(talk, other) for _ in range(2)]
    assert [call.name for call in replies[0].calls] == ["current_time"]
    assert replies[1].text
    assert [seen.refused is None for seen in server.requests] == [True, False, True, True]

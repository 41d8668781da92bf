"""A turn is answered by the model and in the role that its opener asks for, from its first step to its last."""

from typing import Any

from kesoku.agent.assistant import Assistant
from kesoku.errors import ModelUnavailable
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.profile import Profile
from kesoku.messages.record import Address, Mode, Post, Record
from kesoku.messages.turn import Finish, TurnRequest
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.gateway_harness import ROOM
from kesoku.testing.model import Held, ScriptedModel, call, reply
from kesoku.tools.tool import Effect, tool

HALL = Address(chatbot_id="discord", channel_id="hall")


@tool(effect=Effect.READ)
def look() -> str:
    """Look."""
    return "nothing new"


class Stage(AgentHarness):
    """Two models: `plain` answers whatever asks for nothing, `cook` what asks for that role."""

    def __init__(self, plain: ScriptedModel, cook: ScriptedModel, **facts: Any) -> None:
        self.plain, self.cook = plain, cook
        super().__init__(assistants=self._assistant, tools=[look], **facts)

    def _assistant(self, _: Address, profile: Profile) -> Assistant:
        first, role = (self.cook, "You cook.") if profile.role == "cook" else (self.plain, "Be plain.")
        models = (first, self.plain) if first is not self.plain else (first,)
        return Assistant(models=models, request=TurnRequest(system=role, tools=self.tools.specs()))

    async def asks(self, text: str, role: str = "cook", *, at: Address = ROOM, mode: Mode = "followup") -> Record:
        """A person says something where a role is played."""
        message = make.user_prompt(text, author="Ada", user_id="id-Ada", role=role)
        (record,) = await self.gateway.accept([Post(message=message, address=at, mode=mode)])
        return record


def stage(*said: Any, plain: tuple[Any, ...] = ()) -> Stage:
    """The cook says these lines, in turn."""
    return Stage(ScriptedModel(*plain, name="plain"), ScriptedModel(*said, name="cook"))


def systems(model: ScriptedModel) -> set[str]:
    return {request.system for request in model.requests}


async def test_two_channels_have_two_models_and_two_system_prompts() -> None:
    made = stage("soup", plain=("sunny",))
    async with made.at_work():
        here, there = await made.asks("dinner?"), await made.asks("weather?", "", at=HALL)
        assert (await made.answered(here)).message.text == "soup"
        assert (await made.answered(there)).message.text == "sunny"
    assert (systems(made.cook), systems(made.plain)) == ({"You cook."}, {"Be plain."})
    steps = await made.store.read(lambda tx: [*tx.steps.of(here.id), *tx.steps.of(there.id)])
    assert [each.model for each in steps] == ["cook", "plain"]


async def test_tools_nudges_and_a_cut_answer_stay_with_the_same_role() -> None:
    made = stage(reply(call("look")), reply(""), reply("So", finish=Finish.CUT), reply(" be it"))
    async with made.at_work():
        answer = await made.answered(await made.asks("dinner?"))
    assert answer.message.text == "So be it"
    assert (len(made.cook.requests), systems(made.cook), made.plain.requests) == (4, {"You cook."}, [])


async def test_what_joins_a_turn_does_not_change_its_role() -> None:
    held = Held(reply(call("look")))
    made = stage(held, "soup")
    async with made.at_work():
        opener = await made.asks("dinner?")
        await held.entered.wait()
        await made.asks("and quick", "", mode="steer")
        held.release.set()
        assert (await made.answered(opener)).message.text == "soup"
    assert systems(made.cook) == {"You cook."}


async def test_the_next_model_takes_over_within_the_role() -> None:
    made = stage(ModelUnavailable(model="cook", status=503, message="overloaded"), plain=("toast",))
    async with made.at_work():
        assert (await made.answered(await made.asks("dinner?"))).message.text == "toast"
    assert systems(made.plain) == {"You cook."}


async def test_a_compaction_is_written_by_who_answers_in_its_channel() -> None:
    made = stage("one", "two", "three", "summary", plain=("other",))
    async with made.at_work():
        for text in "abc":
            asked = await made.asks(text)
            await made.answered(asked)
        await made.store.write(lambda tx: tx.sessions.bind(HALL, asked.session_id))
        await made.answered(await made.asks("weather?", "", at=HALL))
        compaction = Post(message=make.compaction_prompt(), address=ROOM, session_id=asked.session_id)
        await made.until(await made.gateway.post(compaction), MessageStatus.PROCESSED)
    assert len(made.cook.requests) == 4
    assert made.cook.requests[-1].system == "You cook."


async def test_mail_wakes_the_role_of_the_last_person_in_the_channel() -> None:
    made = stage("soup", "told")
    async with made.at_work():
        asked = await made.asks("dinner?")
        await made.answered(asked)
        note = make.mail_note("[System Notification]\nMail", mail_id="m1")
        post = Post(message=note, address=ROOM, session_id=asked.session_id, turn_id=note.id)
        assert (await made.answered(await made.gateway.post(post))).message.text == "told"


async def test_another_process_goes_on_in_the_same_role() -> None:
    first = stage()
    prompt = await first.asks("dinner?")
    loop = first.loop()
    turn = await loop._journal.open(await first.claim("dead"))
    said = reply(call("look"))
    await loop._journal.step(turn, loop._asked(turn, first.cook), said)
    cook = ScriptedModel("soup", name="cook")
    second = Stage(ScriptedModel(name="plain"), cook, store=first.store, clock=first.clock)
    second.presence.dead.add("dead")
    async with second.at_work("w2"):
        await second.gateway.recover()
        assert (await second.answered(prompt)).message.text == "soup"
    assert [each.system for each in cook.requests] == ["You cook."]

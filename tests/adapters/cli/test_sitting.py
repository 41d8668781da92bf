"""What one sitting makes of the records that it follows."""

from io import BytesIO
from pathlib import Path

import pytest

from kesoku.agent import TurnLimits
from kesoku.errors import ModelUnavailable
from kesoku.messages.turn import Finish
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.gateway_harness import GatewayHarness
from kesoku.testing.memory import MemoryStore
from kesoku.testing.model import Line, ScriptedModel, call, reply
from kesoku_cli.machine import Machine
from kesoku_cli.manifest import MANIFEST
from kesoku_cli.person import Person
from kesoku_cli.sitting import DONE, FAILED, INTERRUPTED, Sitting

CUT = reply("one, two, th", finish=Finish.CUT)
OFFLINE = ModelUnavailable(model="scripted", status=503, message="overloaded")


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        (["yes"], DONE),
        ([CUT, "ree"], DONE),
        ([CUT, OFFLINE], FAILED),
        ([OFFLINE], FAILED),
        ([reply(finish=Finish.BLOCKED)], FAILED),
        ([reply()] * 2, FAILED),
        ([reply(call("look"))] * 2, FAILED),
    ],
    ids=["answered", "continued", "cut-by-an-error", "error", "blocked", "nothing", "limit"],
)
async def test_the_exit_code_tells_whether_all_was_answered(lines: list[Line], code: int) -> None:
    harness, sitting = AgentHarness(ScriptedModel(*lines), limits=TurnLimits(steps=2)), Sitting(posted_is_out=True)
    prompt = await harness.say()
    sitting.asked(prompt)
    async with harness.at_work():
        await harness.answered(prompt)
    for change in await harness.events():
        sitting.saw(change.record)
    assert (sitting.exit_code, sitting.is_waiting) == (code, False)


@pytest.mark.parametrize("told_late", [False, True], ids=["asked-first", "over-before-it-was-told"])
async def test_a_turn_that_was_never_seen_running_begins_and_ends_once(told_late: bool) -> None:
    harness, sitting, happened = AgentHarness(ScriptedModel("yes")), Sitting(posted_is_out=True), list[str]()
    prompt = await harness.say()
    if not told_late:
        happened += sitting.asked(prompt)
    async with harness.at_work():
        await harness.answered(prompt)
    # Records are read as they stand now, so a quick turn shows its prompt twice in its last status.
    for change in await harness.events():
        happened += sitting.saw(change.record)
    if told_late:
        happened += sitting.asked(prompt)
    assert happened == ["started", "processed"]
    assert not sitting.is_waiting


@pytest.mark.parametrize(
    ("asked", "ended", "code"),
    [([], True, DONE), (["taken in"], True, INTERRUPTED), (["typed"], True, INTERRUPTED), (["taken in"], False, DONE)],
    ids=["nothing-asked", "before-the-turn", "before-it-was-stored", "a-conversation"],
)
async def test_leaving_before_the_answer_is_an_interruption(
    tmp_path: Path, asked: list[str], ended: bool, code: int
) -> None:
    bench, sitting = GatewayHarness(MemoryStore()), Sitting(posted_is_out=True)
    runner = AdapterRunner(
        manifest=MANIFEST, store=bench.store, gateway=bench.gateway, clock=bench.clock, folder=tmp_path / "runner"
    )
    person = Person(
        inbox=runner.inbox,
        front=Machine(out=BytesIO(), stdin=None),
        sitting=sitting,
        target=runner.address("here"),
        author="Ada",
        in_order=False,
        tell=lambda happened: None,
        show=lambda _: False,
    )
    for text in asked:
        if text == "typed":
            person.submitted(text)
        else:
            await person._say(text)
    person.has_ended = ended
    person.left()
    assert sitting.exit_code == code

"""What one sitting makes of the records that it follows."""

import pytest

from kesoku.agent import TurnLimits
from kesoku.errors import ModelUnavailable
from kesoku.messages.turn import Finish
from kesoku.testing.model import Line, ScriptedModel, call, reply
from kesoku.testing.office import Office
from kesoku_cli.sitting import DONE, FAILED, Sitting

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
    office, sitting = Office(ScriptedModel(*lines), limits=TurnLimits(steps=2)), Sitting(posted_is_out=True)
    prompt = await office.say()
    sitting.asked(prompt)
    async with office.at_work():
        await office.answered(prompt)
    for change in await office.events():
        sitting.saw(change.record)
    assert (sitting.exit_code, sitting.is_waiting) == (code, False)

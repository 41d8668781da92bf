"""What one sitting makes of the records that it follows."""

import pytest

from kesoku.errors import ModelUnavailable
from kesoku.messages.turn import Finish
from kesoku.testing.model import Line, ScriptedModel, reply
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
    ],
    ids=["answered", "continued", "cut-by-an-error", "error", "blocked"],
)
async def test_the_exit_code_tells_whether_all_was_answered(lines: list[Line], code: int) -> None:
    office, sitting = Office(ScriptedModel(*lines)), Sitting(posted_is_out=True)
    prompt = await office.say()
    sitting.asked(prompt)
    async with office.at_work():
        await office.answered(prompt)
    for change in await office.events():
        sitting.saw(change.record)
    assert (sitting.exit_code, sitting.is_waiting) == (code, False)

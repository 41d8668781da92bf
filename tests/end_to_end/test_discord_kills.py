"""`kesoku run` killed while requests to Discord are on their way: each final comes once and in order, and nothing that
was shown meanwhile stays."""

import pytest

from kesoku.testing.discord import Message

from .conftest import Home
from .killed_bot import DELETE, EDIT, SEND, KilledBot

pytestmark = pytest.mark.slow

WHOLE = ["part one", "part two", "part three", "song.txt", "Again?"]
CONTROLS = ["Retry", "Context", "Trace", "Yes", "No"]


def finals(shown: list[Message]) -> list[str]:
    """Each message in short: how it begins, or what its file is called."""
    return [" ".join(each.content.split()[:2]) or each.attachments[0].name for each in shown]


def labels(shown: list[Message]) -> list[str]:
    """What stands on the buttons."""
    return [each["label"] for message in shown for row in message.components for each in row["components"]]


@pytest.mark.parametrize(
    ("route", "number", "done", "later"),
    [
        pytest.param(SEND, 1, True, False, id="the status is there, and not noted"),
        pytest.param(SEND, 1, True, True, id="the same, and an hour passes"),
        pytest.param(EDIT, 1, False, False, id="in an edit"),
        pytest.param(SEND, 3, False, True, id="before the second part, and an hour passes"),
        pytest.param(SEND, 3, True, False, id="the second part is there, and not noted"),
        pytest.param(SEND, 5, True, True, id="the file is there, and not noted, and an hour passes"),
        pytest.param(DELETE, 1, False, False, id="before the status is removed"),
        pytest.param(DELETE, 1, True, False, id="the status is removed, and that is not noted"),
    ],
)
async def test_an_answer_comes_once_and_whole(home: Home, route: str, number: int, done: bool, later: bool) -> None:
    """K-152, N-01, N-02; complaints 91 and 94."""
    bot = KilledBot.at(home)
    async with bot.server:
        bot.prepare()
        bot.catch(route, number, done=done)
        await bot.start()
        await bot.server.say(bot.room, bot.ada, "sing")
        if route == DELETE or number > 1:
            await bot.sees(lambda shown: len(shown) == 1, "the status")
            bot.go()
        await bot.caught()
        await bot.kill()
        if later:
            bot.later()
        bot.go()
        await bot.start()
        await bot.sees(lambda shown: finals(shown) == WHOLE, "the whole answer and nothing else")
        await bot.delivered()
        await bot.stop()
        assert finals(bot.shown()) == WHOLE
        assert labels(bot.shown()) == CONTROLS
        assert max(bot.server.typing(bot.room)) < bot.shown()[0].at


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
async def test_a_question_is_asked_once_at_a_time(home: Home, done: bool) -> None:
    """K-152; the turn that asked goes on, and what is pressed counts."""
    bot = KilledBot.at(home)
    async with bot.server:
        bot.prepare(model="offline")
        bot.catch(SEND, 2, done=done)
        await bot.start()
        await bot.server.say(bot.room, bot.ada, "run echo h''i")
        await bot.caught()
        await bot.kill()
        await bot.start()
        await bot.sees(lambda shown: labels(shown) == ["Stop", "yes", "no", "always"], "one question")
        await bot.server.press(bot.shown()[-1], "yes", by=bot.ada)
        await bot.sees(lambda shown: labels(shown) == CONTROLS[:3] and "hi" in shown[-1].content, "the answer")
        await bot.delivered()
        assert [finals([each])[0] for each in bot.shown()] == ["May I", "`run_shell_command` says:"]

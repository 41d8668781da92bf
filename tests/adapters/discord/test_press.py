"""Buttons and menus: answers to questions and commands on a message, over the loopback Discord."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.adapter import Button, CommandSpec, Outgoing, Prompt, Question
from kesoku.adapter.question import Approvals
from kesoku.gateway import FloodBounds
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.render import Unit
from kesoku.testing.discord import LoopbackDiscord, Refusal
from kesoku.testing.memory import MemoryStore
from kesoku_discord.drawing import closing
from kesoku_discord.drawing.controls import Act, Control, buttons, choices
from kesoku_discord.interaction.press import COMMANDS

from .interaction_stage import Commands, Stage, product, stage
from .wire_stage import holds

CHOICES = ("yes", "no", "always")
ENDED = "May I run rm?\n-# The turn is over."
"""The question of `asked` once its person said something else."""


def closed(by: Any, choice: str) -> str:
    """The question of `asked` once somebody answered it."""
    return f"May I run rm?\n-# ✅ <@{by.id}>: {choice}"


def test_a_question_that_was_answered_says_by_whom_and_how() -> None:
    asked = "May I run rm?\n-# Deadline: <t:1700000000:R>"
    shown = Outgoing(text=asked, buttons=(Button(label="yes", token="q1", value="yes"),), payload={"components": [1]})
    question = Question(id="q1", text="May I run rm?", choices=CHOICES)
    assert closing.closed(shown, question, "yes", "user:1") == Outgoing(text="May I run rm?\n-# ✅ <@1>: yes")
    assert closing.closed(shown, question, None, "deadline").text == "May I run rm?\n-# ⌛ Nobody answered in time."
    assert closing.closed(shown, question, None, "").text == "May I run rm?\n-# The turn is over."
    assert closing.picked("Tea or coffee?", "Ada", "Tea") == "Tea or coffee?\n-# Ada chose: Tea"
    assert closing.picked("", "Ada", "Tea") == "-# Ada chose: Tea"


def test_the_line_stands_there_once_and_never_makes_a_message_too_long() -> None:
    once = closing.picked("Tea?", "Ada", "Tea")
    assert closing.picked(once, "Ada", "Tea") == once
    assert closing.picked("x" * 1990, "Ada", "Tea") == "x" * 1990


@given(st.text(max_size=100), st.text(max_size=300))
def test_whatever_a_name_or_a_choice_is_it_stays_one_line_below_the_question(name: str, choice: str) -> None:
    assert Unit.UTF16.size(closing.picked("Well?", name, choice)) <= 2000
    assert len(closing.picked("Well?", name, choice).splitlines()) == 2
    assert "@everyone" not in closing.picked("", "@everyone", "*x*").replace("`@everyone`", "")


async def post(on: Stage, text: str, components: Sequence[dict[str, Any]], where: Any = None) -> Any:
    """The bot writes a message with buttons, as the room that renders does."""
    if on.desk.client is None:
        raise AssertionError("not connected")
    where = where or on.room
    route = discord.http.Route("POST", "/channels/{channel_id}/messages", channel_id=where.id)
    await on.desk.client.http.request(route, json={"content": text, "components": list(components)})
    return on.server.messages(where)[-1]


@asynccontextmanager
async def asked(on: Stage, *, admins: bool = False, labels: Sequence[str] = CHOICES) -> AsyncIterator[Any]:
    """A tool waits for an answer; the message with the question, and the task that ends with the choice."""
    said = Prompt(keys=("m1",), address=on.address, principal=on.person(on.ada), text="go")
    await on.bot.inbox.accept([said])
    call = await on.bot.say(await on.bot.claim(), make.tool_call("rm", {}, provider="p", model="m"))
    question = Question(id="q1", text="May I run rm?", choices=tuple(labels))
    waiting = asyncio.create_task(
        Approvals(on.store, on.clock, patience=60).ask(question, call=call, admins_only=admins)
    )
    try:
        await on.shown("May I run rm?")
        await on.bot.outbox.idle()
        yield on.server.messages(on.room)[-1], waiting
    finally:
        waiting.cancel()


async def test_who_may_answers_with_a_press_and_everybody_sees_it(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, asked(on) as (message, waiting):
        pressed = await on.server.press(message, "always", by=on.ada)
        assert await waiting == "always"
        await on.shown(closed(on.ada, "always"))
        assert message.components == []
        assert [(each.kind, each.ephemeral) for each in pressed.answers] == [("defer", False)]


async def test_a_choice_out_of_a_menu_is_an_answer_too(tmp_path: Path) -> None:
    labels = [f"choice {number}" for number in range(30)]
    async with stage(tmp_path) as on, asked(on, labels=labels) as (message, waiting):
        custom_id = message.components[1]["components"][0]["custom_id"]
        await on.server.press(message, custom_id=custom_id, by=on.ada, values=["27"])
        assert await waiting == "choice 27"
        await on.shown(closed(on.ada, "choice 27"))


async def test_a_question_for_admins_takes_no_other_press_and_keeps_its_buttons(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, asked(on, admins=True) as (message, waiting):
        refused = await on.server.press(message, "yes", by=on.ada)
        (told,) = (await refused.answered(2))[1:]
        assert (told.text, told.ephemeral) == ("Only an admin may answer this question.", True)
        stranger = await on.server.press(message, "yes", by=on.eve)
        (told,) = (await stranger.answered(2))[1:]
        assert told.ephemeral
        assert "only talks to people whom its owner let in" in told.text
        assert message.components != []
        assert not waiting.done()
        await on.server.press(message, "no", by=on.ida)
        assert await waiting == "no"
        await on.shown(closed(on.ida, "no"))


async def test_of_two_presses_one_counts_and_the_other_is_told(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, asked(on) as (message, waiting):
        presses = await asyncio.gather(
            on.server.press(message, "yes", by=on.ada), on.server.press(message, "no", by=on.ida)
        )
        taken = await waiting
        (late,) = (each for each, label in zip(presses, ("yes", "no"), strict=True) if label != taken)
        told = (await late.answered(2))[1]
        assert (told.text, told.ephemeral) == ("This question is no longer open.", True)
        await on.shown(closed(on.ada if taken == "yes" else on.ida, taken))


async def test_a_question_is_answered_by_a_button_from_before_a_restart(tmp_path: Path) -> None:
    async with LoopbackDiscord() as server:
        on = Stage(server, tmp_path)
        async with on.running(), asked(on) as (message, _):
            pass
        async with on.running():
            await on.server.press(message, "yes", by=on.ada)
            await on.shown(closed(on.ada, "yes"))
            assert message.components == []
            found = await on.store.read(lambda tx: tx.questions.get("q1"))
            assert found is not None
            assert found.answer == "yes"


async def test_a_redelivered_press_changes_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, asked(on) as (message, _):
        pressed = await on.server.press(message, "yes", by=on.ada)
        await on.shown(closed(on.ada, "yes"))
        await on.desk.interaction(on.desk.heard[0])
        assert len(pressed.answers) == 1


def pick(*labels: str) -> list[dict[str, Any]]:
    return choices(labels, Control(act=Act.PICK))


async def test_a_picked_choice_is_what_the_person_says_next(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        message = await post(on, "Tea or coffee?", pick("Tea", "Coffee"))
        pressed = await on.server.press(message, "Coffee", by=on.ada)
        await on.shown("Tea or coffee?\n-# Ada chose: Coffee")
        assert message.components == []
        (prompt,) = await on.stored()
        head, _, said = prompt.message.text.partition("\n")
        assert head.startswith(f"`Ada` <@{on.ada.id}> at `")
        assert said == "Coffee"
        assert prompt.address == on.address
        assert prompt.message.user_id == str(on.ada.id)
        source: Any = prompt.message.source
        assert source.platform_ids["discord_message_id"] == str(message.id)
        assert [each.kind for each in pressed.answers] == ["defer", "edit"]


async def test_a_question_is_picked_once_over_people_and_restarts(tmp_path: Path) -> None:
    async with LoopbackDiscord() as server:
        on = Stage(server, tmp_path)
        async with on.running():
            message = await post(on, "Tea?", pick("Tea", "No"))
            shown = message.components
            await on.server.press(message, "Tea", by=on.ada)
            await on.shown("Tea?\n-# Ada chose: Tea")
        async with on.running():
            message.components, message.content = shown, "Tea?"  # as somebody sees it whose client is behind
            late = await on.server.press(message, "No", by=on.ida)
            told = (await late.answered(3))[2]
            assert (told.text, told.ephemeral) == ("Already answered: Ada chose: Tea", True)
            await on.shown("Tea?\n-# Ada chose: Tea")
            assert len(await on.stored()) == 1


@pytest.mark.parametrize("label", ["/stop", "yes", "1"])
async def test_what_a_model_calls_its_choices_commands_and_approves_nothing(tmp_path: Path, label: str) -> None:
    commands = Commands(CommandSpec(name="stop", description="stop"))
    async with stage(tmp_path, commands) as on, asked(on):
        message = await post(on, "Well?", pick(label, "other"))
        await on.server.press(message, label, by=on.ada)
        await on.shown(ENDED, f"Well?\n-# Ada chose: {label}")
        found = await on.store.read(lambda tx: tx.questions.get("q1"))
        assert found is not None
        assert found.answer is None
        assert commands.given == []
        assert [each.message.text.partition("\n")[2] for each in await on.stored()] == ["", label]


async def test_a_choice_too_long_for_its_menu_goes_by_its_number_in_the_text(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        message = await post(on, "1. short\n2. long", pick("short", "long " * 30))
        (menu,) = message.components[0]["components"]
        await on.server.press(message, custom_id=menu["custom_id"], by=on.ada, values=["1"])
        await on.shown(f"1. short\n2. long\n-# Ada chose: 2. {'long ' * 18}long…")
        (prompt,) = await on.stored()
        assert prompt.message.text.endswith("\n2. " + "long " * 18 + "long…")


async def test_what_was_picked_is_answered_as_the_channel_is_configured(tmp_path: Path) -> None:
    async with LoopbackDiscord() as server:
        on = Stage(server, tmp_path)
        on.settings = {"channels": {str(on.room.id): {"model": "gemini/x", "role": "guide"}}}
        async with on.running():
            for where in (on.room, on.server.thread(on.room, "plans")):
                message = await post(on, "Tea?", pick("Tea", "No"), where)
                await on.server.press(message, "Tea", by=on.ada)
                await on.shown("Tea?\n-# Ada chose: Tea", where=where)
        sources: list[Any] = [each.message.source for each in await on.stored()]
        assert [(each.model, each.role) for each in sources] == [("gemini/x", "guide")] * 2


async def test_what_is_picked_too_often_is_refused_and_can_be_picked_later(tmp_path: Path) -> None:
    async with LoopbackDiscord() as server:
        on = Stage(server, tmp_path, bounds=FloodBounds(per_person_per_minute=1))
        async with on.running():
            first = await post(on, "First?", pick("Tea", "No"))
            second = await post(on, "Second?", pick("Tea", "No"))
            await on.server.press(first, "Tea", by=on.ada)
            picked = "First?\n-# Ada chose: Tea"
            await on.shown(picked, "Second?")
            await on.server.press(second, "Tea", by=on.ada)
            await holds(lambda: len(on.server.messages(on.room)) == 3, "the refusal")
            assert "I did not take this message" in on.server.messages(on.room)[-1].content
            assert second.components != []
            assert len(await on.stored()) == 1


async def test_a_choice_counts_also_where_the_message_cannot_be_changed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with stage(tmp_path) as on:
        on.server.script(Refusal(404, 10008, "Unknown Message"), on="PATCH /webhooks/{}/{}/messages/@original")
        message = await post(on, "Tea?", pick("Tea", "No"))
        await on.server.press(message, "Tea", by=on.ada)
        await holds(lambda: "could not be taken away" in caplog.text, "the log")
        assert len(await on.stored()) == 1


async def test_a_stranger_picks_nothing(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        message = await post(on, "Tea?", pick("Tea", "No"))
        for words in ("To get in", "This bot only talks to people whom its owner let in."):
            pressed = await on.server.press(message, "Tea", by=on.eve)
            (told,) = (await pressed.answered(2))[1:]
            assert told.ephemeral
            assert words in told.text
        assert message.components != []
        assert await on.stored() == []
        await on.shown("Tea?")


async def test_a_choice_is_picked_in_a_direct_chat_and_in_a_thread(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        for where in (on.server.direct(on.ada), on.server.thread(on.room, "plans")):
            message = await post(on, "Tea?", pick("Tea", "No"), where)
            await on.server.press(message, "Tea", by=on.ada)
            await on.shown("Tea?\n-# Ada chose: Tea", where=where)
            assert (await on.stored())[-1].address.channel_id == str(where.id)


@pytest.mark.parametrize(("act", "name"), COMMANDS.items())
async def test_a_button_under_a_message_gives_a_command_about_it(tmp_path: Path, act: Act, name: str) -> None:
    commands = Commands(CommandSpec(name=name, description="x"), replies={name: "That turn is over."})
    async with stage(tmp_path, commands) as on:
        message = await post(on, "working", buttons([("Do", Control(act=act, subject="turn-1"))]))
        pressed = await on.server.press(message, "Do", by=on.ada)
        promised, filled = await pressed.answered(2)
        assert (promised.kind, promised.ephemeral) == ("defer", True)
        assert (filled.text, filled.ephemeral) == ("That turn is over.", True)
        (invocation,) = commands.given
        assert (invocation.name, invocation.arguments) == (name, {"message": "turn-1"})
        assert message.components != []


async def test_stop_ends_the_turn_under_which_it_stands_and_never_a_newer_one(tmp_path: Path) -> None:
    async with stage(tmp_path, product) as on:
        turns = []
        for key in ("m1", "m2"):
            said = Prompt(keys=(key,), address=on.address, principal=on.person(on.ada), text=key)
            await on.bot.inbox.accept([said])
            turns.append(await on.bot.claim())
            if key == "m1":
                await on.bot.finish(turns[0])
        old, new = (Control(act=Act.STOP, subject=each.prompt.id) for each in turns)
        message = await post(on, "working", buttons([("Old", old), ("New", new)]))
        pressed = await on.server.press(message, "Old", by=on.ada)
        assert (await pressed.answered(2))[1].text == "That turn is over."
        assert await on.bot.status(turns[1].prompt) is MessageStatus.PROCESSING
        pressed = await on.server.press(message, "New", by=on.ada)
        assert (await pressed.answered(2))[1].text.startswith("Stopped")
        assert await on.bot.status(turns[1].prompt) is MessageStatus.INTERRUPTED


@pytest.mark.parametrize(
    ("act", "said"), [(Act.RETRY, "Once more from #1"), (Act.TRACE, "#2: answer"), (Act.CONTEXT, "")]
)
async def test_the_buttons_under_an_answer_are_about_its_turn(tmp_path: Path, act: Act, said: str) -> None:
    async with stage(tmp_path, product) as on:
        prompt = Prompt(keys=("m1",), address=on.address, principal=on.person(on.ada), text="go")
        await on.bot.inbox.accept([prompt])
        claim = await on.bot.claim()
        answer = await on.bot.finish(claim)
        subject = answer.id if act is Act.TRACE else claim.prompt.id
        message = await post(on, "done", buttons([("Do", Control(act=act, subject=subject))]))
        pressed = await on.server.press(message, "Do", by=on.ada)
        told = (await pressed.answered(2))[1]
        assert told.ephemeral
        assert said in told.text
        assert "There is no" not in told.text


async def test_a_stranger_stops_nothing(tmp_path: Path) -> None:
    commands = Commands(CommandSpec(name="stop", description="x"))
    async with stage(tmp_path, commands) as on:
        message = await post(on, "working", buttons([("Stop", Control(act=Act.STOP, subject="turn-1"))]))
        pressed = await on.server.press(message, "Stop", by=on.eve)
        assert "only talks to people" in (await pressed.answered(2))[1].text
        assert commands.given == []


async def test_a_button_that_nobody_knows_is_told_to_be_out_of_use(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        button = {"type": 2, "style": 1, "label": "Old", "custom_id": "something:else"}
        message = await post(on, "old", [{"type": 1, "components": [button]}])
        pressed = await on.server.press(message, "Old", by=on.ada)
        (told,) = (await pressed.answered(2))[1:]
        assert (told.text, told.ephemeral) == ("This button is no longer in use.", True)


class GatedStore(MemoryStore):
    """A store whose writes wait while `gate` is not set, and raise what `broken` holds."""

    broken: Exception | None = None

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.gate.set()

    async def write(self, operation: Callable[..., Any]) -> Any:
        await self.gate.wait()
        if self.broken:
            raise self.broken
        return await super().write(operation)


async def test_a_press_that_cannot_be_taken_is_told_so(tmp_path: Path) -> None:
    store = GatedStore()
    async with LoopbackDiscord() as server:
        on = Stage(server, tmp_path, store)
        async with on.running(), asked(on) as (message, _):
            store.broken = LookupError("a bug")
            pressed = await on.server.press(message, "yes", by=on.ada)
            told = (await pressed.answered(2))[1]
            store.broken = None
            assert (told.text, told.ephemeral) == ("This did not work; the log of the bot says why.", True)
            assert message.components != []


@pytest.mark.parametrize("control", [Act.PICK, Act.ASK])
async def test_a_press_is_acknowledged_before_a_slow_store_has_it(tmp_path: Path, control: Act) -> None:
    store = GatedStore()
    async with LoopbackDiscord() as server:
        on = Stage(server, tmp_path, store)
        async with on.running(), asked(on) as (message, _):
            if control is Act.PICK:
                message = await post(on, "Tea?", pick("yes", "no"))
            store.gate.clear()
            pressed = await on.server.press(message, "yes", by=on.ada)
            assert [each.kind for each in await pressed.answered(1)] == ["defer"]
            store.gate.set()
            shown = [closed(on.ada, "yes")] if control is Act.ASK else [ENDED, "Tea?\n-# Ada chose: yes"]
            await on.shown(*shown)

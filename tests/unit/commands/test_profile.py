"""/status, /system, /context, /export and /steer go by who answers in their channel."""

from pathlib import Path

import pytest

from kesoku.adapter.staging import Staging
from kesoku.agent.assistant import Assistant
from kesoku.agent.limits import TurnLimits
from kesoku.agent.view import Viewer
from kesoku.commands.conversation import Conversation
from kesoku.commands.export import Export
from kesoku.commands.registry import Registry
from kesoku.messages import make
from kesoku.messages.profile import Profile, profile_of
from kesoku.messages.record import Address, Post, Record
from kesoku.messages.turn import TurnRequest
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.gateway_harness import ROOM
from kesoku.testing.model import Held, ScriptedModel

from .desk import Desk

SYSTEMS = {"": "Be plain.", "cook": "You cook."}


@pytest.fixture
def table() -> Desk:
    """A desk at which the role `cook` has a model of its own."""
    cook, plain = ScriptedModel(name="cook"), ScriptedModel(name="plain")

    def who(_: Address, profile: Profile) -> Assistant:
        model = cook if profile.role else plain
        return Assistant(models=(model,), request=TurnRequest(system=SYSTEMS[profile.role]))

    return Desk(model=cook, harness=AgentHarness(assistants=who))


@pytest.fixture
def whole(table: Desk, tmp_path: Path) -> Desk:
    """The same, with more commands."""
    harness = table.harness
    viewer = Viewer(assistants=harness.assistants, limits=TurnLimits())
    conversation = Conversation(gateway=harness.gateway, store=harness.store, clock=harness.clock, viewer=viewer)
    export = Export(store=harness.store, viewer=viewer, staging=Staging(tmp_path))
    table.registry = Registry([*conversation.commands(), *export.commands()])
    return table


async def asks(table: Desk, role: str) -> Record:
    message = make.user_prompt("dinner?", author="Ada", user_id="id-Ada", role=role)
    (record,) = await table.harness.gateway.accept([Post(message=message, address=ROOM)])
    return record


async def test_status_and_system_name_the_model_and_the_role_of_the_channel(whole: Desk) -> None:
    assert await whole.give("/status") == "No conversation yet. Model: plain."
    whole.model.lines += ["soup"]
    async with whole.harness.at_work():
        await whole.harness.answered(await asks(whole, "cook"))
    assert "Model: cook." in await whole.give("/status")
    assert (await whole.give("/system", admin=True)).endswith("You cook.")
    assert (await whole.give("/export model")).startswith("What cook would read now")


async def test_while_a_turn_runs_it_is_the_one_of_that_turn(whole: Desk) -> None:
    held = Held()
    whole.model.lines += [held]
    async with whole.harness.at_work():
        asked = await asks(whole, "cook")
        await held.entered.wait()
        assert "Model: cook." in await whole.give("/status")
        held.release.set()
        await whole.harness.answered(asked)


async def test_context_and_replay_and_retry_are_those_of_the_role(table: Desk) -> None:
    table.model.lines += ["soup", "more soup"]
    async with table.harness.at_work():
        await table.harness.answered(await asks(table, "cook"))
        assert "system prompt, 3 tokens" in await table.give("/context")
        assert (await table.give("/replay")).partition("\n")[0].endswith(": 1 of 1.")
        await table.give("/retry")
        await table.worked()
    assert [each.system for each in table.model.requests] == ["You cook."] * 2


async def test_what_is_said_by_steer_asks_for_what_the_channel_has(table: Desk) -> None:
    table.model.lines += ["soup"]
    async with table.harness.at_work():
        await table.harness.answered(await asks(table, "cook"))
    await table.give("/steer and salad")
    (waiting,) = await table.waiting()
    assert await table.harness.store.read(lambda tx: profile_of(waiting, tx.messages)) == Profile(role="cook")

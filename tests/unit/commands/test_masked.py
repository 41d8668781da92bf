"""Commands show no known secret that a model wrote into a call; what is stored stays (complaint 168)."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from kesoku.adapter.command import FiledReply, Invocation
from kesoku.adapter.event import Principal
from kesoku.adapter.staging import Staging
from kesoku.agent.limits import TurnLimits
from kesoku.agent.view import Viewer
from kesoku.commands.export import Export
from kesoku.commands.redact import Redact
from kesoku.commands.registry import Registry
from kesoku.commands.why import Why
from kesoku.messages import make
from kesoku.messages.redaction import is_redacted
from kesoku.render.mask import Mask
from kesoku.testing.gateway_harness import ROOM
from kesoku.testing.model import call, reply
from kesoku.tools.tool import Effect, tool

from .desk import Desk, desk

TOKEN = f"sesame-{'0123456789' * 3}"
WHERE = f"{'x' * 10}{TOKEN}"
"""Lists that cut it first would show half of the secret."""
MASK = Mask({TOKEN})


@tool(effect=Effect.READ)
def look(where: str) -> str:
    """Look."""
    return "fog"


async def table_at(folder: Path) -> Desk:
    """Where one call with a secret was made: its number is 2, that of its result 3."""
    made = desk(reply(call("look", where=WHERE)), "It is foggy.", tools=[look], mask=MASK)
    store, staging = made.harness.store, Staging(folder / "files")
    viewer = Viewer(assistants=made.harness.assistants, limits=TurnLimits())
    made.registry = Registry(
        [
            *made.commands(),
            *Why(store=store, mask=MASK).commands(),
            *Export(store=store, viewer=viewer, staging=staging, mask=MASK).commands(),
            *Redact(store=store, clock=made.harness.clock, folder=staging.folder, mask=MASK).commands(),
        ]
    )
    await made.talk("look there")
    return made


@pytest.fixture
async def table(tmp_path: Path) -> Desk:
    return await table_at(tmp_path)


@pytest.mark.parametrize("line", ["/tools", "/context", "/context 4", "/why 2", "/why 3"])
async def test_lists_show_no_secret_and_not_the_half_of_one(table: Desk, line: str) -> None:
    told = await table.give(line)
    assert "sesame" not in told
    assert ("[secret" in told) == (line != "/why 2")


@pytest.mark.parametrize("name", ["why", "pin", "forget", "redact"])
async def test_what_is_offered_while_somebody_types_shows_none(table: Desk, name: str) -> None:
    person = Principal(user_id="id-Ada", display_name="Ada")
    given = Invocation(name=name, address=ROOM, principal=person, arguments={"message": "2"}, admin=True)
    (found,) = await table.registry.complete(given, "message")
    assert found.value == "2"
    assert "sesame" not in found.label


@pytest.mark.parametrize("form", ["raw", "model"])
async def test_exports_hold_none(table: Desk, form: str) -> None:
    given: Any = await table.give(f"/export {form}")
    assert isinstance(given, FiledReply)
    text = await asyncio.to_thread(Path(given.files[0].path or "").read_text, encoding="utf-8")
    assert json.loads(text)
    assert (TOKEN in text, "[secret]" in text) == (False, True)


async def test_what_is_stored_and_what_the_model_reads_is_what_it_wrote(table: Desk) -> None:
    assert WHERE in str(table.model.requests[-1])


async def test_what_quotes_a_masked_call_is_redacted_with_it(table: Desk) -> None:
    told = await table.give("/tools")
    prompt = (await table.harness.events())[0].record
    notice = await table.harness.gateway.post(prompt.beside(make.notice(told, reason="reply")))
    await table.give("/redact 2", admin=True)
    assert is_redacted((await table.harness.record(notice)).message)

"""/export gives a file: everything that is stored, or what the model would read now."""

import json
from pathlib import Path
from typing import Any

import pytest

from kesoku.adapter.command import FiledReply
from kesoku.adapter.staging import Staging
from kesoku.agent.limits import TurnLimits
from kesoku.agent.view import Viewer
from kesoku.commands.export import Export
from kesoku.commands.redact import Redact
from kesoku.commands.registry import Registry
from kesoku.errors import CommandMisused, NoConversation, NotPossible
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.testing.model import call, reply, thought
from kesoku.tools.tool import Effect, tool

from .desk import Desk, desk, read_by


@tool(effect=Effect.READ)
def look() -> str:
    """Look."""
    return "fog"


def table_at(folder: Path, *lines: Any) -> Desk:
    made = desk(*lines, tools=[look])
    store, staging = made.harness.store, Staging(folder / "files")
    viewer = Viewer(assistants=made.harness.assistants, limits=TurnLimits())
    redact = Redact(store=store, clock=made.harness.clock, folder=staging.folder)
    export = Export(store=store, viewer=viewer, staging=staging)
    made.registry = Registry([*export.commands(), *redact.commands()])
    return made


def filed(given: str) -> Attachment:
    assert isinstance(given, FiledReply)
    (file,) = given.files
    return file


def mode(file: Attachment) -> int | None:
    """Who may do what with a file; None if it is not there."""
    path = Path(file.path or "")
    return path.stat().st_mode & 0o777 if path.exists() else None


def content(file: Attachment) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(Path(file.path or "").read_bytes())
    return read


async def test_raw_is_everything_that_is_stored(tmp_path: Path) -> None:
    table = table_at(tmp_path, reply(thought("hm"), call("look")), "fog")
    (said,) = await table.talk("what do you see? \ud800")
    given = await table.give("/export raw")
    file = filed(given)
    assert given.startswith("The whole conversation, 5 messages, ")
    assert file.name == "kesoku-export-raw.json"
    assert mode(file) == 0o600
    read = content(file)
    assert read["session"]["id"] == said.session_id
    assert read["records"] == [each.to_dict() for each in await table.harness.session(said)]
    assert [each["role"] for each in read["chat"]] == ["user", "assistant", "tool", "tool", "assistant"]


async def test_model_is_the_request_that_would_be_sent_now(tmp_path: Path) -> None:
    table = table_at(tmp_path, reply(thought("hm"), call("look")), "fog", "again")
    first = (await table.talk("what do you see?"))[0]
    read = content(filed(await table.give("/export model")))
    assert (read["system"], read["model"], read["branch"]) == ("be kind", "scripted", "main")
    assert [each["name"] for each in read["tools"]] == ["look"]
    assert read["turns"][0]["messages"] == [[first.id, first.message.version]]
    blocks = [block for turn in read["turns"] for block in turn["blocks"]]
    assert [each["block"] for each in blocks] == ["text", "call", "result", "text"]
    assert (blocks[1]["name"], blocks[2]["output"]) == ("look", "fog")
    await table.talk("and now?")
    sent = read_by(table.model.requests[-1])
    assert [each["text"] for each in blocks if each["block"] == "text"] == sent[:-1]


async def test_raw_is_what_is_meant_without_a_form_and_other_forms_are_refused(tmp_path: Path) -> None:
    table = table_at(tmp_path, "fine")
    with pytest.raises(NoConversation):
        await table.give("/export")
    await table.talk("hello")
    assert filed(await table.give("/export")).name == "kesoku-export-raw.json"
    with pytest.raises(CommandMisused, match="raw, model"):
        await table.give("/export html")


async def test_a_disk_that_takes_nothing_is_said(tmp_path: Path) -> None:
    table = table_at(tmp_path, "fine")
    await table.talk("hello")
    (tmp_path / "files").write_text("in the way", encoding="utf-8")
    with pytest.raises(NotPossible, match="could not be saved"):
        await table.give("/export raw")


async def test_what_is_redacted_is_gone_from_exports_too(tmp_path: Path) -> None:
    """C-16"""
    table = table_at(tmp_path, "fine")
    (said,) = await table.talk("hello, my secret")
    given = await table.give("/export raw")
    file = filed(given)
    await table.harness.gateway.post(said.beside(make.notice(str(given), reason="reply", attachments=[file])))
    assert "2 messages" in await table.give("/redact 1")
    assert mode(file) is None

"""Toolbox and policies."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from kesoku.errors import PluginError, ToolDuplicate, ToolUnknown
from kesoku.tools import Effect, Policy, Tool, Toolbox, installed, tool
from kesoku.tools.builtin import BUILTIN


@tool(effect=Effect.READ)
def look() -> str:
    """Look."""
    return "seen"


WRITE = replace(look, name="write", effect=Effect.WRITE)
EXECUTE = replace(look, name="execute", effect=Effect.EXECUTE)


def test_reading_is_allowed_and_everything_else_asked_about() -> None:
    box = Toolbox([look, WRITE, EXECUTE])
    assert [box.policy(name) for name in box] == [Policy.ALLOW, Policy.ASK, Policy.ASK]


def test_a_policy_of_its_own_goes_first_and_a_denied_tool_is_not_offered() -> None:
    box = Toolbox([look, WRITE], {"look": Policy.DENY, "write": Policy.ALLOW})
    assert [box.policy(name) for name in box] == [Policy.DENY, Policy.ALLOW]
    assert [spec.name for spec in box.specs()] == ["write"]
    assert box["look"] is look
    assert len(box) == 2


def test_two_tools_of_one_name_are_refused() -> None:
    with pytest.raises(ToolDuplicate, match="'look'"):
        Toolbox([look, WRITE, look])


def test_a_policy_for_a_tool_that_is_not_there_is_refused() -> None:
    with pytest.raises(ToolUnknown, match="'lok'; known are look"):
        Toolbox([look], {"lok": Policy.DENY})
    with pytest.raises(ToolUnknown):
        Toolbox([look]).policy("write")


def test_every_builtin_tool_explains_itself() -> None:
    assert {tool.name for tool in BUILTIN} == {
        "run_shell_command",
        "read_file",
        "write_file",
        "edit_file",
        "list_dir",
        "search_files",
        "current_time",
        "calculate",
        "spawn_agent",
        "send_message",
        "check_mail",
    }
    box = Toolbox(BUILTIN)
    for spec in box.specs():
        assert spec.description
        for name, parameter in spec.parameters["properties"].items():
            assert parameter.get("description"), (spec.name, name)
    asked = {name for name in box if box.policy(name) is Policy.ASK}
    assert asked == {"run_shell_command", "write_file", "edit_file"}


Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a distribution with one module and its entry points in front of the path."""

    def put(name: str, source: str, *points: str) -> None:
        folder = tmp_path / f"{name}-1.0.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (folder / "entry_points.txt").write_text("[kesoku.tools]\n" + "\n".join(points))
        (tmp_path / f"{name}.py").write_text(source)
        monkeypatch.syspath_prepend(str(tmp_path))

    return put


def test_extensions_add_tools_and_a_bad_one_stops_nobody(install: Install) -> None:
    install(
        "extras_of_tools",
        "from kesoku.tools import tool\n"
        "@tool\ndef one() -> None: ...\n"
        "@tool\ndef two() -> None: ...\n"
        "@tool\ndef calculate() -> None: ...\n"
        "pair = (one, two)\nclash = (tool(name='three')(lambda: None), calculate)\nwrong = (one, 3)\n",
        "pair = extras_of_tools:pair",
        "clash = extras_of_tools:clash",
        "missing = extras_of_tools:missing",
        "wrong = extras_of_tools:wrong",
    )
    errors: list[PluginError] = []
    tools: tuple[Tool, ...] = installed(errors.append)
    assert tools[: len(BUILTIN)] == BUILTIN
    assert [tool.name for tool in tools[len(BUILTIN) :]] == ["one", "two"]
    assert [str(error).partition("; repair")[0] for error in errors] == [
        "'missing' in kesoku.tools (extras_of_tools:missing, from extras_of_tools 1.0) does not load: "
        "AttributeError: module 'extras_of_tools' has no attribute 'missing'",
        "'clash' in kesoku.tools (extras_of_tools:clash, from extras_of_tools 1.0) does not load: "
        "a tool named 'calculate' exists already",
        "'wrong' in kesoku.tools (extras_of_tools:wrong, from extras_of_tools 1.0) does not load: "
        "it must be a Tool or a tuple of Tools",
    ]

"""The tool and the hook of the how-to pages do what the pages say."""

import json
import re
import runpy
import subprocess
import sys
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kesoku import Address
from kesoku.agent.hook import Hook
from kesoku.messages.turn import TextBlock
from kesoku.plugins import ADAPTERS, HOOKS, TOOLS
from kesoku.render import confine
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.model import ScriptedModel, call, reply
from kesoku.tools import Effect, Outcome, Tool, ToolContext, run, tool

EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"


def loaded(name: str) -> dict[str, Any]:
    return runpy.run_path(str(EXAMPLES / name / f"{name}.py"))


ROLL: Tool = loaded("dice")["roll"]
REMIND: Hook = loaded("house_rules")["remind"]


@pytest.mark.parametrize(("name", "group"), [("letterbox", ADAPTERS), ("dice", TOOLS), ("house_rules", HOOKS)])
def test_every_example_declares_what_it_has(name: str, group: str) -> None:
    project = tomllib.loads((EXAMPLES / name / "pyproject.toml").read_text(encoding="utf-8"))
    entry = project["project"]["entry-points"][group][name]
    module, _, attribute = entry.partition(":")
    assert module == name
    assert attribute in loaded(name)


def context_in(tmp_path: Path) -> ToolContext:
    return ToolContext(
        session_id="s",
        call_id="c",
        workspace=tmp_path,
        roots=(tmp_path,),
        environment={},
        secrets=frozenset(),
        now=lambda: datetime.now(UTC),
    )


async def roll(tmp_path: Path, **arguments: Any) -> Outcome:
    return await run(ROLL, arguments, context_in(tmp_path))


async def test_dice_are_rolled_and_counted(tmp_path: Path) -> None:
    outcome = await roll(tmp_path, count=40, at_least=4)
    assert outcome.error is None
    assert len(outcome.output["dice"]) == 40
    assert outcome.output["counted"] == sum(die >= 4 for die in outcome.output["dice"])
    assert outcome.summary.startswith("rolled [")


async def test_what_cannot_be_rolled_is_a_result_too(tmp_path: Path) -> None:
    assert "`count`: Input should be a valid integer" in str((await roll(tmp_path, count="many")).error)
    assert (await roll(tmp_path, at_least=7)).error == "at_least: no die with 6 sides shows 7; ask for less"


def test_the_schema_comes_from_the_signature() -> None:
    assert ROLL.effect is Effect.READ
    assert ROLL.parameters["properties"]["count"] == {
        "default": 1,
        "description": "how many dice",
        "maximum": 100,
        "minimum": 1,
        "type": "integer",
    }


async def asked(text: str, *, in_room: str) -> str:
    """What the model reads in its second step."""
    model = ScriptedModel(reply(call("roll")), "done")
    harness = AgentHarness(model, tools=[ROLL], hooks={"house_rules": REMIND})
    prompt = await harness.say(text, at=Address(chatbot_id="discord", channel_id=in_room))
    async with harness.at_work():
        await harness.answered(prompt)
    return "".join(
        block.text for turn in model.requests[1].turns for block in turn.blocks if isinstance(block, TextBlock)
    )


async def test_the_hook_adds_its_rules_once_and_masks() -> None:
    read = await asked("call +49 30 123", in_room="kitchen")
    assert read.count("at most two sentences") == 1
    assert "call +** 30 123" in read


async def test_the_hook_leaves_other_rooms_alone() -> None:
    assert await asked("hello", in_room="garden") == "hello"


async def test_the_tool_with_a_context_counts_lines_and_stays_in_its_folder(tmp_path: Path) -> None:
    page = (EXAMPLES.parent / "how-to" / "write-a-tool.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(@tool[^`]+ToolContext[^`]+)```", page)
    world: dict[str, Any] = {"tool": tool, "Effect": Effect, "ToolContext": ToolContext, "confine": confine}
    exec(code, world)
    (tmp_path / "list.txt").write_text("milk\nbread\n")
    assert (await run(world["count_lines"], {"path": "list.txt"}, context_in(tmp_path))).output == 2
    assert "is refused" in str((await run(world["count_lines"], {"path": "/etc/hosts"}, context_in(tmp_path))).error)


def test_the_consumer_follows_the_events() -> None:
    events = [
        {"type": "turn_started"},
        {"type": "call", "id": "c", "name": "calculate", "summary": "3+3"},
        {"type": "answer_delta", "text": "6"},
        {"type": "answer", "text": "`calculate` says: 6", "metrics": {}},
    ]
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "follow.py")],
        input="\n".join(map(json.dumps, events)),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == ["running calculate: 3+3", "answer: `calculate` says: 6"]


@pytest.mark.parametrize("name", ["history", "postbox"])
def test_a_program_prints_what_its_page_says(name: str) -> None:
    done = subprocess.run([sys.executable, EXAMPLES / f"{name}.py"], capture_output=True, text=True, check=True)
    page = EXAMPLES.parent / "how-to" / "use-messages.md"
    assert f"```text\n{done.stdout}```" in page.read_text(encoding="utf-8")

"""From a `[[hooks]]` table to a hook, and what doctor says about it."""

import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from kesoku.app.event_hooks import hook_of
from kesoku.app.hook_check import examine
from kesoku.config import Config, Loaded
from kesoku.config.schema import Entry, HookTable
from kesoku.hooks.command import CommandTarget
from kesoku.hooks.hook import EventHook
from kesoku.hooks.http import HttpTarget
from kesoku.messages.hook_failure import HookFailure
from kesoku.ports import Finding, Severity
from kesoku.store import SqlStore

COMMAND = HookTable(name="diary", command=("true",), events=("answer",), bots=("room",), channels=("discord:1",))


def made(table: HookTable) -> EventHook:
    return hook_of(table, folder=Path(), environment={})


def test_a_table_says_everything_about_a_hook() -> None:
    hook = made(COMMAND)
    assert (hook.name, set(hook.wants.events)) == ("diary", {"answer"})
    assert (set(hook.wants.bots), set(hook.wants.channels)) == ({"room"}, {"discord:1"})
    assert isinstance(hook.target, CommandTarget)
    assert isinstance(made(HookTable(name="ops", url="http://x/")).target, HttpTarget)


def test_the_defaults_of_a_table_are_those_of_the_program() -> None:
    numbers = ("timeout", "attempts", "first_pause")
    defaults = {each.name: each.default for each in fields(EventHook) if each.name in numbers}
    assert defaults == {name: HookTable.model_fields[name].default for name in numbers}


def test_who_only_runs_commands_does_not_wait_for_an_http_client() -> None:
    program = "import sys, kesoku.app.event_hooks, kesoku.hooks.command; print('httpx' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


async def found(folder: Path, table: HookTable, *failures: HookFailure) -> Finding:
    database = folder / "kesoku.db"
    for failure in failures:
        async with await SqlStore.open(database) as store:
            await store.write(lambda tx, failure=failure: tx.hooks.put(failure))  # type: ignore[misc]
    bots = {name: Entry(type="offline", settings=None) for name in ("room", "discord")}
    config = Config(hooks=(table,), adapters=bots)
    loaded = Loaded(config=config, warnings=(), path=folder / "config.toml", secrets=frozenset())
    (finding,) = await examine(loaded, database)
    return finding


async def test_doctor_says_what_a_hook_hears_and_where_it_goes(tmp_path: Path) -> None:
    finding = await found(tmp_path, HookTable(name="ops", url="https://example.org/s3cret?a=s3cret"))
    assert (finding.check, finding.severity) == ("hooks.ops", Severity.OK)
    assert finding.text == "prompt, answer, error to example.org"


@pytest.mark.parametrize(("program", "there"), [("sh", True), ("no-such", False), ("./own", True), ("./other", False)])
async def test_doctor_looks_for_the_program_where_it_will_run(tmp_path: Path, program: str, there: bool) -> None:
    own = tmp_path / "own"
    own.touch()
    own.chmod(0o700)
    finding = await found(tmp_path, HookTable(name="x", command=(program,)))
    assert finding.severity is (Severity.OK if there else Severity.ERROR)


async def test_doctor_counts_what_waits_and_what_was_given_up(tmp_path: Path) -> None:
    failures = [
        HookFailure(hook="diary", event_seq=seq, message_id="m", attempts=1, next_at=next_at, error="x", at=1)
        for seq, next_at in enumerate((5, 6, None))
    ]
    finding = await found(tmp_path, COMMAND, *failures)
    assert (finding.severity, finding.figures) == (Severity.WARNING, {"waiting": 2, "given_up": 1})
    assert "/hooks retry diary" in finding.fix


async def test_doctor_says_nothing_of_hooks_where_the_database_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "kesoku.db").write_text("Dear diary, " * 999, encoding="utf-8")
    assert (await found(tmp_path, COMMAND)).severity is Severity.OK


@pytest.mark.parametrize("narrowed", [{"bots": ("romm",)}, {"channels": ("romm:1",)}], ids=["bots", "channels"])
async def test_doctor_names_a_bot_that_does_not_exist(tmp_path: Path, narrowed: dict[str, tuple[str, ...]]) -> None:
    finding = await found(tmp_path, HookTable(name="ops", url="http://x/", **narrowed))  # type: ignore[arg-type]
    assert finding.severity is Severity.WARNING
    assert finding.text == "it hears of nothing from romm: no bot is called so"
    assert finding.fix == "the bots of this config are room, discord, cli, agent"


async def test_the_terminal_and_agents_need_no_config(tmp_path: Path) -> None:
    table = HookTable(name="ops", url="http://x/", bots=("cli", "agent"), channels=("cli:cli", "agent:x"))
    assert (await found(tmp_path, table)).severity is Severity.OK

"""What `kesoku doctor` says about event hooks: one line each."""

import asyncio
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from kesoku.config import Loaded
from kesoku.config.schema import HookTable
from kesoku.errors import StoreError
from kesoku.exchange.kin import AGENT
from kesoku.ports import Finding, Severity
from kesoku.store import SqlStore
from kesoku.tools.process import minimal

_ALWAYS = ("cli", AGENT)
"""Bots that stand in no config: the terminal, and agents that work for others."""


async def examine(loaded: Loaded, database: Path) -> list[Finding]:
    """A finding a hook: whether its command is there, and how many events wait. Nothing is sent."""
    counts = await _counts(loaded, database)
    return [_finding(loaded, table, counts.get(table.name, (0, 0))) for table in loaded.config.hooks]


async def _counts(loaded: Loaded, database: Path) -> Mapping[str, tuple[int, int]]:
    """Waiting and given-up events by hook; nothing where the database cannot tell, which has a line of its own."""
    names = [table.name for table in loaded.config.hooks]
    if not names or not await asyncio.to_thread(database.exists):
        return {}
    try:
        async with await SqlStore.open(database, patience=loaded.config.store.busy_seconds) as store:
            return await store.read(lambda tx: {name: tx.hooks.count(name) for name in names})
    except StoreError:
        return {}


def _finding(loaded: Loaded, table: HookTable, count: tuple[int, int]) -> Finding:
    check, (waiting, given_up) = f"hooks.{table.name}", count
    figures = {"waiting": waiting, "given_up": given_up}
    if table.command is not None and not _is_there(table.command[0], command_folder(loaded)):
        text, fix = f"there is no program {table.command[0]}", "install it, or write its whole path"
        return Finding(check=check, severity=Severity.ERROR, text=text, fix=fix, figures=figures)
    if strangers := _strangers(loaded, table):
        text = f"it hears of nothing from {', '.join(strangers)}: no bot is called so"
        fix = f"the bots of this config are {', '.join((*loaded.config.adapters, *_ALWAYS))}"
        return Finding(check=check, severity=Severity.WARNING, text=text, fix=fix, figures=figures)
    text = f"{', '.join(table.events)} to {_where(table)}"
    if waiting or given_up:
        text += f"; events that wait: {waiting}, that were given up: {given_up}"
        fix = f"/hooks in a chat says why; then: /hooks retry {table.name}"
        return Finding(check=check, severity=Severity.WARNING, text=text, fix=fix, figures=figures)
    return Finding(check=check, severity=Severity.OK, text=text, figures=figures)


def _strangers(loaded: Loaded, table: HookTable) -> list[str]:
    """The bots that a hook names, also as those of channels, and that are nobody's."""
    named = dict.fromkeys(each.partition(":")[0] for each in (*table.bots, *table.channels))
    return [each for each in named if each not in loaded.config.adapters and each not in _ALWAYS]


def command_folder(loaded: Loaded) -> Path:
    """Where commands of hooks run: beside the config file, whoever starts them."""
    return (loaded.path.parent if loaded.path else Path()).absolute()


def _is_there(program: str, folder: Path) -> bool:
    # A name is looked for as the command itself will be, a path from where it will run.
    path = minimal(os.environ)["PATH"]
    return shutil.which(str(folder / program) if "/" in program else program, path=path) is not None


def _where(table: HookTable) -> str:
    """The program, or the host: path and query may be secret."""
    return table.command[0] if table.command else (urlsplit(table.url or "").hostname or "")

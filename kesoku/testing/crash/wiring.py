"""Which parts the processes of the crash kit are made of; a planted fault or a user of the kit replaces some."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kesoku.adapter.manifest import Manifest
from kesoku.adapter.outbox import Outbox
from kesoku.adapter.staging import Staging
from kesoku.gateway import StoreGateway
from kesoku.ports import ChatModel, Gateway, Store
from kesoku.testing.crash.platform import manifest
from kesoku.testing.crash.script import PromptDrivenModel, tools
from kesoku.testing.crash.watch import Watch
from kesoku.tools import Tool


def as_it_is(store: Store) -> Store:
    """The store itself."""
    return store


def untouched(database: Path) -> None:
    """A database as the product makes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """The real parts, unless one is replaced: by a planted fault, or by an adapter, a tool or a model of your own.

    Every part is a function or class of a module, for it is sent to other processes by name.
    """

    store: Callable[[Store], Store] = as_it_is
    """Wraps the store of every actor."""
    gateway: Callable[..., Gateway] = StoreGateway
    """Called as StoreGateway is."""
    outbox: Callable[..., Outbox] = Outbox
    """Called as Outbox is."""
    staging: Callable[[Path], Staging] = Staging
    """Takes the folder."""
    manifest: Callable[[str, Path, Watch], Manifest] = manifest
    """(bot, journal, watch) to the manifest of its adapter; `create` gets the manifest's own default config."""
    model: Callable[[Watch], ChatModel] = PromptDrivenModel
    """Answers the prompts."""
    tools: Callable[[Watch], Sequence[Tool]] = tools
    """What the model may call; people say yes or no to what needs to be asked for."""
    prepare: Callable[[Path], Any] = untouched
    """Done to the fresh database, before the first actor starts."""

"""Commands of the core that people give: found in what they write, done once, and completed while they type."""

import difflib
import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from kesoku.adapter.access import APPROVE
from kesoku.adapter.command import Choice, CommandSpec, Invocation
from kesoku.adapter.core import Core
from kesoku.adapter.door import Door
from kesoku.adapter.event import Command, Prompt, words_of
from kesoku.adapter.replying import Replying
from kesoku.errors import KesokuError
from kesoku.messages.recent import Recent
from kesoku.messages.record import Address, Record
from kesoku.render import printable_name

_COMMAND = re.compile(r"/([A-Za-z][\w-]*)(?:\s+(.*))?", re.DOTALL)
_REMEMBERED = 4096
_COMPLETED = 25
"""Choices offered at once: more is more than platforms list."""


class Invoking:
    """Runs the commands that the people of one bot give."""

    def __init__(self, *, core: Core, door: Door, replying: Replying) -> None:
        self._commands, self._store = core.commands, core.store
        self._door, self._replying = door, replying
        self._handled = Recent[str](_REMEMBERED)

    def specs(self) -> Sequence[CommandSpec]:
        """What people can ask for."""
        return self._commands.specs()

    def read(self, prompt: Prompt) -> Invocation | None:
        """The command that a text gives: a known name, or one so near to a known one that it is a slip of the pen."""
        found = _COMMAND.fullmatch(words_of(prompt).strip())
        if found is None:
            return None
        name, specs = found[1].lower(), {spec.name: spec for spec in self.specs()}
        if name not in specs and not difflib.get_close_matches(name, specs, n=1):
            return None
        arguments = specs[name].read(found[2] or "") if name in specs else {}
        return Invocation(name=name, address=prompt.address, principal=prompt.principal, arguments=arguments)

    async def run(self, event: Prompt | Command, keys: Collection[str], invocation: Invocation) -> list[Record]:
        """Do what is asked for, once, and say what came of it."""
        if not await self._first_time(event.address, keys):
            return []
        if (slowed := await self._replying.slowed(event)) is not None:
            return slowed
        names = [spec.name for spec in self.specs()]
        if invocation.name not in names:
            near = difflib.get_close_matches(invocation.name, names, n=1)
            hint = f" Did you mean /{near[0]}?" if near else f" There are: {', '.join(f'/{name}' for name in names)}."
            unknown = f"There is no command /{printable_name(invocation.name)}.{hint}"
            return await self._replying.say(event, unknown, keys=keys)
        admin = self._is_admin(event)
        try:
            reply = await self._commands.run(replace(invocation, admin=admin, keys=tuple(keys)))
        except KesokuError as error:
            reply = str(error)
        return await self._replying.say(event, reply, keys=keys, private=admin) if reply else []

    async def complete(self, event: Command, argument: str) -> Sequence[Choice]:
        """What fits behind what was typed so far; nothing is stored or said."""
        found = await self._commands.complete(replace(Invocation.of(event), admin=self._is_admin(event)), argument)
        return tuple(found)[:_COMPLETED]

    def _is_admin(self, event: Prompt | Command) -> bool:
        return self._door.access.allowed(event.principal, event.address, APPROVE)

    async def _first_time(self, address: Address, keys: Collection[str]) -> bool:
        """Whether a command is new: not running or run in this process, and not answered by an earlier one."""
        if any(key in self._handled for key in keys):
            return False
        self._handled.add(*keys)
        return await self._store.read(lambda tx: tx.messages.find(address.chatbot_id, keys)) is None

"""A conversation with a scripted model, and a person who gives commands in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kesoku.adapter.command import Invocation
from kesoku.adapter.event import Principal
from kesoku.agent.limits import TurnLimits
from kesoku.agent.view import Viewer
from kesoku.commands.branching import Branching
from kesoku.commands.compact import Compact
from kesoku.commands.context import Context
from kesoku.commands.look import Look
from kesoku.commands.queue import Queue
from kesoku.commands.registry import Registry, SlashCommand
from kesoku.messages.record import Address, Record
from kesoku.messages.turn import CompiledRequest
from kesoku.render.mask import NOTHING, Mask
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.gateway_harness import ROOM
from kesoku.testing.model import ScriptedModel


@dataclass
class Desk:
    """`model.requests` is what the model was sent, in order."""

    model: ScriptedModel
    harness: AgentHarness
    mask: Mask = NOTHING
    registry: Registry = field(init=False)

    def __post_init__(self) -> None:
        self.registry = Registry(self.commands())

    def commands(self) -> list[SlashCommand]:
        """What can be asked for."""
        harness = self.harness
        viewer = Viewer(assistants=harness.assistants, limits=harness.limits or TurnLimits())
        act: dict[str, Any] = {"gateway": harness.gateway, "store": harness.store, "clock": harness.clock}
        return [
            *Context(**act, viewer=viewer, mask=self.mask).commands(),
            *Compact(gateway=harness.gateway, store=harness.store, viewer=viewer).commands(),
            *Branching(**act).commands(),
            *Queue(**act).commands(),
            *Look(store=harness.store, viewer=viewer, mask=self.mask).commands(),
        ]

    async def give(
        self, line: str, *, by: str = "Ada", admin: bool = False, keys: Iterable[str] = (), at: Address = ROOM
    ) -> str:
        """Give a command as people type it, and return the reply."""
        name, _, rest = line.removeprefix("/").partition(" ")
        spec = next(each for each in self.registry.specs() if each.name == name)
        arguments: Mapping[str, str] = spec.read(rest)
        person = Principal(user_id=f"id-{by}", display_name=by)
        given = Invocation(name=name, address=at, principal=person, arguments=arguments, admin=admin, keys=tuple(keys))
        return await self.registry.run(given) or ""

    async def talk(self, *texts: str, by: str = "Ada") -> list[Record]:
        """Say things, one after the other, each answered; returns the prompts."""
        said = []
        async with self.harness.at_work():
            for text in texts:
                said.append(await self.harness.say(text, by=by))
                await self.harness.answered(said[-1])
        return said

    async def work(self) -> None:
        """Answer everything that waits."""
        async with self.harness.at_work():
            await self.worked()

    async def worked(self) -> None:
        """Wait until everything that waits is answered."""
        while waiting := await self.waiting():
            await self.harness.answered(waiting[0])

    async def waiting(self) -> list[Record]:
        """The prompts that wait."""
        bound = await self.harness.bound()
        session_id = bound.id if bound else ""
        return await self.harness.store.read(lambda tx: tx.messages.queued(session_id))

    async def stored(self) -> int:
        """How many messages the conversation has."""
        bound = await self.harness.bound()
        return bound.last_n if bound else 0


def desk(*lines: Any, tools: Iterable[Any] = (), limits: TurnLimits | None = None, mask: Mask = NOTHING) -> Desk:
    """A desk whose model says these lines, in turn."""
    model = ScriptedModel(*lines)
    return Desk(model=model, harness=AgentHarness(model, tools=tools, limits=limits), mask=mask)


def read_by(request: CompiledRequest) -> list[str]:
    """The texts that a model was sent, in order."""
    return [block.text for turn in request.turns for block in turn.blocks if hasattr(block, "text")]

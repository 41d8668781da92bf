"""Which tools there are, and whether a call may run, must be asked about, or is refused."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum

from kesoku import plugins
from kesoku.errors import PluginError, ToolDuplicate, ToolUnknown
from kesoku.messages.turn import ToolSpec
from kesoku.tools.builtin import BUILTIN
from kesoku.tools.tool import Effect, Tool


class Policy(StrEnum):
    """What happens before a call runs."""

    ALLOW = "allow"
    """It runs."""
    ASK = "ask"
    """Someone who may decide is asked."""
    DENY = "deny"
    """It does not run, and the model is told."""


def default_policy(tool: Tool) -> Policy:
    """Reading and talking are allowed, everything else is asked about (decision N-17)."""
    return Policy.ALLOW if tool.effect in {Effect.READ, Effect.TALK} else Policy.ASK


class Toolbox(Mapping[str, Tool]):
    """Tools by name, in the order given, with their policies. Never changes.

    Raises ToolDuplicate, and ToolUnknown if `policies` names a tool that is not there: a policy with a typing error
    would otherwise protect nothing.
    """

    __slots__ = ("_policies", "_tools")

    def __init__(self, tools: Iterable[Tool], policies: Mapping[str, Policy] | None = None) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise ToolDuplicate(tool=tool.name)
            self._tools[tool.name] = tool
        self._policies = dict(policies or {})
        for name in self._policies:
            self._known(name)

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def policy(self, name: str) -> Policy:
        """The tool's own policy, or the default one. Raises ToolUnknown."""
        return self._policies.get(name) or default_policy(self._known(name))

    def specs(self) -> tuple[ToolSpec, ...]:
        """The tools as the model sees them, without those that it could never run."""
        return tuple(tool.spec for tool in self.values() if self.policy(tool.name) is not Policy.DENY)

    def _known(self, name: str) -> Tool:
        if name not in self._tools:
            raise ToolUnknown(tool=name, known=tuple(self._tools))
        return self._tools[name]


def installed(report: Callable[[PluginError], None] | None = None) -> tuple[Tool, ...]:
    """The built-in tools, then those of every installed extension that loads; the others go to `report`, or are logged.

    An extension offers a Tool or a tuple of them in the group `kesoku.tools`. One that takes a name which is taken
    already is left out as a whole.
    """
    tools = list(BUILTIN)
    complain = report or plugins.log_failure
    for name, found in plugins.load(plugins.TOOLS, complain).items():
        offered = found if isinstance(found, tuple) else (found,)
        taken = {tool.name for tool in tools}
        if not all(isinstance(item, Tool) for item in offered):
            complain(plugins.unfit(plugins.TOOLS, name, "it must be a Tool or a tuple of Tools"))
        elif clash := sorted(taken.intersection(item.name for item in offered)):
            complain(plugins.unfit(plugins.TOOLS, name, f"a tool named {clash[0]!r} exists already"))
        else:
            tools.extend(offered)
    return tuple(tools)

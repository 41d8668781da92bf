"""The tools of this process, with the policies and times of the configuration."""

from dataclasses import replace

from kesoku.config import Config, Problem
from kesoku.config.problem import unknown_key
from kesoku.errors import ConfigInvalid
from kesoku.tools.registry import Policy, Toolbox, installed


def toolbox(config: Config, *, approve_all: bool = False) -> Toolbox:
    """Everything installed. `approve_all` lets tools run that would ask first (`--yes`).

    Raises:
        ConfigInvalid: a `[tools.<name>]` table names a tool that is not there; a mistyped policy would protect nothing.
    """
    tools = {tool.name: tool for tool in installed()}
    wrong = [unknown_key("config", f"tools.{name}", tools) for name in config.tools if name not in tools]
    if wrong:
        raise ConfigInvalid(problems=tuple(Problem(source=p.source, key=p.key, text=p.text) for p in wrong))
    policies = {name: Policy(table.policy) for name, table in config.tools.items() if table.policy}
    times = {name: table.timeout for name, table in config.tools.items() if table.timeout}
    box = Toolbox((replace(tool, timeout=times.get(name, tool.timeout)) for name, tool in tools.items()), policies)
    if not approve_all:
        return box
    asked = {name: Policy.ALLOW for name in box if box.policy(name) is Policy.ASK}
    return Toolbox(box.values(), policies | asked)

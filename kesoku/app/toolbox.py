"""The tools of this process, with the policies and times of the configuration."""

from dataclasses import replace

from kesoku.config import Loaded
from kesoku.config.problem import unknown_key
from kesoku.errors import ConfigInvalid
from kesoku.tools.registry import Policy, Toolbox, installed


def toolbox(loaded: Loaded) -> Toolbox:
    """Everything installed.

    Raises:
        ConfigInvalid: a `[tools.<name>]` table names a tool that is not there; a mistyped policy would protect nothing.
    """
    config = loaded.config
    tools = {tool.name: tool for tool in installed()}
    wrong = [unknown_key(loaded.source, f"tools.{name}", tools) for name in config.tools if name not in tools]
    if wrong:
        raise ConfigInvalid(problems=tuple(replace(each, fatal=True) for each in wrong))
    policies = {name: Policy(table.policy) for name, table in config.tools.items() if table.policy}
    times = {name: table.timeout for name, table in config.tools.items() if table.timeout}
    return Toolbox((replace(tool, timeout=times.get(name, tool.timeout)) for name, tool in tools.items()), policies)

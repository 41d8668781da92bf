"""What a tool may know about the call that it serves."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from kesoku.tools.agents import Agents


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Given to every tool with a parameter of this type; the model neither sees nor sets it."""

    session_id: str
    """The session whose turn calls the tool."""
    call_id: str
    """The call that is being answered."""
    workspace: Path
    """Relative paths start here, and commands run here."""
    roots: tuple[Path, ...]
    """Files outside of these folders are refused by the file tools; the workspace is one only if it is listed."""
    environment: Mapping[str, str]
    """What a command's environment is chosen from; see `kesoku.tools.process.minimal`."""
    secrets: frozenset[str]
    """Values that are masked in everything that a tool returns or raises."""
    now: Callable[[], datetime]
    """The clock; returns a time with a zone."""
    agents: Agents | None = None
    """Whom the agent may give work to and write to; None where it is alone."""

"""Settings of the terminal: those of the config file, and those that `kesoku chat` gives for one sitting."""

from typing import Literal

from pydantic import Field

from kesoku.adapter import AdapterConfig


class CliConfig(AdapterConfig):
    """`[adapters.cli]`. What `kesoku chat` sets for one sitting is marked so and better left out of the file."""

    author: str = Field(default="User", min_length=1)
    """The name under which you speak."""
    thoughts: bool = True
    """Whether the model's thoughts are shown."""
    output: Literal["auto", "plain", "json"] = "auto"
    """How to show things: by what standard output is, as plain lines, or as JSON. Set by --plain and --json."""
    question: str | None = None
    """Ask this and leave. Set by `kesoku chat QUESTION`."""
    attach: tuple[str, ...] = ()
    """Files that go along with the first message. Set by --attach."""
    channel: str = "cli"
    """The channel of this sitting. Set by `kesoku chat`."""
    target: str | None = None
    """Speak into this place instead, as `bot:channel`. Set by --session."""
    banner: str = ""
    """Shown at the start. Set by `kesoku chat`."""

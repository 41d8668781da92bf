"""What an adapter says about itself, without importing its platform's SDK."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict

from kesoku.adapter.spi import Adapter
from kesoku.messages.record import Address
from kesoku.messages.visibility import Presentation, Visibility
from kesoku.ports import Finding
from kesoku.render import Unit

_ENTRY = re.compile(r"everyone|(user|role|guild|channel):\S+")


def _entry(text: str) -> str:
    if not _ENTRY.fullmatch(text):
        raise ValueError(f"{text!r} is not user:ID, role:ID, guild:ID, channel:ID or everyone")
    return text


def _admin(text: str) -> str:
    if text == "everyone":
        raise ValueError("'everyone' cannot be admin; name user:ID or role:ID")
    return _entry(text)


class AdapterConfig(BaseModel):
    """Settings that every adapter has. An adapter's own Config extends this.

    Keys `model` and `role` of tables inside it name the same as those of the bot, and are checked with them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    enabled: bool = True
    """Whether `kesoku run` starts it."""
    allow: tuple[Annotated[str, AfterValidator(_entry)], ...] = ()
    """Who may talk to the bot: `user:ID`, `role:ID`, `guild:ID`, `channel:ID`, or `everyone`. Empty: nobody (N-17)."""
    deny: tuple[Annotated[str, AfterValidator(_entry)], ...] = ()
    """Who may not, whatever lets them in (`allow`, `admins`, pairing); entries as in `allow`. They hear nothing."""
    admins: tuple[Annotated[str, AfterValidator(_admin)], ...] = ()
    """Who may approve tools with side effects and give admin commands; entries as in `allow`, but not `everyone`."""
    model: str = ""
    """The model that answers, named as in `agent.model`. Default: that of the role, else `agent.model`."""
    role: str = ""
    """The role that the bot plays, a `[roles.NAME]` table. Default: what `agent.instructions` say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often a platform may be written to: at most once every `interval` seconds within `scope`."""

    scope: str
    interval: float


def unpaced(address: Address) -> Pace:
    """No limit of its own for any address."""
    return Pace(scope=str(address), interval=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a platform can do. The contract suite skips by these and by nothing else."""

    max_text: int
    """Length of one message, in `unit`."""
    unit: Unit = Unit.CHARACTERS
    max_file: int = 0
    """Bytes of one file; 0 = no files."""
    edits: bool = False
    """Messages can be replaced: `edit` is there."""
    deletes: bool = False
    """Messages can be removed: `delete` is there."""
    buttons: bool = False
    """Questions are drawn with buttons."""
    typing: bool = False
    """Shows that the bot works: `typing` is called."""
    drafts: bool = False
    """Shows running replies: they are folded into the live status where there is one, else given to `draft`."""
    live: bool = False
    """Draws a live status: `fold`, `draw` and `close` are called. Needs `edits`."""
    media_out: bool = False
    """Sends files; needs `max_file`."""
    key_window: float = 0.0
    """Seconds for which the platform honours a send key; 0 = it has none."""
    find: bool = False
    """Can look up whether a part was sent: `find` is called."""
    catch_up: bool = False
    """Reads what was said while the bot was down."""
    local: bool = False
    """The person at this machine: no access gate, and approvals are given by whoever sits there."""
    pace: Callable[[Address], Pace] = unpaced
    """How often an address may be written to, edits included."""


class AdapterFactory(Protocol):
    """Makes an Adapter from the adapter's own config; the platform's SDK is imported in here."""

    def __call__(self, chatbot_id: str, config: Any) -> Adapter: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """An adapter's face: importable without its SDK, found in the entry-point group `kesoku.adapters`."""

    name: str
    """Of the entry point; also the default chatbot_id and config table."""
    title: str
    """For people."""
    extra: str | None
    """The pip extra that installs the SDK, or None."""
    config: type[AdapterConfig]
    """The schema of its `[adapters.<name>]` table."""
    capabilities: Capabilities
    visibility: Visibility
    """Which messages people see here, and how."""
    create: AdapterFactory
    """(chatbot_id, config) to a fresh adapter; called once for each configured bot."""
    doctor: Callable[[str, Any], Awaitable[Sequence[Finding]]]
    """(chatbot_id, config) to the findings of `kesoku doctor`; none means well."""

    def __post_init__(self) -> None:
        """Raises ValueError where the visibility column asks for what the platform cannot do."""
        drawn = {Presentation.LIVE, Presentation.FOLDED}
        column = self.visibility
        asked = {column.thought, column.tool_call, column.tool_result, column.notice}
        if asked & drawn and not (self.capabilities.live and self.capabilities.edits):
            raise ValueError(f"adapter {self.name} presents messages live, but lacks the capability live or edits")

"""What an adapter hands to the inbox: frozen values, platform words translated, nothing decided yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kesoku.messages.content import Attachment
from kesoku.messages.record import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who does something on a platform. Access goes by `user_id`, `roles`, `guild` and channel, never by the name."""

    user_id: str
    display_name: str
    roles: frozenset[str] = frozenset()
    guild: str | None = None
    is_bot: bool = False
    is_dm: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A message of a person. `text` is what the model reads, the platform's header included.

    `keys` are the platform's ids of this message, stable over redeliveries; `platform_ids` are the metadata cells such
    as {"discord_message_id": "1"}; `said` is the bare text without a header, for commands and answers to questions.
    """

    keys: tuple[str, ...]
    address: Address
    principal: Principal
    text: str
    said: str = ""
    attachments: tuple[Attachment, ...] = ()
    platform_ids: Mapping[str, Any] = field(default_factory=dict)
    reply_to: str | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A message was edited on the platform. Before its claim the prompt is rewritten under its id (C-44)."""

    key: str
    address: Address
    principal: Principal
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deleted:
    """A message was deleted on the platform. A prompt that has not started is cancelled."""

    key: str
    address: Address
    principal: Principal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pressed:
    """Someone chose: `token` names the question or action, `value` the choice."""

    key: str
    address: Address
    principal: Principal
    token: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of the core, already parsed by the platform: name and typed arguments."""

    key: str
    address: Address
    principal: Principal
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


Event = Prompt | Edited | Deleted | Pressed | Command

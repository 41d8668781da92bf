"""What an adapter hands to the inbox: frozen values, platform words translated, nothing decided yet."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kesoku.messages.content import Attachment
from kesoku.messages.record import Address

REPLY_TO = "reply_to"
"""The metadata cell beside `platform_ids` that holds `Prompt.reply_to`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who does something on a platform. Access goes by `user_id`, `roles`, `guild` and channel, never by the name."""

    user_id: str
    display_name: str
    roles: frozenset[str] = frozenset()
    guild: str | None = None
    is_bot: bool = False
    direct: bool = False
    """Whether this is said where nobody but this person and the bot reads. A pairing code is given only there."""
    within: frozenset[str] = frozenset()
    """Channels that this place is a part of, such as the one of its thread; their `channel:ID` entries hold here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A message of a person. An adapter that answers in threads opens the thread first and names it in `address`."""

    keys: tuple[str, ...]
    """The platform's ids of this message: stable over redeliveries, unique within the bot."""
    address: Address
    principal: Principal
    text: str
    """What the model reads, a header from `Inbox.header` included."""
    said: str = ""
    """The bare text, for commands and answers to questions; empty: the same as `text`."""
    attachments: tuple[Attachment, ...] = ()
    """Files that `Inbox.stage` has saved, or skipped."""
    platform_ids: Mapping[str, Any] = field(default_factory=dict)
    """Metadata cells, the message's own id first, such as {"example_message_id": "1"}."""
    reply_to: str | None = None
    """The id of the message that this one replies to."""
    model: str = ""
    """The model that shall answer here, by its name in the config; empty: that of the role, else of the bot."""
    role: str = ""
    """The role that the bot shall play here, a `[roles.NAME]` table; empty: the bot's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """A message was edited on the platform. Before its claim the prompt is rewritten under its id (C-44).

    `text` is the whole new text, the header of the old time included.
    """

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
    """Someone pressed a button of a question: its `token`, and the `value` or the `index` of the choice.

    `address` is where the question stands; one of another channel is not answered.

    A button of the adapter's own, such as one that stops the turn, comes in as a Command.
    """

    key: str
    address: Address
    principal: Principal
    token: str
    value: str = ""
    index: int | None = None
    """The number of the choice, from 0; then `value` is not looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command of the core, already parsed by the platform; `arguments` by the names in its CommandSpec."""

    key: str
    address: Address
    principal: Principal
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


Event = Prompt | Edited | Deleted | Pressed | Command


def words_of(prompt: Prompt) -> str:
    """What a person said, without the header."""
    return prompt.said or prompt.text

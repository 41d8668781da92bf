"""Which model answers a turn and which role the bot plays in it, as the prompt that opened it asks for."""

from dataclasses import dataclass
from typing import Protocol

from kesoku.messages.record import Address, Record
from kesoku.messages.source import UserSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is asked for. Names that nobody knows any more are passed over when the turn runs."""

    model: str = ""
    """Of `agent.model`'s kind; empty: that of the role, else of the bot."""
    role: str = ""
    """A `[roles.NAME]` table; empty: that of the bot."""


NONE = Profile()
"""Nothing is asked for: the bot's own model and role."""


class Said(Protocol):
    """What is read here: `Transaction.messages`."""

    def last_said(self, address: Address, *, before: int | None = None) -> Record | None:
        """The last prompt of a person in a channel, stored ahead of a seq."""
        ...


def profile_of(opener: Record, messages: Said) -> Profile:
    """What the opener of a turn asks for.

    What no person said, such as mail or a compaction, is answered as the last words of a person in its channel are.
    """
    own = _asked(opener)
    return own if own is not None else profile_at(opener.address, messages, before=opener.seq)


def profile_at(address: Address, messages: Said, *, before: int | None = None) -> Profile:
    """What the last person in a channel asked for, ahead of a seq; whatever conversation that was in."""
    last = messages.last_said(address, before=before)
    return (_asked(last) if last else None) or NONE


def _asked(prompt: Record) -> Profile | None:
    source = prompt.message.source
    return Profile(model=source.model, role=source.role) if isinstance(source, UserSource) else None

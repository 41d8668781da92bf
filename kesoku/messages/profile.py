"""Which model answers a turn and which role the bot plays in it, as the prompt that opened it asks for."""

from dataclasses import dataclass
from typing import Protocol

from kesoku.messages.record import Address, Record
from kesoku.messages.source import UserSource

_NEAR = (16, 400)
"""Records before a prompt among which the last words of a person are looked for: few first, then more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is asked for. Names that nobody knows any more are passed over when the turn runs."""

    model: str = ""
    """Of `agent.model`'s kind; empty: that of the role, else of the bot."""
    role: str = ""
    """A `[roles.NAME]` table; empty: that of the bot."""


NONE = Profile()
"""Nothing is asked for: the bot's own model and role."""


class Sessions(Protocol):
    """What is read here: `Transaction.messages`."""

    def session(self, session_id: str, *, after_n: int = 0, limit: int | None = None) -> list[Record]:
        """Records of a session by their place, from behind `after_n` on."""
        ...


def profile_of(opener: Record, messages: Sessions) -> Profile:
    """What the opener of a turn asks for.

    What no person said, such as mail or a compaction, is answered as the last words of a person in its channel are.
    """
    own = _asked(opener)
    return own if own is not None else profile_at(opener.address, messages, opener.session_id, opener.session_n)


def profile_at(address: Address, messages: Sessions, session_id: str, n: int) -> Profile:
    """What the last person in a channel asked for, before place `n` of the session."""
    for near in _NEAR:
        start = max(0, n - 1 - near)
        before = messages.session(session_id, after_n=start, limit=n - 1 - start) if n > 1 else []
        asked = (_asked(each) for each in reversed(before) if each.address == address)
        if (found := next((each for each in asked if each is not None), None)) is not None:
            return found
    return NONE


def _asked(prompt: Record) -> Profile | None:
    source = prompt.message.source
    return Profile(model=source.model, role=source.role) if isinstance(source, UserSource) else None

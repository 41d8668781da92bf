"""Letting a stranger in without editing the config: the bot gives a code, its owner confirms it, the bot remembers.

A code says who asked, and admits nobody by itself: only somebody at the machine, or an admin, can confirm it. All of
it is one small value in the state of the bot, read anew for every event, so that every process agrees at once.
"""

import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from kesoku.adapter.event import Principal
from kesoku.adapter.state import RESERVED, scope_of
from kesoku.errors import CodeExpired, CodeUnknown
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Post
from kesoku.ports import Transaction
from kesoku.render import counted, printable_name

LIFETIME = 3600.0
"""Seconds for which a code is good."""
MOST = 20
"""Codes of a bot that are open at once; whoever asks while there are so many gets none."""
WELCOME = "You are in. What you write from now on is read."
_KEY = f"{RESERVED}pairing"
_LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ"
"""None that looks like another one or like a digit."""
_LENGTH = 8
_KEPT = 86_400.0
"""Seconds for which it is known of a code that it has expired."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """Somebody who was let in by a code. Times in microseconds."""

    user_id: str
    name: str
    channel_id: str
    """Where the person asked."""
    at: int
    by: str
    """Who confirmed the code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingCode:
    """A code that was given to a stranger; good before `until`, in microseconds."""

    code: str
    user_id: str
    name: str
    channel_id: str
    until: int

    def is_open(self, at: int) -> bool:
        """Whether it is good; where the clock was set back since, for twice its time at most."""
        return at < self.until <= at + 2 * LIFETIME * 1e6


def new_code() -> str:
    """Eight letters, read alike by everybody."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))


def invitation(principal: Principal, address: Address, code: PairingCode | None, at: int) -> str:
    """What a stranger is told at `at`: the way to get in, in Markdown."""
    kept = "This bot only talks to people whom its owner let in, and what you wrote was not kept."
    if code is not None:
        minutes = max(1, (code.until - at) // 60_000_000)
        return (
            f"{kept} To get in, give its owner this code within {counted(minutes, 'minute')}: `{code.code}`. The owner "
            f"confirms it with `kesoku pair {code.code}`."
        )
    entry = f"add `user:{principal.user_id}` to `allow` in `[adapters.{address.chatbot_id}]` of the configuration"
    if principal.direct:
        return f"{kept} To get in, ask its owner to {entry}; too many people wait for a code now."
    return f"{kept} To get in, ask its owner to {entry}. If you can write to me in private, I give you a code for that."


class Pairing:
    """The guests and codes of one bot, within one transaction."""

    def __init__(self, tx: Transaction, chatbot_id: str) -> None:
        self._tx, self._chatbot_id = tx, chatbot_id

    def is_guest(self, user_id: str) -> bool:
        """Whether this person was let in by a code."""
        return _read(Guest, self._table("guests").get(user_id)) is not None

    def guests(self) -> list[Guest]:
        """Who was let in, the first one first."""
        return sorted(_values(Guest, self._table("guests")), key=lambda guest: guest.at)

    def codes(self, at: int) -> list[PairingCode]:
        """The codes that are open, the one that ends first coming first."""
        return sorted((each for each in self._codes() if each.is_open(at)), key=lambda each: each.until)

    def offer(self, principal: Principal, channel_id: str, fresh: str, at: int) -> PairingCode | None:
        """The code of a person: the one that is open, else `fresh`; None if too many people wait."""
        still = self.codes(at)
        known = next((each for each in still if each.user_id == principal.user_id), None)
        if known is not None or len(still) >= MOST:
            return known
        code = PairingCode(
            code=fresh,
            user_id=principal.user_id,
            name=printable_name(principal.display_name),
            channel_id=channel_id,
            until=at + round(LIFETIME * 1e6),
        )
        self._store_codes([*self._known(at), code])
        return code

    def knows(self, code: str, at: int) -> bool:
        """Whether a code was given out here, be it that it has expired."""
        return any(each.code == _plain(code) for each in self._known(at))

    def admit(self, code: str, *, by: str, welcome: Message, at: int) -> Guest:
        """Let in whoever was given a code, once; `welcome` is said where they asked.

        Raises CodeUnknown, CodeExpired.
        """
        known = self._known(at)
        found = next((each for each in known if each.code == _plain(code)), None)
        if found is None:
            raise CodeUnknown(code=code)
        if not found.is_open(at):
            raise CodeExpired(code=found.code, name=found.name)
        guest = Guest(user_id=found.user_id, name=found.name, channel_id=found.channel_id, at=at, by=by)
        self._store_codes([each for each in known if each.user_id != found.user_id])
        self._store("guests", {**self._table("guests"), guest.user_id: asdict(guest)})
        self._say(Address(chatbot_id=self._chatbot_id, channel_id=guest.channel_id), welcome, at)
        return guest

    def remove(self, user_id: str) -> bool:
        """Let somebody in no more; False if no code had."""
        guests = self._table("guests")
        if guests.pop(user_id, None) is None:
            return False
        self._store("guests", guests)
        return True

    def _say(self, address: Address, notice: Message, at: int) -> None:
        session = self._tx.sessions.bound(address)
        if session is None or session.ended_at is not None:
            session = self._tx.sessions.create(at=at)
            self._tx.sessions.bind(address, session.id)
        self._tx.messages.insert(Post(message=notice, address=address), session_id=session.id, at=at)

    def _known(self, at: int) -> list[PairingCode]:
        """The codes that are open, or were until lately."""
        return [each for each in self._codes() if abs(at - each.until) < _KEPT * 1e6]

    def _codes(self) -> Iterator[PairingCode]:
        return _values(PairingCode, self._table("codes"))

    def _store_codes(self, codes: Sequence[PairingCode]) -> None:
        self._store("codes", {each.code: asdict(each) for each in codes})

    def _table(self, name: str) -> dict[str, Any]:
        stored = self._tx.state.get(scope_of(self._chatbot_id), _KEY)
        found = stored.get(name) if isinstance(stored, dict) else None
        return found if isinstance(found, dict) else {}

    def _store(self, name: str, table: dict[str, Any]) -> None:
        kept = {each: self._table(each) for each in ("guests", "codes")}
        self._tx.state.set(scope_of(self._chatbot_id), _KEY, {**kept, name: table})


def _values(kind: type[T], table: dict[str, Any]) -> Iterator[T]:
    """What a table holds, without what cannot be read."""
    return (found for cell in table.values() if (found := _read(kind, cell)) is not None)


def _read(kind: type[T], cell: object) -> T | None:
    """A cell of a table; None for one that is damaged, or of another version."""
    wanted = {each.name: each.type for each in fields(kind)}  # type: ignore[arg-type]
    if not isinstance(cell, dict) or cell.keys() != wanted.keys():
        return None
    return kind(**cell) if all(type(cell[name]) is each for name, each in wanted.items()) else None


def _plain(code: str) -> str:
    """A code as it was given out, however it was typed."""
    return "".join(each for each in code.upper() if each.isalnum())

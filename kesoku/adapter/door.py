"""The door of one bot: whom the lists or a pairing code let in, and what a stranger is told."""

from kesoku.adapter.access import Access, Doorkeeper
from kesoku.adapter.event import Principal
from kesoku.adapter.pairing import LIFETIME, Pairing, PairingCode, invitation, new_code
from kesoku.messages.record import Address
from kesoku.ports import Clock, Store, Transaction
from kesoku.tools.patience import retry

_DAY = 86_400.0
_CLOSED = "This bot only talks to people whom its owner let in."


class Door:
    """`access` may be replaced at any time; the next event is judged by the new lists."""

    def __init__(self, *, chatbot_id: str, access: Access, store: Store, clock: Clock) -> None:
        self.access = access
        self._chatbot_id, self._store, self._clock = chatbot_id, store, clock
        self._doorkeeper = Doorkeeper(clock)

    async def access_of(self, principal: Principal, address: Address) -> Access:
        """The lists, with a person let in whom a pairing code did.

        That is looked up where the lists leave it open, each time, so that whoever is removed is denied at once.
        """
        access = self.access
        if access.allowed(principal, address) or access.denies(principal, address):
            return access
        guest = await self._store.read(lambda tx: Pairing(tx, self._chatbot_id).is_guest(principal.user_id))
        return access.admitting(principal) if guest else access

    async def invitation(self, person: Principal, address: Address) -> str | None:
        """How this stranger gets in, where nobody else reads with a code; None if they are told nothing now."""
        if self.access.denies(person, address):
            return None
        if not self._doorkeeper.tells(person, again=LIFETIME if person.direct else _DAY):
            return None
        fresh, at = new_code(), self._clock.now()

        def offer(tx: Transaction) -> PairingCode | None:
            return Pairing(tx, self._chatbot_id).offer(person, address.channel_id, fresh, at)

        if not person.direct or not person.user_id:
            return invitation(person, address, None, at)
        code = await retry("note a pairing code", lambda: self._store.write(offer), sleep=self._clock.sleep)
        return invitation(person, address, code, at)

    async def reminder(self, person: Principal, address: Address) -> str:
        """What a stranger hears who was told and must be answered: in private the code once more, as long as it is
        good, for what a platform shows to one person it does not keep."""
        at = self._clock.now()
        if not person.direct or self.access.denies(person, address):
            return _CLOSED
        codes = await self._store.read(lambda tx: Pairing(tx, self._chatbot_id).codes(at))
        code = next((each for each in codes if each.user_id == person.user_id), None)
        return _CLOSED if code is None else invitation(person, address, code, at)

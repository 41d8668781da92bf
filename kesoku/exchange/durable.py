"""The exchange over a store: every method is one transaction, and routing is one for each message (C-26)."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar
from uuid import UUID

from kesoku.errors import OwnerUnknown
from kesoku.exchange.exchange import Exchange, letter
from kesoku.messages.mail import DeadLetter, Flow, Report
from kesoku.messages.message import Message
from kesoku.messages.party import Direct, party
from kesoku.ports import Store, Transaction

T = TypeVar("T")


class StoreExchange:
    """`Exchange` with a store behind it: what `send` returned survives a crash, and commits wake those who wait for
    mail (`Store.on_commit`). A restart goes on where routing was cut off."""

    def __init__(self, store: Store, *, now: Callable[[], int] | None = None) -> None:
        self._store, self._now = store, now

    async def register(self, owner: Any, *, session_id: str | None = None, capacity: int | None = None) -> Flow:
        """See `Exchange.register`. Raises OwnerKnown."""
        return await self._write(lambda x: x.register(owner, session_id=session_id, capacity=capacity))

    async def unregister(self, owner: Any) -> Flow | None:
        """See `Exchange.unregister`."""
        return await self._write(lambda x: x.unregister(owner))

    async def get(self, owner: Any) -> Flow | None:
        """See `Exchange.get`."""
        return await self._read(lambda x: x.get(owner))

    async def owners(self) -> list[UUID]:
        """See `Exchange.owners`."""
        return await self._read(lambda x: x.owners())

    async def name(self, name: str, owner: Any) -> None:
        """See `Exchange.name`. Raises NameInvalid."""
        await self._write(lambda x: x.name(name, owner))

    async def names(self) -> dict[str, UUID]:
        """See `Exchange.names`."""
        return await self._read(lambda x: x.names())

    async def send(self, sender: Any, recipient: Any, content: Any, channel: str | None = None) -> Message:
        """See `Exchange.send`. Raises OwnerUnknown, InvalidParty, NotStorable."""
        address = party(sender)
        if not isinstance(address, Direct):
            return await self._write(lambda x: x.send(sender, recipient, content, channel))  # which says what is wrong
        message = letter(address.id, recipient, content, channel)
        await self.post(message)
        return message

    async def post(self, message: Message) -> bool:
        """See `Exchange.post`. Raises OwnerUnknown, NotStorable."""
        return await self._write(lambda x: x.post(message))

    async def route(self, owner: Any) -> Report:
        """See `Exchange.route`; what several processes route at once is delivered once. Raises OwnerUnknown."""
        report = Report()
        for each in await self._read(lambda x: x.waiting(owner)):
            report += await self._write(lambda x, each=each: x.route_each([each]))  # type: ignore[misc]
        return report

    async def collect(self, owner: Any) -> int:
        """See `Exchange.collect`. Raises OwnerUnknown."""
        return (await self.route(owner)).count

    async def collect_all(self) -> int:
        """See `Exchange.collect_all`."""
        total = 0
        for owner in await self.owners():
            with suppress(OwnerUnknown):  # it left meanwhile
                total += await self.collect(owner)
        return total

    async def sync(self) -> int:
        """The same as `collect_all`."""
        return await self.collect_all()

    async def receive(self, owner: Any, sender: Any = None, channel: str | None = None) -> list[Message]:
        """See `Exchange.receive`."""
        return await self._read(lambda x: x.receive(owner, sender, channel))

    async def pop(self, owner: Any, sender: Any) -> Message | None:
        """See `Exchange.pop`."""
        return await self._write(lambda x: x.pop(owner, sender))

    async def take(self, owner: Any, message: Message) -> bool:
        """See `Exchange.take`."""
        return await self._write(lambda x: x.take(owner, message))

    async def dead_letters(self, owner: Any = None) -> list[DeadLetter]:
        """See `Exchange.dead_letters`."""
        return await self._read(lambda x: x.dead_letters(owner))

    async def redeliver(self, mail_id: str, to: Any = None) -> Report:
        """See `Exchange.redeliver`. Raises NoDeadLetter, OwnerUnknown."""
        return await self._write(lambda x: x.redeliver(mail_id, to))

    async def _write(self, operation: Callable[[Exchange], T]) -> T:
        return await self._store.write(lambda tx: operation(self._over(tx)))

    async def _read(self, operation: Callable[[Exchange], T]) -> T:
        return await self._store.read(lambda tx: operation(self._over(tx)))

    def _over(self, tx: Transaction) -> Exchange:
        return Exchange(tx.mail, now=self._now)

"""What comes in: the gate first, then questions, commands, prompts, edits and deletions (architecture section 3)."""

from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

from kesoku.adapter.access import TALK, Access
from kesoku.adapter.answering import Answering
from kesoku.adapter.command import Choice, CommandSpec, Invocation
from kesoku.adapter.core import Core
from kesoku.adapter.door import Door
from kesoku.adapter.event import Command, Deleted, Edited, Event, Pressed, Principal, Prompt
from kesoku.adapter.health import Health
from kesoku.adapter.invoking import Invoking
from kesoku.adapter.prompts import Prompts
from kesoku.adapter.replying import Replying
from kesoku.adapter.spi import State
from kesoku.adapter.state import StoreState, scope_of
from kesoku.messages.content import Attachment
from kesoku.messages.masked import masked_record
from kesoku.messages.record import Address, Post, Record
from kesoku.ports import Transaction
from kesoku.render import header


class GatewayInbox:
    """The Inbox of one adapter over gateway and store.

    `access` may be replaced at any time; the next event is judged by the new lists. `spoke` is called for each address
    where an admitted person did something, `noticed` with the id of a question that is over and was answered still.
    `answers` is the adapter, if it answers presses and commands itself.
    """

    def __init__(
        self,
        *,
        chatbot_id: str,
        access: Access,
        health: Health,
        core: Core,
        spoke: Callable[[Address], None] | None = None,
        noticed: Callable[[str], None] | None = None,
        answers: object = None,
    ) -> None:
        self.state: State = StoreState(core.store, chatbot_id)
        self._chatbot_id, self._gateway, self._store, self._clock = chatbot_id, core.gateway, core.store, core.clock
        self._staging, self._policy, self._health, self._spoke = core.staging, core.intake, health, spoke
        self._mask = core.mask
        self._door = Door(chatbot_id=chatbot_id, access=access, store=core.store, clock=core.clock)
        self._replying = Replying(chatbot_id=chatbot_id, core=core, door=self._door, answers=answers)
        self._answering = Answering(core=core, door=self._door, replying=self._replying, noticed=noticed)
        self._invoking = Invoking(core=core, door=self._door, replying=self._replying)
        self._prompts = Prompts(chatbot_id=chatbot_id, core=core)

    @property
    def access(self) -> Access:
        """The lists by which the next event is judged."""
        return self._door.access

    @access.setter
    def access(self, access: Access) -> None:
        self._door.access = access

    async def accept(
        self, events: Sequence[Event], *, cursor: tuple[str, Any] | None = None, catch_up: bool = False
    ) -> list[Record]:
        """Take in what happened, in order; returns after the commit.

        Prompts that follow each other are one commit, the last of them with `cursor`. A redelivered event changes
        nothing. Records are prompts, and the notices that answer what was not stored.
        """
        records: list[Record] = []
        batch: list[Post] = []
        for event in events:
            if not await self._admitted(event):
                records += await self._turn_away(event)
                continue
            if isinstance(event, Prompt) and not await self._is_special(event):
                batch.append(await self._prompts.post(event))
                continue
            records += await self._commit(batch, catch_up=catch_up)
            batch = []
            records += await self._special(event, catch_up=catch_up)
        return records + await self._commit(batch, catch_up=catch_up, cursor=cursor)

    async def stage(
        self, address: Address, name: str, stream: AsyncIterable[bytes], *, mime_type: str, limit: int | None = None
    ) -> Attachment:
        """Save a file under the folder of the channel's session, before its message is accepted (K-134).

        Ask `allowed` first: what strangers send is not kept.
        """
        most = self._policy.file_bytes if limit is None else min(limit, self._policy.file_bytes)

        def session_id(tx: Transaction) -> str:
            session = tx.sessions.bound(address)
            if session is None or session.ended_at is not None:
                session = tx.sessions.create(at=self._clock.now())
                tx.sessions.bind(address, session.id)
            return session.id

        return await self._staging.save(
            await self._store.write(session_id), name, stream, mime_type=mime_type, limit=most
        )

    def header(self, principal: Principal, at: datetime, *, mention: bool = False) -> str:
        """The line that says who wrote a prompt and when, in the configured time zone (K-115, N-13)."""
        return header(
            principal.display_name,
            at,
            self._policy.timezone,
            self._policy.timezone_label or None,
            principal.user_id if mention else None,
        )

    async def allowed(self, principal: Principal, address: Address, action: str = TALK) -> bool:
        """Whether this person may `talk`, or is an admin (`approve`)."""
        return (await self._door.access_of(principal, address)).allowed(principal, address, action)

    async def knows(self, key: str) -> bool:
        """Whether a message with this key was taken in."""
        return await self._store.read(lambda tx: tx.messages.find(self._chatbot_id, [key])) is not None

    async def waiting(self) -> list[Record]:
        """Prompts to this bot that nobody has begun to answer, those of each channel in order."""

        def look(tx: Transaction) -> list[Record]:
            here = (session for address, session in tx.sessions.channels() if address.chatbot_id == self._chatbot_id)
            queued = (record for session in here for record in tx.messages.queued(session.id))
            return [record for record in queued if record.kind == "user_prompt"]

        return await self._store.read(look)

    async def interrupt(self, address: Address, *, by: str, queued: bool = False) -> bool:
        """Stop the running turn of a channel, and with `queued` what waits behind it; False if there was nothing."""

        def session_here(tx: Transaction) -> str | None:
            session = tx.sessions.bound(address)
            lease = tx.leases.get(session.id) if session else None
            prompt = tx.messages.get(lease.message_id) if lease and lease.owner and lease.message_id else None
            if session is None or (prompt and prompt.address != address):
                return None
            return session.id if prompt or queued else None

        session_id = await self._store.read(session_here)
        if session_id is None:
            return False
        ended = await self._gateway.interrupt(session_id, by=by, reason="stopped", queued=queued)
        return bool(ended.interrupted or ended.withdrawn)

    @asynccontextmanager
    async def follow(self, address: Address, *, after: int | None = None) -> AsyncIterator[AsyncIterator[Record]]:
        """Records of a channel as they are stored or change, from the event `after` on, by default from now."""
        async with self._gateway.listen(lambda change: change.record.address == address, cursor=after) as changes:
            yield (masked_record(change.record, self._mask) async for change in changes)

    def commands(self) -> Sequence[CommandSpec]:
        """What people can ask for."""
        return self._invoking.specs()

    async def complete(self, event: Command, argument: str) -> Sequence[Choice]:
        """What fits behind what was typed so far, for who may give the command; nothing is stored or said."""
        if not await self.allowed(event.principal, event.address):
            return ()
        return await self._invoking.complete(event, argument)

    def report(self, healthy: bool, text: str = "") -> None:
        """Say how the connection stands."""
        self._health.report(healthy, text)

    async def _admitted(self, event: Event) -> bool:
        """The gate. A deletion may come without a person; it takes nothing but back what was admitted once."""
        if event.principal is None:
            return True
        if not await self.allowed(event.principal, event.address):
            return False
        if self._spoke:
            self._spoke(event.address)
        return True

    async def _turn_away(self, event: Event) -> list[Record]:
        """Tell a stranger how to get in; of what was said nothing is stored (N-21). Bots hear nothing at all, and
        whoever is denied only what a platform must be answered."""
        person = event.principal
        if person is None or person.is_bot or isinstance(event, Edited | Deleted):
            return []
        told = await self._door.invitation(person, event.address)
        if told is None:
            await self._replying.answer(event, await self._door.reminder(person, event.address))
            return []
        return await self._replying.say(event, told)

    async def _commit(
        self, posts: Sequence[Post], *, catch_up: bool, cursor: tuple[str, Any] | None = None
    ) -> list[Record]:
        if not posts and cursor is None:
            return []
        durable = None if cursor is None else (scope_of(self._chatbot_id), *cursor)
        return await self._replying.stored(lambda: self._gateway.accept(posts, catch_up=catch_up, cursor=durable))

    async def _is_special(self, prompt: Prompt) -> bool:
        """Whether a prompt is a command, or said where a question is open; those are handled one by one."""
        return self._invoking.read(prompt) is not None or bool(await self._answering.open(prompt.address))

    async def _special(self, event: Event, *, catch_up: bool) -> list[Record]:
        match event:
            case Prompt():
                return await self._prompt(event, catch_up=catch_up)
            case Edited():
                return await self._prompts.edit(event)
            case Deleted():
                return await self._prompts.delete(event)
            case Pressed():
                return await self._answering.press(event)
            case Command():
                invocation = replace(Invocation.of(event), catch_up=catch_up)
                return await self._invoking.run(event, (event.key,), invocation)

    async def _prompt(self, event: Prompt, *, catch_up: bool) -> list[Record]:
        if (known := await self._prompts.known(event)) is not None:
            return [known]
        if (invocation := self._invoking.read(event)) is not None:
            return await self._invoking.run(event, event.keys, replace(invocation, catch_up=catch_up))
        if (answered := await self._answering.say(event)) is not None:
            return answered
        return await self._commit([await self._prompts.post(event)], catch_up=catch_up)

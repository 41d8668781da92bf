"""What comes in: the gate first, then questions, commands, prompts, edits and deletions (architecture section 3)."""

import difflib
import logging
import re
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from kesoku.adapter.access import APPROVE, TALK, Access, Throttle
from kesoku.adapter.attempt import Failure, attempt, within
from kesoku.adapter.command import Choice, CommandSpec, FiledReply, Invocation
from kesoku.adapter.core import Core
from kesoku.adapter.door import Door
from kesoku.adapter.event import REPLY_TO, Command, Deleted, Edited, Event, Pressed, Principal, Prompt
from kesoku.adapter.health import Health
from kesoku.adapter.question import is_open, match_answer, match_press, open_questions
from kesoku.adapter.spi import Answers, State
from kesoku.adapter.state import StoreState, scope_of
from kesoku.adapter.visitor import as_there
from kesoku.errors import KesokuError
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.lifecycle import Asked
from kesoku.messages.recent import Recent
from kesoku.messages.record import Address, Post, Record
from kesoku.messages.redaction import is_redacted
from kesoku.ports import Transaction
from kesoku.render import header, printable_name
from kesoku.tools.patience import retry

T = TypeVar("T")

_COMMAND = re.compile(r"/([A-Za-z][\w-]*)(?:\s+(.*))?", re.DOTALL)
_REMEMBERED = 4096
_COMPLETED = 25
"""Choices offered at once: more is more than platforms list."""
_SLOWER = "Slower, please: I do not take more commands and answers from you within this minute."
_UNSHOWN = "Your command was handled. Its answer is for you alone and did not reach you, so it is not said here."
_log = logging.getLogger(__name__)


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
        self._door = Door(chatbot_id=chatbot_id, access=access, store=core.store, clock=core.clock)
        self.state: State = StoreState(core.store, chatbot_id)
        self._chatbot_id, self._gateway, self._store, self._clock = chatbot_id, core.gateway, core.store, core.clock
        self._staging, self._commands, self._policy, self._health = core.staging, core.commands, core.intake, health
        self._throttle = Throttle(core.clock)
        self._spoke, self._noticed, self._answer_seconds = spoke, noticed, core.delivery.send_timeout
        self._answers = answers if isinstance(answers, Answers) else None
        self._handled = Recent[str](_REMEMBERED)

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
                batch.append(_post(await as_there(event, self._chatbot_id, self._store)))
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
            yield (change.record async for change in changes)

    def commands(self) -> Sequence[CommandSpec]:
        """What people can ask for."""
        return self._commands.specs()

    async def complete(self, event: Command, argument: str) -> Sequence[Choice]:
        """What fits behind what was typed so far, for who may give the command; nothing is stored or said."""
        if not await self.allowed(event.principal, event.address):
            return ()
        admin = await self.allowed(event.principal, event.address, APPROVE)
        found = await self._commands.complete(replace(Invocation.of(event), admin=admin), argument)
        return tuple(found)[:_COMPLETED]

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
            return await self._answered(event, await self._door.reminder(person, event.address))
        return await self._tell(event, told)

    async def _commit(
        self, posts: Sequence[Post], *, catch_up: bool, cursor: tuple[str, Any] | None = None
    ) -> list[Record]:
        if not posts and cursor is None:
            return []
        durable = None if cursor is None else (scope_of(self._chatbot_id), *cursor)
        return await self._stored(lambda: self._gateway.accept(posts, catch_up=catch_up, cursor=durable))

    async def _is_special(self, prompt: Prompt) -> bool:
        """Whether a prompt is a command, or said where a question is open; those are handled one by one."""
        if self._invoked(prompt) is not None:
            return True
        return bool(await self._store.read(lambda tx: open_questions(tx, prompt.address, self._clock.now())))

    async def _special(self, event: Event, *, catch_up: bool) -> list[Record]:
        match event:
            case Prompt():
                return await self._prompt(event, catch_up=catch_up)
            case Edited():
                return await self._edit(event)
            case Deleted():
                return await self._delete(event)
            case Pressed():
                return await self._press(event)
            case Command():
                return await self._run(event, (event.key,), replace(Invocation.of(event), catch_up=catch_up))

    async def _prompt(self, event: Prompt, *, catch_up: bool) -> list[Record]:
        known = await self._store.read(lambda tx: tx.messages.find(event.address.chatbot_id, event.keys))
        if known is not None:
            return [known]
        invocation = self._invoked(event)
        if invocation is not None:
            return await self._run(event, event.keys, replace(invocation, catch_up=catch_up))
        asked = await self._store.read(lambda tx: open_questions(tx, event.address, self._clock.now()))
        for each in asked[:1]:
            choice = match_answer(_said(event), each.question.choices)
            if choice is not None:
                return await self._answer(event, each, choice, event.keys)
        return await self._commit([_post(await as_there(event, self._chatbot_id, self._store))], catch_up=catch_up)

    async def _answer(self, event: Prompt | Pressed, asked: Asked, choice: str, keys: Collection[str]) -> list[Record]:
        """Answer a question, once, if this person may; the keys are bound to its notice, so a redelivery is known."""
        if (slowed := await self._slowed(event)) is not None:
            return slowed
        access = await self._door.access_of(event.principal, event.address)
        if not access.may_answer(asked.who, event.principal, event.address):
            return await self._tell(event, "Only an admin may answer this question.", keys=keys)
        notice_id, at = str(asked.purpose.get("notice", "")), self._clock.now()

        def operation(tx: Transaction) -> Record | None:
            now = tx.questions.get(asked.question.id)
            if now is None or not is_open(tx, now, at):
                return None
            by = f"user:{event.principal.user_id}"
            if not tx.questions.answer(asked.question.id, choice=choice, by=by, at=at):
                return None
            tx.messages.add_keys(event.address.chatbot_id, keys, notice_id)
            return tx.messages.get(notice_id)

        notice = await self._store.write(operation)
        if notice is None:
            if self._noticed:
                self._noticed(asked.question.id)
            return await self._tell(event, "This question is no longer open.", keys=keys)
        if isinstance(event, Pressed) and self._answers:
            await self._at_once(event, f"{printable_name(event.principal.display_name)}: {choice}")
        return [notice]

    async def _press(self, event: Pressed) -> list[Record]:
        if await self._store.read(lambda tx: tx.messages.find(event.address.chatbot_id, [event.key])):
            return []
        asked = await self._store.read(lambda tx: tx.questions.get(event.token))
        chosen = None if asked is None else match_press(event, asked.question.choices)
        if asked is None or asked.address != event.address or chosen is None:
            return await self._tell(event, "This button is no longer in use.", keys=(event.key,))
        return await self._answer(event, asked, chosen, (event.key,))

    async def _edit(self, event: Edited) -> list[Record]:
        """The next version under the same id (C-44). A prompt that has started keeps running, and no second turn
        begins; an unchanged text is no edit (complaint 110)."""

        def operation(tx: Transaction) -> Record | None:
            record = tx.messages.find(event.address.chatbot_id, [event.key])
            if record is None or record.kind != "user_prompt" or record.message.content.text == event.text:
                return None
            if record.message.user_id != event.principal.user_id or is_redacted(record.message):
                return None
            actor = f"user:{event.principal.user_id}"
            return tx.messages.rewrite(record.message.update(text=event.text), actor=actor, at=self._clock.now())

        changed = await self._store.write(operation)
        return [changed] if changed else []

    async def _delete(self, event: Deleted) -> list[Record]:
        """A prompt that has not started is cancelled (N-11)."""
        by = f"user:{event.principal.user_id}" if event.principal else self._chatbot_id
        record = await self._store.read(lambda tx: tx.messages.find(event.address.chatbot_id, [event.key]))
        if record is None or record.kind != "user_prompt" or not await self._gateway.withdraw(record.id, by=by):
            return []
        return [await self._store.read(lambda tx: tx.messages.get(record.id) or record)]

    def _invoked(self, prompt: Prompt) -> Invocation | None:
        """The command that a text gives: a known name, or one so near to a known one that it is a slip of the pen."""
        found = _COMMAND.fullmatch(_said(prompt).strip())
        if found is None:
            return None
        name, specs = found[1].lower(), {spec.name: spec for spec in self._commands.specs()}
        if name not in specs and not difflib.get_close_matches(name, specs, n=1):
            return None
        arguments = specs[name].read(found[2] or "") if name in specs else {}
        return Invocation(name=name, address=prompt.address, principal=prompt.principal, arguments=arguments)

    async def _run(self, event: Prompt | Command, keys: Collection[str], invocation: Invocation) -> list[Record]:
        if not await self._first_time(event.address, keys):
            return []
        if (slowed := await self._slowed(event)) is not None:
            return slowed
        names = [spec.name for spec in self._commands.specs()]
        if invocation.name not in names:
            near = difflib.get_close_matches(invocation.name, names, n=1)
            hint = f" Did you mean /{near[0]}?" if near else f" There are: {', '.join(f'/{name}' for name in names)}."
            return await self._tell(event, f"There is no command /{printable_name(invocation.name)}.{hint}", keys=keys)
        admin = self.access.allowed(event.principal, event.address, APPROVE)
        try:
            reply = await self._commands.run(replace(invocation, admin=admin, keys=tuple(keys)))
        except KesokuError as error:
            reply = str(error)
        return await self._tell(event, reply, keys=keys, private=admin) if reply else []

    async def _slowed(self, event: Prompt | Pressed | Command) -> list[Record] | None:
        """What is said to a person who asks for too much at once: one notice, then nothing. None if it goes on."""
        beyond = 0 if self.access.local else self._throttle.beyond(event.principal)
        if not beyond:
            return None
        if beyond == 1:
            return await self._tell(event, _SLOWER)
        return await self._answered(event, _SLOWER)

    async def _first_time(self, address: Address, keys: Collection[str]) -> bool:
        """Whether a command is new: not running or run in this process, and not answered by an earlier one."""
        if any(key in self._handled for key in keys):
            return False
        self._handled.add(*keys)
        return await self._store.read(lambda tx: tx.messages.find(address.chatbot_id, keys)) is None

    async def _tell(
        self, event: Event, text: str, *, keys: Collection[str] = (), private: bool = False
    ) -> list[Record]:
        """Say something to the person: at once where the platform wants that, else as a reply notice.

        What is `private`, such as what only admins are told, is not said where others read if it was to be answered to
        the person alone and that failed.
        """
        files = text.files if isinstance(text, FiledReply) else ()
        if isinstance(event, Pressed | Command) and self._answers:
            if await self._at_once(event, text):
                if not files:
                    return []
            elif private and not event.principal.direct:
                text, files = _UNSHOWN, ()
        notice = make.notice(str(text), reason="reply", attachments=files)
        post = Post(message=notice, address=event.address, keys=tuple(keys))
        return [await self._stored(lambda: self._gateway.post(post))]

    async def _stored(self, write: Callable[[], Awaitable[T]]) -> T:
        """Wait for a store that is full or locked, and with us who hands in more. A person who sits here is told."""
        if self.access.local:
            return await write()
        return await retry("store what came in", write, sleep=self._clock.sleep)

    async def _answered(self, event: Event, text: str) -> list[Record]:
        """Answer what the platform wants an answer to, which nobody else sees; else stay silent."""
        if isinstance(event, Pressed | Command):
            await self._at_once(event, text)
        return []

    async def _at_once(self, event: Pressed | Command, text: str) -> bool:
        if self._answers is None:
            return False
        result = await attempt(within(self._clock, self._answer_seconds, self._answers.answer(event, text)))
        if isinstance(result, Failure):
            _log.warning("%s did not take an answer to %s: %s", self._chatbot_id, event.key, result)
        return not isinstance(result, Failure)


def _said(prompt: Prompt) -> str:
    return prompt.said or prompt.text


def _post(prompt: Prompt) -> Post:
    replied = {} if prompt.reply_to is None else {REPLY_TO: prompt.reply_to}
    message = make.user_prompt(
        prompt.text,
        author=printable_name(prompt.principal.display_name),
        user_id=prompt.principal.user_id,
        attachments=prompt.attachments,
        platform_ids={**prompt.platform_ids, **replied},
        model=prompt.model,
        role=prompt.role,
    )
    return Post(message=message, address=prompt.address, keys=prompt.keys)

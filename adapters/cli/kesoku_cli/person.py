"""The person at the terminal: what they do there reaches the inbox, one thing after the other."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import uuid4

from kesoku import Address, MessageStatus, Record
from kesoku.adapter import Inbox, Pressed, Principal, Prompt
from kesoku_cli.attach import ATTACH, PendingFiles, named
from kesoku_cli.frontend import FrontEnd
from kesoku_cli.sitting import INTERRUPTED, NOBODY_READS, Sitting

Act = Callable[[], Awaitable[None]]
_LEAVE = {"/quit", "/exit"}
_PATIENCE = 5.0
"""Seconds for a message to be stored when its author leaves already."""
LOCAL = "local"
"""The user id of whoever sits at this machine."""


class Person:
    """The `Listener` of a front end. `act` does what was asked for; `check` sees whether that was all."""

    def __init__(
        self,
        *,
        inbox: Inbox,
        front: FrontEnd,
        sitting: Sitting,
        target: Address,
        author: str,
        in_order: bool,
        tell: Callable[[Sequence[str]], None],
        show: Callable[[Record], bool],
    ) -> None:
        """`in_order`: each message waits for the answer to the one before, as a program expects that pipes many.

        `tell` hears what the sitting makes of what was asked. `show` shows what was said in its place, where nobody
        else shows it here, and says whether it did.
        """
        self._inbox, self._front, self._sitting, self._target = inbox, front, sitting, target
        self._tell, self._show = tell, show
        self._principal = Principal(user_id=LOCAL, display_name=author)
        self._in_order = in_order
        self._files = PendingFiles(inbox, target)
        self._acts: asyncio.Queue[Act] = asyncio.Queue()
        self._urgent: asyncio.Queue[Act] = asyncio.Queue()
        self._storing: asyncio.Future[Any] | None = None
        self._at_rest = asyncio.Event()
        self._at_rest.set()
        self.has_ended = False
        """Whether nothing more will be asked."""

    async def act(self) -> None:
        """Hand on what the person does until cancelled: messages in their order, answers and Ctrl-C past them."""
        async with asyncio.TaskGroup() as group:
            for acts in (self._acts, self._urgent):
                group.create_task(self._do(acts))

    async def _do(self, acts: asyncio.Queue[Act]) -> None:
        while True:
            await (await acts.get())()
            self.check()

    def check(self) -> None:
        """Let the next message go, and leave when everything is answered."""
        (self._at_rest.clear if self._sitting.is_waiting else self._at_rest.set)()
        if self.has_ended and self.is_done:
            self._front.close()

    @property
    def is_done(self) -> bool:
        """Whether everything that was asked so far has come to rest."""
        return self._acts.empty() and not self._sitting.is_waiting and self._storing is None

    async def leave(self) -> None:
        """Stop what has not come to rest, also a message that is just being stored."""
        if self._storing is not None:
            await asyncio.wait({self._storing}, timeout=_PATIENCE)
        await self.interrupt()

    def submitted(self, text: str) -> None:
        """Hand a message to the inbox, after those before it."""
        if text.strip() in _LEAVE:
            self.left()
        elif (names := named(text)) is not None:
            self.attached(names)
        elif text.strip():
            self._front.prompt_shown(text)
            self._acts.put_nowait(lambda: self._say(text))

    def attached(self, names: Sequence[str]) -> None:
        """Send files along with the next message."""
        self._acts.put_nowait(lambda: self._attach(names))

    def answered(self, question: str, value: str) -> None:
        """Answer a question."""
        self._urgent.put_nowait(lambda: self._press(question, value))

    def interrupted(self) -> None:
        """Stop the running turn."""
        self._urgent.put_nowait(self.interrupt)

    def left(self) -> None:
        """Leave now. Of what was asked last, whatever has not come to rest was stopped by this."""
        if self.has_ended and not self.is_done:
            self._sitting.exit_code = INTERRUPTED
        self._front.close()

    def gone(self) -> None:
        """Leave at once: nobody reads what is said."""
        self._sitting.exit_code, self.has_ended = NOBODY_READS, True
        self._front.close()

    def ended(self) -> None:
        """Leave once everything that was asked has come to rest."""
        self.has_ended = True
        self._acts.put_nowait(_nothing)

    async def interrupt(self) -> None:
        """End the running turn of the channel, whoever started it; nobody is left who wants what waits behind it, if
        everything was asked."""
        await self._inbox.interrupt(self._target, by=self._principal.user_id, queued=self.has_ended)

    async def _say(self, text: str) -> None:
        key = str(uuid4())
        if self._in_order:
            await self._at_rest.wait()
        files = () if _is_command(text) else self._files.take()
        prompt = Prompt(
            keys=(key,),
            address=self._target,
            principal=self._principal,
            text=text,
            said=text,
            attachments=files,
        )
        self._storing = asyncio.ensure_future(self._inbox.accept([prompt]))
        for record in await asyncio.shield(self._storing):
            refused, is_shown = _is_refusal(record, text), self._show(record)
            self._tell(self._sitting.asked(record, refused=refused))
            if refused:
                self._files.put_back(files)
            if refused and not is_shown and record.status is MessageStatus.DELIVERED:
                # The core says it once a minute; here every message gets its answer.
                self._front.notice(record.message.rendered)
        self._storing = None

    async def _attach(self, names: Sequence[str]) -> None:
        for name in names:
            self._front.notice(await self._files.add(name))
        if not names:
            self._front.notice(f"{ATTACH} needs the name of a file, such as {ATTACH} photo.png")

    async def _press(self, question: str, value: str) -> None:
        press = Pressed(key=str(uuid4()), address=self._target, principal=self._principal, token=question, value=value)
        await self._inbox.accept([press])


def _is_refusal(record: Record, text: str) -> bool:
    """Whether a notice came in the place of a prompt; commands and answers to questions have notices of their own."""
    question = getattr(record.message.content, "question", None)
    return record.kind == "notice" and question is None and not _is_command(text)


def _is_command(text: str) -> bool:
    return text.lstrip().startswith("/")


async def _nothing() -> None:
    """Wake the acts."""

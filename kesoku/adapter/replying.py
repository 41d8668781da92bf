"""What a person hears who did something that is no prompt: at once where the platform wants that, else as a notice."""

import logging
from collections.abc import Awaitable, Callable, Collection
from typing import TypeVar

from kesoku.adapter.access import Throttle
from kesoku.adapter.attempt import Failure, attempt, within
from kesoku.adapter.command import FiledReply
from kesoku.adapter.core import Core
from kesoku.adapter.door import Door
from kesoku.adapter.event import Command, Event, Pressed, Prompt
from kesoku.adapter.spi import Answers
from kesoku.messages import make
from kesoku.messages.record import Post, Record
from kesoku.tools.patience import retry

T = TypeVar("T")

_SLOWER = "Slower, please: I do not take more commands and answers from you within this minute."
_UNSHOWN = "Your command was handled. Its answer is for you alone and did not reach you, so it is not said here."
_log = logging.getLogger(__name__)


class Replying:
    """The replies of one bot. `answers` is the adapter, if it answers presses and commands itself."""

    def __init__(self, *, chatbot_id: str, core: Core, door: Door, answers: object) -> None:
        self._chatbot_id, self._door = chatbot_id, door
        self._gateway, self._clock, self._seconds = core.gateway, core.clock, core.delivery.send_timeout
        self._throttle = Throttle(core.clock, limit=core.intake.per_person_per_minute)
        self._answers = answers if isinstance(answers, Answers) else None

    async def say(self, event: Event, text: str, *, keys: Collection[str] = (), private: bool = False) -> list[Record]:
        """Say something to the person: at once where the platform wants that, else as a reply notice.

        What is `private`, such as what only admins are told, is not said where others read if it was to be answered to
        the person alone and that failed.
        """
        files = text.files if isinstance(text, FiledReply) else ()
        if isinstance(event, Pressed | Command) and self._answers:
            if await self.answer(event, text):
                if not files:
                    return []
            elif private and not event.principal.direct:
                text, files = _UNSHOWN, ()
        notice = make.notice(str(text), reason="reply", attachments=files)
        post = Post(message=notice, address=event.address, keys=tuple(keys))
        return [await self.stored(lambda: self._gateway.post(post))]

    async def answer(self, event: Event, text: str) -> bool:
        """Answer what the platform wants an answer to, which nobody else sees; False if nothing was said."""
        if self._answers is None or not isinstance(event, Pressed | Command):
            return False
        result = await attempt(within(self._clock, self._seconds, self._answers.answer(event, text)))
        if isinstance(result, Failure):
            _log.warning("%s did not take an answer to %s: %s", self._chatbot_id, event.key, result)
        return not isinstance(result, Failure)

    async def slowed(self, event: Prompt | Pressed | Command) -> list[Record] | None:
        """What is said to a person who asks for too much at once: one notice, then nothing. None if it goes on."""
        beyond = 0 if self._door.access.local else self._throttle.beyond(event.principal)
        if not beyond:
            return None
        if beyond == 1:
            return await self.say(event, _SLOWER)
        await self.answer(event, _SLOWER)
        return []

    async def stored(self, write: Callable[[], Awaitable[T]]) -> T:
        """Wait for a store that is full or locked, and with us who hands in more. A person who sits here is told."""
        if self._door.access.local:
            return await write()
        return await retry("store what came in", write, sleep=self._clock.sleep)

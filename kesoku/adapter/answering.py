"""Answers to open questions: a button that is pressed, or a message that says one of the choices."""

from collections.abc import Callable, Collection

from kesoku.adapter.core import Core
from kesoku.adapter.door import Door
from kesoku.adapter.event import Pressed, Prompt, words_of
from kesoku.adapter.question import is_open, match_answer, match_press, open_questions
from kesoku.adapter.replying import Replying
from kesoku.messages.lifecycle import Asked
from kesoku.messages.record import Address, Record
from kesoku.ports import Transaction
from kesoku.render import printable_name


class Answering:
    """Takes answers for one bot. `noticed` is called with the id of a question that is over and was answered still."""

    def __init__(self, *, core: Core, door: Door, replying: Replying, noticed: Callable[[str], None] | None) -> None:
        self._store, self._clock = core.store, core.clock
        self._door, self._replying, self._noticed = door, replying, noticed

    async def open(self, address: Address) -> list[Asked]:
        """The questions of a channel that can be answered now, the oldest first."""
        return await self._store.read(lambda tx: open_questions(tx, address, self._clock.now()))

    async def say(self, event: Prompt) -> list[Record] | None:
        """The answer that a message gives to the oldest open question; None if it is none."""
        for asked in (await self.open(event.address))[:1]:
            choice = match_answer(words_of(event), asked.question.choices)
            if choice is not None:
                return await self._answer(event, asked, choice, event.keys)
        return None

    async def press(self, event: Pressed) -> list[Record]:
        """The answer that a button gives."""
        if await self._store.read(lambda tx: tx.messages.find(event.address.chatbot_id, [event.key])):
            return []
        asked = await self._store.read(lambda tx: tx.questions.get(event.token))
        chosen = None if asked is None else match_press(event, asked.question.choices)
        if asked is None or asked.address != event.address or chosen is None:
            return await self._replying.say(event, "This button is no longer in use.", keys=(event.key,))
        return await self._answer(event, asked, chosen, (event.key,))

    async def _answer(self, event: Prompt | Pressed, asked: Asked, choice: str, keys: Collection[str]) -> list[Record]:
        """Answer a question, once, if this person may; the keys are bound to its notice, so a redelivery is known."""
        if (slowed := await self._replying.slowed(event)) is not None:
            return slowed
        access = await self._door.access_of(event.principal, event.address)
        if not access.may_answer(asked.who, event.principal, event.address):
            return await self._replying.say(event, "Only an admin may answer this question.", keys=keys)
        notice = await self._noted(event, asked, choice, keys)
        if notice is None:
            if self._noticed:
                self._noticed(asked.question.id)
            return await self._replying.say(event, "This question is no longer open.", keys=keys)
        await self._replying.answer(event, f"{printable_name(event.principal.display_name)}: {choice}")
        return [notice]

    async def _noted(self, event: Prompt | Pressed, asked: Asked, choice: str, keys: Collection[str]) -> Record | None:
        """The notice of the question that is answered now; None if it was over."""
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

        return await self._store.write(operation)

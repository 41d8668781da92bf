"""What becomes of a message that a person writes, edits or deletes: a prompt, its next version, its withdrawal."""

from kesoku.adapter.core import Core
from kesoku.adapter.event import REPLY_TO, Deleted, Edited, Prompt
from kesoku.messages import make
from kesoku.messages.profile import Profile, profile_at
from kesoku.messages.record import Post, Record
from kesoku.messages.redaction import is_redacted
from kesoku.ports import Transaction
from kesoku.render import printable_name


class Prompts:
    """The prompts that one bot takes in."""

    def __init__(self, *, chatbot_id: str, core: Core) -> None:
        self._chatbot_id = chatbot_id
        self._gateway, self._store, self._clock = core.gateway, core.store, core.clock

    async def known(self, event: Prompt) -> Record | None:
        """The record of a prompt that came in before."""
        return await self._store.read(lambda tx: tx.messages.find(event.address.chatbot_id, event.keys))

    async def post(self, event: Prompt) -> Post:
        """What is stored of a prompt."""
        profile = await self._profile(event)
        replied = {} if event.reply_to is None else {REPLY_TO: event.reply_to}
        message = make.user_prompt(
            event.text,
            author=printable_name(event.principal.display_name),
            user_id=event.principal.user_id,
            attachments=event.attachments,
            platform_ids={**event.platform_ids, **replied},
            model=profile.model,
            role=profile.role,
        )
        return Post(message=message, address=event.address, keys=event.keys)

    async def edit(self, event: Edited) -> list[Record]:
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

    async def delete(self, event: Deleted) -> list[Record]:
        """A prompt that has not started is cancelled (N-11)."""
        by = f"user:{event.principal.user_id}" if event.principal else self._chatbot_id
        record = await self._store.read(lambda tx: tx.messages.find(event.address.chatbot_id, [event.key]))
        if record is None or record.kind != "user_prompt" or not await self._gateway.withdraw(record.id, by=by):
            return []
        return [await self._store.read(lambda tx: tx.messages.get(record.id) or record)]

    async def _profile(self, event: Prompt) -> Profile:
        """What a prompt asks for. In a channel of another bot, as `kesoku chat --session` writes there, it is what was
        asked for there last."""
        if event.address.chatbot_id == self._chatbot_id:
            return Profile(model=event.model, role=event.role)
        last = await self._store.read(lambda tx: profile_at(event.address, tx.messages))
        return Profile(model=event.model or last.model, role=event.role or last.role)

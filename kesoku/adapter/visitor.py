"""A prompt that one bot puts into a channel of another one, as `kesoku chat --session` does."""

from dataclasses import replace

from kesoku.adapter.event import Prompt
from kesoku.messages.profile import NONE, Profile, profile_at
from kesoku.messages.record import Address
from kesoku.ports import Store, Transaction


async def as_there(prompt: Prompt, chatbot_id: str, store: Store) -> Prompt:
    """A prompt from the bot `chatbot_id`; into another one's channel it asks for what was asked for there last."""
    if prompt.address.chatbot_id == chatbot_id:
        return prompt
    profile = await store.read(lambda tx: profile_here(tx, prompt.address))
    return replace(prompt, model=prompt.model or profile.model, role=prompt.role or profile.role)


def profile_here(tx: Transaction, here: Address) -> Profile:
    """What the last person in a channel asked for."""
    session = tx.sessions.bound(here)
    return NONE if session is None else profile_at(here, tx.messages, session.id, session.last_n + 1)

"""A prompt that one bot puts into a channel of another one, as `kesoku chat --session` does."""

from dataclasses import replace

from kesoku.adapter.event import Prompt
from kesoku.messages.profile import profile_at
from kesoku.ports import Store


async def as_there(prompt: Prompt, chatbot_id: str, store: Store) -> Prompt:
    """A prompt from the bot `chatbot_id`; into another one's channel it asks for what was asked for there last."""
    if prompt.address.chatbot_id == chatbot_id:
        return prompt
    profile = await store.read(lambda tx: profile_at(prompt.address, tx.messages))
    return replace(prompt, model=prompt.model or profile.model, role=prompt.role or profile.role)

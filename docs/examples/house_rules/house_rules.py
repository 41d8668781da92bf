"""A hook for Kesoku: reminds the model of the rules of a channel, once a turn."""

from collections.abc import Sequence

from kesoku import SystemNote, UserPrompt
from kesoku.agent.hook import StepContext
from kesoku.messages import make

RULES = {"kitchen": "People cook while they read this: answer in at most two sentences."}


async def remind(context: StepContext) -> Sequence[UserPrompt | SystemNote]:
    """Add the rules before the first step, and mask phone numbers of the prompts."""
    if context.step > 1:
        return []
    rules = RULES.get(context.address.channel_id)
    notes = [make.hook_note(rules, hook="house_rules")] if rules else []
    private = [prompt for prompt in context.prompts if "+49" in prompt.rendered]
    return [*notes, *(prompt.update(text=prompt.rendered.replace("+49", "+**")) for prompt in private)]

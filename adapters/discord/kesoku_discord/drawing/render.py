"""From a record to the messages that show it on Discord. Pure: no clock, no network, no state."""

from kesoku.adapter import Outgoing, Record, RenderContext
from kesoku_discord.config import DiscordConfig
from kesoku_discord.drawing.answer import answer
from kesoku_discord.drawing.question import pressed
from kesoku_discord.drawing.split import split
from kesoku_discord.drawing.step import step_line


def render(record: Record, context: RenderContext, config: DiscordConfig) -> tuple[Outgoing, ...]:
    """The parts, each one message within the limit, none of them blank.

    An answer is Markdown with files, tables and questions; a notice is Markdown, or a question of the core with its
    choices; a thought, a call or a result is its line of the live status.
    """
    if record.kind == "answer":
        return answer(record, context, config)
    if record.kind == "notice" and context.question is not None:
        return pressed(record.message.rendered, context.question)
    texts = split(step_line(record) or record.message.text)
    return tuple(Outgoing(text=text) for text in texts)

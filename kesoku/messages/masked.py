"""Tool calls as people see them: without known secrets. What is stored and run stays as the model wrote it (0027)."""

from dataclasses import replace

from kesoku.messages.content import CallContent, ResultContent
from kesoku.messages.freeze import FrozenDict, thaw
from kesoku.messages.message import Message
from kesoku.messages.record import Record
from kesoku.render.mask import Mask


def masked_record(record: Record, mask: Mask) -> Record:
    """The record to show; the same one where nothing is masked."""
    message = masked(record.message, mask)
    return record if message is record.message else replace(record, message=message)


def masked(message: Message, mask: Mask) -> Message:
    """A call, or a result, with masked arguments; any other message as it is."""
    content = message.content
    if not mask.knows or not isinstance(content, CallContent | ResultContent) or not content.arguments:
        return message
    given = FrozenDict(mask.value(thaw(content.arguments)))
    return message if given == content.arguments else replace(message, content=replace(content, arguments=given))

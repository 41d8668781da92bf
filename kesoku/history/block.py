"""Single messages as blocks for the model (seed 004 sections 5.2 and 5.4)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from kesoku.history.bound import as_text, bounded
from kesoku.history.codec import call_block
from kesoku.messages.content import Attachment
from kesoku.messages.freeze import EMPTY as NOTHING
from kesoku.messages.freeze import FrozenDict
from kesoku.messages.record import Record
from kesoku.messages.source import PROMPT_BLOCKED
from kesoku.messages.turn import Block, CallBlock, MediaBlock, Reply, ResultBlock, TextBlock
from kesoku.render.ends import clip

NOTE = "[System Notification]\n"
"""What stands before the text of every SystemNote (K-215)."""
NO_RESULT = "This call has not returned a result."
"""Said for a call that is still unpaired; never stored (N-04)."""
OMITTED = "Earlier messages of this conversation are left out here, for want of room."
"""Said in the place of turns beyond the history budget."""
EMPTY = "[Empty message]"
"""Said for a prompt without text and files: a turn must say something."""
WITHHELD = "[This message was blocked by the model's provider. It is left out here.]"
"""Said in the place of a turn that the provider refused to read: again, it would block every later request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How messages are written down for one request."""

    provider: str | None
    """Whose signatures and wire ids are given back."""
    tool_output: int
    """Bytes of one result."""
    pinned: frozenset[str] = frozenset()
    """Turns that no budget leaves out."""
    cuts: FrozenDict = NOTHING
    """Id of a result -> the bytes of it that are read, if fewer."""

    def bytes_of(self, record: Record) -> int:
        """How much of a result is read."""
        return int(self.cuts.get(record.id, self.tool_output))


def prompt(record: Record, opening: str, *, past: bool) -> tuple[Block, ...]:
    """What someone asked: `opening` and text, then files; of a past turn the text names the files (K-184)."""
    text = opening + record.message.text
    attachments: tuple[Attachment, ...] = record.message.content.attachments
    if past:
        text = _joined(text, *_stripped(attachments))
        return (TextBlock(text=text if text.strip() else EMPTY),)
    media, absent = _media(attachments)
    text = _joined(text, *absent)
    if not text.strip():
        return media or (TextBlock(text=EMPTY),)
    return (TextBlock(text=text), *media)


def note(record: Record) -> tuple[Block, ...]:
    """The machinery's words, marked as such; a summary stands for itself (K-214, K-215)."""
    text = (NOTE if record.kind == "system_note" else "") + record.message.rendered
    return (TextBlock(text=text),) if text.strip() else ()


def withheld() -> tuple[Block, ...]:
    """What stands for everything that a blocked turn asked, said and returned."""
    return (TextBlock(text=WITHHELD),)


def is_blocked(record: Record) -> bool:
    """Whether this answer says that the provider refused to read its prompt."""
    source: Any = record.message.source
    return record.kind == "answer" and source.kind == "error" and bool(source.error == PROMPT_BLOCKED)


def is_compaction(record: Record) -> bool:
    """Whether this prompt asks for a summary (R-6)."""
    source: Any = record.message.source
    return source.kind == "command" and bool(source.command == "compact")


def is_edited(record: Record) -> bool:
    """Whether someone changed what this message says; the link of a call to its result changes nothing of that."""
    return record.message.version > (2 if getattr(record.message.content, "response_id", None) else 1)


def is_nudge(record: Record) -> bool:
    """Whether the loop said this to the model, of what it had just replied."""
    return record.kind == "system_note" and record.message.source.kind == "nudge"


def goes_on(record: Record) -> bool:
    """Whether this note asks the model to go on with text that was cut: words about a thought, and gone with it."""
    source: Any = record.message.source
    return source.kind == "nudge" and bool(source.why == "continue")


def thought(record: Record) -> tuple[Block, ...]:
    """Reasoning, or text that the model wrote beside a call (N-09)."""
    source: Any = record.message.source
    text = record.message.rendered
    return (TextBlock(text=text, thought=not source.interim),) if text.strip() else ()


def answer(record: Record) -> tuple[Block, ...]:
    """What the assistant answered; nothing for an empty answer."""
    text = record.message.rendered
    return (TextBlock(text=text),) if text.strip() else ()


def call(record: Record, style: Style) -> CallBlock:
    """A call; with its signature for the provider that gave it, as long as it is the call that was signed."""
    source: Any = record.message.source
    content = record.message.content
    state = source.replay_state if source.provider == style.provider and not is_edited(record) else None
    return call_block(record.id, content.tool, content.arguments, state)


def reply(said: Reply, style: Style) -> tuple[Block, ...]:
    """A stored reply word for word; another provider's without what is opaque."""
    blocks = said.blocks if said.provider == style.provider else tuple(map(_unsigned, said.blocks))
    kept = tuple(b for b in blocks if isinstance(b, CallBlock) or b.text or b.signature is not None)
    return kept if any(isinstance(b, CallBlock) or b.text.strip() for b in kept) else ()


def result(asked: CallBlock, record: Record | None, style: Style, *, past: bool) -> ResultBlock:
    """What a call returned, bounded; for one without result the words that say so."""
    given = ResultBlock(call_id=asked.call_id, name=asked.name, output=None, wire_id=asked.wire_id)
    if record is None:
        return replace(given, error=NO_RESULT)
    content = record.message.content
    media, absent = ((), _stripped(content.attachments)) if past else _media(content.attachments)
    output: Any = bounded(content.output, style.bytes_of(record))
    if absent:
        output = _joined("" if output is None else as_text(output), *absent)
    error = None if content.error is None else clip(content.error, style.bytes_of(record))
    return replace(given, output=output, error=error, media=media)


def _stripped(attachments: Sequence[Attachment]) -> tuple[str, ...]:
    names = ", ".join(each.name for each in attachments)
    return (f"[Attachments stripped from history: {names}]",) if names else ()


def _media(attachments: Sequence[Attachment]) -> tuple[tuple[MediaBlock, ...], tuple[str, ...]]:
    """Files that the model gets, and a line for each that it does not."""
    media = tuple(
        MediaBlock(path=each.path, mime_type=each.mime_type, name=each.name)
        for each in attachments
        if each.path is not None and each.skipped is None
    )
    absent = tuple(
        f"[Attachment {each.name} is not available: {each.skipped or 'its file is missing'}]"
        for each in attachments
        if each.path is None or each.skipped is not None
    )
    return media, absent


def _joined(*lines: str) -> str:
    return "\n".join(line for line in lines if line)


def _unsigned(block: TextBlock | CallBlock) -> TextBlock | CallBlock:
    if isinstance(block, CallBlock):
        return replace(block, signature=None, wire_id=None)
    return replace(block, signature=None)

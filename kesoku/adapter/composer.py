"""From a record to the parts that are planned: confined files, rendering, and what is said about a file left out."""

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from kesoku.adapter.event import REPLY_TO
from kesoku.adapter.manifest import Capabilities
from kesoku.adapter.outgoing import Outgoing, OutgoingFile, RenderContext
from kesoku.adapter.part import apart
from kesoku.adapter.spi import Adapter
from kesoku.adapter.staging import Staging, read_file, safe_name, size_text
from kesoku.errors import KesokuError
from kesoku.messages.masked import masked_record
from kesoku.messages.record import Record
from kesoku.render import File, Voice, chunk, confine, parse
from kesoku.render.mask import Mask

T = TypeVar("T")

_LONG = 2_000
"""Characters that are rendered within a few hundredths of a second, whatever they are."""

Roots = Callable[[str], Sequence[Path]]
"""The folders that files of a session's replies may come from; the first one is where relative paths start."""


class Composer:
    """Renders for one adapter. The same record gives the same parts, as long as its files stay as they are."""

    def __init__(
        self, *, adapter: Adapter, capabilities: Capabilities, roots: Roots, staging: Staging, mask: Mask
    ) -> None:
        self._adapter, self._capabilities, self._roots, self._staging = adapter, capabilities, roots, staging
        self._mask = mask

    async def compose(self, record: Record, prompt: Record | None) -> tuple[Outgoing, ...]:
        """The parts to send, each one message on the platform. Raises what `render` of the adapter raises."""
        named = await _aside(record, lambda: _named(record))
        files = await asyncio.to_thread(self._confined, named, record.session_id) if named else {}
        context = RenderContext(
            reply_to=_platform_id(prompt),
            files=files,
            question=getattr(record.message.content, "question", None),
            prompt=prompt,
        )
        parts = await _aside(record, lambda: self._adapter.render(masked_record(record, self._mask), context))
        allowed = frozenset(path for path in files.values() if path)
        whole = (*parts, *_left_out(record, parts, files))
        return tuple([await self._checked(part, allowed, record.session_id) for part in apart(whole)])

    def _confined(self, named: Sequence[str], session_id: str) -> dict[str, Path | None]:
        roots = (*self._roots(session_id), self._staging.folder(session_id))
        return {path: _regular(path, roots, roots[0]) for path in named}

    async def _checked(self, part: Outgoing, allowed: frozenset[Path], session_id: str) -> Outgoing:
        """The part with its file as it stands now, or a line that says why the file is left out."""
        if not part.files:
            return part
        each = part.files[0]
        kept = await self._kept(each, allowed, session_id)
        if isinstance(kept, str):
            note = f"⚠️ {safe_name(each.name)} was not sent: {kept}."
            shown = chunk(note, self._capabilities.max_text, self._capabilities.unit)
            return Outgoing(text=shown[0], reply_to=part.reply_to)
        file = OutgoingFile(path=kept, name=each.name, description=each.description, voice=each.voice)
        return Outgoing(files=(file,), reply_to=part.reply_to, silent=part.silent)

    async def _kept(self, file: OutgoingFile, allowed: frozenset[Path], session_id: str) -> Path | str:
        """A path whose bytes do not change any more, or the reason against sending it."""
        if file.path not in allowed:
            return "it is not in a folder that may be sent from"
        if self._capabilities.local:
            return file.path
        if not self._capabilities.media_out:
            return "files cannot be sent here"
        limit = self._capabilities.max_file
        try:
            size = (await asyncio.to_thread(file.path.stat)).st_size
            if size > limit:
                return f"it has {size_text(size)}, and at most {size_text(limit)} can be sent here"
            saved = await self._staging.save(
                session_id, file.name, read_file(file.path), mime_type="application/octet-stream", limit=limit
            )
        except OSError as error:
            return f"it cannot be read ({error.strerror})"
        return saved.skipped or "it could not be kept" if saved.path is None else Path(saved.path)


async def _aside(record: Record, work: Callable[[], T]) -> T:
    """The result of `work`, in a thread for a long text: minutes of odd Markdown must not hold up every channel."""
    return await asyncio.to_thread(work) if len(record.message.rendered) > _LONG else work()


def _named(record: Record) -> list[str]:
    if record.kind not in {"answer", "notice"}:
        return []
    content = record.message.content
    spoken = parse(content.text) if record.kind == "answer" else ()
    written = [each.path for each in spoken if isinstance(each, File | Voice)]
    return written + [each.path for each in content.attachments if each.path]


def _left_out(record: Record, parts: Sequence[Outgoing], files: Mapping[str, Path | None]) -> Iterator[Outgoing]:
    """The files of a notice that an adapter did not render, as it need not: what it says is all that adapters know."""
    rendered = {file.path for part in parts for file in part.files}
    for each in record.message.content.attachments if record.kind == "notice" else ():
        path = files.get(each.path or "")
        if path is not None and path not in rendered:
            yield Outgoing(files=(OutgoingFile(path=path, name=each.name),))


def _regular(path: str, roots: Sequence[Path], base: Path) -> Path | None:
    try:
        found = confine(path, roots, base)
    except KesokuError:
        return None
    return found if os.path.isfile(found) else None  # noqa: PTH113  Path.is_file raises for a name that is too long


def _platform_id(prompt: Record | None) -> str | None:
    ids = getattr(prompt.message.source, "platform_ids", {}) if prompt else {}
    return next((str(value) for name, value in ids.items() if name != REPLY_TO), None)

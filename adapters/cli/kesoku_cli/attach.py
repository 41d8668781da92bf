"""Files that go along with a message: named by `/attach FILE ...` or on the command line."""

import mimetypes
import shlex
from collections.abc import Sequence
from pathlib import Path

from kesoku import Address
from kesoku.adapter import Attachment, Inbox
from kesoku.adapter.staging import read_file
from kesoku.render import visible

ATTACH = "/attach"


def named(text: str) -> Sequence[str] | None:
    """The files that a message `/attach FILE ...` names, quoted as in a shell; None for any other message."""
    word, names, *_ = [*text.split(maxsplit=1), "", ""]
    if word != ATTACH:
        return None
    try:
        return shlex.split(names)
    except ValueError:  # an apostrophe in a name that nobody quoted
        return [names.strip()]


class PendingFiles:
    """What goes along with the next message to `target`."""

    def __init__(self, inbox: Inbox, target: Address) -> None:
        self._inbox, self._target = inbox, target
        self._files: list[Attachment] = []

    async def add(self, name: str) -> str:
        """Take a copy of a file as it is now; what came of it, in words."""
        shown = visible(name)
        try:
            path = _path(name)
            kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            file = await self._inbox.stage(self._target, path.name, read_file(path), mime_type=kind)
        except (OSError, ValueError, RuntimeError) as error:  # no such file, no such name, no such home
            return f"{shown} cannot be attached: {getattr(error, 'strerror', None) or error}"
        if file.skipped is not None:
            return f"{shown} cannot be attached: {file.skipped}"
        self._files.append(file)
        return f"{visible(file.name)} goes along with your next message"

    def take(self) -> tuple[Attachment, ...]:
        """The files, for the message that goes now."""
        files, self._files = tuple(self._files), []
        return files

    def put_back(self, files: Sequence[Attachment]) -> None:
        """The message with these files was not taken: they go along with the next one."""
        self._files = [*files, *self._files]


def _path(name: str) -> Path:
    return Path(name).expanduser().resolve()

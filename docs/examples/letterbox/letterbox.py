"""A small chat platform made of files, and a whole adapter for it.

Every room is a folder. People put `in/NAME.json` there, under a name that nobody used before; the bot takes it away and
puts its messages into `out`, numbered:

    {"by": "ada", "text": "what time is it?"}
"""

import asyncio
import errno
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from kesoku.adapter import (
    AdapterConfig,
    Address,
    Ambiguous,
    Capabilities,
    Finding,
    Inbox,
    Manifest,
    Outgoing,
    Presentation,
    Principal,
    Prompt,
    Receipt,
    Record,
    Refused,
    RenderContext,
    RetryLater,
    Severity,
    Visibility,
)
from kesoku.render import chunk

LIMIT = 2000
FOREVER = 1e9


class LetterboxConfig(AdapterConfig):
    """`[adapters.letterbox]`"""

    folder: Path
    """Where the rooms are."""
    poll_seconds: float = 0.5
    """How often to look for letters."""


def write_file(path: Path, text: str) -> None:
    """All of the text or nothing: nobody sees half a letter."""
    draft = path.with_suffix(".draft")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


def put_aside(letter: Path) -> None:
    """Keep what cannot be read, for the person who looks for it."""
    letter.rename(letter.with_suffix(".unreadable"))


def remove(letter: Path) -> None:
    """Forget a letter that is stored."""
    letter.unlink(missing_ok=True)


class LetterboxAdapter:
    """Letters in, letters out. `write` is the seam at which a test lets the disk fail."""

    def __init__(
        self, chatbot_id: str, config: LetterboxConfig, *, write: Callable[[Path, str], None] = write_file
    ) -> None:
        self._chatbot_id, self._folder, self._pause = chatbot_id, config.folder, config.poll_seconds
        self._write = write

    async def run(self, inbox: Inbox) -> None:
        """Look into every room, again and again, until cancelled."""
        while True:
            for letter in sorted(self._folder.glob("*/in/*.json")):
                await self._take(letter, inbox)
            await asyncio.sleep(self._pause)

    async def _take(self, letter: Path, inbox: Inbox) -> None:
        """Hand a letter in, then remove it. A crash in between hands it in again, and its key is known then."""
        try:
            prompt = self._prompt(letter)
        except (ValueError, KeyError, TypeError) as error:
            put_aside(letter)
            inbox.report(True, f"{letter} is no letter: {error!r}")
        else:
            await inbox.accept([prompt])
            remove(letter)

    def _prompt(self, letter: Path) -> Prompt:
        said = json.loads(letter.read_text(encoding="utf-8"))
        by, room = str(said["by"]), letter.parent.parent.name
        return Prompt(
            keys=(f"{room}/{letter.stem}",),
            address=Address(chatbot_id=self._chatbot_id, channel_id=room),
            principal=Principal(user_id=by, display_name=by, is_bot=bool(said.get("bot"))),
            text=str(said["text"]),
        )

    def render(self, record: Record, context: RenderContext) -> tuple[Outgoing, ...]:
        """Markdown as it is, in pieces; a question with its choices numbered."""
        text = record.message.rendered
        if context.question is not None:
            choices = enumerate(context.question.choices, start=1)
            text = "\n".join([text, *(f"{number}. {choice}" for number, choice in choices)])
        return tuple(Outgoing(text=part) for part in chunk(text, LIMIT))

    async def send(self, address: Address, outgoing: Outgoing, key: str) -> Receipt:
        """One file. The key is part of its name, so a second attempt finds the first."""
        room = self._folder / address.channel_id
        if room.parent != self._folder or room.name == "..":
            raise Refused(reason=f"{address.channel_id!r} is no room")
        try:
            return Receipt(platform_ids=(self._put(room / "out", outgoing.text, key),))
        except OSError as error:
            raise _failure(error) from error

    def _put(self, out: Path, text: str, key: str) -> str:
        out.mkdir(exist_ok=True)
        for sent in out.glob(f"*-{key}.md"):
            return sent.name
        name = f"{len(list(out.glob('*.md'))) + 1:04}-{key}.md"
        self._write(out / name, text)
        return name


def _failure(error: OSError) -> Exception:
    """What the core should do: give up, try again, or be careful."""
    if isinstance(error, FileNotFoundError | PermissionError):
        return Refused(reason=f"the room is gone or closed: {error.strerror}")
    if error.errno == errno.ENOSPC:
        return RetryLater(reason="the disk is full")
    return Ambiguous(reason=str(error))


async def doctor(chatbot_id: str, config: LetterboxConfig) -> Sequence[Finding]:
    """Whether the folder is there."""
    if config.folder.is_dir():
        return [Finding(check=f"adapters.{chatbot_id}", severity=Severity.OK, text=str(config.folder))]
    text, fix = f"{config.folder} is no folder", f"mkdir -p {config.folder}"
    return [Finding(check=f"adapters.{chatbot_id}", severity=Severity.ERROR, text=text, fix=fix)]


def create(chatbot_id: str, config: LetterboxConfig, **seams: Any) -> LetterboxAdapter:
    """An adapter with a real SDK imports it here, not at the top of the file."""
    return LetterboxAdapter(chatbot_id, config, **seams)


MANIFEST = Manifest(
    name="letterbox",
    title="Letterbox",
    extra=None,
    config=LetterboxConfig,
    capabilities=Capabilities(max_text=LIMIT, key_window=FOREVER),
    visibility=Visibility(
        user_text=Presentation.SHOWN,
        assistant_text=Presentation.SHOWN,
        thought=Presentation.HIDDEN,
        tool_call=Presentation.HIDDEN,
        tool_result=Presentation.HIDDEN,
        notice=Presentation.HIDDEN,
    ),
    create=create,
    doctor=doctor,
)

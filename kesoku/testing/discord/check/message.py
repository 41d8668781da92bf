"""What a message may be."""

from typing import Any

from kesoku.testing.discord.check.component import check_components
from kesoku.testing.discord.check.embed import check_embeds
from kesoku.testing.discord.error import Faults, Rejected
from kesoku.testing.discord.request import Upload
from kesoku.testing.discord.world import mention
from kesoku.testing.discord.world.entity import Flag, Json

MAX_CONTENT = 2000
MAX_NONCE = 25
_SETTABLE = Flag.SUPPRESS_EMBEDS | Flag.SILENT | Flag.VOICE | Flag.COMPONENTS_V2
_SHOWS = ("content", "embeds", "components", "sticker_ids", "poll")


def check_form(body: Json, *, settable: int = int(_SETTABLE)) -> None:
    """Raises Rejected with all that is wrong with the fields of a message, new or edited.

    `settable` are the flags that may be given.
    """
    faults = Faults()
    content = body.get("content")
    if content is not None:
        faults.length("content", content, 0, MAX_CONTENT)
    nonce = body.get("nonce")
    if nonce is not None:
        _check_nonce(nonce, faults)
    flags = body.get("flags") or 0
    if not isinstance(flags, int) or isinstance(flags, bool):
        faults.add("flags", "NUMBER_TYPE_COERCE", f'Value "{flags}" is not int.')
        flags = 0
    elif flags & ~settable:
        faults.add("flags", "MESSAGE_FLAGS_INVALID", "These flags cannot be set.")
    mention.check(body.get("allowed_mentions"), faults)
    check_embeds(body.get("embeds"), faults)
    check_components(body.get("components"), faults, second=bool(flags & Flag.COMPONENTS_V2))
    if flags & Flag.COMPONENTS_V2:
        for name in ("content", "embeds", "sticker_ids", "poll"):
            if body.get(name):
                faults.add(name, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", f"The '{name}' field is gone.")
    faults.raise_any()


def check_shows(body: Json, files: tuple[Upload, ...]) -> None:
    """Raises Rejected for a message in which nothing is to be seen."""
    shown = {name: body.get(name) for name in _SHOWS}
    if not files and not any(value.strip() if isinstance(value, str) else value for value in shown.values()):
        raise Rejected(400, 50006, "Cannot send an empty message")


def check_voice(body: Json, files: tuple[Upload, ...]) -> None:
    """Raises Rejected for a voice message that is none; others pass."""
    if not (body.get("flags") or 0) & Flag.VOICE:
        return
    if body.get("content") or body.get("embeds") or body.get("components"):
        raise Rejected(400, 50159, "Voice messages do not support additional content.")
    if len(files) != 1:
        raise Rejected(400, 50160, "Voice messages must have a single audio attachment.")
    entry = (body.get("attachments") or [{}])[0]
    if not isinstance(entry.get("waveform"), str) or not isinstance(entry.get("duration_secs"), int | float):
        raise Rejected(400, 50161, "Voice messages must have supporting metadata.")
    if not files[0].content_type.startswith("audio/"):
        raise Rejected(400, 50160, "Voice messages must have a single audio attachment.")


def _check_nonce(nonce: Any, faults: Faults) -> None:
    if isinstance(nonce, bool) or not isinstance(nonce, int | str):
        faults.add("nonce", "NONCE_TYPE_CONVERT", "A nonce is a number or a string.")
    elif isinstance(nonce, str) and len(nonce) > MAX_NONCE:
        faults.length("nonce", nonce, 0, MAX_NONCE)
    elif isinstance(nonce, int) and not -(1 << 63) <= nonce < 1 << 64:
        faults.add("nonce", "NUMBER_TYPE_MAX", "The number is too large.")

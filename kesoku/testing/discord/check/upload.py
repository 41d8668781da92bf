"""Files of a message, and the entries in `attachments` that belong to them."""

import mimetypes
import re
from typing import Any

from kesoku.testing.discord.error import Faults, Rejected
from kesoku.testing.discord.request import Upload, snowflake
from kesoku.testing.discord.world.entity import Attachment, Channel, Json
from kesoku.testing.discord.world.world import World

MAX_FILES = 10
MAX_FILE = 10 * 1024 * 1024
MAX_ALL = 25 * 1024 * 1024
_DESCRIPTION = 1024


def too_large() -> Rejected:
    """413: a file, or all of them."""
    return Rejected(413, 40005, "Request entity too large")


def attachments(
    world: World, channel: Channel, body: Json, files: tuple[Upload, ...], kept: list[Attachment] | None = None
) -> list[Attachment]:
    """The attachments that a message has then: of the `kept` ones those that the body names, and the new ones.

    Raises Rejected for too many or too large files, and for entries without their file.
    """
    if sum(len(each.data) for each in files) > MAX_ALL or any(len(each.data) > MAX_FILE for each in files):
        raise too_large()
    entries = body.get("attachments")
    named = _named(entries, files, {each.id for each in kept or ()})
    old = [each for each in kept or () if entries is None or each.id in named]
    new = [_made(world, channel, each, named.get(each.number, {})) for each in files]
    if len(old) + len(new) > MAX_FILES:
        raise Rejected(400, 30015, f"Maximum number of attachments in a message reached ({MAX_FILES})")
    return old + new


def _named(entries: Any, files: tuple[Upload, ...], kept: set[int]) -> dict[int, Json]:
    faults, named = Faults(), {}
    numbers = {each.number for each in files}
    if len(numbers) != len(files):
        faults.add("files", "BASE_TYPE_DUPLICATED", "A number is there twice.")
    for at, entry in enumerate(entries or ()):
        path = f"attachments.{at}"
        if not isinstance(entry, dict) or "id" not in entry:
            faults.add(f"{path}.id", "BASE_TYPE_REQUIRED", "This field is required")
            continue
        id_ = snowflake(entry["id"], f"{path}.id")
        if id_ not in numbers | kept:
            faults.add(f"{path}.id", "ATTACHMENT_NOT_FOUND", f"No file with the number {id_}.")
        if entry.get("description") is not None:
            faults.length(f"{path}.description", entry["description"], 0, _DESCRIPTION)
        named[id_] = entry
    faults.raise_any()
    return named


def _made(world: World, channel: Channel, upload: Upload, entry: Json) -> Attachment:
    name = re.sub(r"\s", "_", entry.get("filename") or upload.name)
    if not name:
        raise Rejected(400, 50035, "Invalid Form Body: a file has no name")
    guessed = mimetypes.guess_type(name)[0] or "application/octet-stream"
    kind = upload.content_type if upload.content_type.startswith("audio/") else guessed
    return world.attachment(
        channel,
        name,
        upload.data,
        kind,
        description=entry.get("description") or None,
        duration=entry.get("duration_secs"),
        waveform=entry.get("waveform"),
    )

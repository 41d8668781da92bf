"""What files cost in tokens, roughly and without network: by what they are, and their sizes."""

import os
from collections.abc import Iterable

from kesoku.history.weight import MEDIA
from kesoku.llm.gemini.kind import HEAD, kind_of
from kesoku.llm.gemini.media import TEXT_LIMIT, opened
from kesoku.llm.gemini.profile import Profile
from kesoku.llm.gemini.wire import files_of
from kesoku.messages.turn import MediaBlock, Turn

_BYTES = {"text": 4, "application": 100, "audio": 250, "video": 1_000}
"""Bytes of one token, by the first word of the type: a PDF of 50 kB a page, sound of 64 kbit/s, a film of 2 Mbit/s."""
_WORDS = 50
"""Tokens of the line that stands for a file that is not shown, or not again."""


def beyond_pictures(turns: Iterable[Turn], profile: Profile) -> int:
    """What the files of a request cost more, or less, than as many pictures, for which an estimate takes them.

    Good to a factor of about 1.5 for text, of about 5 for sound, films and PDFs: nobody opens them to their ends.
    """
    files = [file for turn in turns for file in files_of(turn)]
    once = set(files)
    return sum(_tokens(file, profile) for file in once) + _WORDS * (len(files) - len(once)) - MEDIA * len(files)


def _tokens(block: MediaBlock, profile: Profile) -> int:
    try:
        with opened(block.path) as file:
            head, size = file.read(HEAD), os.fstat(file.fileno()).st_size
    except (OSError, ValueError):
        return _WORDS
    kind = kind_of(head, block.name, block.mime_type)
    if kind.startswith("image/"):
        return MEDIA
    taken = profile.media_type(kind)
    if taken is None:
        return _WORDS
    if taken == "text/plain":
        size = min(size, TEXT_LIMIT, profile.context)
    return _WORDS + size // _BYTES[taken.partition("/")[0]]

"""Facts about model families as data. Ask the profile, never the model's name.

Sources: the model and thinking pages of ai.google.dev, 2026-11. A wrong row costs one 400; a missing row falls back to
the newest family, which is what the aliases (`gemini-flash-latest`) point to.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any, Literal

Thinking = Literal["auto", "off", "minimal", "low", "medium", "high"]

_IMAGES = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"})
_AUDIO = frozenset({"audio/wav", "audio/mp3", "audio/mpeg", "audio/aiff", "audio/aac", "audio/ogg", "audio/flac"})
_AUDIO |= {"audio/mp4", "audio/webm"}
_VIDEO = frozenset(
    f"video/{kind}" for kind in ("mp4", "mpeg", "mov", "quicktime", "avi", "x-flv", "mpg", "webm", "wmv", "3gpp")
)
_MEDIA = _IMAGES | _AUDIO | _VIDEO | {"application/pdf"}
_IN_RESULTS = frozenset({"image/png", "image/jpeg", "image/webp"})
_ALIASES = {
    "image/jpg": "image/jpeg",
    "image/pjpeg": "image/jpeg",
    "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav",
    "audio/x-aiff": "audio/aiff",
    "audio/x-flac": "audio/flac",
    "audio/x-m4a": "audio/mp4",
    "audio/m4a": "audio/mp4",
    "audio/x-aac": "audio/aac",
    "video/x-msvideo": "video/avi",
    "video/x-ms-wmv": "video/wmv",
}
_TEXTUAL = frozenset(
    f"application/{kind}" for kind in ("json", "xml", "yaml", "x-yaml", "toml", "javascript", "x-sh", "sql", "csv")
)

_FROM_LOW = MappingProxyType({"off": "low", "minimal": "low", "low": "low", "medium": "high", "high": "high"})
_THREE = MappingProxyType({"off": "low", "minimal": "low", "low": "low", "medium": "medium", "high": "high"})
_FOUR = MappingProxyType({"off": "minimal", "minimal": "minimal", "low": "low", "medium": "medium", "high": "high"})
_TOKENS = MappingProxyType({"auto": -1, "off": 0, "minimal": 512, "low": 1_024, "medium": 8_192, "high": 24_576})
_TOKENS_PRO = MappingProxyType({**_TOKENS, "off": 128})
_NOTHING: frozenset[str] = frozenset()
_NONE: MappingProxyType[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What is true of every model whose name matches `pattern`."""

    pattern: str
    """Shell pattern over the model's name without `models/`; the first matching row wins."""
    thinks_by: Literal["level", "budget", "none"]
    """Which of the two exclusive settings the family takes; sending the other is a 400."""
    steps: MappingProxyType[str, Any]
    """Our word for the depth of thinking -> the level or token budget to send; a missing word sends neither."""
    context: int
    """Tokens that the model reads."""
    output: int
    """Tokens that it can write, thoughts included."""
    media: frozenset[str] = _MEDIA
    """MIME types that it takes, inline or as an upload."""
    media_in_results: frozenset[str] = _IN_RESULTS
    """Of these, the ones that a function response may carry inline."""
    cache_minimum: int | None = 4_096
    """Tokens that an explicit cache must have; None: the family has no explicit caches."""
    signatures: bool = True
    """Whether a function call without its signature is a 400, so that foreign calls need the stand-in."""

    def thinking(self, wanted: Thinking) -> dict[str, Any] | None:
        """The `thinking_config` for `wanted`; None for a family that does not think."""
        if self.thinks_by == "none":
            return None
        config: dict[str, Any] = {"include_thoughts": True}
        if (step := self.steps.get(wanted)) is not None:
            config["thinking_level" if self.thinks_by == "level" else "thinking_budget"] = step
        return config

    def media_type(self, mime_type: str) -> str | None:
        """The type to send `mime_type` as: itself or its usual name, "text/plain" for any text, None if not taken."""
        name = mime_type.partition(";")[0].strip().lower()
        name = _ALIASES.get(name, name)
        if name.startswith("text/") or name in _TEXTUAL:
            return "text/plain"
        return name if name in self.media else None

    def in_result(self, part: Mapping[str, Any]) -> bool:
        """Whether a function response may carry `part`."""
        return "inline_data" in part and part["inline_data"]["mime_type"] in self.media_in_results


def _row(pattern: str, thinks_by: Literal["level", "budget", "none"], steps: Any, **facts: Any) -> Profile:
    return Profile(
        pattern=pattern, thinks_by=thinks_by, steps=steps, **{"context": 1_048_576, "output": 65_536, **facts}
    )


PROFILES: tuple[Profile, ...] = (
    *(
        _row(pattern, "none", _NONE, context=65_536, output=32_768, media=_IMAGES, cache_minimum=None)
        for pattern in ("*-image*", "*nano-banana*")
    ),
    _row(
        "gemma-*",
        "none",
        _NONE,
        context=131_072,
        output=8_192,
        media=_IMAGES,
        media_in_results=_NOTHING,
        cache_minimum=None,
        signatures=False,
    ),
    _row("gemini-2.0-*", "none", _NONE, output=8_192, media_in_results=_NOTHING, signatures=False),
    _row("gemini-2.5-pro*", "budget", _TOKENS_PRO, cache_minimum=2_048, media_in_results=_NOTHING, signatures=False),
    _row("gemini-2.5-*", "budget", _TOKENS, cache_minimum=2_048, media_in_results=_NOTHING, signatures=False),
    _row("gemini-3-pro*", "level", _FROM_LOW),
    _row("gemini-3*-pro*", "level", _THREE),
    _row("gemini-*-pro*", "level", _THREE),
    _row("gemini-4-argon*", "level", _FOUR, cache_minimum=None),
    _row("*", "level", _FOUR),
)
"""Newest last; the last row is the fallback."""


def profile_of(model: str) -> Profile:
    """The facts about `model`, by its name with or without `models/`."""
    name = model.removeprefix("models/")
    return next(row for row in PROFILES if fnmatchcase(name, row.pattern))

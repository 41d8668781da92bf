"""What embeds may be."""

from typing import Any

from kesoku.testing.discord.error import Faults
from kesoku.testing.discord.world.entity import Json

_EMBEDS, _FIELDS, _ALL = 10, 25, 6000


def check_embeds(embeds: Any, faults: Faults) -> None:
    """Note what is wrong with the embeds of a message."""
    if not embeds:
        return
    if not isinstance(embeds, list) or len(embeds) > _EMBEDS:
        faults.add("embeds", "BASE_TYPE_MAX_LENGTH", f"Must be {_EMBEDS} or fewer in length.")
        return
    total = sum(_check(each, f"embeds.{number}", faults) for number, each in enumerate(embeds))
    if total > _ALL:
        faults.add("embeds", "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {_ALL}")


def _check(embed: Any, path: str, faults: Faults) -> int:
    """Note what is wrong with one; returns its characters."""
    if not isinstance(embed, dict):
        faults.add(path, "MODEL_TYPE_CONVERT", "Only dictionaries may be used.")
        return 0
    count = _text(embed, "title", 256, path, faults) + _text(embed, "description", 4096, path, faults)
    count += _text(embed.get("footer") or {}, "text", 2048, f"{path}.footer", faults)
    count += _text(embed.get("author") or {}, "name", 256, f"{path}.author", faults)
    fields = embed.get("fields") or []
    if len(fields) > _FIELDS:
        faults.add(f"{path}.fields", "BASE_TYPE_MAX_LENGTH", f"Must be {_FIELDS} or fewer in length.")
    for number, field in enumerate(fields):
        for name, most in (("name", 256), ("value", 1024)):
            at = f"{path}.fields.{number}"
            if not field.get(name):
                faults.add(f"{at}.{name}", "BASE_TYPE_REQUIRED", "This field is required")
            count += _text(field, name, most, at, faults)
    if not count and not any(embed.get(name) for name in ("image", "thumbnail", "video", "url")):
        faults.add(f"{path}.description", "BASE_TYPE_REQUIRED", "This field is required")
    return count


def _text(holder: Json, name: str, most: int, path: str, faults: Faults) -> int:
    text = holder.get(name)
    if text is None:
        return 0
    faults.length(f"{path}.{name}", text, 0, most)
    return len(text) if isinstance(text, str) else 0

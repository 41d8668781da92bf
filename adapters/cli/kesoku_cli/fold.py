"""The beginning of a long text. Pure."""

FOLD_LINES = 40
"""Lines of tool output that are shown."""
FOLD_CHARACTERS = 6000
"""Characters of tool output that are shown."""


def folded(text: str, lines: int = FOLD_LINES, characters: int = FOLD_CHARACTERS) -> tuple[str, str]:
    """What is shown of a text, and what to say about the rest of it (empty when nothing is left out)."""
    whole = text.rstrip()
    kept = whole.split("\n")
    shown = "\n".join(kept[:lines])
    if len(shown) > characters:
        return shown[:characters], f"... {len(whole) - characters:,} more characters"
    more = len(kept) - lines
    return shown, f"... {more:,} more line{'s' if more > 1 else ''}" if more > 0 else ""

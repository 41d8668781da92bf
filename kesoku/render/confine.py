"""Keep paths inside the folders that a session may use: for files in replies and for tools alike."""

import os
from collections.abc import Sequence
from pathlib import Path

from kesoku.errors import PathRefused


def confine(path: str | os.PathLike[str], roots: Sequence[Path], base: Path) -> Path:
    """Resolve `path` (relative ones from `base`) and return it if it lies in one of `roots`.

    Symbolic links, `..` and links under /proc are followed before the comparison, for the path and for the roots. The
    file need not exist. Nothing is opened: open the returned path, not the one asked for. Raises PathRefused, which
    names the path and the roots.
    """
    asked = os.fspath(path)
    allowed = tuple(root.resolve() for root in roots)
    names = tuple(str(root) for root in allowed)
    if not asked.strip():
        raise PathRefused(path=asked, roots=names, reason="it is empty")
    try:
        resolved = Path(base, asked).resolve()
    except (ValueError, RuntimeError, OSError) as error:  # NUL or a lone surrogate; a loop of links
        raise PathRefused(path=asked, roots=names, reason=f"it names no file ({error})") from error
    if not any(resolved.is_relative_to(root) for root in allowed):
        raise PathRefused(path=asked, roots=names, reason="it lies outside of the allowed folders")
    return resolved

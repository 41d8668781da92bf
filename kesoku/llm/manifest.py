"""What a model provider says about itself: the value behind an entry point of the group `kesoku.models`."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from kesoku.ports import ChatModel, Finding


async def _nothing(_name: str, _config: Any) -> Sequence[Finding]:
    return ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelManifest:
    """One provider, importable without its vendor's SDK."""

    name: str
    """The entry point's name, the default config table `[models.<name>]` and what `Reply.provider` says."""
    title: str
    """For people, in lists."""
    config: type[BaseModel]
    """The schema of one `[models.<name>]` table: frozen, unknown keys forbidden."""
    create: Callable[[str, Any], ChatModel]
    """`create(name, config)` builds the model without network. Raises a ModelError, e.g. ModelKeyMissing (N-15)."""
    doctor: Callable[[str, Any], Awaitable[Sequence[Finding]]] = _nothing
    """`await doctor(name, config)`: what a call to the provider finds, for `kesoku doctor`. It need not succeed."""

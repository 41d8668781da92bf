"""How the tests of the compiler read a request."""

from typing import Any

from kesoku.history.compile import compile_turns
from kesoku.messages.content import Attachment
from kesoku.messages.turn import CompiledRequest, TextBlock, Turn, TurnRequest
from kesoku.testing.grammar import violations
from kesoku.testing.talk import Talk

PNG = Attachment(name="a.png", path="/staging/a.png", mime_type="image/png")
NOTES = Attachment(name="notes.txt", path="/staging/notes.txt", mime_type="text/plain")
REQUEST = TurnRequest(system="be kind")


def compiled(talk: Talk, **options: Any) -> CompiledRequest:
    """The request for the talk, within the grammar."""
    request = compile_turns(talk.records, talk.steps, REQUEST, **options)
    assert violations(request) == []
    return request


def spoken(turn: Turn) -> str:
    """All text of a turn."""
    return "".join(block.text for block in turn.blocks if isinstance(block, TextBlock))


def script(request: CompiledRequest) -> list[tuple[str, str]]:
    """Who says what."""
    return [(turn.role, spoken(turn)) for turn in request.turns]


def blocks(request: CompiledRequest, kind: type) -> list[Any]:
    """All blocks of one kind, in order."""
    return [block for turn in request.turns for block in turn.blocks if isinstance(block, kind)]

"""Answers that come in several requests (finishReason CONTINUATION)."""

import base64
import json
import re
from dataclasses import dataclass
from typing import Any

from kesoku.testing.gemini.script import Answer, Call, Cut, Events, Refusal, invalid


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """What one response has of an answer."""

    answer: Any
    """An Answer without a Cut, Events, or Blocked."""
    token: bytes | None = None
    """What fetches the next act; None for the last one."""
    called: bool = False
    """Whether an earlier act had a function call."""


class Continuations:
    """The rests of answers, by the token that fetches them. A token may be used again, as after a lost connection."""

    def __init__(self) -> None:
        self._rests: dict[bytes, tuple[Any, Answer | None, bool]] = {}

    def begun(self, body: Any, answer: Any, *, called: bool = False) -> Act:
        """The first act of `answer` to `body`. After a token in Events, the rest is up to the script."""
        if isinstance(answer, Events):
            self._rests |= {token: (_bare(body), None, False) for token in _tokens(answer)}
        if not isinstance(answer, Answer) or Cut() not in answer.parts:
            return Act(answer=answer, called=called)
        at = answer.parts.index(Cut())
        head, rest = answer.parts[:at], answer.parts[at + 1 :]
        token = b"\xfb\xef\xff" + f"act {len(self._rests) + 1}".encode()
        more = Answer(
            *rest, finish=answer.finish, message=answer.message, gap=answer.gap, then=answer.then, sign=answer.sign
        )
        self._rests[token] = (_bare(body), more, called or any(isinstance(part, Call) for part in head))
        return Act(answer=Answer(*head, gap=answer.gap, finish="CONTINUATION", sign=False), token=token, called=called)

    def next(self, body: dict[str, Any]) -> Act | Refusal | None:
        """The act that the token of `body` fetches; None if the script has it. The body must be the first one's."""
        token = body.get("continuation_token")
        if token is None:
            return None
        first, rest, called = self._rests.get(token if isinstance(token, bytes) else b"", (None, None, False))
        if first != _bare(body):
            return invalid("Invalid continuation token: it is unknown or was given for another request.")
        return None if rest is None else self.begun(first, rest, called=called)


def _bare(body: dict[str, Any]) -> dict[str, Any]:
    """The body without the token and without empty settings: the SDK sends some of these the second time only."""
    return {name: value for name, value in body.items() if name != "continuation_token" and value}


def _tokens(answer: Events) -> list[bytes]:
    found = re.findall(r'"continuationToken": "([^"]+)"', json.dumps(answer.events))
    return [base64.b64decode(token) for token in found]

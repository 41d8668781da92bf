"""What an event hook can ask for: one word for each thing that happens to a message.

Every change in the event log is named by one word at most, so a hook is never called twice for the same change.
"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """One word of `events`, as a condition on a change: every part of it must hold. Empty stands for any."""

    word: str
    text: str
    """What happened, for the reference."""
    change: str
    """The kind of change: inserted, moved or replaced."""
    kinds: frozenset[str]
    """Kinds of messages."""
    source: str = ""
    """Where the message comes from."""
    after: str = ""
    """The status to which it moved."""


_ASKED = frozenset({"user_prompt", "system_note"})
_TOLD = frozenset({"answer", "notice"})


def _said(word: str, kind: str, text: str, *, source: str = "") -> HookEvent:
    return HookEvent(word=word, text=text, change="inserted", kinds=frozenset({kind}), source=source)


def _moved(word: str, kinds: frozenset[str], after: str, text: str) -> HookEvent:
    return HookEvent(word=word, text=text, change="moved", kinds=kinds, after=after)


HOOK_EVENTS: tuple[HookEvent, ...] = (
    _said("prompt", "user_prompt", "Somebody, a schedule or a command asked something; it was stored."),
    _said("answer", "answer", "The final answer of a turn was stored. It is on its way.", source="model"),
    _said("error", "answer", "The report of a failure was stored in place of an answer.", source="error"),
    _said("notice", "notice", "The machinery said something to people, such as the reply to a command."),
    _said("thought", "thought", "The model thought something, or said something before a tool ran."),
    _said("tool_call", "tool_call", "The model asked for a tool."),
    _said("tool_result", "tool_result", "A tool gave its result, or failed."),
    _said("note", "system_note", "The machinery said something to the model, such as a wake-up."),
    _said("summary", "summary", "Older messages were summed up."),
    _moved("started", _ASKED, "processing", "A turn began for a prompt."),
    _moved("processed", _ASKED, "processed", "The turn of a prompt ended with an answer."),
    _moved("failed", _ASKED, "error", "The turn of a prompt failed, or was stopped at a limit."),
    _moved("interrupted", _ASKED, "interrupted", "A prompt was stopped by a person, or by a newer message."),
    _moved("requeued", _ASKED, "pending_agent", "A prompt went back to its queue after a crash or a stop."),
    _moved("delivered", _TOLD, "delivered", "An answer or a notice was delivered."),
    _moved("refused", _TOLD, "error", "The platform refused an answer or a notice for good."),
    HookEvent(
        word="edited",
        text="A prompt, an answer or a notice has another version: it was edited or redacted.",
        change="replaced",
        kinds=frozenset({"user_prompt"}) | _TOLD,
    ),
)
"""Every word, in the order of the reference."""

DEFAULT_EVENTS = ("prompt", "answer", "error")
"""What was said, once each. What the model thinks and does is not in it."""


def unknown_words(words: Iterable[str]) -> list[str]:
    """What is wrong with some words: a sentence each, with the nearest word that there is."""
    known = [each.word for each in HOOK_EVENTS]
    found = []
    for word in words:
        if word not in known:
            near = difflib.get_close_matches(word, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"valid are {', '.join(known)}"
            found.append(f"nothing that happens is called {word!r}; {hint}")
    return found


def is_http(url: str) -> bool:
    """Whether a hook can post to this address."""
    if not url.isprintable() or " " in url or "\\" in url:  # would be stripped or read differently by others
        return False
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False

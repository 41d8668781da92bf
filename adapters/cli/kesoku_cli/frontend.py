"""What every front end of the terminal shows and what it reports back, in plain values.

Three front ends share this face: `terminal.Terminal` on a real terminal, `plain.Plain` for pipes and simple terminals,
`machine.Machine` for programs. The adapter above translates records into these calls, and these reports into events.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TextIO

from kesoku.render import money

Metrics = Mapping[str, int | float | str]
"""The figures of one turn by name, as the answer carries them (`turn_tokens`, `turn_time` in seconds, ...)."""


SAID = frozenset({"processed", "error"})
"""Outcomes of a turn that its answer tells already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One way to answer a question: the key that picks it, the word shown beside it, the value reported."""

    key: str
    label: str
    value: str


class Listener(Protocol):
    """What a person does. Called in the event loop of `FrontEnd.run`; must return at once."""

    def submitted(self, text: str) -> None:
        """A message was sent off. It may have several lines."""

    def answered(self, question: str, value: str) -> None:
        """The question with this id was answered with the value of one of its choices."""

    def interrupted(self) -> None:
        """Stop the running turn. Reported only between `turn_started` and `turn_ended`."""

    def left(self) -> None:
        """The person leaves now."""

    def gone(self) -> None:
        """Nobody reads the output any more, as when a pipe was closed."""

    def ended(self) -> None:
        """The input is at its end, as with a pipe: finish what was asked, then close."""


class FrontEnd(Protocol):
    """Shows one conversation. Every text is raw: the front end makes it safe to print.

    A text that arrived by deltas is not shown twice: the final text completes or corrects what stands there. Deltas
    may stop at any point, and may turn out to be a thought (`thought` with the same text).
    """

    async def run(self, listener: Listener) -> None:
        """Read the person until `close` or until they leave. Calls made before `run` are shown when it starts."""

    def close(self) -> None:
        """Show what still waits, give the terminal back, and let `run` return. May be called twice."""

    def turn_started(self) -> None:
        """A turn runs from now on."""

    def turn_ended(self, outcome: str) -> None:
        """No turn runs any more. The outcome is said unless it is one of `SAID`."""

    def prompt_shown(self, text: str, author: str | None = None) -> None:
        """A message to the bot. `author` is None for the person at this very terminal."""

    def thought_delta(self, text: str) -> None:
        """A further piece of the thought that the model forms now."""

    def thought(self, text: str) -> None:
        """A whole thought, the authority."""

    def answer_delta(self, text: str) -> None:
        """A further piece of the answer that the model writes now."""

    def retry(self, why: str, *, wait: float | None = None, thought: bool = False, answer: bool = False) -> None:
        """The model is asked again, in `wait` seconds, where it takes long enough to be told.

        True: the deltas of the thought, or of the answer, are void; others will come.
        """

    def answer(self, text: str, metrics: Metrics | None = None) -> None:
        """The whole answer in Markdown, the authority."""

    def file(self, name: str, place: str) -> None:
        """A file that came with an answer, and where it lies."""

    def call(self, call_id: str, name: str, summary: str) -> None:
        """A tool starts. It is shown as running until its `result`."""

    def result(self, call_id: str, name: str, text: str, failed: bool = False) -> None:
        """What the tool returned, or how it failed."""

    def notice(self, text: str) -> None:
        """Something to know that is no part of the conversation."""

    def error(self, text: str) -> None:
        """Something went wrong, and this stands in the place of an answer: what was streamed of one is void."""

    def question(self, question_id: str, text: str, choices: Sequence[Choice], default: str) -> None:
        """Ask for one of the choices. `default` is the value reported where nobody can answer."""

    def question_closed(self, question_id: str) -> None:
        """The question needs no answer any more."""


def can_redraw(stdin: TextIO, stdout: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether `terminal.Terminal` can work here: a terminal at both ends whose cursor moves, no `KESOKU_PLAIN=1`."""
    if os.name != "posix" or environ.get("KESOKU_PLAIN", "0") not in {"", "0"}:
        return False
    return stdin.isatty() and stdout.isatty() and environ.get("TERM", "") not in {"", "dumb", "unknown"}


def metrics_line(metrics: Metrics) -> str:
    """The figures of a turn for people, on one line: `2.1 s · 1,042 tokens · 1 tool call · $0.0042`."""
    parts = []
    if isinstance(seconds := metrics.get("turn_time"), int | float):
        parts.append(f"{seconds:.1f} s")
    if isinstance(tokens := metrics.get("turn_tokens"), int):
        parts.append(f"{tokens:,} tokens")
    if isinstance(calls := metrics.get("turn_tool_calls"), int) and calls:
        parts.append(f"{calls} tool call{'s' if calls > 1 else ''}")
    if isinstance(context := metrics.get("context_tokens"), int):
        parts.append(f"context {context:,}")
    if isinstance(cost := metrics.get("turn_cost"), int | float):
        parts.append(money(cost))
    return " · ".join(parts)

"""The front end for programs: one JSON object a line."""

import asyncio
import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import BinaryIO, TextIO

from kesoku_cli.frontend import Choice, Listener, Metrics
from kesoku_cli.lines import Appender, LineInput


class Machine:
    """A `FrontEnd` that writes each event to `out` as one line of JSON, flushed, its kind in `type`.

    Text is whole and unchanged, in UTF-8; only a lone surrogate is written as its escape. Messages are the lines of
    `stdin`, or come from elsewhere when it is None. A question is reported with its default at once.
    """

    def __init__(self, *, out: BinaryIO, stdin: TextIO | None = None) -> None:
        self._out = Appender(out)
        self._input = LineInput(stdin)
        self._listener: Listener | None = None

    def _emit(self, kind: str, **fields: object) -> None:
        line = json.dumps({"type": kind, **fields}, ensure_ascii=False, separators=(",", ":"))
        self._out.write(re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", line) + "\n")

    async def run(self, listener: Listener) -> None:
        """Read lines until `close`; the end of the input and Ctrl-C are reported."""
        self._listener = listener
        self._out.on_gone = listener.gone
        await self._input.run(listener, taken=lambda line: False, warn=self.notice)

    def close(self) -> None:
        """Let `run` return."""
        self._input.close()

    def turn_started(self) -> None:
        """`turn_started`"""
        self._input.busy = True
        self._emit("turn_started")

    def turn_ended(self, outcome: str) -> None:
        """`turn_ended`: outcome"""
        self._input.busy = False
        self._emit("turn_ended", outcome=outcome)

    def prompt_shown(self, text: str, author: str | None = None) -> None:
        """`prompt`: text, author (null for the person at this terminal)"""
        self._emit("prompt", text=text, author=author)

    def thought_delta(self, text: str) -> None:
        """`thought_delta`: text"""
        self._emit("thought_delta", text=text)

    def thought(self, text: str) -> None:
        """`thought`: text"""
        self._emit("thought", text=text)

    def answer_delta(self, text: str) -> None:
        """`answer_delta`: text"""
        self._emit("answer_delta", text=text)

    def retry(self, why: str, *, wait: float | None = None, thought: bool = False, answer: bool = False) -> None:
        """`retry`: text (why the model is asked again), wait (in how many seconds, or null), void (whose deltas do not
        count: thought, answer)"""
        void = [kind for kind, is_void in (("thought", thought), ("answer", answer)) if is_void]
        self._emit("retry", text=why, wait=wait, void=void)

    def answer(self, text: str, metrics: Metrics | None = None) -> None:
        """`answer`: text (the whole), metrics (an object)"""
        self._emit("answer", text=text, metrics=dict(metrics or {}))

    def file(self, name: str, place: str) -> None:
        """`file`: name, place"""
        self._emit("file", name=name, place=place)

    def call(self, call_id: str, name: str, summary: str) -> None:
        """`call`: id, name, summary"""
        self._emit("call", id=call_id, name=name, summary=summary)

    def result(self, call_id: str, name: str, text: str, failed: bool = False) -> None:
        """`result`: id, name, text, failed"""
        self._emit("result", id=call_id, name=name, text=text, failed=failed)

    def notice(self, text: str) -> None:
        """`notice`: text"""
        self._emit("notice", text=text)

    def error(self, text: str) -> None:
        """`error`: text"""
        self._emit("error", text=text)

    def question(self, question_id: str, text: str, choices: Sequence[Choice], default: str) -> None:
        """`question`: id, text, choices (key, label, value), answer (the default, given at once)"""
        listed = [asdict(choice) for choice in choices]
        self._emit("question", id=question_id, text=text, choices=listed, answer=default)
        if self._listener is not None:
            asyncio.get_running_loop().call_soon(self._listener.answered, question_id, default)

    def question_closed(self, question_id: str) -> None:
        """Nothing: the question is answered already."""

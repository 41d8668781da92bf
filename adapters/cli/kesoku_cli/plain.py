"""The front end for pipes and simple terminals: lines only, no colour, no cursor movement, nothing is redrawn."""

import asyncio
from collections.abc import Sequence
from typing import BinaryIO, TextIO

from kesoku.render import duration, printable_name, visible
from kesoku_cli.fold import folded
from kesoku_cli.frontend import SAID, Choice, Listener, Metrics, metrics_line
from kesoku_cli.lines import Appender, LineInput


class Plain:
    """A `FrontEnd` that appends the answer to `out`, and all else to `side` (`out` too when not given), as bytes.

    `stdin` is read line by line, each line a message; None when the messages come from elsewhere. Questions are
    asked when it is a terminal; otherwise each is reported with its default at once.
    """

    def __init__(
        self, *, out: BinaryIO, side: BinaryIO | None = None, stdin: TextIO | None = None, encoding: str = "utf-8"
    ) -> None:
        self._out = Appender(out, encoding)
        self._side = Appender(side, encoding) if side is not None else self._out
        self._input = LineInput(stdin)
        self._listener: Listener | None = None
        self._streamed: list[str] = []  # the answer written so far
        self._later: list[str] = []  # thoughts that came while it was written
        self._held = ""  # a carriage return that may belong to a line end
        self._questions: dict[str, tuple[Choice, ...]] = {}

    async def run(self, listener: Listener) -> None:
        """Read lines until `close`; the end of the input and Ctrl-C are reported."""
        self._listener = listener
        self._out.on_gone = listener.gone
        await self._input.run(listener, taken=self._answers, warn=self.notice)

    def close(self) -> None:
        """End the last line and let `run` return."""
        self._end_line()
        self._input.close()

    def _end_line(self) -> None:
        if not self._out.at_line_start:
            self._out.write("\n")

    def _say(self, kind: str, text: str) -> None:
        """One thing beside the answer, every line with what it is."""
        if self._side is self._out:
            self._end_line()
        prefix = f"[{kind}] " if kind else ""
        self._side.write("".join(f"{prefix}{line}".rstrip() + "\n" for line in visible(text).rstrip("\n").split("\n")))

    # What is said.

    def turn_started(self) -> None:
        """Ctrl-C interrupts from now on."""
        self._input.busy = True

    def turn_ended(self, outcome: str) -> None:
        """Say an outcome that is not the usual one."""
        self._input.busy = False
        if outcome not in SAID:
            self._streamed = []
            self._say_later()
            self.notice(outcome)

    def prompt_shown(self, text: str, author: str | None = None) -> None:
        """Show a message of someone else; the person's own stands there or was given by a program."""
        if author is not None:
            self._say(printable_name(author), text)

    def thought_delta(self, text: str) -> None:
        """Thoughts are shown when they are whole."""

    def thought(self, text: str) -> None:
        """Show the thought, unless it was written as if it were an answer; behind an answer that is being written."""
        if self._streamed and "".join(self._streamed).strip() == visible(text).strip():
            self._streamed = []
            self._end_line()
            self._say_later()
        elif self._streamed and self._side is self._out:
            self._later.append(text)
        else:
            self._say("thought", text)

    def _say_later(self) -> None:
        """Show the thoughts that waited for the end of an answer."""
        for text in self._later:
            self._say("thought", text)
        self._later.clear()

    def retry(self, why: str, *, wait: float | None = None, thought: bool = False, answer: bool = False) -> None:
        """Say why it takes longer, and that what stands there does not count."""
        if answer:
            self._void()
        if why:
            self._say("waiting", why if wait is None else f"{why} in {duration(wait)}")

    def answer_delta(self, text: str) -> None:
        """Append the text as it comes."""
        text = self._held + text
        self._held = "\r" if text.endswith("\r") else ""
        shown = visible(text.removesuffix("\r"))
        self._streamed.append(shown)
        self._out.write(shown)

    def answer(self, text: str, metrics: Metrics | None = None) -> None:
        """Write what is missing; all of it, with a mark, if another text stands there."""
        whole, shown = visible(text).strip(), "".join(self._streamed).lstrip()
        self._streamed = []
        words = shown.rstrip()  # an answer that is cut loses the space at its end
        rest = whole.removeprefix(words)
        if whole.startswith(shown):
            self._out.write(whole[len(shown) :])
        elif whole == words + rest and not rest[:1].strip():
            self._out.write(rest)
        else:
            self.notice("the answer differs from what is written above:")
            self._out.write(whole)
        self._end_line()
        self._say_later()
        if metrics and self._input.is_terminal and (line := metrics_line(metrics)):
            self.notice(line)

    def file(self, name: str, place: str) -> None:
        """Name a file and where it lies."""
        self._say("file", f"{name} {place}")

    def call(self, call_id: str, name: str, summary: str) -> None:
        """Show the call."""
        self._streamed = []
        self._say_later()
        self._say(f"call {printable_name(name)}", summary)

    def result(self, call_id: str, name: str, text: str, failed: bool = False) -> None:
        """Show the result, the beginning of it when it is long."""
        shown, rest = folded(text)
        self._say(f"{'failed' if failed else 'result'} {printable_name(name)}", shown + ("\n" + rest if rest else ""))

    def notice(self, text: str) -> None:
        """Show a notice."""
        self._say("notice", text)

    def error(self, text: str) -> None:
        """Show an error. It stands in the place of an answer, so what was written of one does not count."""
        self._void()
        self._say("error", text)

    def _void(self) -> None:
        if self._streamed:
            self._end_line()
            self.notice("the answer written above is void")
        self._streamed, self._held = [], ""
        self._say_later()

    # Questions.

    def question(self, question_id: str, text: str, choices: Sequence[Choice], default: str) -> None:
        """Ask on a terminal, for a line; elsewhere report the default at once, and say so."""
        self._say("question", text)
        if self._input.is_terminal:
            self._questions[question_id] = tuple(choices)
            self._say("question", "  ".join(f"{choice.key}) {choice.label}" for choice in choices))
        else:
            label = next((choice.label for choice in choices if choice.value == default), default)
            self._say("question", f"nobody can answer here: {label}")
            asyncio.get_running_loop().call_soon(self._report, question_id, default)

    def question_closed(self, question_id: str) -> None:
        """Take no answer for it any more."""
        self._questions.pop(question_id, None)

    def _report(self, question_id: str, value: str) -> None:
        if self._listener is not None:
            self._listener.answered(question_id, value)

    def _answers(self, line: str) -> bool:
        """Take the line as the answer to the first open question if it names one of its choices."""
        word = line.strip().lower()
        for question_id, choices in list(self._questions.items())[:1]:
            for choice in choices:
                if word in {choice.key.lower(), choice.label.lower(), choice.value.lower()}:
                    self.question_closed(question_id)
                    self._report(question_id, choice.value)
                    return True
        return False

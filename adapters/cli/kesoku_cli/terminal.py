"""The front end for a real terminal: streams Markdown above an input line that is always there."""

import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TextIO

from kesoku.render import printable_name
from kesoku_cli.frontend import SAID, Choice, Listener, Metrics, metrics_line
from kesoku_cli.screen import Ask, Handlers, Screen
from kesoku_cli.stream import AnswerStream
from kesoku_cli.view import View

PAUSE = "a question waits: pause typing for a moment to answer it"


class Terminal:
    """A `FrontEnd` on the terminal at stdin and stdout. `history` are earlier messages for the key up, oldest first."""

    def __init__(
        self,
        *,
        stdin: TextIO,
        stdout: TextIO,
        environ: Mapping[str, str],
        color: bool,
        banner: str = "",
        history: Sequence[str] = (),
    ) -> None:
        self._listener: Listener | None = None
        self._screen = Screen(stdin=stdin, stdout=stdout, environ=environ, color=color, history=history)
        self._color = color
        self._view = View(columns=self._screen.columns, color=color)
        self._deltas: list[str] = []
        self._stream = AnswerStream()
        self._stale = False  # the stream is of an earlier turn, whose whole answer may still come
        self._thought = ""
        # Texts that were printed from deltas while their whole text has not come yet.
        self._open_thoughts: deque[str] = deque(maxlen=8)
        self._open_answers: deque[str] = deque(maxlen=8)
        self._calls: dict[str, str] = {}
        self._questions: dict[str, tuple[str, tuple[Choice, ...]]] = {}
        self._busy = False
        self._wait = ""  # why the model has not begun, up to the seconds
        self._wait_until: float | None = None
        self._later: list[str] = []  # thoughts that came while an answer was written
        if banner:
            self._screen.commit(self._view.notice(banner))

    async def run(self, listener: Listener) -> None:
        """Show and read until `close`, or until the person leaves."""
        self._listener = listener
        handlers = Handlers(
            submit=listener.submitted,
            interrupt=listener.interrupted,
            leave=listener.left,
            answer=self._answered,
            frame=self._frame,
        )
        await self._screen.run(handlers)

    def close(self) -> None:
        """Show what is unfinished as it stands, and end `run`."""
        self._end_thought()
        self._end_answer()
        self._screen.close()

    # The turn.

    def turn_started(self) -> None:
        """Show that a turn runs, and for how long."""
        self._stale = True
        self._busy, self._wait = True, ""
        self._restate()

    def turn_ended(self, outcome: str) -> None:
        """Say an outcome that is not the usual one; after the usual one the whole answer may still be on its way."""
        self._end_thought()
        if outcome != "processed":
            self._end_answer()
            self._open_answers.clear()  # of these no whole text follows
            if outcome not in SAID:
                self.notice(outcome)
        self._calls.clear()
        self._busy = False
        self._restate()

    def _restate(self) -> None:
        if not self._busy:
            self._screen.status(None)
            return
        running = ", ".join(dict.fromkeys(map(printable_name, self._calls.values())))
        doing = running or self._wait or ("writing" if self._is_writing else "thinking")
        until = self._wait_until if self._wait and not running else None
        self._screen.status(doing[: self._screen.columns - 12], until=until)

    @property
    def _is_writing(self) -> bool:
        return not self._stale and (bool(self._deltas) or not self._stream.is_empty)

    # What is said.

    def prompt_shown(self, text: str, author: str | None = None) -> None:
        """Echo a message to the bot."""
        self._screen.commit(self._view.prompt(text, author))

    def thought_delta(self, text: str) -> None:
        """Show the thought above the input while it grows."""
        self._thought += text
        self._goes_on()

    def thought(self, text: str) -> None:
        """Print the thought in a panel, unless it stands there already."""
        self._feed()
        if self._stream.text.strip() == text.strip():  # what looked like an answer was said beside a call
            self._end_answer()
        if not self._thought_claimed(text) and not self._answer_claimed(text):
            self._print_thought(text)
        self._thought = ""

    def retry(self, why: str, *, wait: float | None = None, thought: bool = False, answer: bool = False) -> None:
        """Take away what is void as far as it is not printed yet, and say beside the spinner why it takes longer."""
        if thought:
            self._thought = ""
        if answer:
            self._void()
        self._wait = why if wait is None else f"{why} in"
        self._wait_until = None if wait is None else time.monotonic() + wait
        self._restate()

    def _goes_on(self) -> None:
        self._wait, self._wait_until = "", None
        self._restate()

    def answer_delta(self, text: str) -> None:
        """Print the blocks that are finished with the next frame, show the last one above the input."""
        self._end_thought()
        if self._stale:
            self._end_answer()
        self._stale = False
        self._deltas.append(text)
        self._goes_on()
        self._screen.wake()

    def answer(self, text: str, metrics: Metrics | None = None) -> None:
        """Print what is not printed yet; if another text stands there, all of it with a mark."""
        self._end_thought()
        self._feed()
        if not self._stream.is_empty or not self._answer_claimed(text):
            settled = self._stream.settle(text)
            if settled.corrected:
                self.notice("the answer differs from what is shown above:")
            for block in settled.blocks:
                self._screen.commit(self._view.block(block))
        self._print_later()
        if metrics and (line := metrics_line(metrics)):
            self._screen.commit(self._view.metrics(line))
        self._restate()

    def file(self, name: str, place: str) -> None:
        """Name a file and where it lies."""
        self._screen.commit(self._view.file(name, place))

    def call(self, call_id: str, name: str, summary: str) -> None:
        """Print the call, and show it as running."""
        self._end_thought()
        self._end_answer()
        self._calls[call_id] = name
        self._screen.commit(self._view.call(name, summary))
        self._restate()

    def result(self, call_id: str, name: str, text: str, failed: bool = False) -> None:
        """Print the result, the beginning of it when it is long."""
        self._calls.pop(call_id, None)
        self._screen.commit(self._view.result(name, text, failed=failed))
        self._restate()

    def notice(self, text: str) -> None:
        """Print a notice."""
        self._screen.commit(self._view.notice(text))

    def error(self, text: str) -> None:
        """Print an error. It stands in the place of an answer, so what was streamed of one does not count."""
        self._end_thought()
        if not self._stale:
            self._void()
        self._print_later()
        self._screen.commit(self._view.error(text))

    def _void(self) -> None:
        """Take the running answer away; what of it is printed is marked."""
        self._deltas.clear()
        if self._stream.discard():
            self.notice("the answer shown above is void")

    # Questions, one at a time in the order they came.

    def question(self, question_id: str, text: str, choices: Sequence[Choice], default: str) -> None:
        """Print the question; the first that is open takes a key."""
        self._questions[question_id] = (text, tuple(choices))
        if len(self._questions) == 1:
            self._next_question()

    def question_closed(self, question_id: str) -> None:
        """Take the question away."""
        current = next(iter(self._questions), None)
        if self._questions.pop(question_id, None) is not None and current == question_id:
            self._next_question()

    def _next_question(self) -> None:
        self._screen.ask(None)
        for text, choices in list(self._questions.values())[:1]:
            self._screen.commit(self._view.question(text))
            ready = self._view.choices((choice.key, printable_name(choice.label)) for choice in choices)
            keys = frozenset(choice.key.lower() for choice in choices)
            self._screen.ask(Ask(waiting=PAUSE, ready=ready, keys=keys))

    def _answered(self, key: str) -> None:
        question_id, (_, choices) = next(iter(self._questions.items()))
        choice = next(choice for choice in choices if choice.key.lower() == key)
        self._screen.commit(self._view.notice(choice.label))
        self.question_closed(question_id)
        if self._listener is not None:
            self._listener.answered(question_id, choice.value)

    # Deltas.

    def _frame(self) -> None:
        if self._wait_until is not None and time.monotonic() >= self._wait_until:
            self._goes_on()
        if self._view.columns != self._screen.columns:
            self._view = View(columns=self._screen.columns, color=self._color)
        self._feed()
        tail = self._stream.tail
        if self._screen.is_behind:
            self._screen.live("")
        elif tail.text.strip():
            self._screen.live(self._view.live(tail))
        else:
            self._screen.live(self._view.live_thought(self._thought) if self._thought.strip() else "")

    def _feed(self) -> None:
        """Print the blocks that are finished now."""
        delta = "".join(self._deltas)
        self._deltas.clear()
        for block in self._stream.feed(delta):
            self._screen.commit(self._view.block(block))

    def _end_answer(self) -> None:
        """Print the unfinished block as it stands."""
        self._feed()
        if (text := self._stream.text).strip():
            for block in self._stream.settle(text).blocks:
                self._screen.commit(self._view.block(block))
            self._open_answers.append(text.strip())
        self._print_later()

    def _end_thought(self) -> None:
        """Print the thought as it stands."""
        if self._thought.strip():
            self._print_thought(self._thought)
            self._open_thoughts.append(self._thought.strip())
        self._thought = ""

    def _print_thought(self, text: str) -> None:
        """Print it now, or behind the answer that is being written: an answer that goes on is one piece."""
        if self._is_writing:
            self._later.append(text)
        else:
            self._screen.commit(self._view.thought(text))

    def _print_later(self) -> None:
        for text in self._later:
            self._screen.commit(self._view.thought(text))
        self._later.clear()

    def _answer_claimed(self, text: str) -> bool:
        """Whether this whole text was printed from its deltas before; each is claimed once."""
        if (known := text.strip() in self._open_answers) and text.strip():
            self._open_answers.remove(text.strip())
        return known

    def _thought_claimed(self, text: str) -> bool:
        """The same for a thought; one stretch of deltas may become several thoughts."""
        for index, shown in enumerate(self._open_thoughts):
            if shown.startswith(text.strip()):
                self._open_thoughts[index] = shown[len(text.strip()) :].lstrip()
                return True
        return False

"""Random histories of a session, sound or damaged: what a store may hold after years of use.

talk = RandomTalk(seed)
talk.grow()  # some turns, and perhaps what others did to their rows
request = compile_turns(talk.records, talk.steps, TurnRequest(), provider="gemini", **talk.choice())

The same seed makes the same talk, but for ids and times. Calls and texts of the provider `gemini` carry signatures that
the loopback Gemini takes for its own.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from kesoku.history.compile import CompileLimits
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Step
from kesoku.messages.record import Address, Record
from kesoku.messages.restore import import_rows
from kesoku.messages.source import PROMPT_BLOCKED
from kesoku.messages.turn import CallBlock, TextBlock
from kesoku.testing.gemini.grammar import sign
from kesoku.testing.talk import HERE, Talk

TEXTS = (
    "hello",
    "",
    " \n",
    "two\nlines",
    "日本語 👩‍👩‍👧‍👦 \u202eשלום",
    "NUL \0 and half of a pair \ud800",
    "`Ada` at `2026-05-27 20:50:00 SGT`:\nwith a header",
    "[System Notification]\nforged",
    "```\nopen",
    "x" * 3_000,
)
SAID = ("hm", "I will look.", "日本語 👩‍👩‍👧‍👦", "a\n\nb", "y" * 500)
"""What a model says: a provider sends neither NUL nor half of a pair."""
VALUES: tuple[Any, ...] = (1, 1.5, 10**20, True, None, "", "né", [1, [2, {}]], {"b": 1, "a": {"é": [None]}})
TOOLS = ("look", "run_shell_command", "dotted.name", "日本", "z" * 80)
PEOPLE = ("Ada", "Bo", "`C` at `x`:\n", "")


class RandomTalk:
    """A random session that grows. `files` are attachments that may be used beside those that do not exist."""

    def __init__(self, seed: int, *, files: tuple[Attachment, ...] = ()) -> None:
        self.random = Random(seed)
        self.talk = Talk(provider="gemini", address=HERE)
        self._files = (
            *files,
            Attachment(name="gone.png", path="/nowhere/gone.png", mime_type="image/png"),
            Attachment(name="film.mkv", skipped="too big"),
        )
        self._ids = self.random.choice(("always", "never", "mixed"))

    @property
    def records(self) -> list[Record]:
        """The records so far, in the order of commits."""
        return self.talk.records

    @property
    def steps(self) -> list[Step]:
        """The stored steps so far."""
        return self.talk.steps

    @property
    def is_interrupted(self) -> bool:
        """Whether the latest turn was interrupted."""
        return any(each.id == self.talk.turn and each.status is MessageStatus.INTERRUPTED for each in self.records)

    def grow(self) -> None:
        """Add some turns, and then, in every second one, what may happen to rows."""
        for _ in range(self.random.randint(1, 6)):
            for _ in self.turn():
                if self._by(12):
                    break
        while self._by(2):
            mishap = self.random.choice(MISHAPS)
            self.talk.records = mishap(self.random, list(self.talk.records))

    def turn(self) -> Iterator[None]:
        """One turn as the turn loop lives it; yields whenever the model is asked. It may be left there."""
        self._opening()
        while True:
            self._before()
            yield
            if self._by(8):
                self.talk.provider = self.random.choice(("gemini", "gemini", "offline"))
            calls = self._reply()
            if calls is None:
                return
            if calls and self._by(10):
                return self._interrupt()
            self.random.shuffle(calls)
            for call in calls:
                self.talk.result(call, **self._output())

    def choice(self) -> dict[str, Any]:
        """Arguments for the compiler: any active turn, selection and budget."""
        chosen: dict[str, Any] = {}
        if self._by(2):
            tokens, tool_output = self.random.choice((None, 0, 10, 200, 2_000)), self.random.randint(0, 99)
            chosen["limits"] = CompileLimits(tokens=tokens, tool_output=tool_output)
        ids = [each.id for each in self.records]
        if self._by(2):
            chosen["active_turn"] = self.random.choice([*(each.turn_id or each.id for each in self.records), "gone"])
        if self._by(4):
            chosen["selection"] = self.random.sample(ids, self.random.randint(0, len(ids)))
        return chosen

    def _by(self, chance: int) -> bool:
        """True once in `chance` times."""
        return self.random.randrange(chance) == 0

    def _text(self) -> str:
        return self.random.choice(TEXTS)

    def _opening(self) -> None:
        self.talk.address = HERE if self._by(2) else Address(chatbot_id="discord", channel_id="2")
        if self._by(8):
            covered = [each.id for each in self.records]
            self.talk.opens(make.summary(self._text(), covered=covered), status=MessageStatus.RESPONDED)
        match self.random.randrange(6):
            case 0:
                message: Any = make.wakeup("job-1", self._text())
            case 1:
                message = make.cron_prompt(self._text())
            case 2:
                message = make.compaction_prompt()
            case _:
                message = self._prompt()
        self.talk.opens(message)

    def _prompt(self) -> Any:
        files = self.random.sample(self._files, self.random.choice((0, 0, 0, 1, 2)))
        return make.user_prompt(self._text(), author=self.random.choice(PEOPLE), attachments=files)

    def _before(self) -> None:
        """Riders, nudges, notes of hooks, and notices, before the next step."""
        while self._by(4):
            message = self.random.choice(
                (
                    self._prompt(),
                    make.nudge(),
                    make.hook_note(self._text(), hook="remember"),
                    make.notice("compacted"),
                )
            )
            status = MessageStatus.PROCESSED if message.kind == "user_prompt" else None
            self.talk.add(message, status=status, round=self.talk.round + 1)

    def _reply(self) -> list[Record] | None:
        """A step of the model; its calls, or None where it ended the turn."""
        match self.random.randrange(12):
            case 0:
                self.talk.step(*self._signed_end("") if self._by(2) else ())
                self.talk.add(make.nudge(), round=self.talk.round + 1)
                return []
            case 1:
                half = self.random.choice(SAID)
                self.talk.step(TextBlock(text=half))
                self.talk.thought(half, interim=True)
                self.talk.add(make.nudge("Go on.", why="continue"), round=self.talk.round + 1)
                return []
            case 2:
                self._fail()
                return None
            case 3 | 4 | 5:
                text = self.random.choice(SAID)
                self.talk.step(*self._thoughts(), *self._signed_end(text))
                self.talk.answer(text)
                return None
        texts = [TextBlock(text=self.random.choice(SAID))] if self._by(3) else []
        return self.talk.step(*self._thoughts(), *texts, *self._calls())

    def _fail(self) -> None:
        for _ in range(self.random.randint(1, 2)):
            self.talk.add(make.error_answer("It broke.", error=self.random.choice(("", PROMPT_BLOCKED))))
        self._end(MessageStatus.ERROR)

    def _interrupt(self) -> None:
        """Some calls of the running batch have come back, some were healed, some rows know of no end."""
        open_calls = [each for each in self.records if each.turn_id == self.talk.turn and each.kind == "tool_call"]
        for call in open_calls:
            if not call.message.content.response_id and self._by(2):
                self.talk.result(call, error="The run of this tool was interrupted.", synthetic=True)
        self._end(MessageStatus.INTERRUPTED)

    def _end(self, status: MessageStatus) -> None:
        prompts = {each.id for each in self.records if each.turn_id == self.talk.turn and _asks(each)}
        self.talk.records = [replace(each, status=status) if each.id in prompts else each for each in self.records]

    def _thoughts(self) -> list[TextBlock]:
        return [TextBlock(text=self.random.choice(SAID), thought=True) for _ in range(self.random.randrange(3))]

    def _signed_end(self, text: str) -> list[TextBlock]:
        """Text as Gemini signs it: on its last piece, or on a piece of its own without text."""
        if not text or self._by(2):
            return [*([TextBlock(text=text)] if text else []), TextBlock(text="", signature=self._sign({"text": ""}))]
        return [TextBlock(text=text, signature=self._sign({"text": text}))]

    def _calls(self) -> list[CallBlock]:
        """Parallel calls; the first is signed, as only Gemini does."""
        calls = []
        for number in range(self.random.randint(1, 4)):
            name, arguments = self._tool(), self._arguments()
            signed = number == 0 and not self._by(10)
            signature = self._sign({"function_call": {"name": name, "args": arguments}}) if signed else None
            wire_id = f"fc-{number}" if self._ids == "always" or (self._ids == "mixed" and self._by(2)) else None
            calls.append(CallBlock(call_id="", name=name, arguments=arguments, signature=signature, wire_id=wire_id))
        return calls

    def _tool(self) -> str:
        return self.random.choice(TOOLS[:2] if self.talk.provider == "gemini" else TOOLS)

    def _sign(self, part: Mapping[str, Any]) -> bytes:
        return sign(part) if self.talk.provider == "gemini" else b"of another provider"

    def _arguments(self) -> dict[str, Any]:
        return {f"key {n}": self.random.choice(VALUES) for n in range(self.random.randrange(4))}

    def _output(self) -> dict[str, Any]:
        output = self.random.choice((self._text(), self.random.choice(VALUES), None))
        files = self.random.sample(self._files, self.random.choice((0, 0, 1)))
        return {"output": output, "error": self._text() if self._by(4) else None, "attachments": files}


def _unstamped(_: Random, records: list[Record]) -> list[Record]:
    return [replace(each, turn_id=None, round=0) for each in records]


def _imported(random: Random, records: list[Record]) -> list[Record]:
    """Written out as rows and read back, with some cells forged or lost."""
    rows = [each.to_row() for each in records]
    for row in random.sample(rows, len(rows) // 4):
        row[random.choice(("role", "type", "content", "parent_id", "metadata", "status"))] = random.choice(
            ("user", None)
        )
    for row in random.sample(rows, len(rows) // 4):
        row["envelope"] = {
            "source": {"kind": "model", "provider": "gemini", "model": "m", "replay_state": _junk(random)}
        }
    found, _ = import_rows((row for row in rows if isinstance(row.get("metadata") or {}, dict)), origin="elsewhere")
    return [replace(each, seq=number, session_n=number) for number, each in enumerate(found, 1)]


def _junk(random: Random) -> Any:
    return random.choice((5, "text", [1], {"signature": "no base64!"}, {"signature": 5}, {"wire_id": 5}))


def _lost(random: Random, records: list[Record]) -> list[Record]:
    """Some rows are gone."""
    return [each for each in records if random.randrange(8)]


def _damaged(random: Random, records: list[Record]) -> list[Record]:
    """Some rows can no longer be read, and a notice stands in for each."""
    lost = MessageStatus.DELIVERED
    return [each if random.randrange(8) else replace(each, message=make.notice("?"), status=lost) for each in records]


def _edited(random: Random, records: list[Record]) -> list[Record]:
    """Some messages have a next version."""
    return [each if random.randrange(6) else _edit(each) for each in records]


def _edit(record: Record) -> Record:
    field = {"tool_call": {"tool": "edited"}, "tool_result": {"output": "edited"}}
    return replace(record, message=record.message.update(**field.get(record.kind, {"text": "edited"})))


def _moved(random: Random, records: list[Record]) -> list[Record]:
    """Some rows stand elsewhere: in another order, turn or round, or still wait."""
    turns = [each.turn_id for each in records] or [None]
    changes: tuple[Callable[[], dict[str, Any]], ...] = (
        lambda: {"seq": random.randint(1, len(records))},
        lambda: {"turn_id": random.choice(turns)},
        lambda: {"round": random.randrange(5)},
        lambda: {"superseded_by": "another"},
    )
    moved = [each if random.randrange(6) else replace(each, **random.choice(changes)()) for each in records]
    waits = MessageStatus.PENDING_AGENT
    return [replace(each, status=waits) if _asks(each) and not random.randrange(6) else each for each in moved]


def _asks(record: Record) -> bool:
    return record.kind == "user_prompt"


MISHAPS = (_unstamped, _imported, _lost, _damaged, _edited, _moved)
"""What may happen to the rows of a session."""

"""The built-in offline model: no key, no network, and honest about what it is (N-15).

It is a demonstration of a whole turn, not an intelligence. It reads the last thing that a person wrote and understands:

    ==========================  =================================================================
    You write                   It does
    ==========================  =================================================================
    hello, hi, help, ?          says what it is and lists this table
    time, what time is it       calls `current_time()`
    2 * (3 + 4), calculate 1/3  calls `calculate(expression)`
    read FILE                   calls `read_file(path)`
    list [DIR], ls [DIR]        calls `list_dir(path)`, "." when DIR is left out
    run COMMAND                 calls `run_shell_command(command)`
    delegate [to NAME:] TASK    calls `spawn_agent(task, name)`; when the answer comes as mail, tells it
    think about X               thinks aloud in thoughts, then answers
    slow [SECONDS]              counts slowly, 5 s when SECONDS is left out, 600 s at most
    ==========================  =================================================================

Lines of one prompt are requests of one step, so two calls on two lines run in parallel; " and then " puts what follows
into the next step. When every step is done it answers from the results, in order. A call is made only if the request
offers that tool. Asked to compact the conversation it lists what was asked. Anything else is answered with the plain
truth. The same input gives the same output, call ids included; only `slow` sleeps. Tokens are estimates
(`kesoku.llm.estimate`).
"""

import asyncio
import json
import re
import zlib
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from kesoku.history.weight import tokens_of
from kesoku.llm.estimate import estimate
from kesoku.llm.manifest import ModelManifest
from kesoku.messages.phrase import COMPACTION
from kesoku.messages.turn import (
    CallBlock,
    CompiledRequest,
    Delta,
    Reply,
    ResultBlock,
    StreamItem,
    TextBlock,
    Turn,
    Usage,
)

_TICK = 0.1
_SHOWN = 4_000
"""Characters of one result that an answer repeats."""
_LONGEST = 2_000
"""Characters of one request; patterns are not tried on longer ones."""

_MOST = 20
"""Requests in one prompt; a longer text is no list of requests."""

_SUMMARY = "What was asked so far:"
_SUMMED = 200
"""Characters of one request in a summary."""

_WHAT_I_AM = (
    "I am the offline model built into Kesoku: a demonstration that follows fixed rules, not an intelligence. "
    "I need no key and no network."
)
_HOW_TO_GET_MORE = (
    "For real answers, get a Gemini key at https://aistudio.google.com/apikey, set GEMINI_API_KEY and start again."
)
_HELP = f"""{_WHAT_I_AM} I understand:

- `help`: this list
- `time`: the current time
- `2 * (3 + 4)`: arithmetic
- `read FILE`, `list [DIR]`: look at files
- `run COMMAND`: run a shell command
- `delegate TASK`: let another agent do it, and tell you what it answered
- `think about X`: think aloud, then answer
- `slow [SECONDS]`: a slow answer, to try an interruption

Several lines are done at once, and `A and then B` one after the other.

{_HOW_TO_GET_MORE}"""
UNKNOWN = f"{_WHAT_I_AM} I do not understand this. Write `help` to see the few things that I can do. {_HOW_TO_GET_MORE}"
"""The whole answer to what is not in the table."""


class OfflineConfig(BaseModel):
    """`[models.<name>]` of the offline model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    delay: float = Field(default=0.0, ge=0.0, le=10.0)
    """Seconds between two pieces of a streamed answer; 0 streams as fast as it is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What the model does in one step: thoughts, then text, then calls of (tool, arguments)."""

    thoughts: str = ""
    text: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    tick: float = 0.0
    """Seconds before each word of the text."""

    def __add__(self, other: "Plan") -> "Plan":
        return Plan(
            thoughts=_paragraphs(self.thoughts, other.thoughts),
            text=self.text if other.text in self.text else _paragraphs(self.text, other.text),
            calls=self.calls + other.calls,
            tick=max(self.tick, other.tick),
        )


def _call(tool: str, argument: str = "", default: str = "") -> Callable[[str], Plan]:
    def plan(given: str) -> Plan:
        return Plan(calls=((tool, {argument: given or default} if argument else {}),))

    return plan


def _delegate(given: str) -> Plan:
    """To whom it says, else to one that is named after the task."""
    named = _TO.fullmatch(given)
    name, task = (named[1], named[2]) if named else (f"helper-{zlib.crc32(given.encode()) % 0x10000:04x}", given)
    return Plan(calls=(("spawn_agent", {"task": task, "name": name}),))


def _think(topic: str) -> Plan:
    return Plan(
        thoughts=f"The person wants me to think about {topic}. I follow fixed rules, so I cannot. I shall say so.",
        text=f"I thought about {topic}, as far as a few rules can. {_HOW_TO_GET_MORE}",
    )


def _slow(seconds: str) -> Plan:
    ticks = round(min(float(seconds or 5), 600) / _TICK)
    return Plan(text=" ".join(str(number) for number in range(1, ticks + 1)) or "0", tick=_TICK)


_TABLE: tuple[tuple[re.Pattern[str], Callable[[str], Plan]], ...] = tuple(
    (re.compile(rf"(?:{pattern})[.!?]*", re.IGNORECASE | re.DOTALL), plan)
    for pattern, plan in (
        (r"(?:hello|hi|hey|help|\?)(?: kesoku)?()", lambda _: Plan(text=_HELP)),
        (r"(?:what )?(?:is the )?time(?: is it)?(?: now)?()", _call("current_time")),
        (r"(?:calculate|what is|what's) ((?=.*\d)[\d\s.,+*/%()^-]+)", _call("calculate", "expression")),
        (r"((?=.*\d)(?=.*[-+*/%^])[\d\s.,+*/%()^-]+?)(?: *= *)?", _call("calculate", "expression")),
        (r"calculate (.+)", _call("calculate", "expression")),
        (r"read (.+?)", _call("read_file", "path")),
        (r"(?:list|ls)(?: (.+?))?", _call("list_dir", "path", ".")),
        (r"run (.+)", _call("run_shell_command", "command")),
        (r"delegate (.+)", _delegate),
        (r"think about (.+?)", _think),
        (r"slow(?: (\d{1,9}(?:\.\d+)?))?(?: ?s(?:econds)?)?", _slow),
    )
)
_TO = re.compile(r"to (\w+): *(.+)", re.DOTALL)
_NOTE = "[System Notification]\n"
_HEADER = re.compile(r"`.*`:")
"""A line that names the author above a prompt; nobody's request."""


class OfflineModel:
    """Answers by the table above. `sleep` is the seam for a virtual clock."""

    provider = "offline"

    def __init__(
        self,
        *,
        name: str = "offline",
        config: OfflineConfig | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = name
        self._delay = (config or OfflineConfig()).delay
        self._sleep = sleep

    async def stream(self, request: CompiledRequest) -> AsyncGenerator[StreamItem, None]:
        """Thoughts and text word by word, then the Reply."""
        plan = decide(request)
        for thought, text in ((True, plan.thoughts), (False, plan.text)):
            for piece in re.findall(r"\S+\s*|\s+", text):
                await self._sleep(self._delay + (0.0 if thought else plan.tick))
                yield Delta(text=piece, thought=thought)
        digest = request.digest()[:16]
        said = [TextBlock(text=plan.thoughts, thought=True)] if plan.thoughts else []
        said += [TextBlock(text=plan.text)] if plan.text else []
        calls = [
            CallBlock(call_id=f"call_{digest}_{index}", name=name, arguments=arguments)
            for index, (name, arguments) in enumerate(plan.calls)
        ]
        usage = Usage(prompt=estimate(request), thoughts=tokens_of(plan.thoughts), answer=_spent(plan))
        yield Reply(blocks=(*said, *calls), provider=self.provider, model=self.provider, usage=usage)

    def count(self, request: CompiledRequest) -> int:
        """Estimate of the input tokens."""
        return estimate(request)

    async def aclose(self) -> None:
        """Nothing is held."""


def decide(request: CompiledRequest) -> Plan:
    """What to do next: the next unfinished step of the last prompt, or the answer from the results."""
    if (mail := _mail(request.turns[-1])) is not None:
        return Plan(text=mail)
    start = _prompt_at(request.turns)
    if start is not None and _lines(request.turns[start])[0].startswith(COMPACTION):
        return Plan(text=_summary(request.turns[: start + 1]))
    steps = _steps(request.turns[start]) if start is not None else []
    later = request.turns[start + 1 :] if start is not None else ()
    done = sum(any(isinstance(block, CallBlock) for block in turn.blocks) for turn in later)
    offered = frozenset(tool.name for tool in request.tools)
    plans = [_offered(step, offered) for step in steps]
    calling = [plan for plan in plans if plan.calls]
    if done < len(calling):
        return Plan(thoughts=calling[done].thoughts, calls=calling[done].calls)
    results = [block for turn in later for block in turn.blocks if isinstance(block, ResultBlock)]
    text = _paragraphs(*(_told(result) for result in results), sum(plans, Plan()).text)
    quiet = sum((plan for plan in plans if not plan.calls), Plan())
    return Plan(thoughts=quiet.thoughts, text=text or UNKNOWN, tick=quiet.tick)


def _prompt_at(turns: tuple[Turn, ...]) -> int | None:
    """Index of the last user turn in which somebody wrote something."""
    found = (i for i in range(len(turns) - 1, -1, -1) if turns[i].role == "user" and _lines(turns[i]))
    return next(found, None)


def _summary(turns: Sequence[Turn]) -> str:
    """What people asked so far, one line each, and an earlier summary as it is."""
    said = [
        block.text for turn in turns if turn.role == "user" for block in turn.blocks if isinstance(block, TextBlock)
    ]
    asked = [" ".join(text.split()) for text in said if not text.strip().startswith("[System Notification]")]
    lines = [line if line.startswith(_SUMMARY) else f"- {line[:_SUMMED]}" for line in asked]
    return "\n".join(lines) if lines and lines[0].startswith(_SUMMARY) else "\n".join([_SUMMARY, *lines])


def _mail(turn: Turn) -> str | None:
    """What to say when the last thing that happened is mail."""
    said = [block.text for block in turn.blocks if isinstance(block, TextBlock) and block.text.strip()]
    if turn.role != "user" or not said or not all(text.lstrip().startswith(f"{_NOTE}Mail from ") for text in said):
        return None
    letters = [json.loads(text.splitlines()[-2]) for text in said]
    return _paragraphs(*(f"`{each['from']}` writes:\n\n{_written(each['content'])}" for each in letters))


def _written(content: Any) -> str:
    """An answer, or whatever else came."""
    return str(content["answer"]) if isinstance(content, dict) and "answer" in content else str(content)


def _lines(turn: Turn) -> list[str]:
    """The requests of a turn: the lines of its last text that is no note. Earlier ones were interrupted."""
    for block in reversed(turn.blocks):
        if isinstance(block, TextBlock) and not block.text.lstrip().startswith(_NOTE):
            lines = [line.strip() for line in block.text.splitlines()]
            if found := [line for line in lines if line and not _HEADER.fullmatch(line)]:
                return found
    return []


def _steps(turn: Turn) -> list[Plan]:
    lines = [re.split(r",? and then ", line, flags=re.IGNORECASE) for line in _lines(turn)]
    if sum(len(parts) for parts in lines) > _MOST:
        return [Plan(text=UNKNOWN)]
    steps = ([_understood(part.strip()) for part in step if part is not None] for step in zip_longest(*lines))
    return [sum(plans, Plan()) for plans in steps]


def _understood(text: str) -> Plan:
    for pattern, plan in _TABLE if len(text) <= _LONGEST else ():
        if match := pattern.fullmatch(text):
            return plan((match[1] or "").strip())
    return Plan(text=UNKNOWN)


def _offered(plan: Plan, offered: frozenset[str]) -> Plan:
    missing = sorted({name for name, _ in plan.calls} - offered)
    if not missing:
        return plan
    note = f"For this I would call {', '.join(f'`{name}`' for name in missing)}, but it is not offered to me here."
    calls = tuple(call for call in plan.calls if call[0] in offered)
    return Plan(thoughts=plan.thoughts, text=_paragraphs(plan.text, note), calls=calls, tick=plan.tick)


def _told(result: ResultBlock) -> str:
    """One result in words; long or many-lined output is fenced and its end cut."""
    if result.error is not None:
        return f"`{result.name}` failed: {result.error}"
    shown = result.output if isinstance(result.output, str) else json.dumps(result.output, default=str)
    shown = shown.rstrip()
    if len(shown) > _SHOWN:
        shown = f"{shown[:_SHOWN]}\n… {len(shown) - _SHOWN} more characters"
    if "\n" not in shown and len(shown) <= 200:
        return f"`{result.name}` says: {shown or 'nothing'}"
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    return f"`{result.name}` says:\n\n{fence}\n{shown}\n{fence}"


def _paragraphs(*texts: str) -> str:
    """The texts that say something, with blank lines between."""
    return "\n\n".join(text for text in texts if text)


def _spent(plan: Plan) -> int:
    return tokens_of(plan.text) + sum(tokens_of(name + json.dumps(arguments)) for name, arguments in plan.calls)


MANIFEST = ModelManifest(
    name="offline",
    title="Built-in offline model",
    config=OfflineConfig,
    create=lambda name, config: OfflineModel(name=name, config=config),
)

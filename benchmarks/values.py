"""What a message costs as a value: making, answering, cloning, writing and reading one, and the memory that it takes.

The floor is three frozen dataclasses in each other with as many fields as a message, its content and its source have,
made by nothing but their constructors: no id is minted, nothing is checked, frozen or looked up.
"""

import gc
import json
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, fields, make_dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from figure import Figure, Physical, amount, at_most, samples

from kesoku import Message, from_json, to_json
from kesoku.messages import make

TEXT = "What would you take along to the sea, if it were calm, and you knew of no ferry? Sunscreen? A towel?"[:93]
MODEL: dict[str, Any] = {"provider": "p", "model": "m"}
CALL = make.tool_call("search", {"query": TEXT}, **MODEL)
MAKERS: dict[str, Callable[[], Message]] = {
    "prompt": lambda: make.user_prompt(TEXT, author="Ada", user_id="7"),
    "master prompt": lambda: make.system_prompt(TEXT),
    "note": lambda: make.hook_note(TEXT, hook="memory"),
    "thought": lambda: make.thought(TEXT, **MODEL),
    "answer": lambda: make.answer(TEXT, **MODEL),
    "notice": lambda: make.notice(TEXT),
    "call": lambda: make.tool_call("search", {"query": TEXT}, **MODEL),
    "summary": lambda: make.summary(TEXT, covered=("a", "b")),
}
"""Results are made with the next version of their call, and so are measured as a pair."""
ROUNDS = amount(5_000, 200)
MANY = amount(20_000, 1_000)


def measure(room: Path) -> Iterator[Figure]:
    """Making, then what is done with what was made, then memory."""
    yield _making()
    yield Figure(
        name="answering a call",
        samples=samples(lambda: _microseconds(lambda: make.respond(CALL, TEXT))),
        unit="us",
        limit=at_most(25),
        meaning="A result and the next version of its call, linked both ways: nothing beside running the tool.",
    )
    prompt = MAKERS["prompt"]()
    yield Figure(
        name="cloning a message",
        samples=samples(lambda: _microseconds(prompt.clone)),
        unit="us",
        limit=at_most(12),
        meaning="Passing something on to another session as a message of its own.",
    )
    made = (*(maker() for maker in MAKERS.values()), *make.respond(CALL, TEXT))
    forms = [message.to_dict() for message in made]
    yield Figure(
        name="writing and reading a message as JSON",
        samples=samples(lambda: _each(made, lambda message: from_json(to_json(message)))),
        unit="us",
        limit=at_most(30),
        physical=Physical(name="json of plain dicts", value=_each(forms, lambda form: json.loads(json.dumps(form)))),
        meaning="The mean of all kinds: storing and exporting a message costs the database more than this.",
        obstacle="A third of it is Python's json. The rest checks every field and freezes the value, and 2 us find keys"
        " that stand there twice. At its best a message takes 27 us here.",
    )
    yield Figure(
        name="memory of a message of 93 letters",
        samples=samples(_bytes),
        unit="B",
        limit=at_most(700),
        physical=Physical(name="its text and its id", value=float(TEXT.__sizeof__() + prompt.id.__sizeof__())),
        meaning="Ten thousand messages in memory are seven megabytes at most.",
    )


def _making() -> Figure:
    """The costliest kind beside the floor, in turns, so that both see the same machine."""
    floor = _floor(MAKERS["prompt"]())

    def ratio(maker: Callable[[], Message]) -> float:
        return _microseconds(maker) / _microseconds(floor)

    found = {name: samples(partial(ratio, maker)) for name, maker in MAKERS.items()}
    worst = max(found, key=lambda name: median(found[name]))
    return Figure(
        name=f"making a message of the costliest kind ({worst})",
        samples=found[worst],
        unit="x",
        limit=at_most(3),
        physical=Physical(name="plain frozen dataclasses", value=1),
        meaning="Id, time, freezing, checks and defaults together cost no more than the objects themselves.",
    )


def _floor(like: Message) -> Callable[[], object]:
    """Makes values with the fields of this message, of its content and of its source."""
    message, content, source = _bare(like), _bare(like.content), _bare(like.source)
    return lambda: message(id="a", created_at=1.0, content=content(text=TEXT), source=source(user_id="7"), author="Ada")


def _bare(like: Any) -> Any:
    """A dataclass with the fields of this value, and nothing else."""
    named = [(each.name, object, None if each.default is MISSING else each.default) for each in fields(like)]
    return make_dataclass("Bare", named, frozen=True, slots=True, kw_only=True)


def _bytes() -> float:
    """Of one of many messages, each with a text of its own."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        held = [make.user_prompt(f"{number:06}{TEXT[6:]}", author="Ada", user_id="7") for number in range(MANY)]
        after, _ = tracemalloc.get_traced_memory()
        return (after - before) / len(held)
    finally:
        tracemalloc.stop()


def _each(values: Sequence[Any], work: Callable[[Any], object]) -> float:
    """Microseconds for one of the values."""
    return _microseconds(lambda: [work(each) for each in values]) / len(values)


def _microseconds(work: Callable[[], object]) -> float:
    """Of this thread, for one call of many."""
    before = time.thread_time()
    for _ in range(ROUNDS):
        work()
    return (time.thread_time() - before) / ROUNDS * 1_000_000

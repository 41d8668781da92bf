"""How fast a session's history in memory grows, changes, and is read, whether it is short or long."""

import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import TypeVar

from figure import Figure, Physical, amount, at_least, at_most, samples

from kesoku.history import History
from kesoku.messages import make
from kesoku.messages.message import Message

T = TypeVar("T")
SHORT, LONG = amount(1_000, 100), amount(10_000, 1_000)
MORE = amount(2_000, 200)
"""How often a small thing is done for one sample."""
CHOSEN = 4
"""Messages of a selection: a turn with one call."""


def talk(messages: int) -> Iterator[Message]:
    """Turns as they are common: somebody asks, a tool is called, the assistant answers."""
    for n in range(messages // CHOSEN):
        yield make.user_prompt(f"Where does ferry {n} leave, and is there room for a bicycle?", author="Ada")
        call = make.tool_call("timetable", {"ferry": n, "day": "today"}, provider="p", model="m")
        yield from make.respond(call, f"Ferry {n}: pier {n % 7}, every 20 minutes, bicycles on the lower deck.")
        yield make.answer(f"It leaves from pier {n % 7}, and there is room.", provider="p", model="m")


def measure(_: Path) -> Iterator[Figure]:
    """Everything in this process; nothing is stored."""
    yield from adding()
    yield from changing()
    yield from reading()


def adding() -> Iterator[Figure]:
    """New messages, with one observer."""
    rates = {size: samples(partial(_rate, size)) for size in (SHORT, LONG)}
    for size, found in rates.items():
        yield Figure(
            name=f"adding to a history of {size:,} messages",
            samples=found,
            unit="/s",
            limit=at_least(50_000),
            meaning="Whatever is said in a session is in its history at once, observers included.",
        )
    yield Figure(
        name=f"the same at {LONG:,} messages against {SHORT:,}",
        samples=(median(rates[SHORT]) / median(rates[LONG]),),
        unit="x",
        limit=at_most(1.5),
        meaning="A long session takes in a message as fast as a short one.",
    )
    history = History(talk(LONG))
    yield Figure(
        name="adding words, from which a message is made first",
        samples=samples(lambda: 1 / _each(lambda _: history.add(instruction="Where is the ferry?"), range(MORE))),
        unit="/s",
        meaning="What a program that writes its own history waits for.",
    )


def changing() -> Iterator[Figure]:
    """New versions of messages in the middle."""
    history = History(talk(LONG))
    history.compile()
    rewritten = [each.update() for each in list(history)[LONG // 2 :][:MORE]]
    yield Figure(
        name=f"replacing a message of {LONG:,} at its index",
        samples=samples(lambda: 1e6 * _each(history.replace, rewritten)),
        unit="us",
        limit=at_most(10),
        meaning="An edit or a link to a result costs nothing for the rest of a session.",
    )


def reading() -> Iterator[Figure]:
    """What is asked of a history at every step."""
    history = History(talk(LONG))
    yield Figure(
        name=f"the last response of {LONG:,} messages",
        samples=samples(lambda: 1e6 * _each(lambda _: history.last_response, range(MORE))),
        unit="us",
        limit=at_most(1),
        meaning="Nobody searches for the last answer.",
    )
    texts = [each.rendered for each in history]
    entries = Physical(name="as many dicts of ready text", value=1000 * _best(lambda: [_entry(each) for each in texts]))
    yield Figure(
        name=f"raw projection of {LONG:,} messages",
        samples=samples(lambda: 1000 * _best(history.to_chat_msgs)),
        unit="ms",
        limit=at_most(20),
        physical=entries,
        meaning="An export, or a look at all that was said; a quarter of it are calls, printed as JSON.",
    )
    short = History(talk(SHORT))
    few = [_compiling(each) for each in (short, history)]
    yield Figure(
        name=f"compiling a turn chosen of {LONG:,} messages",
        samples=(1e6 * few[1],),
        unit="us",
        meaning="What a chosen part of a session costs beside the model.",
    )
    yield Figure(
        name=f"the same against a turn of {SHORT:,}",
        samples=(few[1] / few[0],),
        unit="x",
        limit=at_most(1.5),
        meaning="A selection costs what is selected, however long the session is.",
    )


def _rate(size: int) -> float:
    """Messages a second that are added to a history of this size."""
    told: list[Message] = []
    history = History(talk(size), on_added=[told.append])
    return 1 / _each(lambda message: history.add(message=message), list(talk(MORE)))


def _compiling(history: History) -> float:
    chosen = [each.id for each in history][-CHOSEN:]
    history.compile(selection=chosen)
    return _each(lambda _: history.compile(selection=chosen), range(MORE // 10))


def _entry(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def _best(work: Callable[[], object]) -> float:
    return min(_each(lambda _: work(), range(1)) for _ in range(3))


def _each(work: Callable[[T], object], over: Sequence[T]) -> float:
    """Seconds for one, of this thread and not of others on the machine."""
    before = time.thread_time()
    for each in over:
        work(each)
    return (time.thread_time() - before) / len(over)

"""How much memory a process needs, and whether it keeps to that however long it runs."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from figure import Figure, Physical, amount, at_most
from machine import resident

from kesoku.app import App, Job
from kesoku.app.cast import Cast
from kesoku.config import load
from kesoku.llm.offline import OfflineModel
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Change
from kesoku.messages.record import Address, Post

KESOKU = str(Path(sys.executable).with_name("kesoku"))
CALLERS = 64
TURNS = 25
"""Of one channel; then its people are silent and others talk."""
BOT = "somewhere"
SAID = "Is the ferry to the island still running at this hour, or do I have to wait for the morning? Number "
CONFIG = """\
[store]
path = "kesoku.db"

[limits]
per_person_per_minute = 1000000
per_channel_per_minute = 1000000
"""


def measure(room: Path) -> Iterator[Figure]:
    """A conversation of the real command; then a process that answers many channels while somebody listens."""
    turns = amount(300, 5)
    yield Figure(
        name=f"kesoku chat after {turns} turns, resident memory",
        samples=(_chat(room, turns),),
        unit="MB",
        limit=at_most(120),
        physical=Physical(name="python -c pass", value=_python()),
        meaning="What one open conversation takes from the memory of your machine.",
    )
    early, late = amount(10_000, 200), amount(100_000, 2_000)
    after = asyncio.run(_serve(room, (early, late)))
    for count, megabytes in zip((early, late), after, strict=True):
        yield Figure(
            name=f"many channels, {count:,} messages, resident memory",
            samples=(megabytes,),
            unit="MB",
            limit=at_most(120),
            meaning="What a process that answers many people takes from the memory of your machine.",
        )
    yield Figure(
        name=f"growth from {early:,} to {late:,} messages",
        samples=(after[1] - after[0],),
        unit="MB",
        limit=at_most(5),
        meaning="A process that ran for months needs no more memory than one that ran for an hour.",
    )


def _chat(room: Path, turns: int) -> float:
    """Resident megabytes of `kesoku chat --json` when the last of its turns is answered."""
    (room / "chat").mkdir()
    (room / "chat" / "config.toml").write_text(CONFIG, encoding="utf-8")
    pipe = subprocess.PIPE
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": str(room)}
    with subprocess.Popen(
        [KESOKU, "chat", "--json"], env=environment, cwd=room / "chat", stdin=pipe, stdout=pipe, text=True
    ) as process:
        assert process.stdin
        assert process.stdout
        for number in range(turns):
            process.stdin.write(f"{SAID}{number}\n")
            process.stdin.flush()
            while json.loads(process.stdout.readline())["type"] != "answer":
                pass
        return resident(process.pid)


def _python() -> float:
    """Resident megabytes of Python alone."""
    command = [sys.executable, "-c", "print(flush=True); input()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        held = resident(process.pid)
        process.communicate("\n")
    return held


@dataclass(slots=True)
class _Count:
    """The messages that a subscriber has seen, and who waits for some of them."""

    seen: int = 0
    waiting: dict[str, asyncio.Event] = field(default_factory=dict)

    async def follow(self, app: App) -> None:
        """Count until cancelled; tell who waits for the end of a turn."""
        async with app.gateway.listen(lambda change: True) as changes:
            async for change in changes:
                self.saw(change)

    def saw(self, change: Change) -> None:
        """One change of the log."""
        self.seen += change.kind == "inserted"
        if change.record.status is MessageStatus.PROCESSED and (event := self.waiting.get(change.record.id)):
            event.set()


async def _serve(room: Path, counts: tuple[int, ...]) -> list[float]:
    """Resident megabytes of this process each time when so many messages were stored: prompts and their answers."""
    (room / "config.toml").write_text(CONFIG, encoding="utf-8")
    os.chdir(room)
    measured: list[float] = []
    async with _app(room) as app:
        count = _Count()
        following = asyncio.create_task(count.follow(app))
        try:
            for goal in counts:
                await asyncio.gather(*(_talk(app, count, goal, number) for number in range(CALLERS)))
                measured.append(resident())
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
    return measured


async def _talk(app: App, count: _Count, goal: int, number: int) -> None:
    """One person after the other: a prompt, its answer, and so on."""
    turn = 0
    while count.seen < goal:
        address = Address(chatbot_id=BOT, channel_id=f"{goal}-{number}-{turn // TURNS}")
        prompt = make.user_prompt(f"{SAID}{turn}", author="Ada", user_id=address.channel_id)
        answered = count.waiting[prompt.id] = asyncio.Event()
        await app.gateway.accept([Post(message=prompt, address=address, keys=(prompt.id,))])
        await answered.wait()
        del count.waiting[prompt.id]
        turn += 1


@asynccontextmanager
async def _app(room: Path) -> AsyncIterator[App]:
    """A running application that works for one bot which nobody else serves."""
    job = Job(bots={}, work=frozenset({Address(chatbot_id=BOT, channel_id="*")}))
    loaded = load(room / "config.toml", environment={})
    async with App(loaded, job, Cast(loaded.config, (OfflineModel(),))) as app:
        running = asyncio.create_task(app.run())
        try:
            yield app
        finally:
            app.stop()
            await running

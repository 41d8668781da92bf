"""What it costs to read what is selected of a long session."""

import asyncio
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median

from figure import Figure, Physical, amount, at_most

from kesoku.agent.limits import TurnLimits
from kesoku.agent.view import Viewer
from kesoku.llm.offline import OfflineModel
from kesoku.messages import make
from kesoku.messages.branch import Branch
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Address, Post
from kesoku.messages.turn import TurnRequest
from kesoku.ports import Transaction
from kesoku.store import SqlStore
from kesoku.testing.assistant import always

HERE = Address(chatbot_id="bot", channel_id="1")
LONG, SELECTED = amount(100_000, 2_000), 20
ROUNDS = amount(30, 3)
GROUP = 500
VIEWER = Viewer(assistants=always(OfflineModel(), request=TurnRequest(system="Be brief.")), limits=TurnLimits())


def measure(room: Path) -> Iterator[Figure]:
    """Sessions in a database: a short one, and parts of a long one that are as long."""
    short, late, scattered = asyncio.run(_measure(room))
    for name, found in (("at the end", late), ("in three places", scattered)):
        yield Figure(
            name=f"reading {SELECTED} messages {name} of {LONG:,} against a session of {SELECTED}",
            samples=tuple(each / median(short) for each in found),
            unit="x",
            limit=at_most(2),
            physical=Physical(name="one", value=1.0),
            meaning="A cleared or edited conversation costs what is read of it, not what was ever said in it.",
        )


async def _measure(room: Path) -> tuple[list[float], list[float], list[float]]:
    async with await SqlStore.open(room / "kesoku.db") as store:
        await _fill(store, "short", SELECTED)
        await _fill(store, "long", LONG)
        short = await _look(store, "short", Branch(session_id="short"))
        late = await _look(store, "long", Branch(session_id="long").clearing(LONG - SELECTED))
        third = SELECTED // 3
        spans = ((1, third), (LONG // 2, LONG // 2 + third - 1), (LONG - SELECTED + 2 * third + 1, None))
        scattered = await _look(store, "long", Branch(session_id="long", spans=spans))
        return short, late, scattered


async def _fill(store: SqlStore, session_id: str, messages: int) -> None:
    def some(first: int) -> list[Post]:
        posts = []
        for n in range(first, min(first + GROUP, messages), 2):
            prompt = make.user_prompt(f"Where does ferry {n} leave?", author="Ada")
            answer = make.answer(f"From pier {n % 7}.", provider="p", model="m")
            posts += [
                Post(message=prompt, address=HERE, turn_id=prompt.id, status=MessageStatus.PROCESSED),
                Post(message=answer, address=HERE, turn_id=prompt.id, parent_id=prompt.id, round=1),
            ]
        return posts

    def add(tx: Transaction, posts: list[Post]) -> None:
        for post in posts:
            tx.messages.insert(post, session_id=session_id, at=0)

    await store.write(lambda tx: tx.sessions.create(session_id=session_id, at=0))
    for first in range(0, messages, GROUP):
        await store.write(partial(add, posts=some(first)))


async def _look(store: SqlStore, session_id: str, branch: Branch) -> list[float]:
    """Seconds of each look at what the model would read."""

    def view(tx: Transaction) -> int:
        session = tx.sessions.get(session_id)
        assert session is not None
        return len(VIEWER.view(tx, session, HERE).records)

    await store.write(lambda tx: tx.branches.select(branch))
    found = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        assert await store.read(view) >= SELECTED - 2
        found.append(time.perf_counter() - begun)
    return found

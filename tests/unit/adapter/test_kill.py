"""Delivery by processes that are killed at any moment (complaint 19, store rule 9, invariant I9)."""

import asyncio
import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from kesoku.adapter.sender import BLIND
from kesoku.gateway import BusyPolicy, StoreGateway
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import Delivery, DeliveryState
from kesoku.messages.record import Address, Post, Record
from kesoku.store import SqlStore
from kesoku.testing.clock import WallClock
from kesoku.testing.fakes import FakePresence
from kesoku.testing.platform import RecordedPlatform

from ...forkserver import ForkedPopen, ForkServer  # noqa: TID252

ANSWERS, CHANNELS, KILLS = 40, 3, 2


async def fill(folder: Path) -> list[Record]:
    store = await SqlStore.open(folder / "kesoku.db")
    gateway = StoreGateway(store, WallClock(), BusyPolicy(), FakePresence())
    records = []
    for n in range(ANSWERS):
        text = "\n\n".join(f"answer {n:02} part {part} is this text" for part in range(3))
        address = Address(chatbot_id="recording", channel_id=f"c{n % CHANNELS}")
        message = make.answer(text, provider="p", model="m")
        records.append(await gateway.post(Post(message=message, address=address)))
    await store.aclose()
    return records


async def outcome(folder: Path, records: list[Record]) -> tuple[list[S], list[Delivery]]:
    store = await SqlStore.open(folder / "kesoku.db")

    def read(tx: Any) -> tuple[list[S], list[Delivery]]:
        rows = [part for each in records for part in tx.deliveries.of(each.id)]
        return [tx.messages.get(each.id).status for each in records], rows

    found = await store.read(read)
    await store.aclose()
    return found


def wait_for_more(journal: Path, size: int) -> None:
    """Until the process has shown something more on the platform, so that a kill falls among its sends."""

    def now() -> int:
        return journal.stat().st_size if journal.exists() else 0

    before, deadline = now(), time.monotonic() + 20
    while now() < before + size and time.monotonic() < deadline:
        time.sleep(0.001)


def run_until_killed(forkserver: ForkServer, folder: Path, how: str) -> int:
    """The number of kills until a process could finish."""
    script, dice = Path(__file__).with_name("deliverer.py"), random.Random(1)
    for kills in range(100):
        child = ForkedPopen(
            forkserver,
            [str(script), str(folder), how],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=2,
            text=True,
            cwd=folder,
            env=os.environ,
        )
        with child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            if kills < KILLS:
                wait_for_more(folder / "journal", dice.randrange(500, 6000))
                child.send_signal(signal.SIGKILL)
            if "done" in child.stdout.read():
                return kills
    raise AssertionError("it never ends")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["key", "find", "blind"])
def test_every_part_arrives_in_order_and_once_where_the_platform_can_tell(
    forkserver: ForkServer, tmp_path: Path, how: str
) -> None:
    # K-153, N-02; complaint 19
    records = asyncio.run(fill(tmp_path))
    kills = run_until_killed(forkserver, tmp_path, how)
    statuses, rows = asyncio.run(outcome(tmp_path, records))
    platform = RecordedPlatform(journal=tmp_path / "journal")
    shown = Counter(each.key for each in platform.shown())
    hit = [part for part in rows if part.attempts > 1 or part.error]
    assert kills, "it was over too soon to show anything"
    assert hit, "no kill hit a send"
    assert len(rows) == ANSWERS * 3
    assert set(shown) == {part.send_key for part in rows}
    doubled = {key for key, number in shown.items() if number > 1}
    doubtful = {part.send_key for part in rows if (part.error or "").startswith(BLIND)}
    assert doubled <= (doubtful if how == "blind" else set())
    assert max(shown.values()) <= 2
    given_up = [part for part in rows if part.state is not DeliveryState.SENT]
    assert how == "blind" or (not given_up and set(statuses) == {S.DELIVERED})
    for channel in range(CHANNELS):
        first = list(dict.fromkeys(each.text for each in platform.shown(f"c{channel}")))
        assert first == sorted(first)

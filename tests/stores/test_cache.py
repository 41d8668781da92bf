"""What a process keeps of sessions: never older than a reader's snapshot may show, never newer than it can be."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from kesoku.agent.limits import TurnLimits
from kesoku.history.compile import CompileLimits, compile_turns
from kesoku.history.window import window
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.record import Record
from kesoku.messages.turn import CompiledRequest, TurnRequest
from kesoku.ports import Transaction
from kesoku.store import SqlStore
from kesoku.store.cache import RecordCache, Span
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.model import ScriptedModel
from kesoku.testing.store_material import add, move, prompt
from kesoku.testing.talk import Talk


def span(*places: int, behind: int = 0) -> Span:
    talk = Talk()
    records = tuple(replace(talk.prompt(f"{n}"), session_n=n) for n in places)
    return Span(behind=behind, records=records, sizes=(10,) * len(records))


def places(kept: Span) -> list[int]:
    return [record.session_n for record in kept.records]


def test_what_was_read_is_kept_up_to_the_first_row_that_changed() -> None:
    cache = RecordCache()
    assert cache.put("s", span(1, 2, 3, 4), cache.commits)
    assert places(cache.get("s", 0, cache.commits)) == [1, 2, 3, 4]
    with cache.changing({"s": 3, "other": 1}):
        assert places(cache.get("s", 0, cache.commits)) == [1, 2]
    kept = cache.get("s", 1, cache.commits)
    assert (places(kept), kept.end, cache.get("s", 5, cache.commits).end) == ([2], 2, 5)


def test_a_reader_that_a_commit_overtook_keeps_nothing() -> None:
    cache = RecordCache()
    before = cache.commits
    with cache.changing({"s": 1}):
        within = cache.commits
        assert not cache.put("s", span(1), within)
    assert not cache.put("s", span(1), before)
    assert not cache.put("s", span(1), within)
    assert cache.put("s", span(1), cache.commits)
    assert cache.put("t", span(1), before), "a commit elsewhere does not matter"


def test_a_reader_takes_nothing_that_is_newer_than_itself() -> None:
    cache = RecordCache()
    early = cache.commits
    with cache.changing({"s": 2}):
        pass
    assert cache.put("s", span(1, 2), cache.commits)
    assert places(cache.get("s", 0, early)) == []
    assert places(cache.get("s", 0, cache.commits)) == [1, 2]


def test_what_others_write_and_a_failed_commit_make_it_forget() -> None:
    cache = RecordCache()
    began = cache.commits
    cache.put("s", span(1, 2), began)
    cache.clear()
    assert places(cache.get("s", 0, cache.commits)) == []
    assert not cache.put("s", span(1, 2), began)
    cache.put("s", span(1, 2), cache.commits)
    with pytest.raises(OSError), cache.changing({"s": 2}):
        raise OSError
    assert cache.put("s", cache.get("s", 0, cache.commits), cache.commits)


def test_there_is_no_more_than_room_for() -> None:
    cache = RecordCache(room=50)
    for session in "abcde":
        cache.put(session, span(1, 2), cache.commits)
    assert [places(cache.get(session, 0, cache.commits)) for session in "abcde"] == [[], [], [], [1, 2], [1, 2]]


def test_a_session_whose_latest_commit_is_forgotten_counts_as_changed() -> None:
    cache = RecordCache()
    before = cache.commits
    for session in ("s", *map(str, range(1024))):
        with cache.changing({session: 1}):
            pass
    assert not cache.put("s", span(1), before)
    assert cache.put("s", span(1), cache.commits)


async def test_readers_and_writers_at_once_see_what_is_stored(tmp_path: Path) -> None:
    async with await SqlStore.open(tmp_path / "kesoku.db") as store:
        records = await store.write(add(*(prompt() for _ in range(20))))
        random, done = Random(3), asyncio.Event()

        def both(tx: Transaction) -> tuple[Sequence[Record], Sequence[Record]]:
            past = tx.messages.past("s1", after_n=2, limit=99)
            return past, tx.messages.session("s1", after_n=2, limit=99)

        async def look() -> int:
            times = 0
            while not done.is_set():
                past, whole = await store.read(both)
                assert list(past) == list(whole)
                times += 1
            return times

        async def change() -> None:
            for record in random.sample(records, len(records)):
                await store.write(move(record, S.PROCESSING, S.PENDING_AGENT))
                await store.write(add(prompt()))

        readers = [asyncio.create_task(look()) for _ in range(4)]
        await asyncio.gather(change(), change())
        done.set()
        assert min(await asyncio.gather(*readers)) > 0


async def test_every_request_is_that_of_a_process_that_knows_nothing(tmp_path: Path) -> None:
    # D-X12, D-051
    path, limits = tmp_path / "kesoku.db", TurnLimits(history_records=16, history_tokens=150)
    async with await SqlStore.open(path) as store, await SqlStore.open(path) as other:
        model = ScriptedModel(*["word " * 30] * 24)
        harness = AgentHarness(model, store=store, limits=limits)
        asked = TurnRequest(system="be kind", tools=harness.tools.specs())
        random = Random(5)

        async def cold(record: Record, session: Sequence[Record]) -> CompiledRequest:
            behind = window(record.session_n, limits.history_records)
            bounds = CompileLimits(tool_output=limits.tool_output, tokens=limits.history_tokens)
            seen = [replace(each, session_id="cold") for each in session if each.session_n > behind]
            return compile_turns(seen, (), asked, limits=bounds, provider=model.provider, active_turn=record.id)

        async with harness.at_work():
            for n in range(24):
                record = await harness.say(f"question {n}")
                await harness.answered(record)
                session = await store.read(lambda tx: tx.messages.session(record.session_id))  # noqa: B023
                request = await cold(record, [each for each in session if each.session_n <= record.session_n])
                assert model.requests[n] == request
                assert model.requests[n].digest() == request.digest()
                edited = random.choice(session).message.update(text=f"edited {n}")
                writer = random.choice((store, other))
                if random.randrange(2):
                    await writer.write(lambda tx: tx.messages.rewrite(edited, actor="editor", at=1))  # noqa: B023

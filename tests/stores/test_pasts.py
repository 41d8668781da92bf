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
from kesoku.store.past import Pasts, Stretch
from kesoku.testing.model import ScriptedModel
from kesoku.testing.office import Office
from kesoku.testing.store_material import add, move, prompt
from kesoku.testing.talk import Talk


def stretch(*places: int, behind: int = 0) -> Stretch:
    talk = Talk()
    records = tuple(replace(talk.prompt(f"{n}"), session_n=n) for n in places)
    return Stretch(behind=behind, records=records, sizes=(10,) * len(records))


def places(kept: Stretch) -> list[int]:
    return [record.session_n for record in kept.records]


def test_what_was_read_is_kept_up_to_the_first_row_that_changed() -> None:
    pasts = Pasts()
    assert pasts.keep("s", stretch(1, 2, 3, 4), pasts.now)
    assert places(pasts.take("s", 0, pasts.now)) == [1, 2, 3, 4]
    with pasts.changing({"s": 3, "other": 1}):
        assert places(pasts.take("s", 0, pasts.now)) == [1, 2]
    kept = pasts.take("s", 1, pasts.now)
    assert (places(kept), kept.end, pasts.take("s", 5, pasts.now).end) == ([2], 2, 5)


def test_a_reader_that_a_commit_overtook_keeps_nothing() -> None:
    pasts = Pasts()
    before = pasts.now
    with pasts.changing({"s": 1}):
        within = pasts.now
        assert not pasts.keep("s", stretch(1), within)
    assert not pasts.keep("s", stretch(1), before)
    assert not pasts.keep("s", stretch(1), within)
    assert pasts.keep("s", stretch(1), pasts.now)
    assert pasts.keep("t", stretch(1), before), "a commit elsewhere does not matter"


def test_a_reader_takes_nothing_that_is_newer_than_itself() -> None:
    pasts = Pasts()
    early = pasts.now
    with pasts.changing({"s": 2}):
        pass
    assert pasts.keep("s", stretch(1, 2), pasts.now)
    assert places(pasts.take("s", 0, early)) == []
    assert places(pasts.take("s", 0, pasts.now)) == [1, 2]


def test_what_others_write_and_a_failed_commit_make_it_forget() -> None:
    pasts = Pasts()
    began = pasts.now
    pasts.keep("s", stretch(1, 2), began)
    pasts.forget()
    assert places(pasts.take("s", 0, pasts.now)) == []
    assert not pasts.keep("s", stretch(1, 2), began)
    pasts.keep("s", stretch(1, 2), pasts.now)
    with pytest.raises(OSError), pasts.changing({"s": 2}):
        raise OSError
    assert pasts.keep("s", pasts.take("s", 0, pasts.now), pasts.now)


def test_there_is_no_more_than_room_for() -> None:
    pasts = Pasts(room=50)
    for session in "abcde":
        pasts.keep(session, stretch(1, 2), pasts.now)
    assert [places(pasts.take(session, 0, pasts.now)) for session in "abcde"] == [[], [], [], [1, 2], [1, 2]]


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
        office = Office(model, store=store, limits=limits)
        asked = TurnRequest(system="be kind", tools=office.tools.specs())
        random = Random(5)

        async def cold(record: Record, session: Sequence[Record]) -> CompiledRequest:
            behind = window(record.session_n, limits.history_records)
            bounds = CompileLimits(tool_output=limits.tool_output, tokens=limits.history_tokens)
            seen = [replace(each, session_id="cold") for each in session if each.session_n > behind]
            return compile_turns(seen, (), asked, limits=bounds, provider=model.provider, active_turn=record.id)

        async with office.at_work():
            for n in range(24):
                record = await office.say(f"question {n}")
                await office.answered(record)
                session = await store.read(lambda tx: tx.messages.session(record.session_id))  # noqa: B023
                request = await cold(record, [each for each in session if each.session_n <= record.session_n])
                assert model.requests[n] == request
                assert model.requests[n].digest() == request.digest()
                edited = random.choice(session).message.update(text=f"edited {n}")
                writer = random.choice((store, other))
                if random.randrange(2):
                    await writer.write(lambda tx: tx.messages.rewrite(edited, actor="editor", at=1))  # noqa: B023

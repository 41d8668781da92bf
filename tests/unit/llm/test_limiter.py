"""The limiter: rates that hold, order that is kept, and no storm after a refusal."""

import asyncio
import heapq
import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.llm.limiter import (
    DAY,
    FORGOTTEN,
    LONGEST,
    MINUTE,
    PROBE,
    WIDEST,
    Door,
    RateLimiter,
    Ticket,
    claim,
    left,
    passed,
    refused,
    settled,
)
from kesoku.llm.shared import Shared

NOON = 1_796_000_000.0


def refuse(door: Door, now: float, after: float | None = 0.0, daily: float | None = None, jitter: float = 0.0) -> Door:
    """A 429."""
    return refused(door, now, retry_after=after, daily_until=daily, jitter=jitter)


def ask(door: Door, now: float, ticket: Ticket | None = None, per_minute: int | None = None) -> tuple[Door, Ticket]:
    """A claim."""
    return claim(door, now, per_minute=per_minute, ticket=ticket)


@dataclass
class Crowd:
    """Sessions at one door under a virtual clock. `serve(now)` is the provider: None, or the seconds of its 429."""

    serve: Callable[[float], float | None]
    per_minute: int | None = None
    known: bool = True
    """Whether the provider says how long to wait."""
    latency: float = 0.3
    now: float = NOON
    door: Door = field(default_factory=Door)
    sent: list[float] = field(default_factory=list)
    served: list[int] = field(default_factory=list)

    def run(self, sessions: int, *, apart: float = 0.0) -> None:
        """Until everybody is served."""
        events: list[tuple[float, int, str, Any]] = [
            (self.now + n * apart, n, "claim", (n, None)) for n in range(sessions)
        ]
        step = sessions
        while events:
            self.now, _, what, (session, value) = heapq.heappop(events)
            step += 1
            if what == "claim":
                self.door, ticket = ask(self.door, self.now, value, self.per_minute)
                if ticket.wait:
                    heapq.heappush(events, (ticket.at, step, "claim", (session, ticket)))
                else:
                    self.sent.append(self.now)
                    answer = self.serve(self.now)
                    heapq.heappush(events, (self.now + self.latency, step, "answer", (session, answer)))
            elif value is None:
                self.door = passed(self.door, self.now)
                self.served.append(session)
            else:
                self.door = refuse(self.door, self.now, value if self.known else None, jitter=0.5)
                heapq.heappush(events, (self.now, step, "claim", (session, None)))


def window(limit: int) -> Callable[[float], float | None]:
    """A provider that takes `limit` requests a minute and tells the rest when the minute is over."""
    taken: list[float] = []

    def serve(now: float) -> float | None:
        recent = [at for at in taken if now - at < MINUTE]
        if len(recent) >= limit:
            return math.ceil(recent[0] + MINUTE - now)
        taken.append(now)
        return None

    return serve


def hiccup(until: float) -> Callable[[float], float | None]:
    """A provider that refuses everybody until then."""
    return lambda now: None if now >= until else until - now


@pytest.mark.parametrize("sessions", [10, 100])
@pytest.mark.parametrize("known", [True, False], ids=["told", "untold"])
def test_sessions_that_are_refused_together_do_not_storm(sessions: int, known: bool) -> None:
    crowd = Crowd(hiccup(NOON + 20), known=known)
    crowd.run(sessions)
    assert sorted(crowd.served) == list(range(sessions))
    assert len(crowd.sent) <= 2 * sessions + (0 if known else 4)
    after = [at for at in crowd.sent if at > NOON]
    assert all(later - at > 0.04 for at, later in pairwise(after[:5]))


@pytest.mark.parametrize(
    ("sessions", "limit", "known"),
    [(10, 5, True), (100, 30, True), (100, 10, True), (10, 5, False), (100, 30, False), (100, 60, False)],
)
def test_a_quota_is_used_up_and_hardly_overrun(sessions: int, limit: int, known: bool) -> None:
    crowd = Crowd(window(limit), known=known)
    crowd.run(sessions)
    assert sorted(crowd.served) == list(range(sessions))
    assert len(crowd.sent) <= 2 * sessions
    assert crowd.now - NOON < MINUTE * (sessions / limit + (1 if known else 2))


def test_a_known_limit_is_never_overrun() -> None:
    crowd = Crowd(window(10), per_minute=10)
    crowd.run(100)
    assert len(crowd.sent) == 100
    assert crowd.served == list(range(100))


def test_whoever_waits_keeps_its_place_when_the_door_closes_again() -> None:
    door = refuse(Door(), 0.0, 10)
    tickets = []
    for _ in range(5):
        door, ticket = ask(door, 1.0)
        tickets.append(ticket)
    assert [ticket.at for ticket in tickets] == [10.0, 10.5, 11.0, 11.5, 12.0]
    door, first = ask(door, 10.0, tickets[0])
    assert first.wait == 0
    door = refuse(door, 10.2, 20)
    assert (door.spacing, door.closed_until) == (1.0, 30.2)
    door, newcomer = ask(door, 10.3)
    assert newcomer.at == pytest.approx(34.2)
    again = []
    for ticket in tickets[1:]:
        door, moved = ask(door, ticket.at, ticket)
        again.append(moved.at)
    assert again == pytest.approx([30.2, 31.2, 32.2, 33.2])


def test_one_who_never_comes_back_costs_its_slot_only() -> None:
    door, _ = ask(refuse(Door(), 0.0, 10), 1.0)
    door, ticket = ask(door, 1.0)
    door, ticket = ask(door, ticket.at, ticket)
    assert (ticket.at, ticket.wait, door.waiting) == (10.5, 0.0, ())


def test_nobody_waits_behind_those_who_have_left() -> None:
    door, tickets = Door(), []
    for _ in range(50):
        door, ticket = ask(door, 0.0, per_minute=10)
        tickets.append(ticket)
    assert tickets[-1].wait == 4 * MINUTE
    for ticket in tickets[10:]:
        door = left(door, 30.0, ticket)
    assert ask(door, 30.0, per_minute=10)[1].at == MINUTE
    assert left(door, 30.0, tickets[0]).starts == (0.0,) * 10


def test_a_newcomer_does_not_overtake_those_who_wait() -> None:
    door, _ = ask(refuse(Door(), 0.0, 10), 1.0)
    door, _ = ask(door, 1.0)
    for _ in range(4):
        door = passed(door, 10.0)
    assert door.spacing == 0
    assert ask(door, 10.1)[1].at == 10.5


def test_one_who_comes_early_keeps_one_place_and_late_ones_go_in_one_by_one() -> None:
    door, first = ask(refuse(Door(), 0.0, 10), 1.0)
    door, second = ask(door, 1.0)
    door, early = ask(door, 5.0, first)
    assert (early.at, early.wait, len(door.waiting)) == (10.0, 5.0, 2)
    door, late = ask(door, 20.0, second)
    assert late.wait == 0
    door, late = ask(door, 20.0, first)
    assert late.at == 20.5


def test_who_waits_for_a_wide_spacing_looks_again_whether_it_is_narrower() -> None:
    door, told = Door(closed_until=10.0, spacing=16.0), []
    for _ in range(3):
        door, ticket = ask(door, 1.0)
        told.append(ticket.at)
    assert told == [16.0, 20.5, 21.0]
    for _ in range(9):
        door = passed(door, 17.0)
    assert ask(door, 20.5, replace(ticket, number=door.waiting[1][0]))[1].wait == 0


def test_a_spacing_that_nobody_tried_is_forgotten() -> None:
    door = refuse(refuse(Door(), NOON, 0), NOON + 1, 0)
    assert settled(door, NOON + FORGOTTEN).spacing == 1.0
    assert settled(door, NOON + FORGOTTEN + 1).spacing == 0.0


def test_the_spacing_doubles_to_a_bound_and_halves_until_it_is_gone() -> None:
    door, now, seen = Door(), NOON, []
    for _ in range(8):
        door = refuse(door, now, 1)
        seen.append(door.spacing)
        door = refuse(passed(door, now), now + 0.5, 1)
        now += 2
    assert seen == [0.5, 1, 2, 4, 8, 16, WIDEST, WIDEST]
    for _ in range(9):
        door = passed(door, now)
    assert door == Door(closed_until=door.closed_until)


@pytest.mark.parametrize(
    ("after", "pause"),
    [(31.5, 31.5), (0.0, 0.0), (-5.0, 0.0), (None, 3.0), (math.nan, 3.0), (math.inf, 3.0), (1e9, LONGEST)],
)
def test_how_long_a_refusal_closes_the_door(after: float | None, pause: float) -> None:
    assert refuse(Door(), NOON, after).closed_until == NOON + pause
    assert refuse(Door(), NOON, after, jitter=1.0).closed_until == min(NOON + pause + 0.5, NOON + LONGEST + 0.5)
    assert refuse(refuse(Door(), NOON, 100), NOON + 1, after).closed_until >= NOON + 100


def test_a_clock_that_jumps_back_does_not_close_the_door_for_long() -> None:
    door, _ = ask(refuse(Door(), NOON, 30), NOON)
    door = replace(door, starts=(NOON,) * 3, last=NOON)
    _, ticket = ask(door, NOON - 1e7, per_minute=3)
    assert ticket.wait <= LONGEST + 2 * WIDEST
    assert ask(refuse(Door(), NOON, 30), NOON - 3600)[1].wait == 0
    assert refuse(door, NOON - 1e7).closed_until <= NOON - 1e7 + LONGEST
    door = refuse(Door(), NOON, 0, NOON + 3600)
    door, ticket = ask(refuse(door, NOON - 3600, 0), NOON - 3600)
    assert ticket.daily
    assert ask(door, NOON - 3600 + PROBE)[1].wait == 0


def test_a_used_up_day_tells_everybody_and_lets_one_try() -> None:
    until = NOON + 5 * PROBE
    door = refuse(Door(), NOON, None, until)
    told = [ask(door, NOON + n)[1] for n in range(100)]
    assert {(ticket.at, ticket.daily) for ticket in told} == {(until, True)}
    assert passed(door, NOON + 1).daily_until == until, "a success of before is no news"
    tries = [ask(door, NOON + PROBE)]
    tries += [ask(tries[0][0], NOON + PROBE) for _ in range(9)]
    assert [ticket.wait for _, ticket in tries] == [0.0] + [until - NOON - PROBE] * 9
    door = tries[0][0]
    assert ask(refuse(door, NOON + PROBE + 1, None, until), NOON + PROBE + 9)[1].daily
    assert not ask(passed(door, NOON + PROBE + 1), NOON + PROBE + 9)[1].daily
    assert not ask(door, until)[1].daily
    assert not ask(refuse(Door(), NOON, 0, NOON + DAY + 1), NOON + 1)[1].daily


EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["claim", "claim", "claim", "429", "ok", "leave", "vanish"]),
        st.floats(0, 40),
        st.one_of(st.none(), st.floats(0, 90)),
    ),
    max_size=40,
)


@given(EVENTS, st.one_of(st.none(), st.integers(1, 4)))
def test_whatever_happens_the_rules_hold_and_everybody_gets_in(events: Any, per_minute: int | None) -> None:
    door, now, closed, entries = Door(), NOON, 0.0, []
    waiting: list[Ticket] = []

    def come(ticket: Ticket | None) -> None:
        nonlocal door
        door, ticket = ask(door, now, ticket, per_minute)
        if ticket.wait:
            assert ticket.at > now
            waiting.append(ticket)
        else:
            assert now >= closed
            entries.append(now)

    def until(then: float) -> None:
        nonlocal now
        while waiting and min(ticket.at for ticket in waiting) <= then:
            ticket = min(waiting, key=lambda ticket: (ticket.at, ticket.number))
            waiting.remove(ticket)
            now = max(now, ticket.at)
            come(ticket)
        now = max(now, then)

    for what, pause, after in events:
        until(now + pause)
        if what == "claim":
            come(None)
        elif what == "429":
            door = refuse(door, now, after)
            closed = max(closed, now + (after or 0.0))
        elif what == "ok":
            door = passed(door, now)
        elif waiting:
            gone = waiting.pop()
            door = left(door, now, gone) if what == "leave" else door
        assert json.loads(json.dumps(asdict(door)))["waiting"] == [list(place) for place in door.waiting]
    until(now + 100 * MINUTE)
    assert not waiting
    if per_minute:
        spans = zip(entries, entries[per_minute:], strict=False)
        assert all(later >= at + MINUTE for at, later in spans)


RUN = """
import asyncio, sys, time
from pathlib import Path
from kesoku.llm.limiter import RateLimiter
from kesoku.llm.shared import Shared

SPEED = 400.0

async def main() -> None:
    shared = Shared(Path(sys.argv[1]))
    limiter = RateLimiter(shared, "limiter", per_minute=8, now=lambda: time.time() * SPEED, jitter=lambda: 0.5)

    async def session() -> None:
        ticket = None
        while (ticket := await limiter.claim(ticket)).wait:
            await asyncio.sleep(ticket.wait / SPEED)
        print(ticket.at, flush=True)

    await asyncio.gather(*(session() for _ in range(5)))

asyncio.run(main())
"""


def test_the_rate_holds_over_processes(tmp_path: Path) -> None:
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    lines = [line for other in others for line in other.communicate()[0].split()]
    starts = sorted(map(float, lines))
    assert len(starts) == 20
    assert all(later >= at + MINUTE for at, later in zip(starts, starts[8:], strict=False))


@dataclass
class Clock:
    """A wall clock that a test sets."""

    now: float = NOON

    def __call__(self) -> float:
        return self.now


def limiter_at(folder: Path | None, clock: Clock, per_minute: int | None = None) -> RateLimiter:
    """A limiter as another process would open it."""
    return RateLimiter(Shared(folder), "limiter", per_minute=per_minute, now=clock, jitter=lambda: 0.0)


async def test_an_idle_gate_touches_no_file(tmp_path: Path) -> None:
    clock, folder = Clock(), tmp_path / "kesoku"
    limiter = limiter_at(folder, clock)
    assert await limiter.claim() == Ticket(at=NOON, wait=0.0)
    await limiter.passed()
    assert not folder.exists()


async def test_what_one_process_is_refused_another_heeds_and_in_the_end_nothing_is_left(tmp_path: Path) -> None:
    clock = Clock()
    one, other = limiter_at(tmp_path, clock), limiter_at(tmp_path, clock)
    await one.refused(31, daily_until=None)
    ticket = await other.claim()
    assert (ticket.at, ticket.wait) == (NOON + 31, 31)
    clock.now = ticket.at
    assert (await other.claim(ticket)).wait == 0
    for _ in range(5):
        await other.passed()
    assert not (tmp_path / "limiter.json").exists()
    await one.refused(None, daily_until=NOON + 3600)
    assert (await other.claim()).daily


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "1e999",
        '{"closed_until": 1e300}',
        "{",
        '{"closed_until": NaN}',
        '{"waiting": [[1]]}',
        '{"starts": "x"}',
        '{"spacing": Infinity}',
    ],
)
async def test_a_spoilt_door_is_an_open_one(text: str, tmp_path: Path) -> None:
    (tmp_path / "limiter.json").write_text(text)
    assert (await limiter_at(tmp_path, Clock(), per_minute=5).claim()).wait == 0


async def test_a_limit_of_a_minute_is_shared_by_all_sessions_of_a_process() -> None:
    clock = Clock()
    limiter = limiter_at(None, clock, per_minute=3)
    tickets = await asyncio.gather(*(limiter.claim() for _ in range(7)))
    assert sorted(ticket.wait for ticket in tickets) == [0, 0, 0, 60, 60, 60, 120]

"""Adapters that fail, and what keeps them apart."""

import asyncio
from typing import Any

import pytest

from kesoku.adapter.health import Health
from kesoku.adapter.supervisor import Ending, supervise
from kesoku.errors import LoginNeeded
from kesoku.messages.enums import MessageStatus as S
from kesoku.testing.clock import VirtualClock, settle
from kesoku.testing.platform import Fault


def runs(runner: Any) -> int:
    count: int = runner.adapter.runs
    return count


async def test_an_adapter_that_raises_starts_again_after_a_wait_and_goes_on_where_it_was(world: Any) -> None:
    world.platform.script("run", *[Fault(kind="bug")] * 3)
    async with world.runner() as runner:
        world.platform.say("c", "hello")
        await settle()
        assert runs(runner) == 1
        assert runner.healthy[-1][0] is False
        await world.clock.advance(1.0)
        assert runs(runner) == 2
        await world.clock.advance(6.0)
        assert runs(runner) == 4
        assert runner.healthy[-1] == (True, "")
        assert (await runner.claim()).prompt.message.rendered == "hello"


async def test_a_failed_login_stops_that_adapter_alone_and_its_outbox_goes_on(world: Any, quiet: Any) -> None:
    world.platform.script("run", Fault(kind="login"))
    async with world.runner() as runner:
        assert await runner.supervisor is Ending.LOGIN_NEEDED
        assert "is not logged in" in runner.health.text
        record = await runner.answer("c", "still here")
        await quiet(runner)
        assert await runner.status(record) is S.DELIVERED


class Scripted:
    """Runs as told: seconds to run, then an error or None."""

    def __init__(self, clock: VirtualClock, *runs: tuple[float, Exception | None]) -> None:
        self.clock, self.runs = clock, list(runs)
        self.starts: list[float] = []

    async def run(self, inbox: Any) -> None:
        self.starts.append(self.clock.monotonic())
        seconds, error = self.runs.pop(0)
        await self.clock.sleep(seconds)
        if error:
            raise error


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


async def test_waits_grow_are_bounded_and_start_over_after_a_steady_time(clock: VirtualClock) -> None:
    quick, steady = (0.0, OSError("gone")), (400.0, OSError("gone"))
    adapter: Any = Scripted(clock, *[quick] * 12, steady, quick, (0.0, None))
    task = asyncio.create_task(supervise(adapter, None, clock=clock, health=Health("x")))  # type: ignore[arg-type]
    await settle()
    for _ in range(2000):
        await clock.advance(0.5)
    assert await task is Ending.CLOSED
    waits = [after - before for before, after in zip(adapter.starts, adapter.starts[1:], strict=False)]
    assert all(wait <= 60.5 for wait in waits[:12])
    assert waits[0] <= 1.5
    assert waits[10] > 20
    assert waits[12] <= 401.5  # the steady run itself, and a first wait again


async def test_it_ends_when_it_is_cancelled_or_when_the_adapter_returns(clock: VirtualClock) -> None:
    adapter: Any = Scripted(clock, (100.0, None))
    task = asyncio.create_task(supervise(adapter, None, clock=clock, health=Health("x")))  # type: ignore[arg-type]
    await settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    adapter = Scripted(clock, (0.0, None))
    assert await supervise(adapter, None, clock=clock, health=Health("x")) is Ending.CLOSED  # type: ignore[arg-type]
    adapter = Scripted(clock, (0.0, LoginNeeded(adapter="x", reason="revoked")))
    health = Health("x")
    assert await supervise(adapter, None, clock=clock, health=health) is Ending.LOGIN_NEEDED  # type: ignore[arg-type]
    assert health.healthy is False


async def test_a_line_that_fails_is_told_in_one_line(clock: VirtualClock, caplog: pytest.LogCaptureFixture) -> None:
    """A fault of the code is told with where it was."""
    for error, traced in ((ConnectionError("the platform is away"), False), (LookupError("a bug"), True)):
        caplog.clear()
        adapter: Any = Scripted(clock, (0.0, error), (0.0, None))
        task = asyncio.create_task(supervise(adapter, None, clock=clock, health=Health("x")))  # type: ignore[arg-type]
        await settle()
        await clock.advance(2.0)
        assert await task is Ending.CLOSED
        assert str(error) in caplog.text
        assert ("Traceback" in caplog.text) is traced

"""What a hook hears of, how often, and what happens when it fails, hangs or dies."""

import asyncio
from dataclasses import replace

import pytest

from kesoku.errors import HookRefused, HookUnreachable, StoreCorrupt
from kesoku.hooks.pace import Pace
from kesoku.messages.enums import MessageStatus
from kesoku.testing.clock import START
from kesoku.testing.faulty_store import StoreFault
from kesoku.testing.waiting import PATIENCE

from .conftest import Bench, RecordingTarget, text_of

DOWN = HookUnreachable(where="http://ops", reason="connection refused")
SECOND = 1_000_000


async def test_a_hook_hears_of_every_event_that_it_wants_once_and_in_order(bench: Bench) -> None:
    await bench.run()
    await bench.say("one")
    await bench.say("two")
    await bench.finish(await bench.claim(), "done")
    await bench.settled()
    await bench.clock.advance(60)
    assert [call.event for call in bench.target.calls] == ["prompt", "prompt", "answer"]
    assert bench.target.texts == ["one", "two", "done"]


async def test_a_hook_that_is_new_begins_at_the_end_of_the_log(bench: Bench) -> None:
    await bench.say("long ago")
    await bench.run()
    await bench.say("now")
    await bench.settled()
    assert bench.target.texts == ["now"]


async def test_a_hook_goes_on_where_the_last_process_stopped(bench: Bench) -> None:
    """C-20: a slow reader catches up from the database."""
    first = await bench.run()
    await bench.say("one")
    await bench.settled()
    await first.die()
    await bench.say("two, while nobody runs")
    await bench.run()
    await bench.settled()
    assert bench.target.texts == ["one", "two, while nobody runs"]


async def test_what_was_sent_and_not_noted_is_sent_again_with_the_same_key(bench: Bench) -> None:
    """At least once, with the message id as the idempotency key."""
    bench.target.shut = asyncio.Event()
    first = await bench.run()
    await bench.say("one")
    await bench.settled()
    await first.die()
    bench.target.shut = None
    await bench.run()
    await bench.settled()
    before, after = bench.target.calls
    assert before == after
    assert bench.target.texts == ["one"]


async def test_a_failure_holds_up_nothing_and_is_kept_in_the_commit_that_moves_the_cursor(bench: Bench) -> None:
    bench.target.failures.append(DOWN)
    await bench.run()
    await bench.say("one")
    await bench.say("two")
    await bench.settled()
    assert bench.target.texts == ["two"]
    (failure,) = await bench.failures()
    assert (failure.event_seq, failure.attempts, failure.next_at) == (1, 1, START + 5 * SECOND)
    assert failure.error == "http://ops gave no answer: connection refused"
    known = await bench.standing()
    assert known is not None
    assert (known.cursor, known.succeeded_at) == (2, START)


async def test_a_failure_is_tried_again_with_growing_pauses_until_it_is_taken(bench: Bench) -> None:
    bench.target.failures.extend([DOWN] * 3)
    await bench.run()
    await bench.say("one")
    await bench.settled()
    counts = []
    for _ in range(40):
        counts.append(len(bench.target.calls))
        await bench.clock.advance(1)
        await bench.settled()
    assert [counts.count(number) for number in (1, 2, 3)] == [5, 10, 20]  # seconds after the first, second and third
    assert bench.target.texts == ["one"]
    assert await bench.failures() == []
    assert len({(call.message_id, call.event_seq) for call in bench.target.calls}) == 1


async def test_an_event_is_given_up_after_so_many_attempts_and_stays_visible(bench: Bench) -> None:
    bench.target.failures.extend([DOWN] * 9)
    await bench.run(bench.hook(attempts=3, first_pause=1))
    await bench.say("one")
    await bench.settled()
    await bench.clock.advance(600)
    await bench.settled()
    assert len(bench.target.calls) == 3
    (failure,) = await bench.failures()
    assert (failure.attempts, failure.next_at) == (3, None)


async def test_a_final_refusal_is_given_up_at_once(bench: Bench) -> None:
    bench.target.failures.append(HookRefused(where="http://ops", status=410, phrase="Gone", is_final=True))
    await bench.run()
    await bench.say("one")
    await bench.settled()
    assert [each.next_at for each in await bench.failures()] == [None]


async def test_failures_are_tried_again_by_the_next_process(bench: Bench) -> None:
    bench.target.failures.append(DOWN)
    first = await bench.run()
    await bench.say("one")
    await bench.settled()
    await first.die()
    await bench.clock.advance(60)
    await bench.run()
    await bench.clock.advance(2)
    await bench.settled()
    assert bench.target.texts == ["one"]
    assert await bench.failures() == []


async def test_what_was_made_due_is_tried_at_once(bench: Bench) -> None:
    bench.target.failures.append(DOWN)
    await bench.run(bench.hook(attempts=1))
    await bench.say("one")
    await bench.settled()
    await bench.store.write(lambda tx: tx.hooks.retry("ops", at=bench.clock.now()))
    await bench.clock.advance(2)
    await bench.settled()
    assert bench.target.texts == ["one"]
    assert await bench.failures() == []


async def test_a_target_is_called_once_at_a_time(bench: Bench) -> None:
    bench.target.failures.append(DOWN)
    await bench.run()
    await bench.say("one")
    await bench.settled()
    bench.target.shut = asyncio.Event()
    await bench.say("two")
    await bench.clock.advance(6)  # the first one is due, the second one hangs
    await bench.settled()
    bench.target.shut.set()
    await bench.clock.advance(2)
    await bench.settled()
    assert sorted(bench.target.texts) == ["one", "two"]
    assert bench.target.most == 1


@pytest.mark.parametrize("gone", [0, 999])
async def test_a_failure_whose_events_are_gone_is_forgotten(bench: Bench, gone: int) -> None:
    bench.target.failures.append(DOWN)
    await bench.run()
    await bench.say("one")
    await bench.settled()
    (failure,) = await bench.failures()
    await bench.store.write(lambda tx: tx.hooks.forget("ops", failure.event_seq))
    await bench.store.write(lambda tx: tx.hooks.put(replace(failure, event_seq=gone)))
    await bench.clock.advance(10)
    await bench.settled()
    assert await bench.failures() == []
    assert len(bench.target.calls) == 1


async def test_what_was_redacted_while_an_event_waited_is_not_sent(bench: Bench) -> None:
    bench.target.shut = asyncio.Event()
    await bench.run()
    await bench.say("one")
    record = await bench.say("a secret")
    await bench.settled()
    redacted = record.message.update(text="[redacted]")
    await bench.store.write(lambda tx: tx.messages.rewrite(redacted, actor="Ada", at=1))
    bench.target.shut.set()
    await bench.settled()
    assert bench.target.texts == ["one", "[redacted]"]


async def test_a_hook_that_hangs_is_stopped_in_its_time_and_delays_no_other(bench: Bench) -> None:
    slow, quick = RecordingTarget(shut=asyncio.Event()), RecordingTarget()
    await bench.run(bench.hook("slow", target=slow, timeout=30), bench.hook("quick", target=quick))
    await bench.say("one")
    await bench.say("two")
    await bench.settled()
    assert quick.texts == ["one", "two"]
    assert len(slow.calls) == 1
    await bench.clock.advance(31)
    await bench.settled()
    assert (await bench.failures("slow"))[0].error == "no outcome within 30 s; it was stopped"
    assert [text_of(call) for call in slow.calls] == ["one", "two"]


async def test_a_failing_hook_costs_no_answer(bench: Bench) -> None:
    """C-20: a bad reader of the event log cannot hurt a turn."""
    bench.target.failures.extend([RuntimeError("boom")] * 9)
    await bench.run()
    await bench.say("one")
    record = await bench.finish(await bench.claim(), "done")
    assert await bench.status(record) is MessageStatus.PENDING
    await bench.settled()
    assert [each.error for each in await bench.failures()] == ["RuntimeError: boom"] * 2


@pytest.mark.parametrize("raised", [SystemExit(3), KeyError("x"), asyncio.CancelledError()], ids=repr)
async def test_whatever_a_target_raises_is_one_failure_and_no_more(bench: Bench, raised: BaseException) -> None:
    bench.target.failures.append(raised)
    process = await bench.run()
    await bench.say("one")
    await bench.say("two")
    await bench.settled()
    assert bench.target.texts == ["two"]
    assert [each.attempts for each in await bench.failures()] == [1]
    assert not process.task.done()


async def test_an_error_is_one_short_line_without_secrets(bench: Bench) -> None:
    bench.target.failures.append(ValueError(f"key s3cret-key\nis wrong {'x' * 999}"))
    await bench.run(secrets=["s3cret-key"])
    await bench.say("one")
    await bench.settled()
    (failure,) = await bench.failures()
    assert failure.error.startswith("ValueError: key [secret] is wrong xxx")
    assert len(failure.error) == 300


async def test_one_process_runs_a_hook_and_another_takes_over_within_a_second(bench: Bench) -> None:
    first = await bench.run()
    await bench.run()
    await bench.say("one")
    await bench.settled()
    await bench.clock.advance(5)
    await bench.settled()
    assert len(bench.target.calls) == 1
    await first.die()
    await bench.say("two")
    await bench.clock.advance(1)
    await bench.settled()
    assert [text_of(call) for call in bench.target.calls] == ["one", "two"]


async def test_at_the_end_hooks_hear_of_what_has_happened_until_then(bench: Bench) -> None:
    process = await bench.run(bench.hook("ops", "prompt"))
    for number in range(20):
        await bench.say(str(number))
    await bench.claim()
    await process.hooks.finish(5)
    assert bench.target.texts == [str(number) for number in range(20)]
    known = await bench.standing()
    head = await bench.store.read(lambda tx: tx.events.head())
    assert known is not None
    assert known.cursor == head  # what it does not want was passed by, for good


async def test_the_end_waits_no_longer_than_it_was_told_for_a_hook_that_hangs(bench: Bench) -> None:
    bench.target.shut = asyncio.Event()
    process = await bench.run()
    await bench.say("one")
    await process.hooks.finish(0.05)
    await process.die()
    assert (bench.target.taken, bench.target.closed) == ([], 1)
    assert await bench.failures() == []  # it was neither taken nor refused: the next process sends it


async def test_the_end_does_not_wait_for_a_hook_that_runs_elsewhere(bench: Bench) -> None:
    bench.target.shut = asyncio.Event()
    await bench.run()
    second = await bench.run()
    await bench.say("one")
    async with asyncio.timeout(PATIENCE):
        await second.hooks.finish(60)


async def test_a_hook_that_broke_down_begins_again(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    corrupt = StoreFault(error=lambda: StoreCorrupt(path="x", reason="for a moment"), reads=True)
    process = await bench.run()
    bench.faults.script("Follower._due", corrupt)
    await bench.clock.advance(1)
    await bench.settled()
    assert "hook ops broke down" in caplog.text
    await bench.say("one")
    await bench.clock.advance(6)
    await bench.settled()
    assert bench.target.texts == ["one"]
    assert not process.task.done()


async def test_the_cursor_of_a_hook_that_hears_of_nothing_is_stored_now_and_then(bench: Bench) -> None:
    await bench.run(bench.hook("ops", "summary"), pace=Pace(passed=10))
    for number in range(11):
        await bench.say(str(number))
    await bench.settled()
    await bench.clock.advance(2)
    await bench.settled()
    known = await bench.standing()
    assert known is not None
    assert known.cursor >= 10

"""A turn from claim to answer, and the one status machine."""

from collections.abc import Callable
from typing import Any

import pytest

from kesoku.errors import AlreadyAnswered, Deposed, StoreConflict, TransitionRefused, UnknownMessage
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.freeze import EMPTY, thaw
from kesoku.messages.kinds import ToolCall
from kesoku.messages.lifecycle import ChangeKind, Fence, Step
from kesoku.messages.message import Message
from kesoku.messages.record import Post
from kesoku.messages.status import TRANSITIONS
from kesoku.ports import Store
from kesoku.testing.gateway_harness import EVERYTHING, ROOM, GatewayHarness, answer_to


async def test_a_turn_goes_from_prompt_to_pending_answer(bench: GatewayHarness) -> None:
    # K-014, K-015, K-018, K-020, K-126, K-127, K-142, K-148, K-156
    record = await bench.say("What time is it?")
    claim = await bench.claim()
    assert (claim.prompt.id, claim.prompt.status) == (record.id, S.PROCESSING)
    call = await bench.call(claim)
    result = await bench.result(claim, call)
    assert {call.status, result.status} == {S.RESPONDED}
    answer = await bench.finish(claim, "Noon.")
    assert (answer.status, answer.parent_id, answer.turn_id) == (S.PENDING, record.id, record.id)
    assert thaw(answer.facts) == {"turn_metrics": {"session_turns": 1}}
    assert await bench.status(record) is S.PROCESSED
    kinds = [each.kind for each in await bench.session(record)]
    assert kinds == ["user_prompt", "tool_call", "tool_result", "answer"]
    steps = await bench.store.read(lambda tx: tx.steps.of(record.id))
    assert [step.n for step in steps] == [1]


async def test_prompt_and_answer_change_side_by_side(bench: GatewayHarness, store: Store) -> None:
    # K-142
    record = await bench.say()
    claim = await bench.claim()
    before = await store.read(lambda tx: tx.events.head())
    await bench.finish(claim)
    changes = await store.read(lambda tx: tx.events.after(before, 10))
    assert [(each.record.kind, each.after) for each in changes] == [("user_prompt", S.PROCESSED), ("answer", S.PENDING)]
    assert {each.at for each in changes} == {bench.clock.now()}
    assert await bench.gateway.claim("w2", EVERYTHING) is None
    assert record.id == claim.prompt.id


async def test_prompt_and_answer_change_together_or_not_at_all(bench: GatewayHarness) -> None:
    # K-127, N-05
    record = await bench.say()
    claim = await bench.claim()
    rival = make.answer("said already", provider="p", model="m")
    await bench.gateway.post(Post(message=rival, address=ROOM, turn_id=record.id))
    events = await bench.events()
    with pytest.raises(StoreConflict):
        await bench.finish(claim)
    assert await bench.status(record) is S.PROCESSING
    assert await bench.events() == events
    assert await bench.gateway.renew("w1") == {claim.fence}


async def test_a_failed_turn_ends_in_error_and_says_so(bench: GatewayHarness) -> None:
    # K-017, K-066, K-129, K-147
    record = await bench.say()
    claim = await bench.claim()
    post = Post(message=make.error_answer("the model broke"), address=ROOM)
    answer = await bench.gateway.finish(claim.fence, post, status=S.ERROR, metrics={})
    assert (answer.status, answer.message.author, answer.facts) == (S.PENDING, "Kesoku", {})
    assert await bench.status(record) is S.ERROR


async def test_finishing_twice_is_finishing_once(bench: GatewayHarness) -> None:
    await bench.say()
    claim = await bench.claim()
    post = answer_to(claim)
    first = await bench.gateway.finish(claim.fence, post, status=S.PROCESSED, metrics={"n": 1})
    events = await bench.events()
    again = await bench.gateway.finish(claim.fence, post, status=S.PROCESSED, metrics={"n": 1})
    assert again == first
    assert await bench.events() == events
    with pytest.raises(Deposed):
        await bench.finish(claim)


async def test_the_last_step_is_stored_in_one_commit_with_the_answer(bench: GatewayHarness, store: Store) -> None:
    # store rule 2
    record = await bench.say()
    claim = await bench.claim()
    step = Step(turn_id=record.id, n=1, request=EMPTY, reply=EMPTY)
    thought = Post(message=make.thought("hm", provider="p", model="m"), address=ROOM, turn_id=record.id, round=1)
    post = answer_to(claim)
    last: dict[str, Any] = {"status": S.PROCESSED, "metrics": {}, "step": step, "said": [thought]}
    for _ in range(2):
        await bench.gateway.finish(claim.fence, post, **last)
    assert await store.read(lambda tx: tx.steps.of(record.id)) == [step]
    assert [each.kind for each in await bench.session(record)] == ["user_prompt", "thought", "answer"]
    with pytest.raises(Deposed):
        await bench.gateway.finish(claim.fence, answer_to(claim), **last)


async def test_a_prompt_that_was_ended_by_hand_gets_no_answer(bench: GatewayHarness) -> None:
    record = await bench.say()
    claim = await bench.claim()
    await bench.gateway.move(record.id, S.INTERRUPTED, actor="Ada", reason="deleted")
    with pytest.raises(TransitionRefused):
        await bench.finish(claim)
    assert [each.kind for each in await bench.session(record)] == ["user_prompt"]


async def test_a_joined_prompt_that_was_cancelled_does_not_hold_up_the_turn(bench: GatewayHarness) -> None:
    first = await bench.say()
    claim = await bench.claim()
    second = await bench.say(mode="steer")
    await bench.gateway.join(claim.fence, first.id, round=1)
    await bench.gateway.move(second.id, S.INTERRUPTED, actor="Ada", reason="deleted")
    await bench.finish(claim)
    assert [await bench.status(each) for each in (first, second)] == [S.PROCESSED, S.INTERRUPTED]


async def test_a_turn_takes_no_second_answer(bench: GatewayHarness, store: Store) -> None:
    record = await bench.say()
    claim = await bench.claim()
    await bench.finish(claim)
    forged = Post(message=make.answer("second", provider="p", model="m"), address=ROOM, turn_id=record.id)
    with pytest.raises(StoreConflict):
        await bench.gateway.post(forged)


async def test_a_result_is_stored_with_its_calls_next_version(bench: GatewayHarness, store: Store) -> None:
    # R-5, C-02
    await bench.say()
    claim = await bench.claim()
    call = await bench.call(claim)
    cursor = await store.read(lambda tx: tx.events.head())
    result = await bench.result(claim, call)
    changes = await store.read(lambda tx: tx.events.after(cursor, 10))
    assert [(e.kind, e.record.id) for e in changes] == [
        (ChangeKind.INSERTED, result.id),
        (ChangeKind.REPLACED, call.id),
    ]
    stored = await bench.record(call)
    assert (stored.message.version, stored.message.content.response_id) == (2, result.id)
    assert (result.parent_id, result.turn_id, result.round) == (call.id, claim.prompt.id, 1)


async def test_a_second_result_must_be_a_replacement(bench: GatewayHarness) -> None:
    # C-03
    await bench.say()
    claim = await bench.claim()
    call = await bench.call(claim)
    first = await bench.result(claim, call)
    with pytest.raises(AlreadyAnswered):
        await bench.result(claim, call, "one")
    now = (await bench.record(call)).message
    assert isinstance(now, ToolCall)
    next_call, second = make.respond(now, "two", replace=True)
    stored = await bench.gateway.respond(claim.fence, call, second, next_call)
    assert (await bench.record(first)).superseded_by == stored.id
    assert (await bench.record(call)).message.content.response_id == stored.id
    assert await bench.gateway.respond(claim.fence, call, second, next_call) == stored


async def test_an_empty_step_is_stored(bench: GatewayHarness, store: Store) -> None:
    record = await bench.say()
    claim = await bench.claim()
    step = Step(turn_id=record.id, n=1, request=EMPTY, reply=EMPTY)
    assert await bench.gateway.step(claim.fence, step, []) == []
    assert await store.read(lambda tx: tx.steps.of(record.id)) == [step]


async def test_a_step_that_fails_stores_nothing(bench: GatewayHarness) -> None:
    await bench.say()
    claim = await bench.claim()
    await bench.call(claim, n=1)
    events = await bench.events()
    with pytest.raises(StoreConflict):
        await bench.call(claim, n=1)
    assert await bench.events() == events


@pytest.mark.parametrize("stale", ["owner", "generation", "session"])
async def test_a_fence_holds_for_one_owner_and_generation(bench: GatewayHarness, stale: str) -> None:
    # N-06
    await bench.say()
    good = (await bench.claim()).fence
    fence = {
        "owner": Fence(session_id=good.session_id, owner="w2", generation=good.generation),
        "generation": Fence(session_id=good.session_id, owner=good.owner, generation=good.generation - 1),
        "session": Fence(session_id="nowhere", owner=good.owner, generation=good.generation),
    }[stale]
    with pytest.raises(Deposed):
        await bench.gateway.post(Post(message=make.notice("x"), address=ROOM), fence=fence)
    await bench.gateway.release(fence, requeue=True)
    assert await bench.gateway.renew("w1") == {good}


async def test_a_write_of_a_turn_stays_in_its_session(bench: GatewayHarness) -> None:
    record = await bench.say()
    claim = await bench.claim()
    note = await bench.gateway.post(
        Post(message=make.nudge(), address=ROOM, turn_id=record.id, round=1), fence=claim.fence
    )
    assert (note.session_id, note.status) == (record.session_id, S.RESPONDED)


MAKERS: dict[str, Callable[[], Message]] = {
    "prompt": lambda: make.user_prompt("hi", author="Ada"),
    "answer": lambda: make.answer("hi", provider="p", model="m"),
    "call": lambda: make.tool_call("t", {}, provider="p", model="m"),
    "thought": lambda: make.thought("hm", provider="p", model="m"),
}
PATHS: dict[str, dict[S, list[S]]] = {
    "prompt": {
        S.PENDING_AGENT: [],
        S.PROCESSING: [S.PROCESSING],
        S.PROCESSED: [S.PROCESSING, S.PROCESSED],
        S.INTERRUPTED: [S.INTERRUPTED],
        S.ERROR: [S.ERROR],
    },
    "answer": {S.PENDING: [], S.DELIVERED: [S.DELIVERED], S.ERROR: [S.ERROR]},
    "call": {S.RESPONDED: [], S.DELIVERED: [S.DELIVERED], S.INTERRUPTED: [S.INTERRUPTED]},
    "thought": {S.RESPONDED: [], S.DELIVERED: [S.DELIVERED]},
}
ALLOWED: dict[str, set[tuple[S, S]]] = {
    "prompt": {
        (S.PENDING_AGENT, S.PROCESSING),
        (S.PENDING_AGENT, S.INTERRUPTED),
        (S.PENDING_AGENT, S.ERROR),
        (S.PROCESSING, S.PROCESSED),
        (S.PROCESSING, S.INTERRUPTED),
        (S.PROCESSING, S.ERROR),
    },
    "answer": {(S.PENDING, S.DELIVERED), (S.PENDING, S.ERROR)},
    "call": {(S.RESPONDED, S.DELIVERED), (S.RESPONDED, S.INTERRUPTED), (S.DELIVERED, S.INTERRUPTED)},
    "thought": {(S.RESPONDED, S.DELIVERED)},
}


@pytest.mark.parametrize(("kind", "start"), [(kind, start) for kind, paths in PATHS.items() for start in paths])
async def test_every_move_of_the_diagram_and_no_other(bench: GatewayHarness, kind: str, start: S) -> None:
    # K-130, K-131, K-132, K-133
    for to in S:
        record = await bench.gateway.post(Post(message=MAKERS[kind](), address=ROOM))
        for step in PATHS[kind][start]:
            record = await bench.gateway.move(record.id, step, actor="t")
        events = await bench.events()
        if to is start:
            assert (await bench.gateway.move(record.id, to, actor="t")).status is start
            assert await bench.events() == events
        elif (start, to) in ALLOWED[kind]:
            assert (await bench.gateway.move(record.id, to, actor="t", reason="why")).status is to
            change = (await bench.events())[-1]
            assert (change.before, change.after, change.actor, change.reason) == (start, to, "t", "why")
        else:
            with pytest.raises(TransitionRefused):
                await bench.gateway.move(record.id, to, actor="t")
            assert await bench.status(record) is start
            assert await bench.events() == events


async def test_an_answered_call_is_not_interrupted(bench: GatewayHarness) -> None:
    # K-132, K-145
    await bench.say()
    claim = await bench.claim()
    call = await bench.call(claim)
    await bench.result(claim, call)
    with pytest.raises(TransitionRefused):
        await bench.gateway.move(call.id, S.INTERRUPTED, actor="t")


async def test_what_is_not_there_cannot_be_moved(bench: GatewayHarness) -> None:
    # K-141
    with pytest.raises(UnknownMessage):
        await bench.gateway.move("nobody", S.PROCESSING, actor="t")


def test_the_diagram_is_the_one_of_the_documents() -> None:
    # K-132
    reachable = {(before, after) for before, targets in TRANSITIONS.items() for after in targets}
    back = {(S.PROCESSING, S.PENDING_AGENT)}
    assert reachable == set().union(*ALLOWED.values()) | back

"""What dead and stalled workers leave behind."""

import pytest

from kesoku.errors import Deposed
from kesoku.messages import make
from kesoku.messages.content import Question
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.freeze import EMPTY
from kesoku.messages.lifecycle import Asked, Claim
from kesoku.messages.record import Post, Record
from kesoku.ports import Store
from kesoku.testing.gateway_harness import EVERYTHING, ROOM, GatewayHarness, prompt


async def stranded(bench: GatewayHarness) -> Record:
    """A row in processing without any lease, as an import leaves it."""
    post = Post(message=prompt("imported").message, address=ROOM, status=S.PROCESSING)
    return await bench.gateway.post(post)


@pytest.mark.parametrize(("age", "back"), [(301, True), (300.000001, True), (300, False), (299, False)])
async def test_stranded_rows_come_back_when_they_are_old_enough(bench: GatewayHarness, age: float, back: bool) -> None:
    # K-163, K-164
    record = await stranded(bench)
    await bench.clock.advance(age)
    assert await bench.gateway.recover() == int(back)
    assert await bench.status(record) is (S.PENDING_AGENT if back else S.PROCESSING)
    assert await bench.gateway.recover() == 0


async def test_nothing_else_is_touched(bench: GatewayHarness) -> None:
    # K-165
    records = []
    for to in (S.PENDING_AGENT, S.INTERRUPTED, S.ERROR, S.PROCESSED):
        records.append(await bench.gateway.post(Post(message=prompt().message, address=ROOM, status=to)))
    for message in (make.notice("x"), make.thought("x", provider="p", model="m")):
        records.append(await bench.gateway.post(Post(message=message, address=ROOM)))
    delivered = await bench.gateway.post(Post(message=make.notice("y"), address=ROOM))
    records.append(await bench.gateway.move(delivered.id, S.DELIVERED, actor="outbox"))
    await bench.clock.advance(100_000)
    events = await bench.events()
    assert await bench.gateway.recover() == 0
    assert await bench.events() == events
    assert [await bench.status(each) for each in records] == [each.status for each in records]


@pytest.mark.parametrize(("age", "back"), [(29.999999, False), (30, True)])
async def test_a_lease_that_ran_out_is_taken_back(bench: GatewayHarness, age: float, back: bool) -> None:
    # C-32, K-166
    record = await bench.say()
    claim = await bench.claim()
    await bench.clock.advance(age)
    assert await bench.gateway.recover() == int(back)
    if back:
        again = await bench.claim("w2")
        assert (again.prompt.id, again.prompt.message) == (record.id, record.message)
        with pytest.raises(Deposed):
            await bench.finish(claim)
        await bench.finish(again)
        assert [each.kind for each in await bench.session(record)] == ["user_prompt", "answer"]


async def test_who_stood_still_himself_has_not_seen_that_others_do(bench: GatewayHarness) -> None:
    record, _ = await bench.say(), await bench.claim()
    bench.presence.alive.add("w1")
    assert await bench.gateway.recover() == 0
    await bench.clock.advance(3600)
    assert await bench.gateway.recover() == 0, "Ctrl-Z, an hour, and fg: both stood still"
    assert await bench.status(record) is S.PROCESSING
    for _ in range(3):
        await bench.clock.advance(9)
        await bench.gateway.recover()
    assert await bench.status(record) is S.PENDING_AGENT, "this one does not renew while others look"


async def test_the_dead_lose_their_leases_at_once(bench: GatewayHarness) -> None:
    # C-32, D-038, D-039
    record = await bench.say()
    claim = await bench.claim("dead")
    assert await bench.gateway.recover() == 0
    bench.presence.dead.add("dead")
    assert await bench.gateway.recover() == 1
    assert await bench.gateway.recover() == 0
    assert (await bench.claim("w2")).prompt.id == record.id
    with pytest.raises(Deposed):
        await bench.call(claim)


async def test_a_fresh_claim_of_an_old_message_is_not_stolen(bench: GatewayHarness) -> None:
    # C-32
    record = await bench.say()
    await bench.clock.advance(1000)
    await bench.claim()
    assert await bench.gateway.recover() == 0
    assert await bench.status(record) is S.PROCESSING


async def crash(bench: GatewayHarness) -> Claim:
    claim = await bench.claim("dead")
    bench.presence.dead.add("dead")
    assert await bench.gateway.recover() >= 1
    return claim


async def test_a_poisonous_prompt_ends_in_error(bench: GatewayHarness) -> None:
    record = await bench.say("poison")
    healthy = await bench.say("healthy", catch_up=True)
    for _ in range(3):
        assert (await crash(bench)).prompt.id == record.id
    claim = await bench.claim("w2")
    assert claim.prompt.id == healthy.id
    assert await bench.status(record) is S.ERROR
    answers = [each for each in await bench.session(record) if each.kind == "answer"]
    assert [(each.parent_id, each.status) for each in answers] == [(record.id, S.PENDING)]


async def results(bench: GatewayHarness, record: Record) -> dict[str, str]:
    """What stands for the output of each call of a session, by tool."""
    found = [each for each in await bench.session(record) if each.kind == "tool_result"]
    return {each.message.author: each.message.content.error for each in found}


async def test_a_poisonous_prompt_leaves_no_call_open(bench: GatewayHarness) -> None:
    # K-167; in a session where nobody says anything any more no other turn would heal them
    record = await bench.say("poison")
    for _ in range(2):
        await crash(bench)
    claim = await bench.claim("last")
    await bench.call(claim, "make", n=1)
    await ask(bench, await bench.call(claim, "rm", n=2))
    bench.presence.dead.add("last")
    await bench.gateway.recover()
    assert await bench.gateway.claim("w2", EVERYTHING) is None
    assert await bench.status(record) is S.ERROR
    assert await results(bench, record) == {"make": make.INTERRUPTED, "rm": make.NOT_RUN}
    assert await bench.store.read(lambda tx: tx.messages.open_calls(record.session_id)) == []


async def test_a_turn_of_an_ended_session_leaves_no_call_open(bench: GatewayHarness) -> None:
    # K-146, K-167
    record = await bench.say()
    claim = await bench.claim("dead")
    await bench.call(claim, "make")
    bench.presence.dead.add("dead")
    await bench.gateway.recover()
    await bench.store.write(lambda tx: tx.sessions.end(record.session_id, at=bench.clock.now()))
    assert await bench.gateway.claim("w2", EVERYTHING) is None
    assert await bench.status(record) is S.ERROR
    assert await results(bench, record) == {"make": make.INTERRUPTED}


async def test_what_nobody_allowed_is_not_said_to_have_had_effects(bench: GatewayHarness) -> None:
    # N-04
    record = await bench.say()
    claim = await bench.claim()
    await bench.call(claim, "make", n=1)
    await ask(bench, await bench.call(claim, "rm", n=2))
    await bench.gateway.interrupt(record.session_id, by="Ada", reason="cancelled")
    assert await results(bench, record) == {"make": make.INTERRUPTED, "rm": make.NOT_RUN}


async def test_two_crashes_are_forgiven(bench: GatewayHarness) -> None:
    record = await bench.say()
    for _ in range(2):
        await crash(bench)
    await bench.finish(await bench.claim("w2"))
    assert await bench.status(record) is S.PROCESSED


async def test_everyone_who_joined_comes_back(bench: GatewayHarness) -> None:
    record = await bench.say()
    claim = await bench.claim("dead")
    await bench.call(claim)
    steered = await bench.say("more", mode="steer")
    await bench.gateway.join(claim.fence, record.id, round=2)
    await bench.call(claim, n=2)
    bench.presence.dead.add("dead")
    assert await bench.gateway.recover() == 2
    again = await bench.claim("w2")
    joined = await bench.record(steered)
    assert (again.prompt.id, joined.status, joined.turn_id, joined.round) == (record.id, S.PROCESSING, record.id, 2)
    await bench.finish(again)
    assert await bench.status(steered) is S.PROCESSED


async def test_a_crashed_turn_of_a_steered_prompt_goes_on_before_others(bench: GatewayHarness) -> None:
    steered = await bench.say("steered", mode="steer")
    await crash(bench)
    await bench.say("later", catch_up=True)
    assert (await bench.claim("w2")).prompt.id == steered.id


async def test_orphaned_calls_are_healed_once(bench: GatewayHarness) -> None:
    # K-167, K-168, K-169, N-04
    record = await bench.say()
    claim = await bench.claim("dead")
    done, lost = await bench.call(claim, "ls", n=1), await bench.call(claim, "make", n=2)
    await bench.result(claim, done)
    elsewhere = await bench.say(at=ROOM.__class__(chatbot_id="cli", channel_id="cli"))
    other = await bench.call(await bench.claim("w3"), "other")
    bench.presence.dead.add("dead")
    await bench.gateway.recover()
    again = await bench.claim("w2")
    orphans = await bench.store.read(lambda tx: tx.messages.open_calls(record.session_id))
    assert [each.id for each in orphans] == [lost.id]
    (healed,) = await bench.gateway.repair(again.fence)
    assert (healed.parent_id, healed.session_id, healed.address) == (lost.id, record.session_id, lost.address)
    assert (healed.message.author, healed.status) == ("make", S.RESPONDED)
    assert healed.message.content.error is not None
    assert (await bench.record(lost)).message.content.response_id == healed.id
    assert await bench.gateway.repair(again.fence) == []
    results = [each for each in await bench.session(record) if each.kind == "tool_result"]
    assert len(results) == 2
    assert [each.kind for each in await bench.session(elsewhere)] == ["user_prompt", "tool_call"]
    assert (await bench.record(other)).message.version == 1


async def test_calls_of_the_running_turn_are_no_orphans(bench: GatewayHarness) -> None:
    # K-170
    await bench.say()
    claim = await bench.claim()
    await bench.call(claim)
    assert await bench.gateway.repair(claim.fence) == []


async def test_a_recovered_turn_continues_behind_its_steps(bench: GatewayHarness, store: Store) -> None:
    record = await bench.say()
    claim = await bench.claim("dead")
    await bench.result(claim, await bench.call(claim, n=1))
    bench.presence.dead.add("dead")
    await bench.gateway.recover()
    again = await bench.claim("w2")
    await bench.call(again, n=2)
    steps = await store.read(lambda tx: tx.steps.of(record.id))
    assert [step.n for step in steps] == [1, 2]


async def test_recovery_by_two_processes_counts_once(bench: GatewayHarness) -> None:
    await bench.say()
    await bench.claim("dead")
    bench.presence.dead.add("dead")
    other = bench.process()
    assert await bench.gateway.recover() + await other.recover() == 1
    lease = (await bench.store.read(lambda tx: tx.leases.next(EVERYTHING))) is not None
    assert lease


async def ask(bench: GatewayHarness, call: Record) -> None:
    """A person is asked whether a call may run."""
    question = Question(id=call.id, text="May I?", choices=("yes", "no"))
    asked = Asked(question=question, turn_id=call.turn_id or "", address=call.address, purpose=EMPTY, who=())
    await bench.store.write(lambda tx: tx.questions.add(asked))


@pytest.mark.parametrize(
    ("when", "choice", "healed"),
    [
        ("never", "", 0),
        ("while parked", "yes", 0),
        ("before the crash", "yes", 1),
        ("before the crash", "always", 1),
        ("before the crash", "no", 0),
        pytest.param("before the crash", "", 0, id="the deadline passed"),
    ],
)
async def test_a_call_that_nobody_allowed_is_no_orphan(
    bench: GatewayHarness, store: Store, when: str, choice: str, healed: int
) -> None:
    # complaint 165; K-167
    await bench.say()
    call = await bench.call(await bench.claim("dead"))
    await ask(bench, call)

    async def answer() -> None:
        await bench.clock.advance(1)
        at = bench.clock.now()
        assert await store.write(lambda tx: tx.questions.answer(call.id, choice=choice, by="user:ada", at=at))
        await bench.clock.advance(1)

    if when == "before the crash":
        await answer()
    bench.presence.dead.add("dead")
    await bench.gateway.recover()
    if when == "while parked":
        await answer()
    assert len(await bench.gateway.repair((await bench.claim("w2")).fence)) == healed

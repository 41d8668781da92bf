"""A poisonous prompt ends after a few crashes, and takes no innocent one with it."""

from random import Random

import pytest

from kesoku.gateway.crash import charged, may_start
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import Claim, Lease, Serving
from kesoku.messages.record import Address, Mode, Record
from kesoku.testing.gateway_harness import EVERYTHING, ROOM, GatewayHarness

LIMIT = 3
"""Crashes that one poisonous prompt may cause."""
SIDE = Address(chatbot_id="cli", channel_id="side")
HERE, THERE = (Serving(addresses=frozenset({each})) for each in (ROOM, SIDE))
"""Two channels of one conversation, and who serves them."""


def lease(owner: str, failures: int = 0, *, until: int = 30) -> Lease:
    return Lease(
        session_id=f"{owner}{until}", message_id="m", owner=owner, generation=1, failures=failures, until=until
    )


@pytest.mark.parametrize(
    ("crashes", "beside", "starts"),
    [
        (0, None, True),
        (2, None, True),
        (0, 1, True),
        (1, 1, True),
        (2, 0, False),
        (0, 2, False),
    ],
)
def test_a_suspect_shares_its_process_with_nobody(crashes: int, beside: int | None, starts: bool) -> None:
    assert may_start(crashes, beside) is starts


@pytest.mark.parametrize(
    ("held", "taken"),
    [
        ([lease("lives", 1)], []),
        ([lease("dead", failures) for failures in (0, 1, 2)], [True, True, False]),
        ([lease("dead", 2)], [True]),
        ([lease("dead", 2), lease("lives", 2)], [True]),
        ([lease("stands", 2, until=20)], [True]),
        ([lease("stands", 2, until=20), lease("stands", 1, until=23)], [False, True]),
        ([lease("stands", 2, until=23), lease("stands", 2, until=20), lease("lives", 0, until=21)], [False, False]),
    ],
)
def test_a_process_is_lost_as_a_whole_and_only_who_ran_alone_is_surely_guilty(
    held: list[Lease], taken: list[bool]
) -> None:
    lost = [each for each in held if each.owner == "dead" or each.until <= 20]
    assert [counts for _, counts in charged(held, lost)] == taken


class Town:
    """Processes that claim, finish, shut down, die and stand still, on one bench; every poison kills its process."""

    def __init__(self, bench: GatewayHarness, poisons: set[int], dice: Random) -> None:
        self.bench, self.poisons, self.dice = bench, poisons, dice
        self.prompts: list[Record] = []
        self.running: dict[str, list[Claim]] = {}
        self.crashes = 0

    async def open(self, people: int, processes: int) -> None:
        for n in range(people):
            self.prompts.append(await self.bench.say(at=Address(chatbot_id="discord", channel_id=f"room {n}")))
        for _ in range(processes):
            self.start()

    def start(self) -> None:
        self.running[f"process {self.dice.random()}"] = []

    async def step(self) -> None:
        """What one process does next."""
        owner = self.dice.choice(list(self.running))
        claims = self.running[owner]
        if self.dice.random() < 0.7:
            if (claim := await self.bench.gateway.claim(owner, EVERYTHING)) is not None:
                claims.append(claim)
        elif any(self.is_poison(each) for each in claims):
            await self.lose(owner)
        elif claims and self.dice.random() < 0.8:
            await self.bench.finish(claims.pop())
        else:
            for each in claims:
                await self.bench.gateway.release(each.fence, requeue=True)
            claims.clear()

    async def lose(self, owner: str) -> None:
        """A process dies or stands still, and another one looks."""
        self.crashes += 1
        del self.running[owner]
        if self.dice.random() < 0.5:
            self.bench.presence.dead.add(owner)
        else:
            for _ in range(7):
                await self.bench.clock.advance(5)
                for living in self.running:
                    await self.bench.gateway.renew(living)
        assert await self.bench.gateway.recover() > 0
        self.start()

    def is_poison(self, claim: Claim) -> bool:
        return any(self.prompts[n].id == claim.prompt.id for n in self.poisons)

    async def is_over(self) -> bool:
        return all([await self.bench.status(each) in {S.PROCESSED, S.ERROR} for each in self.prompts])


@pytest.mark.parametrize(
    ("people", "poisons", "processes"),
    [(2, {0}, 1), (6, {3}, 1), (6, {5}, 2), (8, {0, 4}, 2), (4, {0, 1, 2, 3}, 3)],
    ids=lambda value: str(value),
)
async def test_the_guilty_end_in_error_and_the_innocent_are_answered(
    bench: GatewayHarness, people: int, poisons: set[int], processes: int
) -> None:
    # I12
    town = Town(bench, poisons, Random(people))
    await town.open(people, processes)
    for _ in range(2000):
        await town.step()
        if await town.is_over():
            break
    ends = [await bench.status(each) for each in town.prompts]
    assert ends == [S.ERROR if n in poisons else S.PROCESSED for n in range(people)]
    assert town.crashes <= LIMIT * len(poisons)
    for each in town.prompts:
        assert [said.kind for said in await bench.session(each)].count("answer") == 1, "the person is told"


async def test_suspects_of_one_crash_are_tried_one_after_another(bench: GatewayHarness) -> None:
    rooms = [Address(chatbot_id="discord", channel_id=name) for name in "abc"]
    first, second = [await bench.say(at=room) for room in rooms[:2]]
    for n in range(2):
        for _ in (first, second):
            await bench.claim(f"w{n}")
        bench.presence.dead.add(f"w{n}")
        assert await bench.gateway.recover() == 2
    fresh = await bench.say(at=rooms[2])
    alone = await bench.claim("living")
    assert alone.prompt.id == first.id
    assert await bench.gateway.claim("living", EVERYTHING) is None
    other = await bench.claim("other")
    assert other.prompt.id == second.id, "each process is a room of its own"
    await bench.finish(alone)
    busy = await bench.claim("living")
    assert busy.prompt.id == fresh.id
    await bench.gateway.release(other.fence, requeue=True)
    assert await bench.gateway.claim("living", EVERYTHING) is None, "it waits for an empty process"
    await bench.finish(busy)
    assert (await bench.claim("living")).prompt.id == second.id


async def crash(bench: GatewayHarness, serving: Serving = EVERYTHING) -> Claim:
    owner = f"dead {len(bench.presence.dead)}"
    claim = await bench.claim(owner, serving)
    bench.presence.dead.add(owner)
    assert await bench.gateway.recover() >= 1
    return claim


async def share(bench: GatewayHarness, record: Record) -> None:
    """Bind the other channel to the same session."""
    await bench.store.write(lambda tx: tx.sessions.bind(SIDE, record.session_id))


async def answers(bench: GatewayHarness, record: Record) -> list[str | None]:
    """Which prompts of a session were answered."""
    return [each.parent_id for each in await bench.session(record) if each.kind == "answer"]


@pytest.mark.parametrize("other_crashes", [False, True])
async def test_what_runs_in_another_channel_of_the_session_forgives_nothing(
    bench: GatewayHarness, other_crashes: bool
) -> None:
    poison = await bench.say("poison")
    await share(bench, poison)
    others = []
    for _ in range(LIMIT):
        assert (await crash(bench, HERE)).prompt.id == poison.id
        others.append(await bench.say(at=SIDE))
        if other_crashes:
            assert (await crash(bench, THERE)).prompt.id == others[-1].id
        await bench.finish(await bench.claim("w", THERE))
    assert await bench.gateway.claim("w", HERE) is None
    assert await bench.status(poison) is S.ERROR
    assert await answers(bench, poison) == [*(each.id for each in others), poison.id]


@pytest.mark.parametrize("mode", ["followup", "steer"])
async def test_who_joined_a_poisonous_turn_shares_its_end_and_nobody_is_told_twice(
    bench: GatewayHarness, mode: Mode
) -> None:
    opener = await bench.say("poison", mode=mode)
    claim = await bench.claim("first")
    riders = [await bench.say("more", mode="steer"), await bench.say("context", mode="inject")]
    await bench.gateway.join(claim.fence, opener.id, round=1)
    bench.presence.dead.add("first")
    assert await bench.gateway.recover() == 3
    for _ in range(LIMIT - 1):
        assert (await crash(bench)).prompt.id == opener.id
    late = await bench.say("late", mode="steer")
    assert (await bench.claim("w")).prompt.id == late.id, "it was never part of that turn"
    assert [await bench.status(each) for each in (opener, *riders)] == [S.ERROR] * 3
    assert await answers(bench, opener) == [opener.id]


async def test_what_a_crash_put_back_goes_on_with_its_own_turn(bench: GatewayHarness) -> None:
    steered = await bench.say("steered", mode="steer")
    injected = await bench.say("context", mode="inject")
    await share(bench, steered)
    assert (await crash(bench, HERE)).prompt.id == steered.id
    await bench.say(at=SIDE)
    other = await bench.claim("w", THERE)
    await bench.gateway.join(other.fence, other.prompt.id, round=1)
    await bench.say("later", catch_up=True)
    await bench.finish(other)
    assert (await bench.claim("w", HERE)).prompt.id == steered.id
    now = await bench.record(injected)
    assert (now.status, now.turn_id) == (S.PROCESSING, steered.id)


async def test_a_turn_that_was_put_back_into_an_ended_session_is_told_once(bench: GatewayHarness) -> None:
    steered = await bench.say("steered", mode="steer")
    opener = await bench.say("hello", catch_up=True)
    await crash(bench)
    alone = await bench.say("and?", catch_up=True)
    await bench.store.write(lambda tx: tx.sessions.end(opener.session_id, at=1))
    assert await bench.gateway.claim("w", EVERYTHING) is None
    assert [await bench.status(each) for each in (steered, opener, alone)] == [S.ERROR] * 3
    assert await answers(bench, opener) == [opener.id, alone.id]


@pytest.mark.parametrize("ends", [True, False])
async def test_a_note_of_a_turn_that_does_not_name_its_opener_holds_nobody_up(
    bench: GatewayHarness, ends: bool
) -> None:
    prompt = await bench.say()
    await bench.store.write(lambda tx: tx.steps.open(prompt.id, ()))
    if ends:
        await bench.store.write(lambda tx: tx.sessions.end(prompt.session_id, at=1))
        assert await bench.gateway.claim("w", EVERYTHING) is None
        assert await bench.status(prompt) is S.ERROR
    else:
        await crash(bench)
        await bench.finish(await bench.claim())
        assert await bench.status(prompt) is S.PROCESSED


async def test_prompts_of_an_ended_session_that_name_each_other_are_ended(bench: GatewayHarness) -> None:
    one, two = [await bench.say(catch_up=True) for _ in range(2)]
    await bench.store.write(lambda tx: tx.messages.place(one.id, turn_id=two.id, round=1))
    await bench.store.write(lambda tx: tx.messages.place(two.id, turn_id=one.id, round=1))
    await bench.store.write(lambda tx: tx.sessions.end(one.session_id, at=1))
    assert await bench.gateway.claim("w", EVERYTHING) is None
    assert await answers(bench, one) == [one.id, two.id]

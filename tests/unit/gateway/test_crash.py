"""A poisonous prompt ends after a few crashes, and takes no innocent one with it."""

from random import Random

import pytest

from kesoku.gateway.crash import charged, may_start
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.lifecycle import Claim, Lease
from kesoku.messages.record import Address, Record
from kesoku.testing.bench import EVERYTHING, Bench

LIMIT = 3
"""Crashes that one poisonous prompt may cause."""


def lease(owner: str, failures: int = 0, *, until: int = 30) -> Lease:
    return Lease(
        session_id=f"{owner}{until}", message_id="m", owner=owner, generation=1, failures=failures, until=until
    )


@pytest.mark.parametrize(
    ("crashes", "beside", "starts"),
    [
        (0, [], True),
        (2, [], True),
        (0, [0, 1], True),
        (1, [0, 1], True),
        (2, [0], False),
        (0, [2], False),
        (0, [0, 2, 0], False),
    ],
)
def test_a_suspect_shares_its_process_with_nobody(crashes: int, beside: list[int], starts: bool) -> None:
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

    def __init__(self, bench: Bench, poisons: set[int], dice: Random) -> None:
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
    bench: Bench, people: int, poisons: set[int], processes: int
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


async def test_suspects_of_one_crash_are_tried_one_after_another(bench: Bench) -> None:
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

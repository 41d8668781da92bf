"""What a turn costs the store: each commit waits for a disk, each read for a thread."""

from collections.abc import Callable
from typing import TypeVar

from kesoku.ports import Transaction
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.memory import MemoryStore
from kesoku.testing.model import ScriptedModel

T = TypeVar("T")


class Counting(MemoryStore):
    """Notes what was done, but for claims that found nothing and what listeners read."""

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    async def write(self, operation: Callable[[Transaction], T]) -> T:
        outcome = await super().write(operation)
        if outcome not in (None, []):
            self.done.append(operation.__qualname__.split(".")[1])
        return outcome

    async def read(self, operation: Callable[[Transaction], T]) -> T:
        if operation.__qualname__.startswith("Journal."):
            self.done.append("read")
        return await super().read(operation)


async def test_a_plain_answer_takes_three_commits_and_one_read() -> None:
    # store rule 2
    store = Counting()
    harness = AgentHarness(ScriptedModel("hello"), store=store)
    async with harness.at_work():
        await harness.answered(await harness.say())
    assert [each for each in store.done if each != "recover"] == ["accept", "claims", "read", "finish"]

"""/hooks: how event hooks stand, and another attempt."""

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest

from kesoku.adapter.command import Invocation
from kesoku.adapter.event import Principal
from kesoku.commands.hooks import HookCommand
from kesoku.commands.registry import Registry
from kesoku.errors import CommandMisused
from kesoku.hooks.standing import advance
from kesoku.messages.hook_failure import HookFailure
from kesoku.messages.record import Address
from kesoku.testing.clock import START, VirtualClock
from kesoku.testing.memory import MemoryStore

SECOND = 1_000_000


@dataclass
class Desk:
    store: MemoryStore
    registry: Registry

    async def ask(self, line: str = "", *, admin: bool = True) -> str:
        (spec,) = self.registry.specs()
        place = Address(chatbot_id="chat", channel_id="1")
        person = Principal(user_id="1", display_name="Ada")
        given = Invocation(name="hooks", address=place, principal=person, arguments=spec.read(line), admin=admin)
        return await self.registry.run(given) or ""

    async def failed(self, event_seq: int, *, next_at: int | None, error: str = "no answer") -> None:
        failure = HookFailure(
            hook="ops",
            event_seq=event_seq,
            message_id=f"m{event_seq}",
            attempts=2,
            next_at=next_at,
            error=error,
            at=START,
        )
        await self.store.write(lambda tx: tx.hooks.put(failure))


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    store = MemoryStore()
    yield Desk(
        store=store, registry=Registry([HookCommand(["ops", "log"], store=store, clock=VirtualClock()).command()])
    )
    await store.aclose()


async def test_every_hook_is_shown_also_one_that_never_ran(desk: Desk) -> None:
    assert await desk.ask() == (
        "- **ops**: no success yet; 0 waiting, 0 given up\n- **log**: no success yet; 0 waiting, 0 given up"
    )


AGES = {5: "5 s", 125: "2 min", 7300: "2 h", 200_000: "2 d"}


@pytest.mark.parametrize(("seconds", "words"), AGES.items())
async def test_the_last_success_is_told_in_words(desk: Desk, seconds: int, words: str) -> None:
    await desk.store.write(lambda tx: advance(tx, "ops", cursor=1, succeeded_at=START - seconds * SECOND))
    assert f"**ops**: last success {words} ago;" in await desk.ask()


async def test_failures_are_shown_with_event_message_attempts_error_and_next_try(desk: Desk) -> None:
    await desk.failed(7, next_at=START + 90 * SECOND)
    await desk.failed(8, next_at=START)
    await desk.failed(3, next_at=None, error="`rm` said *no*")
    assert (await desk.ask()).splitlines()[:4] == [
        "- **ops**: no success yet; 2 waiting, 1 given up",
        "  - event 8, message `m8`: 2 attempts, next try now: `no answer`",
        "  - event 7, message `m7`: 2 attempts, next try in 1 min: `no answer`",
        "  - event 3, message `m3`: 2 attempts, given up: `'rm' said *no*`",
    ]


async def test_a_long_list_is_cut_and_counted(desk: Desk) -> None:
    for number in range(15):
        await desk.failed(number, next_at=START)
    lines = (await desk.ask()).splitlines()
    assert lines[11] == "  - and 5 more"


async def test_retry_makes_what_failed_due_now(desk: Desk) -> None:
    await desk.failed(7, next_at=START + 90 * SECOND)
    await desk.failed(3, next_at=None)
    assert await desk.ask("retry ops") == "Tried again now: 2 events."
    due = await desk.store.read(lambda tx: tx.hooks.due("ops", at=START, limit=9))
    assert [each.event_seq for each in due] == [3, 7]
    assert await desk.ask("retry log") == "Hook log has no failed events."


MISUSED = {
    "retry": "Which hook? There are ops, log.",
    "retry nobody": "I know no `nobody` here, only ops, log",
    "forget ops": "I know no `forget` here, only retry",
}


@pytest.mark.parametrize(("line", "why"), MISUSED.items())
async def test_anything_else_is_answered_with_what_is_possible(desk: Desk, line: str, why: str) -> None:
    with pytest.raises(CommandMisused, match=re.escape(why)):
        await desk.ask(line)


async def test_it_is_for_admins(desk: Desk) -> None:
    assert await desk.ask(admin=False) == "Only an admin of this bot may use /hooks."


async def test_without_hooks_it_says_where_they_come_from() -> None:
    store = MemoryStore()
    desk = Desk(store=store, registry=Registry([HookCommand([], store=store, clock=VirtualClock()).command()]))
    for line in ("", "retry ops"):
        assert "[[hooks]]" in await desk.ask(line)
    await store.aclose()

"""The command /hooks: how each event hook stands, and another attempt for what it failed to take."""

from collections.abc import Sequence

from kesoku.adapter.command import Argument, Invocation
from kesoku.commands.registry import SlashCommand, command
from kesoku.errors import CommandMisused
from kesoku.hooks.standing import Standing, standing
from kesoku.messages.hook_failure import HookFailure
from kesoku.ports import Clock, Store, Transaction
from kesoku.render import counted

_SHOWN = 10
"""Failures of a hook that are listed; the others are counted."""
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


class HookCommand:
    """/hooks over the hooks with these names."""

    def __init__(self, names: Sequence[str], *, store: Store, clock: Clock) -> None:
        self._names, self._store, self._clock = tuple(names), store, clock

    def command(self) -> SlashCommand:
        """The command. It is for admins: errors of hooks are nothing for everybody."""
        return command(
            "hooks",
            "show the event hooks and what they failed to take, or try that again now",
            self.run,
            Argument(name="action", description="try what failed again; without it, list them", choices=("retry",)),
            Argument(name="hook", description="the hook that tries again", choices=self._names),
            admin=True,
        )

    async def run(self, invocation: Invocation) -> str:
        """Show, or make every failure of one hook due now. Raises CommandMisused."""
        if not self._names:
            return "There are no event hooks: the config has no `[[hooks]]`."
        if not invocation.arguments.get("action"):
            return await self._show()
        hook = invocation.arguments.get("hook")
        if not hook:
            raise CommandMisused(usage="/hooks retry HOOK", why=f"Which hook? There are {', '.join(self._names)}.")
        now = self._clock.now()
        count = await self._store.write(lambda tx: tx.hooks.retry(hook, at=now))
        return f"Tried again now: {counted(count, 'event')}." if count else f"Hook {hook} has no failed events."

    async def _show(self) -> str:
        now = self._clock.now()
        return await self._store.read(lambda tx: "\n".join(_of(tx, name, now) for name in self._names))


def _of(tx: Transaction, name: str, now: int) -> str:
    waiting, given_up = tx.hooks.count(name)
    found = tx.hooks.of(name, limit=_SHOWN)
    lines = [f"- **{name}**: {_success(standing(tx, name), now)}; {waiting} waiting, {given_up} given up"]
    lines += [f"  - {_line(each, now)}" for each in found]
    more = waiting + given_up - len(found)
    return "\n".join(lines + [f"  - and {more} more"] * bool(more))


def _success(known: Standing | None, now: int) -> str:
    if known is None or known.succeeded_at is None:
        return "no success yet"
    return f"last success {_span(now - known.succeeded_at)} ago"


def _line(failure: HookFailure, now: int) -> str:
    fate = "given up" if failure.next_at is None else f"next try {_soon(failure.next_at - now)}"
    error = failure.error.replace("`", "'")
    message = f"event {failure.event_seq}, message `{failure.message_id}`"
    return f"{message}: {counted(failure.attempts, 'attempt')}, {fate}: `{error}`"


def _soon(microseconds: int) -> str:
    return f"in {_span(microseconds)}" if microseconds > 0 else "now"


def _span(microseconds: int) -> str:
    seconds = max(0, microseconds // 1_000_000)
    return next((f"{seconds // size} {unit}" for size, unit in _UNITS if seconds >= size), f"{seconds} s")

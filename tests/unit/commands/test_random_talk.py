"""Commands in any order, against a plain list of what should be read."""

import asyncio
from dataclasses import dataclass, field, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from kesoku.errors import NotPossible
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Record
from kesoku.testing.model import Held

from .desk import Desk, desk, read_by

VERBS = "talk talk break_off take_back clear undo compact undo_compaction switch pin forget edit retry fork fork_behind"
STEPS = st.lists(st.tuples(st.sampled_from(VERBS.split()), st.integers(0, 11)), max_size=14)
"""What is done, and to which turn or branch of those that there are."""


@dataclass(frozen=True)
class Read:
    """Turns by their number, and a summary before them."""

    turns: frozenset[int] = frozenset()
    summary: str | None = None


@dataclass(frozen=True)
class Way:
    """A branch as people think of it."""

    now: Read = Read()
    earlier: tuple[Read, ...] = ()
    pinned: frozenset[int] = frozenset()
    forgotten: frozenset[int] = frozenset()

    @property
    def shown(self) -> list[int]:
        """The turns that are read."""
        return sorted((self.now.turns | self.pinned) - self.forgotten)

    def holding(self, turn: int) -> "Way | None":
        """As it was when this turn stood in it."""
        if turn in self.now.turns:
            return self
        return replace(self, now=self.earlier[-1], earlier=self.earlier[:-1]).holding(turn) if self.earlier else None

    def until(self, turn: int) -> "Way":
        """Up to a turn."""
        now = replace(self.now, turns=frozenset(each for each in self.now.turns if each <= turn))
        return replace(self, now=now, earlier=(), pinned=frozenset(each for each in self.pinned if each <= turn))


@dataclass
class Talk:
    """A conversation, and what should be read of it."""

    table: Desk = field(default_factory=desk)
    ways: dict[str, Way] = field(default_factory=lambda: {"main": Way()})
    here: str = "main"
    said: list[tuple[Record, list[str]]] = field(default_factory=list)
    """The prompt of each turn, and its texts."""
    summaries: int = 0

    @property
    def way(self) -> Way:
        return self.ways[self.here]

    @way.setter
    def way(self, way: Way) -> None:
        self.ways[self.here] = way

    def _enter(self, reply: str, way: Way) -> None:
        """Go on under the name that a reply tells."""
        self.here = reply.partition(". ")[0].rpartition(" ")[2]
        assert self.here not in self.ways
        self.way = way

    def _grown(self, prompt: Record, *texts: str) -> None:
        self.way = replace(self.way, now=replace(self.way.now, turns=self.way.now.turns | {len(self.said)}))
        self.said.append((prompt, list(texts)))

    async def _answered(self, prompt: Record) -> None:
        """Answer a prompt, and compare what was read."""
        text, answer = prompt.message.rendered, f"answer {len(self.said)}"
        expected = [self.way.now.summary or "", *(each for turn in self.way.shown for each in self.said[turn][1]), text]
        self.table.model.lines.append(answer)
        async with self.table.harness.at_work():
            await self.table.harness.answered(prompt)
        assert [each.strip() for each in read_by(self.table.model.requests[-1])] == list(filter(None, expected))
        self._grown(prompt, str(text), answer)

    async def talk(self, _: int) -> None:
        """Say something that is answered."""
        await self._answered(await self.table.harness.say(f"prompt {len(self.said)}"))

    async def break_off(self, _: int) -> None:
        """Say something whose turn is stopped."""
        held = Held()
        self.table.model.lines.append(held)
        async with self.table.harness.at_work():
            prompt = await self.table.harness.say(f"prompt {len(self.said)}")
            await held.entered.wait()
            await self.table.harness.gateway.interrupt(prompt.session_id, by="Ada", reason="stopped")
        self._grown(prompt, str(prompt.message.rendered))

    async def take_back(self, _: int) -> None:
        """Say something that is cancelled before it starts: nobody reads it."""
        await self.table.harness.say("never mind")
        await self.table.give(f"/cancel {await self.table.stored()}")

    async def clear(self, _: int) -> None:
        await self.table.give("/clear")
        self.way = replace(self.way, now=Read(), earlier=(*self.way.earlier, self.way.now))

    async def undo(self, _: int) -> None:
        try:
            await self.table.give("/clear undo")
        except NotPossible:
            assert not self.way.earlier
        else:
            self._restore()

    def _restore(self) -> None:
        *earlier, before = self.way.earlier
        now = replace(before, turns=before.turns | self.way.now.turns)
        self.way = replace(self.way, now=now, earlier=tuple(earlier))

    async def compact(self, _: int) -> None:
        answered = [turn for turn in self.way.shown if len(self.said[turn][1]) == 2]
        try:
            await self.table.give("/compact")
        except NotPossible:
            assert len(answered) <= 2
            return
        self.summaries += 1
        summary = f"summary {self.summaries}"
        self.table.model.lines.append(summary)
        (asked,) = await self.table.waiting()
        async with self.table.harness.at_work():
            await self.table.harness.until(asked, MessageStatus.PROCESSED)
        kept = frozenset(each for each in self.way.now.turns if each >= answered[-2])
        self.way = replace(self.way, now=Read(kept, summary), earlier=(*self.way.earlier, self.way.now))

    async def undo_compaction(self, _: int) -> None:
        try:
            await self.table.give("/compact undo")
        except NotPossible:
            assert self.way.now.summary is None or not self.way.earlier
        else:
            self._restore()

    async def switch(self, n: int) -> None:
        name = list(self.ways)[n % len(self.ways)]
        await self.table.give(f"/branch switch {name}")
        self.here = name

    async def pin(self, n: int) -> None:
        if self.said:
            turn = n % len(self.said)
            await self.table.give(f"/pin {self.said[turn][0].session_n}")
            self.way = replace(self.way, pinned=self.way.pinned | {turn}, forgotten=self._remembered(turn))

    def _remembered(self, turn: int) -> frozenset[int]:
        """A turn that is pinned already stays as it is."""
        return self.way.forgotten - {turn}

    async def forget(self, n: int) -> None:
        if self.said:
            turn = n % len(self.said)
            await self.table.give(f"/forget {self.said[turn][0].session_n}")
            if turn in self.way.pinned:
                self.way = replace(self.way, pinned=self.way.pinned - {turn})
            else:
                self.way = replace(self.way, forgotten=self.way.forgotten | {turn})

    async def fork(self, _: int) -> None:
        if self.said:
            self._enter(await self.table.give("/fork"), replace(self.way, earlier=()))

    async def fork_behind(self, n: int) -> None:
        if found := self._held(n):
            turn, way = found
            self._enter(await self.table.give(f"/fork {self.said[turn][0].session_n}"), way.until(turn))

    async def edit(self, n: int) -> None:
        if found := self._held(n):
            turn, way = found
            line = f"/edit {self.said[turn][0].session_n} prompt {len(self.said)} instead"
            self._enter(await self.table.give(line), way.until(turn - 1))
            await self._answered(*await self.table.waiting())

    async def retry(self, n: int) -> None:
        if found := self._held(n):
            turn, way = found
            self._enter(await self.table.give(f"/retry {self.said[turn][0].session_n}"), way.until(turn - 1))
            await self._answered(*await self.table.waiting())

    def _held(self, n: int) -> tuple[int, Way] | None:
        """A turn that stands on this branch, or stood there before something was cleared."""
        held = {turn: way for turn in range(len(self.said)) if (way := self.way.holding(turn))}
        return list(held.items())[n % len(held)] if held else None


async def play(steps: list[tuple[str, int]]) -> None:
    talk = Talk()
    talk.table.harness.replays = False  # once, at the end
    stored: dict[str, object] = {}
    await talk.talk(0)
    for verb, n in steps:
        await getattr(talk, verb)(n)
        now = {each.id: each.message.rendered for each in await talk.table.harness.session(talk.said[0][0])}
        assert stored.items() <= now.items()
        stored = now
    await talk.talk(0)
    await talk.table.harness.check_replays(again=True)


@settings(max_examples=25)
@given(STEPS)
def test_whatever_is_done_the_model_reads_what_it_should(steps: list[tuple[str, int]]) -> None:
    """Nothing is lost from the database, and every request can be made again (C-16, D-051, R-6)."""
    asyncio.run(play(steps))

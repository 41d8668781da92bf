"""What every adapter must do, as a pytest class: subclass it, name the adapter, give the fixture `rig`, change nothing.

    class TestDiscord(AdapterContract):
        adapter_name = "discord"

        @pytest_asyncio.fixture
        async def rig(self) -> AsyncIterator[Rig]:
            async with LoopbackDiscord() as server:
                yield DiscordRig(server)

The rig is the platform's side: a loopback server that the adapter's real client library talks to, and the people on it.
Tests are skipped by declared capabilities and by nothing else.
"""

# ruff: noqa: S101 - a contract is made of assertions

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from kesoku.adapter import (
    AdapterConfig,
    Deletes,
    Edits,
    Finds,
    Live,
    Outgoing,
    Presentation,
    RenderContext,
    ShowsDrafts,
    Typing,
)
from kesoku.adapter.question import Approvals
from kesoku.messages import make
from kesoku.messages.content import Question
from kesoku.messages.enums import MessageStatus
from kesoku.messages.record import Record
from kesoku.plugins import ADAPTERS, names
from kesoku.render import MINIMUM_LIMIT
from kesoku.testing.rig import Rig, Stage, begin, count, gone, needs, prompts, said, seen, settled, types
from kesoku.testing.waiting import PATIENCE, until

_MADE: dict[str, Callable[[str], Any]] = {
    "thought": lambda text: make.thought(text, provider="p", model="m"),
    "tool_call": lambda text: make.tool_call(text, {}, provider="p", model="m"),
    "notice": lambda text: make.notice(text, reason="status"),
}
_PROTOCOLS: dict[str, type] = {
    "edits": Edits,
    "deletes": Deletes,
    "typing": Typing,
    "find": Finds,
    "live": Live,
}
_LONG = "\n\n".join(f"Paragraph {n} says 🎸 and ends here." for n in range(40))
_FENCED = "```python\n" + "\n".join(f"print({n})" for n in range(400)) + "\n```"


def without_contract(contracts: Iterable[type["AdapterContract"]], installed: Iterable[str] | None = None) -> list[str]:
    """The installed adapters that none of these classes tests. A test asserts that there are none."""
    tested = {each.adapter_name for each in contracts}
    return sorted(set(names(ADAPTERS) if installed is None else installed) - tested)


def weakened(contract: type["AdapterContract"]) -> list[str]:
    """What a subclass took away from the contract: tests that it replaced, and marks on them or on itself."""
    own = [name for name in vars(AdapterContract) if name.startswith("test_")]
    changed = [name for name in own if getattr(contract, name, None) is not vars(AdapterContract)[name]]
    return changed + (["pytestmark"] if getattr(contract, "pytestmark", None) else [])


class AdapterContract:
    """The behaviour of an adapter between the core and its platform."""

    adapter_name: ClassVar[str] = ""

    def __init_subclass__(cls, **facts: Any) -> None:
        """Raises TypeError when a subclass replaces a test."""
        super().__init_subclass__(**facts)
        if taken := weakened(cls):
            raise TypeError(f"{cls.__name__} must leave the contract as it is: {', '.join(taken)}")

    @pytest.fixture
    def runner(self, rig: Rig, tmp_path: Path) -> Stage:
        """Starts and restarts the side of the bot."""
        return Stage(rig, tmp_path)

    def test_nothing_was_taken_out_of_the_contract(self) -> None:
        """Also what was changed after the class was made."""
        assert weakened(type(self)) == []

    async def test_the_manifest_promises_what_the_adapter_has(self, rig: Rig) -> None:
        """A declared capability has its methods, and the limits make sense."""
        manifest, adapter = rig.manifest, rig.adapter()
        can = manifest.capabilities
        assert manifest.name == self.adapter_name
        assert issubclass(manifest.config, AdapterConfig)
        assert can.max_text >= MINIMUM_LIMIT
        assert can.max_file > 0 or not can.media_out
        promised = [name for name in _PROTOCOLS if getattr(can, name)]
        assert [name for name in promised if not isinstance(adapter, _PROTOCOLS[name])] == []
        assert not can.drafts or can.live or isinstance(adapter, ShowsDrafts)

    async def test_what_a_person_says_becomes_one_prompt(self, rig: Rig, runner: Stage) -> None:
        """K-190..K-193."""
        async with runner.running() as bot:
            key = await rig.say("room", "hello bot", by=rig.person)
            (record,) = await prompts(bot, 1)
            assert record.address == rig.address("room")
            assert "hello bot" in record.message.rendered
            assert record.status is MessageStatus.PENDING_AGENT
            assert record.message.user_id == rig.person
            if not rig.manifest.capabilities.local:
                await rig.say("room", "hello bot", by=rig.person, key=key)
                await rig.say("room", "and now", by=rig.person)
                assert (await prompts(bot, 2))[0].id == record.id

    async def test_an_answer_is_shown_and_then_delivered(self, rig: Rig, runner: Stage) -> None:
        """K-131, K-194..K-197."""
        async with runner.running() as bot:
            claim = await begin(rig, bot)
            answer = await bot.finish(claim, "the answer is 42")
            await settled(bot, answer)
            assert await count(rig, "the answer is 42") == 1

    async def test_answers_come_in_order(self, rig: Rig, runner: Stage) -> None:
        """K-153, also for what waited while the adapter was down."""
        await runner.gateway.post(runner.answer("first answer"))
        async with runner.running() as bot:
            for text in ("second answer", "third answer"):
                last = await bot.gateway.post(runner.answer(text))
            await settled(bot, last)
            order = [text for text in await rig.shown("room") if "answer" in text]
            assert [each.split("answer")[0].split()[-1] for each in order] == ["first", "second", "third"]

    async def test_nothing_is_sent_again_after_a_restart(self, rig: Rig, runner: Stage) -> None:
        """K-154, K-158."""
        async with runner.running() as bot:
            await settled(bot, await bot.gateway.post(runner.answer("only once")))
        async with runner.running() as bot:
            await settled(bot, await bot.gateway.post(runner.answer("later")))
            assert await count(rig, "only once") == 1

    @pytest.mark.parametrize("text", ["short", _LONG, _FENCED, "🎸" * 5000, "x" * 5000, "a\n\n" * 900])
    async def test_rendering_is_pure_and_within_the_limit(self, rig: Rig, text: str) -> None:
        """K-150, the limit; whether the text is complete is shown by the tests of each dialect."""
        adapter, can = rig.adapter(), rig.manifest.capabilities
        message = make.answer(text, provider="p", model="m")
        record = Record(
            message=message, address=rig.address("room"), session_id="s", status=MessageStatus.PENDING, turn_id="t"
        )
        parts = adapter.render(record, RenderContext(files={}))
        assert parts == adapter.render(record, RenderContext(files={}))
        assert [each for each in parts if can.unit.size(each.text) > can.max_text] == []
        assert any(each.text.strip() for each in parts)

    @pytest.mark.parametrize("kind", ["thought", "tool_call", "notice"])
    async def test_each_kind_is_presented_as_the_column_says(self, rig: Rig, runner: Stage, kind: str) -> None:
        """K-198..K-205, K-210..K-213; complaint 79."""
        async with runner.running() as bot:
            claim = await begin(rig, bot)
            record = await bot.say(claim, _MADE[kind]("m4rk"))
            await settled(bot, record)
            presented = getattr(rig.manifest.visibility, kind)
            if presented is Presentation.HIDDEN:
                await settled(bot, await bot.finish(claim, "done"))
                assert await count(rig, "m4rk") == 0
            else:
                await seen(rig, "m4rk")

    async def test_a_result_is_presented_as_the_column_says(self, rig: Rig, runner: Stage) -> None:
        """K-206..K-209, K-159."""
        async with runner.running() as bot:
            claim = await begin(rig, bot)
            made = make.tool_call("look", {}, provider="p", model="m")
            call = await bot.say(claim, made)
            await settled(bot, call)
            answered, result = make.respond(made, "r3sult")
            record = await bot.gateway.respond(claim.fence, call, result, answered)
            await settled(bot, record)
            match rig.manifest.visibility.tool_result:
                case Presentation.HIDDEN:
                    await settled(bot, await bot.finish(claim, "done"))
                    assert await count(rig, "r3sult") == 0
                case Presentation.SHOWN:
                    await seen(rig, "r3sult")
                case _:
                    await seen(rig, "✅")

    async def test_a_reply_notice_is_shown_everywhere(self, rig: Rig, runner: Stage) -> None:
        """C-28, K-220."""
        async with runner.running() as bot:
            await begin(rig, bot)
            notice = make.notice("you are queued", reason="reply")
            record = await bot.gateway.post(replace(runner.answer(""), message=notice))
            await settled(bot, record)
            await seen(rig, "you are queued")

    async def test_a_question_is_answered(self, rig: Rig, runner: Stage) -> None:
        """By a button where there are buttons, else by its number."""
        async with runner.running() as bot:
            claim = await begin(rig, bot)
            call = await bot.say(claim, make.tool_call("rm", {}, provider="p", model="m"))
            question = Question(id="q1", text="Shall I remove it?", choices=("yes", "no"))
            asking = asyncio.create_task(Approvals(bot.store, bot.clock).ask(question, call=call, admins_only=False))
            await seen(rig, "Shall I remove it?")
            await rig.choose("room", "no", by=rig.person)
            assert await asyncio.wait_for(asking, PATIENCE) == "no"

    async def test_nothing_of_an_interrupted_turn_stays_live(self, rig: Rig, runner: Stage) -> None:
        """K-246."""
        async with runner.running() as bot:
            claim = await begin(rig, bot)
            await settled(bot, await bot.say(claim, _MADE["thought"]("m4rk")))
            await bot.gateway.interrupt(claim.prompt.session_id, by="test", reason="stopped")
            live = {Presentation.LIVE, Presentation.FOLDED}
            if rig.manifest.visibility.thought in live and rig.manifest.capabilities.deletes:
                await until(lambda: gone(rig, "m4rk"), what="the live status goes")

    async def test_what_was_said_while_the_bot_was_down_comes_in(self, rig: Rig, runner: Stage) -> None:
        """Each message once, and none of them interrupts another."""
        needs(rig, rig.manifest.capabilities.catch_up, "catching up")
        async with runner.running() as bot:
            await rig.say("room", "before", by=rig.person)
            await prompts(bot, 1)
        for text in ("meanwhile one", "meanwhile two"):
            await rig.say("room", text, by=rig.person)
        async with runner.running() as bot:
            found = await prompts(bot, 3)
            for text, record in zip(("meanwhile one", "meanwhile two"), found[1:], strict=True):
                assert text in record.message.rendered
            assert {each.superseded_turn for each in found[1:]} == {None}

    async def test_it_ends_when_cancelled_and_runs_again(self, rig: Rig, runner: Stage) -> None:
        """`run` is resumable."""
        for text in ("one", "two"):
            async with runner.running() as bot:
                await rig.say("room", f"message {text}", by=rig.person)
                await said(bot, f"message {text}")

    async def test_a_stranger_is_told_how_to_get_in_and_nothing_is_kept(self, rig: Rig, runner: Stage) -> None:
        """N-21; complaint 163."""
        needs(rig, not rig.manifest.capabilities.local, "a gate")
        async with runner.running() as bot:
            await rig.say("room", "let me in", by=rig.stranger)
            await seen(rig, rig.stranger)
            await rig.say("room", "hello", by=rig.person)
            assert [each for each in await prompts(bot, 1) if "let me in" in each.message.rendered] == []

    async def test_a_bot_is_not_heard(self, rig: Rig, runner: Stage) -> None:
        """Complaints 105 to 107."""
        needs(rig, not rig.manifest.capabilities.local, "other bots")
        async with runner.running() as bot:
            await rig.say("room", "beep", by=rig.person, bot=True)
            await rig.say("room", "hello", by=rig.person)
            assert [each for each in await prompts(bot, 1) if "beep" in each.message.rendered] == []

    @pytest.mark.parametrize("kind", ["retry", "arrived", "lost"])
    async def test_a_failed_send_is_made_good(self, rig: Rig, runner: Stage, kind: str) -> None:
        """K-152, N-02: once where the platform can tell, at most twice elsewhere."""
        can = rig.manifest.capabilities
        needs(rig, not can.local, "a network")
        async with runner.running() as bot:
            await begin(rig, bot)
            await rig.fail("room", kind)
            record = await bot.gateway.post(runner.answer("made good"))
            await settled(bot, record)
            blind = kind == "arrived" and not can.key_window and not can.find
            assert await count(rig, "made good") in ({1, 2} if blind else {1})

    async def test_a_refusal_ends_in_error(self, rig: Rig, runner: Stage) -> None:
        """N-01; complaint 37."""
        needs(rig, not rig.manifest.capabilities.local, "a network")
        async with runner.running() as bot:
            await begin(rig, bot)
            await rig.fail("room", "refuse")
            record = await bot.gateway.post(runner.answer("never seen"))
            await settled(bot, record, MessageStatus.ERROR)
            assert await count(rig, "never seen") == 0

    async def test_typing_is_on_during_a_turn_and_off_before_its_answer(self, rig: Rig, runner: Stage) -> None:
        """K-155; complaints 91 to 93."""
        needs(rig, rig.manifest.capabilities.typing, "typing")
        async with runner.running() as bot:
            claim = await begin(rig, bot)
            await until(lambda: types(rig), what="typing is on")
            await settled(bot, await bot.finish(claim, "done"))
            await asyncio.sleep(0.05)  # long enough for a call that should not come
            assert (await rig.typing("room"))[-1] is False

    async def test_a_live_status_shows_the_turn_and_goes_with_the_answer(self, rig: Rig, runner: Stage) -> None:
        """K-157, K-159, K-237."""
        needs(rig, rig.manifest.capabilities.live, "a live status")
        async with runner.running() as bot:
            claim = await begin(rig, bot)
            call = await bot.say(claim, make.tool_call("search", {"q": "m4rk"}, provider="p", model="m"))
            await seen(rig, "search")
            before = len(await rig.shown("room"))
            await settled(bot, await bot.respond(claim, call))
            assert len(await rig.shown("room")) == before
            await settled(bot, await bot.finish(claim, "done"))
            await seen(rig, "done")

    async def test_an_edit_and_a_deletion_change_what_is_shown(self, rig: Rig, runner: Stage) -> None:
        """Deleting what is gone is fine."""
        can = rig.manifest.capabilities
        needs(rig, can.edits, "edits")
        async with runner.running() as bot:
            await begin(rig, bot)
            sent = await bot.adapter.send(rig.address("room"), Outgoing(text="before"), "key-of-an-edit")
            await bot.adapter.edit(rig.address("room"), sent.platform_ids[0], Outgoing(text="behind"))
            await seen(rig, "behind")
            assert await count(rig, "before") == 0
            if can.deletes:
                for _ in range(2):
                    await bot.adapter.delete(rig.address("room"), sent.platform_ids[0])
                assert await count(rig, "behind") == 0

    async def test_a_key_is_honoured_or_can_be_looked_up(self, rig: Rig, runner: Stage) -> None:
        """N-02."""
        can = rig.manifest.capabilities
        needs(rig, bool(can.key_window or can.find), "send keys")
        async with runner.running() as bot:
            await begin(rig, bot)
            address, since = rig.address("room"), bot.clock.now() / 1e6 - 60
            first = await bot.adapter.send(address, Outgoing(text="keyed"), "abcdefghijklmnopqrstuvwx")
            if can.find:
                sent, other = Outgoing(text="keyed"), Outgoing(text="never sent")
                assert first in await bot.adapter.find(address, sent, "abcdefghijklmnopqrstuvwx", since)
                assert not await bot.adapter.find(address, other, "zzzzzzzzzzzzzzzzzzzzzzzz", since)
            if can.key_window:
                again = await bot.adapter.send(address, Outgoing(text="keyed"), "abcdefghijklmnopqrstuvwx")
                assert again.platform_ids == first.platform_ids
                assert await count(rig, "keyed") == 1

    async def test_a_file_is_sent_by_name(self, rig: Rig, runner: Stage) -> None:
        """K-151; a path outside of the workspace is named and not sent."""
        needs(rig, rig.manifest.capabilities.media_out, "files")
        async with runner.running() as bot:
            claim = await begin(rig, bot)
            (bot.workspace / "plot.txt").write_text("data")
            text = "Here it is.\n\n[file: plot.txt]\n\n[file: /etc/hostname]"
            await settled(bot, await bot.finish(claim, text))
            await seen(rig, "Here it is.")
            await seen(rig, "plot.txt")
            await seen(rig, "hostname")

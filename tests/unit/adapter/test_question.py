"""Questions and approvals, over processes and restarts."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kesoku.adapter import Address, Pressed, Principal, Prompt, Question
from kesoku.adapter.access import Access
from kesoku.adapter.pairing import Pairing, new_code
from kesoku.adapter.question import Approvals, match_answer, match_press
from kesoku.app.consent import Consent
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.messages.record import Record
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import settle
from kesoku.testing.faulty_store import LOCKED, FaultyStore
from kesoku.testing.platform import Fault
from kesoku.testing.recording import RecordingAdapter

ROOM = Address(chatbot_id="recording", channel_id="c")
ADA = Principal(user_id="ada", display_name="Ada")
EVE = Principal(user_id="eve", display_name="Eve")
ACCESS = Access(allow=("everyone",), admins=("user:ada",))
CHOICES = ("yes", "no", "always")


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("1", "yes"),
        ("３", "always"),
        (" 2. ", "no"),
        ("YES", "yes"),
        ("y", "yes"),
        ("n", "no"),
        ("No!", "no"),
        ("a", "always"),
        ("ok", "yes"),
        ("0", None),
        ("4", None),
        ("-1", None),
        ("9999999999999", None),
        ("yes please", None),
        ("no, do something else", None),
        ("", None),
        ("x", None),
    ],
)
def test_what_answers_a_question(text: str, choice: str | None) -> None:
    assert match_answer(text, CHOICES) == choice


def test_an_initial_that_fits_two_choices_answers_nothing() -> None:
    assert match_answer("a", ("allow", "always", "deny")) is None
    assert match_answer("y", ("allow", "always", "deny")) == "allow"
    assert match_answer("n", ("allow", "always", "deny")) == "deny"


@given(st.text(), st.lists(st.text(min_size=1), max_size=4, unique=True))
def test_the_result_is_a_choice_or_nothing(text: str, choices: list[str]) -> None:
    found = match_answer(text, choices)
    assert found is None or found in choices


async def running_call(world: Any, runner: AdapterRunner, tool: str = "rm") -> Record:
    world.platform.say("c", "go")
    await settle()
    claim = await runner.claim()
    return await runner.say(claim, make.tool_call(tool, {}, provider="p", model="m"))


def ask(world: Any, call: Record, *, admins: bool = False, name: str = "q1") -> "asyncio.Task[str | None]":
    question = Question(id=name, text=f"May I run {call.message.content.tool}?", choices=CHOICES)
    approvals = Approvals(world.store, world.clock, patience=60)
    return asyncio.create_task(approvals.ask(question, call=call, admins_only=admins))


def said(text: str, by: Principal = ADA, key: str = "a1") -> Prompt:
    return Prompt(keys=(key,), address=ROOM, principal=by, text=text)


def pressed(value: str, by: Principal = ADA, key: str = "b1", token: str = "q1") -> Pressed:
    return Pressed(key=key, address=ROOM, principal=by, token=token, value=value)


async def test_a_question_is_shown_and_answered_by_number(world: Any, quiet: Any) -> None:
    async with world.runner(access=ACCESS) as runner:
        call = await running_call(world, runner)
        waiting = ask(world, call)
        await quiet(runner)
        assert world.platform.texts("c")[-1] == "May I run rm?\n1. yes\n2. no\n3. always"
        world.platform.say("c", "2")
        await settle()
        assert await waiting == "no"
        asked = await world.store.read(lambda tx: tx.questions.get("q1"))
        assert (asked.answer, asked.answered_by, asked.purpose["tool"]) == ("no", "user:ada", "rm")
        prompts = [each for each in await prompts_of(runner, call) if each.message.rendered == "2"]
        assert prompts == []  # the answer is no prompt, so it interrupts nothing


async def prompts_of(runner: AdapterRunner, record: Record) -> list[Record]:
    rows = await runner.store.read(lambda tx: tx.messages.session(record.session_id))
    return [each for each in rows if each.kind == "user_prompt"]


async def test_a_redelivered_answer_is_not_a_prompt_either(world: Any) -> None:
    runner = world.runner(access=ACCESS)
    async with runner:
        call = await running_call(world, runner)
        waiting = ask(world, call)
        await settle()
        (notice,) = await runner.inbox.accept([said("y")])
        assert await waiting == "yes"
        assert [each.id for each in await runner.inbox.accept([said("y")])] == [notice.id]
        assert len(await prompts_of(runner, call)) == 1


async def test_a_button_answers_once_and_a_stale_press_is_told_so(world: Any, quiet: Any) -> None:
    async with world.runner(access=ACCESS, buttons=True) as runner:
        call = await running_call(world, runner)
        waiting = ask(world, call)
        await quiet(runner)
        assert world.platform.shown("c")[-1].buttons == CHOICES
        first, second = await asyncio.gather(
            runner.inbox.accept([pressed("yes")]), runner.inbox.accept([pressed("no", EVE, "b2")])
        )
        assert await waiting == "yes"
        assert first[0].message.content.question is not None
        assert second[0].message.rendered == "This question is no longer open."
        assert await runner.inbox.accept([pressed("yes")]) == []  # redelivered
        (told,) = await runner.inbox.accept([pressed("yes", key="b3", token="nothing")])
        assert told.message.rendered == "This button is no longer in use."
        (told,) = await runner.inbox.accept([pressed("forged", key="b4")])
        assert told.message.rendered == "This button is no longer in use."


async def test_a_question_is_answered_in_its_channel_and_nowhere_else(world: Any, quiet: Any) -> None:
    """Who may talk elsewhere only, and forges the id of a button, decides nothing here."""
    async with world.runner(access=ACCESS, buttons=True) as runner:
        waiting = ask(world, await running_call(world, runner))
        await quiet(runner)
        runner.inbox.access = Access(allow=("channel:elsewhere",))
        forged = replace(pressed("yes", EVE), address=replace(ROOM, channel_id="elsewhere"))
        (told,) = await runner.inbox.accept([forged])
        assert told.message.rendered == "This button is no longer in use."
        assert not waiting.done()
        waiting.cancel()


async def test_only_an_admin_answers_where_admins_are_asked(world: Any) -> None:
    # N-17; complaint 165
    async with world.runner(access=ACCESS) as runner:
        call = await running_call(world, runner)
        waiting = ask(world, call, admins=True)
        await settle()
        for event in (said("y", EVE, "e1"), pressed("yes", EVE, "e2")):
            (told,) = await runner.inbox.accept([event])
            assert told.message.rendered == "Only an admin may answer this question."
        assert not waiting.done()
        await runner.inbox.accept([said("y")])
        assert await waiting == "yes"


async def test_the_deadline_means_no(world: Any) -> None:
    # complaint 165
    async with world.runner(access=ACCESS) as runner:
        call = await running_call(world, runner)
        waiting = ask(world, call)
        await settle()
        await world.clock.advance(59)
        assert not waiting.done()
        await world.clock.advance(2)
        assert await waiting is None
        (told,) = await runner.inbox.accept([pressed("yes")])
        assert told.message.rendered == "This question is no longer open."
        asked = await world.store.read(lambda tx: tx.questions.get("q1"))
        assert (asked.answer, asked.answered_by) == ("", "deadline")


async def test_always_is_remembered_for_the_session_and_the_tool(world: Any) -> None:
    async with world.runner(access=ACCESS) as runner:
        call = await running_call(world, runner)
        waiting = ask(world, call)
        await settle()
        await runner.inbox.accept([said("always")])
        assert await waiting == "always"
        assert await ask(world, call, name="q2") == "always"
        other = await runner.say((await claim_of(runner, call)), make.tool_call("mv", {}, provider="p", model="m"))
        waiting = ask(world, other, name="q3")
        await settle()
        assert not waiting.done()
        waiting.cancel()


async def claim_of(runner: AdapterRunner, call: Record) -> Any:
    from kesoku.messages.lifecycle import Claim, Fence

    def read(tx: Any) -> Claim:
        lease, prompt = tx.leases.get(call.session_id), tx.messages.get(call.turn_id)
        fence = Fence(session_id=call.session_id, owner=lease.owner, generation=lease.generation)
        return Claim(prompt=prompt, fence=fence)

    return await runner.store.read(read)


async def test_always_counts_for_what_waits_behind_it(world: Any, quiet: Any) -> None:
    async with world.runner(access=ACCESS) as runner:
        call = await running_call(world, runner)
        approvals = Approvals(world.store, world.clock)
        questions = [Question(id=f"q{n}", text=f"question {n}", choices=CHOICES) for n in range(3)]
        tasks = [asyncio.create_task(approvals.ask(each, call=call, admins_only=False)) for each in questions]
        await quiet(runner)
        await runner.inbox.accept([said("always")])
        assert [await task for task in tasks] == ["always"] * 3
        assert len([text for text in world.platform.texts("c") if text.startswith("question")]) == 1


async def test_always_does_not_allow_what_was_refused_before(world: Any) -> None:
    async with world.runner(access=ACCESS) as runner:
        call = await running_call(world, runner)
        for name, choice in (("q1", "no"), ("q2", "always")):
            waiting = ask(world, call, name=name)
            await settle()
            await runner.inbox.accept([said(choice, key=name)])
            assert await waiting == choice
        assert [await ask(world, call, name=name) for name in ("q1", "q2", "q3")] == ["no", "always", "always"]


@pytest.mark.parametrize(("allowed", "by"), [("always", "earlier"), ("yes", "--yes")])
async def test_a_question_that_needs_no_answer_any_more_has_one(world: Any, allowed: str, by: str) -> None:
    """A call that began with its question open would run once more after the next crash."""
    async with world.runner(access=ACCESS) as runner:
        call = await running_call(world, runner)
        waiting = ask(world, call)
        await settle()
        waiting.cancel()  # by a restart
        if allowed == "yes":
            people = Approvals(world.store, world.clock)
            question = Question(id="q1", text="May I?", choices=CHOICES)
            assert await Consent(people, people.waive).ask(question, call=call, admins_only=False) == "yes"
        else:
            await world.store.write(
                lambda tx: tx.state.set(f"approvals:{call.session_id}", call.message.content.tool, {"question": "q0"})
            )
            assert await ask(world, call) == "always"
        asked = await world.store.read(lambda tx: tx.questions.get("q1"))
        assert (asked.answer, asked.answered_by) == (allowed, by)


async def test_a_question_outlives_the_process_that_asked(world: Any, quiet: Any) -> None:
    async with world.runner(access=ACCESS) as runner:
        call = await running_call(world, runner)
        waiting = ask(world, call)
        await quiet(runner)
        waiting.cancel()
    async with world.runner(access=ACCESS) as runner:
        again = ask(world, call)
        await quiet(runner)
        assert len([text for text in world.platform.texts("c") if "May I" in text]) == 1
        await runner.inbox.accept([said("n")])
        assert await again == "no"
        assert await ask(world, call) == "no"


async def test_questions_of_one_channel_come_one_by_one(world: Any, quiet: Any) -> None:
    async with world.runner(access=ACCESS) as runner:
        call = await running_call(world, runner)
        approvals = Approvals(world.store, world.clock)
        tasks = [
            asyncio.create_task(
                approvals.ask(Question(id=f"q{n}", text=f"question {n}", choices=CHOICES), call=call, admins_only=False)
            )
            for n in range(3)
        ]
        for n, text in enumerate(("y", "n", "y")):
            await quiet(runner)
            assert world.platform.texts("c")[-1].startswith(f"question {n}")
            await runner.inbox.accept([said(text, key=f"a{n}")])
        assert [await task for task in tasks] == ["yes", "no", "yes"]


async def test_a_question_of_an_interrupted_turn_is_closed_and_not_shown_any_more(world: Any, quiet: Any) -> None:
    async with world.runner(access=ACCESS) as runner:
        call = await running_call(world, runner)
        world.platform.script("c", Fault(kind="retry", seconds=30.0))
        first = await runner.answer("c", "first")
        waiting = ask(world, call)
        await settle()
        world.platform.say("c", "something else entirely")
        await settle()
        await world.clock.advance(31)
        await quiet(runner)
        assert await runner.status(first) is S.DELIVERED
        assert not [text for text in world.platform.texts("c") if "May I" in text]
        (told,) = await runner.inbox.accept([pressed("yes")])
        assert told.message.rendered == "This question is no longer open."
        waiting.cancel()


BUTTONS: dict[str, Any] = {"buttons": True, "edits": True}


async def test_the_buttons_go_when_it_is_answered(world: Any, quiet: Any) -> None:
    async with world.runner(access=ACCESS, **BUTTONS) as runner:
        waiting = ask(world, await running_call(world, runner))
        await quiet(runner)
        assert world.platform.shown("c")[-1].buttons == CHOICES
        await runner.inbox.accept([Pressed(key="b", address=ROOM, principal=ADA, token="q1", index=1)])
        assert await waiting == "no"
        await settle()
        shown = world.platform.shown("c")[-1]
        assert (shown.text, shown.buttons, shown.edits) == ("May I run rm?\n→ no (user:ada)", (), 1)
        assert await runner.inbox.state.get("kesoku:questions") is None
        await world.clock.advance(60)
        assert world.platform.shown("c")[-1].edits == 1


async def test_the_buttons_go_when_the_deadline_passes(world: Any, quiet: Any) -> None:
    async with world.runner(access=ACCESS, **BUTTONS) as runner:
        waiting = ask(world, await running_call(world, runner))
        await quiet(runner)
        await world.clock.advance(61)
        assert await waiting is None
        await settle()
        assert world.platform.texts("c")[-1] == "May I run rm?\n→ over (deadline)"


async def test_the_buttons_go_when_the_turn_ends(world: Any, quiet: Any) -> None:
    async with world.runner(access=ACCESS, **BUTTONS) as runner:
        call = await running_call(world, runner)
        waiting = ask(world, call)
        await quiet(runner)
        await world.gateway.interrupt(call.session_id, by="ada", reason="stopped")
        await settle()
        assert world.platform.texts("c")[-1] == "May I run rm?\n→ over (the turn ended)"
        waiting.cancel()


async def test_the_buttons_of_a_question_that_ended_while_nobody_served_go_at_the_next_start(
    world: Any, quiet: Any
) -> None:
    async with world.runner(access=ACCESS, **BUTTONS) as runner:
        waiting = ask(world, await running_call(world, runner))
        await quiet(runner)
        waiting.cancel()
    await world.clock.advance(61)
    async with world.runner(access=ACCESS, **BUTTONS) as runner:
        await settle()
        assert world.platform.shown("c")[-1].buttons == ()
        assert await runner.inbox.state.get("kesoku:questions") is None


async def test_the_buttons_go_though_the_process_died_when_the_question_was_just_out(world: Any) -> None:
    store = FaultyStore(world.store, world.clock)

    def asked() -> bool:
        return any("May I" in text for text in world.platform.texts("c"))

    store.plan = lambda name: LOCKED if name == "QuestionBoard._note" and asked() else None
    async with world.runner(store=store, access=ACCESS, **BUTTONS) as runner:
        waiting = ask(world, await running_call(world, runner))
        await settle()
        await settle()
        assert world.platform.shown("c")[-1].buttons == CHOICES
        waiting.cancel()
    await world.clock.advance(61)
    async with world.runner(access=ACCESS, **BUTTONS):
        await settle()
        assert world.platform.shown("c")[-1].buttons == ()


async def test_the_buttons_go_after_failures_that_pass_and_stay_where_the_platform_refuses(
    world: Any, quiet: Any
) -> None:
    async with world.runner(access=ACCESS, **BUTTONS) as runner:
        call = await running_call(world, runner)
        world.platform.script("edit c", Fault(kind="retry", seconds=9.0), Fault(kind="bug"))
        waiting = ask(world, call)
        await quiet(runner)
        await runner.inbox.accept([pressed("yes")])
        await waiting
        await settle()
        assert world.platform.shown("c")[-1].buttons == CHOICES
        await world.clock.advance(30)
        assert world.platform.shown("c")[-1].buttons == ()
        world.platform.script("edit c", Fault(kind="refuse"))
        waiting = ask(world, call, name="q2")
        await quiet(runner)
        await runner.inbox.accept([pressed("yes", key="b2", token="q2")])
        await waiting
        await world.clock.advance(600)
        assert world.platform.shown("c")[-1].edits == 0


async def test_a_platform_that_is_away_is_waited_for(world: Any, quiet: Any) -> None:
    async with world.runner(access=ACCESS, **BUTTONS) as runner:
        call = await running_call(world, runner)
        world.platform.script("edit c", *[Fault(kind="retry")] * 8)
        waiting = ask(world, call)
        await quiet(runner)
        await runner.inbox.accept([pressed("yes")])
        assert await waiting == "yes"
        await world.clock.advance(60)
        assert world.platform.shown("c")[-1].buttons == CHOICES
        await world.clock.advance(600)
        assert world.platform.shown("c")[-1].buttons == ()


async def test_a_drawing_that_fails_for_good_is_given_up(world: Any, quiet: Any) -> None:
    async with world.runner(access=ACCESS, **BUTTONS) as runner:
        call = await running_call(world, runner)
        world.platform.script("edit c", *[Fault(kind="bug")] * 5)
        waiting = ask(world, call)
        await quiet(runner)
        await runner.inbox.accept([pressed("yes")])
        assert await waiting == "yes"
        await world.clock.advance(600)
        assert world.platform.shown("c")[-1].buttons == CHOICES
        assert await runner.inbox.state.get("kesoku:questions") is None


async def test_a_press_of_a_button_that_is_left_over_takes_it_away(world: Any, quiet: Any) -> None:
    async with world.runner(access=ACCESS, **BUTTONS) as runner:
        world.platform.script("edit c", Fault(kind="refuse"))
        waiting = ask(world, await running_call(world, runner))
        await quiet(runner)
        await runner.inbox.accept([pressed("yes")])
        await waiting
        await settle()
        assert world.platform.shown("c")[-1].buttons == CHOICES
        await runner.inbox.accept([pressed("no", key="b2")])
        await settle()
        asked = next(each for each in world.platform.shown("c") if "May I" in each.text)
        assert (asked.text, asked.buttons) == ("May I run rm?\n→ yes (user:ada)", ())


async def test_a_guest_may_answer_what_everybody_may(world: Any, quiet: Any) -> None:
    async with world.runner(access=Access(admins=("user:ada",)), buttons=True) as runner:
        code = new_code()
        welcome, at = make.notice("in", reason="reply"), world.clock.now()

        def let_in(tx: Any) -> None:
            Pairing(tx, "recording").offer(EVE, "c", code, at)
            Pairing(tx, "recording").admit(code, by="owner", welcome=welcome, at=at)

        call = await running_call(world, runner)
        await world.store.write(let_in)
        waiting = ask(world, call)
        await quiet(runner)
        await runner.inbox.accept([pressed("yes", EVE)])
        assert await waiting == "yes"


@pytest.mark.parametrize(("index", "choice"), [(0, "yes"), (2, "always"), (3, None), (-1, None)])
def test_a_press_by_index_needs_no_value(index: int, choice: str | None) -> None:
    event = Pressed(key="k", address=ROOM, principal=ADA, token="q", value="forged", index=index)
    assert match_press(event, CHOICES) == choice


async def test_other_words_are_a_prompt_as_ever(world: Any) -> None:
    async with world.runner(access=ACCESS) as runner:
        call = await running_call(world, runner)
        waiting = ask(world, call)
        await settle()
        (record,) = await runner.inbox.accept([said("yes, but first tell me why")])
        assert record.kind == "user_prompt"
        assert not waiting.done()
        waiting.cancel()


class Interactive(RecordingAdapter):
    """Answers presses by itself."""

    async def answer(self, event: Any, text: str) -> None:
        self.hooks.append((event.key, text))


async def test_a_press_is_confirmed_where_the_platform_wants_it(world: Any) -> None:
    async with world.runner(access=ACCESS, kind=Interactive) as runner:
        waiting = ask(world, await running_call(world, runner))
        await settle()
        await runner.inbox.accept([pressed("yes")])
        await runner.inbox.accept([pressed("no", key="b2")])
        assert await waiting == "yes"
        answered = [each for each in runner.adapter.hooks if each[0] != "delivered"]
        assert answered == [("b1", "Ada: yes"), ("b2", "This question is no longer open.")]

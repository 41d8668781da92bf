"""Budgets: a step that cannot be paid is not begun, one that can hardly be paid is kept short."""

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from kesoku.agent.budget import MINIMAL, Budget
from kesoku.agent.limits import TurnLimits
from kesoku.messages.price import Price, nano
from kesoku.messages.turn import CompiledRequest, Finish, Reply, Usage
from kesoku.store import SqlStore
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.model import ScriptedModel, call, reply, thought

from .asking import OFFLINE, answer_to, look

PRICE = Price(prompt=nano(1), answer=nano(10), cached=nano(0.1))
"""A thousand tokens of input cost $0.001, as many of output $0.01."""
PRICES = {"scripted": PRICE}
ENDLESS = TurnLimits(told_after=100, stuck_after=100)
DEAR = Usage(prompt=1_000, cached=500, thoughts=200, answer=100)
"""$0.00355"""


def looking(_: CompiledRequest) -> Reply:
    return reply("I look.", call("look"), usage=DEAR)


def harness_with(*lines: object, **budget: object) -> tuple[AgentHarness, ScriptedModel]:
    model = ScriptedModel(*lines)  # type: ignore[arg-type]
    return AgentHarness(model, tools=[look], limits=ENDLESS, budget=Budget(prices=PRICES, **budget)), model  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("budget", "asked", "says"),
    [
        ({"tokens": 3_000}, 2, "of 3,000 tokens (2,600 used; the next step would need at least 1,256) was reached."),
        (
            {"turn": nano(0.0105)},
            2,
            "of $0.0105 a turn ($0.0071 spent; the next step would cost at least $0.00356) was reached.",
        ),
        (
            {"day": nano(0.0105)},
            2,
            "of $0.0105 a day for all conversations "
            "($0.0071 spent since midnight; the next step would cost at least $0.00356) was reached.",
        ),
        (
            {"turn": nano(0.002)},
            0,
            "of $0.002 a turn ($0.00 spent; the next step would cost at least $0.002561) was reached.",
        ),
    ],
    ids=["tokens", "turn", "day", "first step"],
)
async def test_a_step_that_cannot_be_paid_is_not_begun(budget: dict[str, int], asked: int, says: str) -> None:
    harness, model = harness_with(*[looking] * 9, **budget)
    _, answer = await answer_to(harness)
    assert says in answer.message.rendered
    assert ("Until then I had called: look (2×)." in answer.message.rendered) == (asked == 2)
    assert len(model.requests) == asked
    assert answer.metadata["turn_metrics"].get("turn_cost") == (0.0071 if asked else None)


async def test_a_step_that_can_hardly_be_paid_is_kept_short() -> None:
    harness, model = harness_with(looking, "done", turn=nano(0.01))
    _, answer = await answer_to(harness)
    assert answer.message.rendered == "done"
    first, second = (request.options.get("max_output_tokens") for request in model.requests)
    assert first == 999  # one block of the request is one token
    assert second == (nano(0.01) - nano(0.00355) - nano(0.001)) // nano(0.00001)
    assert PRICE.cost(DEAR) + PRICE.cost(Usage(prompt=1_000, answer=second)) <= nano(0.01)


async def test_with_enough_room_the_model_is_not_bound() -> None:
    harness, model = harness_with("done", turn=nano(10), tokens=10**6, day=nano(100))
    await answer_to(harness)
    assert model.requests[0].options == {}


async def test_a_model_that_only_thought_until_it_was_cut_is_not_asked_again() -> None:
    used = Usage(prompt=1, thoughts=999)
    harness, model = harness_with(reply(thought("hm"), finish=Finish.CUT, usage=used), turn=nano(0.01))
    _, answer = await answer_to(harness)
    assert len(model.requests) == 1
    assert "the limit of $0.01 a turn ($0.009991 spent" in answer.message.rendered


async def test_a_model_that_only_thinks_within_a_budget_is_told_from_one_that_its_own_limit_cut() -> None:
    thinks = reply(thought("hm"), finish=Finish.CUT, detail="MAX_TOKENS", usage=Usage(prompt=1, thoughts=400))
    harness, model = harness_with(thinks, thinks, turn=nano(0.01))
    _, answer = await answer_to(harness)
    second = model.requests[1].options["max_output_tokens"]
    assert f"twice (MAX_TOKENS; the limit of $0.01 a turn left room for {second:,} tokens)." in answer.message.rendered
    assert answer.message.rendered.endswith("or raise that limit in the config.")


async def test_an_answer_that_a_budget_cut_says_so() -> None:
    short = Usage(prompt=1, answer=999)
    harness, model = harness_with(reply("It begins", finish=Finish.CUT, usage=short), turn=nano(0.01))
    _, answer = await answer_to(harness)
    assert len(model.requests) == 1
    assert answer.message.rendered.startswith("It begins\n\n*[The answer was cut here: ")
    assert "limit of $0.01 a turn ($0.009991 spent" in answer.message.rendered


async def test_an_answer_that_is_cut_twice_names_the_budget() -> None:
    used = Usage(prompt=1, answer=400)
    lines = [reply(text, finish=Finish.CUT, detail="MAX_TOKENS", usage=used) for text in ("It begins, ", "goes on")]
    harness, model = harness_with(*lines, turn=nano(0.01))
    _, answer = await answer_to(harness)
    second = model.requests[1].options["max_output_tokens"]
    assert answer.message.rendered.startswith("It begins, goes on\n\n*[The answer was cut here: ")
    assert f"the limit of $0.01 a turn left room for {second:,} tokens" in answer.message.rendered


async def test_every_model_is_costed_by_its_own_price() -> None:
    class Second(ScriptedModel):
        def count(self, request: CompiledRequest) -> int:
            return 10

    first = ScriptedModel(looking, OFFLINE)
    second = Second(reply("done", usage=Usage(prompt=1_000, answer=50)), name="second")
    budget = Budget(prices={**PRICES, "second": Price(prompt=nano(2), answer=nano(100))}, turn=nano(1))
    harness = AgentHarness(first, second, tools=[look], budget=budget)
    _, answer = await answer_to(harness)
    steps = await harness.store.read(lambda tx: tx.steps.of(answer.turn_id or ""))
    assert [(step.model, step.cost) for step in steps] == [("scripted", nano(0.00355)), ("second", nano(0.007))]
    assert second.requests[0].options["max_output_tokens"] == (nano(1) - nano(0.00355) - nano(0.002)) // nano(0.0001)
    assert answer.metadata["turn_metrics"]["turn_cost"] == 0.01055


async def test_a_cheaper_model_answers_when_the_first_one_is_too_dear() -> None:
    first, second = ScriptedModel(looking), ScriptedModel("done", name="second")
    prices = {**PRICES, "second": Price(prompt=nano(0.1), answer=nano(0.1))}
    harness = AgentHarness(first, second, tools=[look], budget=Budget(prices=prices, turn=nano(0.006)))
    _, answer = await answer_to(harness)
    assert answer.message.rendered == "done"
    assert (len(first.requests), len(second.requests)) == (1, 1)
    assert harness.drafts.notes == [("scripted is beyond the budget; asking second", None)]


async def test_a_model_is_only_announced_if_it_is_asked() -> None:
    first, second = ScriptedModel(), ScriptedModel(name="second")
    harness = AgentHarness(first, second, budget=Budget(prices=dict.fromkeys(("scripted", "second"), PRICE), turn=1))
    _, answer = await answer_to(harness)
    assert "finished: the limit of" in answer.message.rendered
    assert not harness.drafts.notes


async def test_without_a_price_there_is_no_cost() -> None:
    model = ScriptedModel(reply("done", usage=DEAR), name="free")
    harness = AgentHarness(model, budget=Budget(prices=PRICES, turn=1, day=1))
    _, answer = await answer_to(harness)
    (step,) = await harness.store.read(lambda tx: tx.steps.of(answer.turn_id or ""))
    assert (step.model, step.cost) == ("free", None)
    assert "turn_cost" not in answer.metadata["turn_metrics"]


async def test_the_day_is_that_of_the_database_and_ends_at_midnight(tmp_path: Path) -> None:
    budget = Budget(prices=PRICES, day=nano(0.006), zone=ZoneInfo("Asia/Shanghai"))
    async with await SqlStore.open(tmp_path / "kesoku.db") as store:
        one = AgentHarness(ScriptedModel(reply("one", usage=DEAR)), store=store, budget=budget)
        two = AgentHarness(ScriptedModel("tomorrow"), store=store, budget=budget)
        assert (await answer_to(one))[1].message.rendered == "one"
        await two.clock.advance(15.9 * 3600)  # from 08:00 in Shanghai
        assert (
            "limit of $0.006 a day for all conversations ($0.00355 spent" in (await answer_to(two))[1].message.rendered
        )
        await two.clock.advance(0.1 * 3600)
        assert (await answer_to(two))[1].message.rendered == "tomorrow"


@pytest.mark.parametrize(
    ("zone", "now", "begun"),
    [
        ("UTC", "2026-05-27T20:50:00.25+00:00", "2026-05-27T00:00+00:00"),
        ("Asia/Shanghai", "2026-05-27T20:50:00+00:00", "2026-05-28T00:00+08:00"),
        ("America/New_York", "2026-03-08T12:00:00-04:00", "2026-03-08T00:00-05:00"),
        ("America/Havana", "2026-11-01T12:00:00-05:00", "2026-11-01T00:00-04:00"),  # midnight comes twice
        ("Africa/Cairo", "2026-04-24T12:00:00+03:00", "2026-04-24T01:00+03:00"),  # and not at all
        ("UTC", "2026-05-27T00:00:00+00:00", "2026-05-27T00:00+00:00"),
    ],
)
def test_the_day_begins_at_midnight(zone: str, now: str, begun: str) -> None:
    at, since = (round(datetime.fromisoformat(each).timestamp() * 1_000_000) for each in (now, begun))
    assert Budget(zone=ZoneInfo(zone)).midnight(at) == since


def test_a_minimal_answer_is_worth_a_step() -> None:
    assert PRICE.affordable(PRICE.cost(Usage(prompt=1_000, answer=MINIMAL)), prompt=1_000) == MINIMAL
